// How the bytes of a communication enter its cost.
#pragma once

#include "table.hpp"

namespace dovetail::collective {

// What passes the slowest link, of an amount (bytes, or the time that they take at the link's bandwidth) and n members.
constexpr std::int64_t passing(traffic t, std::int64_t payload, std::int64_t members) {
    switch (t) {
        case traffic::none: return 0;
        case traffic::link:
        case traffic::bus: return payload;
        case traffic::bus_less_own: return payload - payload / members;
        case traffic::twice_less_own: return 2 * (payload - payload / members);
    }
    __builtin_unreachable();  // no constant expression: see the assertion below
}

namespace detail {

// Traffic without a case stops the evaluation, and the compiler.
constexpr bool is_counted(const row& r) { return (passing(r.passes, 8, 2) > 0) == (r.moves != flow::none); }

}  // namespace detail

static_assert(each_row(detail::is_counted), "dovetail: `passing` counts the traffic of each kind");

}  // namespace dovetail::collective
