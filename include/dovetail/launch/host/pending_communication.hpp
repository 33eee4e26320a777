// Where communication takes place: its members, and the link that it takes its time from.
#pragma once

#include "collectives.hpp"

#include <chrono>
#include <condition_variable>
#include <tuple>

namespace dovetail::host {

// Links that take time: communication sleeps for `latency + bytes / bandwidth`. A stand-in for a network, by timed sleeps.
struct link {
    std::chrono::nanoseconds latency{0};
    double bandwidth = 0;  // bytes per second; 0: no limit

    bool timed() const { return latency.count() > 0 || bandwidth > 0; }
    std::chrono::nanoseconds time_of(std::int64_t bytes) const {
        return latency + std::chrono::nanoseconds{bandwidth > 0 ? static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 / bandwidth) : 0};
    }
};

// One communication that gathers its members: the last to come moves the data, everybody leaves when that is done.
struct pending_communication {
    std::vector<int> ranks;  // by member
    std::vector<bool> here;
    std::vector<participant> participants;
    int arrived = 0;
    bool moving = false;  // all are here: from now on it completes, whatever else fails
    bool complete = false;
    bool broken = false;  // moving the data failed
    std::chrono::steady_clock::time_point finish = {};
    std::condition_variable changed;
};

// Executor, run, member, first rank: equal on all members, different for all communications that can be open at once.
using communication_key = std::tuple<int, std::int64_t, int, int>;

}  // namespace dovetail::host
