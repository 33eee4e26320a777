// The executors that a rank has called last, written by the rank's thread and read by its watchdog without a lock.
#pragma once

#include "messages.hpp"

#include <array>
#include <atomic>

namespace dovetail::control::detail {

class call_log {
public:
    void add(int executor) noexcept {
        const auto n = calls_.load(std::memory_order_relaxed);
        recent_[static_cast<std::size_t>(n % call_window)].store(executor, std::memory_order_release);
        calls_.store(n + 1, std::memory_order_release);
    }
    call_list recent() const {
        const std::int64_t end = calls_.load(std::memory_order_acquire);
        call_list c;
        c.first = std::max<std::int64_t>(0, end - call_window / 2);
        for (std::int64_t i = c.first; i < end; ++i)
            c.executors.push_back(recent_[static_cast<std::size_t>(i % call_window)].load(std::memory_order_acquire));
        // Calls were overwritten during the read: nothing is returned, and the next heartbeat reads again.
        if (calls_.load(std::memory_order_relaxed) - c.first >= call_window) c.executors.clear();
        return c;
    }

private:
    std::atomic<std::int64_t> calls_ = 0;
    std::array<std::atomic<std::int64_t>, call_window> recent_ = {};
};

}  // namespace dovetail::control::detail
