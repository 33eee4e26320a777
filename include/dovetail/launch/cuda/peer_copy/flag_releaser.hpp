// Releases streams that wait for flags in this rank's memory, once the runs are aborted: an aborted partner writes no flag, and its peer
// would wait forever. The releaser has its own thread, because the rank's thread may be inside a launch that waits for room in the very
// same stream.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
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

    void watch(std::uint32_t* flags, std::size_t count) {
        const std::lock_guard lock{mutex_};
        watched_.push_back({flags, count});
        if (!thread_.joinable()) thread_ = std::thread{[this] { serve(); }};
    }
    void forget(const std::uint32_t* flags) noexcept {
        const std::lock_guard lock{mutex_};
        std::erase_if(watched_, [&](const range& r) { return r.flags == flags; });
    }
    void stop() noexcept {
        stopping_.store(true);
        if (thread_.joinable()) thread_.join();
    }

private:
    struct range {
        std::uint32_t* flags = nullptr;
        std::size_t count = 0;
    };
    void serve() {
        while (!stopping_.load()) {
            // Repeatedly: each wait resets its flag, and the next wait follows.
            if (over_()) {
                const std::lock_guard lock{mutex_};
                for (const range& r : watched_)
                    for (std::size_t i = 0; i < r.count; ++i) __atomic_store_n(r.flags + i * flag_stride, flag_set, __ATOMIC_RELEASE);
                ending_ = true;
            }
            std::this_thread::sleep_for(ending_ ? std::chrono::microseconds{50} : std::chrono::milliseconds{2});
        }
    }
    const std::function<bool()> over_;
    std::mutex mutex_;
    std::vector<range> watched_;
    std::thread thread_;
    std::atomic<bool> stopping_ = false;
    bool ending_ = false;
};

}  // namespace dovetail::cuda
