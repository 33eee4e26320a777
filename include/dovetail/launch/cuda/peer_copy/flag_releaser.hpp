// Releases streams that wait for flags in this rank's memory, once the runs are aborted: an aborted partner writes no flag, and its peer
// would wait forever. The releaser has its own thread, because the rank's thread may be inside a launch that waits for room in the very
// same stream.
//
// A released stream goes on with data that never arrived, and puts what it makes of them into other ranks. Therefore all ranks are informed
// before any of them releases its waits or ends its NCCL calls: each rank sets a word from which on it reports no further run as ended.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace dovetail::cuda {

// A flag is 0 while it is waited for, and 1 when the wait is over. The waiter resets it.
inline constexpr std::uint32_t flag_set = 1;
inline constexpr std::size_t flag_stride = 16;  // a cache line each

class flag_releaser {
public:
    // `over` is polled.
    explicit flag_releaser(std::function<bool()> over) : over_{std::move(over)} {}
    flag_releaser(const flag_releaser&) = delete;
    flag_releaser& operator=(const flag_releaser&) = delete;
    ~flag_releaser() { stop(); }

    // The flags of an executor, the word behind them, and that word of the other ranks.
    struct watched_flags {
        std::uint32_t* flags = nullptr;
        std::size_t count = 0;
        std::vector<const std::uint32_t*> informed = {};
    };
    void watch(watched_flags one) {
        const std::lock_guard lock{mutex_};
        if (!thread_.joinable()) thread_ = std::thread{[this] { serve(); }};  // throws where there can be no other thread
        watched_.push_back(std::move(one));
    }
    // The executor is gone, and reports no further run.
    void forget(const std::uint32_t* flags) noexcept {
        const std::lock_guard lock{mutex_};
        for (const watched_flags& one : watched_)
            if (one.flags == flags) inform(one);
        std::erase_if(watched_, [&](const watched_flags& one) { return one.flags == flags; });
    }
    // From now on this rank reports no further run as ended. Waits until the others do not either; one that was killed, until the deadline.
    void inform_others(std::chrono::steady_clock::time_point until) noexcept {
        {
            const std::lock_guard lock{mutex_};
            for (const watched_flags& one : watched_) inform(one);
        }
        while (!all_informed() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
    void stop() noexcept {
        stopping_.store(true);
        if (thread_.joinable()) thread_.join();
    }

private:
    static void inform(const watched_flags& one) noexcept {
        __atomic_store_n(one.flags + one.count * flag_stride, flag_set, __ATOMIC_RELEASE);
    }
    bool all_informed() noexcept {
        const std::lock_guard lock{mutex_};
        for (const watched_flags& one : watched_)
            for (const std::uint32_t* word : one.informed)
                if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != flag_set) return false;
        return true;
    }
    void serve() {
        while (!stopping_.load()) {
            // Repeatedly: each wait resets its flag, and the next wait follows.
            if (over_()) {
                const std::lock_guard lock{mutex_};
                for (const watched_flags& r : watched_)
                    for (std::size_t i = 0; i < r.count; ++i) __atomic_store_n(r.flags + i * flag_stride, flag_set, __ATOMIC_RELEASE);
                ending_ = true;
            }
            std::this_thread::sleep_for(ending_ ? std::chrono::microseconds{50} : std::chrono::milliseconds{2});
        }
    }
    const std::function<bool()> over_;
    std::mutex mutex_;
    std::vector<watched_flags> watched_;
    std::thread thread_;
    std::atomic<bool> stopping_ = false;
    bool ending_ = false;
};

}  // namespace dovetail::cuda
