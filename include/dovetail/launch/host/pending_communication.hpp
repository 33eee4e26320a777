// Where communication takes place: its members, and the link that it takes its time from.
#pragma once

#include "collectives.hpp"
#include "link.hpp"

#include <chrono>
#include <condition_variable>
#include <tuple>

namespace dovetail::host {

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
