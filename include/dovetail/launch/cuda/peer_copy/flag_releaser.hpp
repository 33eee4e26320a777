// Ends what streams wait for in flags of this rank's memory, once the runs are over: an aborted partner writes no flag any more,
// and a stream that waits for one would wait for ever. It has a thread of its own, since the rank's may be inside a launch that
// waits for room in the very same stream.
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

// A flag that is waited for is 0, and 1 when there is nothing to wait for any more. The waiter sets it back.
inline constexpr std::uint32_t flag_set = 1;
inline constexpr std::size_t flag_stride = 16;  // a cache line each

class flag_releaser {
public:
    // `over` is asked now and then.
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
            // Again and again: each wait sets its flag back, and the next one is behind it.
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
