// The bytes of a communication that determine its cost.
#pragma once

#include "table.hpp"

namespace dovetail::collective {

// The amount over the slowest link for a payload (bytes, or their time at the bandwidth of the link) and n members.
constexpr std::int64_t passing(traffic t, std::int64_t payload, std::int64_t members) {
    switch (t) {
        case traffic::none: return 0;
        case traffic::link:
        case traffic::bus: return payload;
        case traffic::bus_less_own: return payload - payload / members;
        case traffic::twice_less_own: return 2 * (payload - payload / members);
    }
    __builtin_unreachable();  // not a constant expression: see the assertion below
}

namespace detail {

// For an enumerator without a case the evaluation, and so the compilation, fails.
constexpr bool is_counted(const row& r) { return (passing(r.passes, 8, 2) > 0) == (r.moves != flow::none); }

}  // namespace detail

static_assert(each_row(detail::is_counted), "dovetail: `passing` counts the traffic of each kind");

}  // namespace dovetail::collective
