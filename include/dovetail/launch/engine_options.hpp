// What an executor is told besides its graph and the options of its plan, collected from the arguments behind the rank.
#pragma once

#include "axis_width.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace dovetail {

namespace detail {
class store_core;
}

// How runs reach a GPU: launch by launch onto streams, or as one CUDA graph; the last falls back to streams where an operation
// cannot be captured. The host backend knows streams only.
enum class replay_mode : unsigned char { never, always, if_possible };

// What an executor may be told besides its graph and options.
struct engine_options {
    std::shared_ptr<detail::store_core> store = nullptr;
    std::vector<axis_width> widths = {};
    std::chrono::nanoseconds time_limit = std::chrono::minutes{10};  // of every wait that is given none
    bool record_times = false;
    replay_mode replay = replay_mode::never;
    bool check_finite = false;
};

}  // namespace dovetail
