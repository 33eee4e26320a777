// Whether a plan keeps within a memory limit. Takes the plan's rows of roles.
#pragma once

#include "../core/vec.hpp"
#include "../ir/schedule.hpp"

namespace dovetail::plan {

// Whether a plan keeps within `limit` bytes on every role; 0 is no limit.
constexpr bool within(std::int64_t limit, span<const ir::role_plan> roles) { return limit == 0 || ir::largest_bytes(roles) <= limit; }

}  // namespace dovetail::plan
