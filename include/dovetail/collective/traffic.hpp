// The bytes of a communication that determine its cost.
#pragma once

#include "table.hpp"

namespace dovetail::collective {

// The amount over the slowest link for a payload (bytes, or their time at the bandwidth of the link) and n members.
constexpr std::int64_t passing(traffic t, std::int64_t payload, std::int64_t members) {
    switch (t) {
        case traffic::none:
        case traffic::own: return 0;
        case traffic::link:
        case traffic::bus: return payload;
        case traffic::bus_less_own: return payload - payload / members;
        case traffic::twice_less_own: return 2 * (payload - payload / members);
    }
    __builtin_unreachable();  // not a constant expression: see the assertion below
}

// The payloads over the links within a node and over each rank's link to the network, where `local` members lie on each of `nodes` nodes.
// In a call of NCCL the ranks of a node divide what the node exchanges with the others between them, and each then has all of it from its
// node; sends and receives go from member to member, each over one link.
struct payload_by_link {
    std::int64_t local = 0;
    std::int64_t network = 0;
};
constexpr payload_by_link payload_on(const row& r, std::int64_t payload, int local, int nodes) {
    if (r.call != nccl_call::send_recv) return {payload, payload / local};
    return {r.passes == traffic::bus_less_own ? payload / nodes : payload, payload};
}

// The same where copy engines move it, one block to one receiver after the other: all that one rank sends, or receives.
constexpr std::int64_t copied(const row& r, std::int64_t payload, std::int64_t members) {
    const bool to_each = r.moves == flow::from_root && r.sends == pieces::one;
    return to_each ? (members - 1) * payload : passing(r.passes, payload, members);
}

// How many blocks those are: each has its own flags.
constexpr std::int64_t copied_blocks(const row& r, std::int64_t members) { return r.passes == traffic::link ? 1 : members - 1; }

namespace detail {

// For an enumerator without a case the evaluation, and so the compilation, fails.
constexpr bool is_counted(const row& r) { return (passing(r.passes, 8, 2) > 0) == (r.moves != flow::none && r.moves != flow::itself); }

}  // namespace detail

static_assert(each_row(detail::is_counted), "dovetail: `passing` counts the traffic of each kind that leaves a member");

}  // namespace dovetail::collective
