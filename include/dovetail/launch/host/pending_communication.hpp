// A communication in progress on the host: its members and their memory.
#pragma once

#include "collectives.hpp"
#include "link.hpp"

#include <chrono>
#include <condition_variable>
#include <tuple>

namespace dovetail::host {

// One communication: the last member to arrive moves the data, and all members wait until that is done.
struct pending_communication {
    std::vector<int> ranks;  // by member
    std::vector<bool> here;
    std::vector<participant> participants;
    int arrived = 0;
    bool moving = false;  // all members have arrived: from now on it completes, whatever else fails
    bool complete = false;
    bool broken = false;  // moving the data failed
    std::chrono::steady_clock::time_point finish = {};
    std::condition_variable changed;
};

// Executor, run, member, first rank: equal on all members, different for all communications in progress.
using communication_key = std::tuple<int, std::int64_t, int, int>;

}  // namespace dovetail::host
