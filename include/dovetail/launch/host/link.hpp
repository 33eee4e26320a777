// The simulated link of communication on the host.
#pragma once

#include <chrono>
#include <cstdint>

namespace dovetail::host {

// A link that simulates a network by timed sleeps: a communication sleeps for `latency + bytes / bandwidth`.
struct link {
    std::chrono::nanoseconds latency{0};
    double bandwidth = 0;  // bytes per second; 0: no limit

    bool timed() const { return latency.count() > 0 || bandwidth > 0; }
    std::chrono::nanoseconds time_of(std::int64_t bytes) const {
        return latency +
               std::chrono::nanoseconds{bandwidth > 0 ? static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 / bandwidth) : 0};
    }
};

}  // namespace dovetail::host
