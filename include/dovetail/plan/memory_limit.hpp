// What a memory limit counts, and whether a plan keeps within it. Takes the plan's rows of roles.
#pragma once

#include "../core/vec.hpp"
#include "../ir/schedule.hpp"

namespace dovetail::plan {

// Bytes of one rank of a role that a memory limit counts.
constexpr std::int64_t bytes_of(const ir::role_plan& r) { return r.arena_bytes + r.state_bytes; }

constexpr std::int64_t largest_bytes(span<const ir::role_plan> roles) {
    std::int64_t most = 0;
    for (const ir::role_plan& r : roles)
        if (bytes_of(r) > most) most = bytes_of(r);
    return most;
}

// Whether a plan keeps within `limit` bytes on every role; 0 is no limit.
constexpr bool within(std::int64_t limit, span<const ir::role_plan> roles) { return limit == 0 || largest_bytes(roles) <= limit; }

}  // namespace dovetail::plan
