// Options of an executor other than its graph and the options of its plan, collected from the arguments after the rank.
#pragma once

#include "axis_width.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace dovetail {

namespace detail {
class store_core;
}

// How runs are issued to a GPU: `never` issues single launches to streams, `always` launches one CUDA graph, `if_possible` falls back to
// streams if an operation cannot be captured. The host backend only has streams.
enum class replay_mode : unsigned char { never, always, if_possible };

// The values of these options.
struct engine_options {
    std::shared_ptr<detail::store_core> store = nullptr;
    std::vector<axis_width> widths = {};
    std::chrono::nanoseconds time_limit = std::chrono::minutes{10};  // of every wait without a limit of its own
    bool record_times = false;
    replay_mode replay = replay_mode::never;
    bool check_finite = false;
    bool tuned = false;              // several plans are compared
    std::string role_conflict = {};  // set by the rank (rank_roles), told to all ranks; empty: none
};

}  // namespace dovetail
