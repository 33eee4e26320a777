// The element type of `ticket.times()`.
#pragma once

#include <cstdint>

namespace dovetail {

// When a step ran, in nanoseconds from the start of the world.
struct step_time {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

}  // namespace dovetail
