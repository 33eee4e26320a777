// The transport of a channel (NCCL or peer copy), chosen by the machine description and the size of the value.
#pragma once

#include "links.hpp"

namespace dovetail::cost_model {

// The time of a transfer alone, picoseconds.
constexpr std::int64_t transfer_time(const machine_description& m, std::int64_t bytes, bool peer_copy) {
    return peer_copy ? m.peer_latency + time_at(bytes, m.peer_bandwidth) : m.link_latency + time_at(bytes, m.link_bandwidth);
}

inline constexpr std::int64_t never = INT64_MAX;

// The size from which on the copy engine moves a value. The comparison is between the costs of a transfer to a rank that computes at the
// same time, a product for example: its duration times the slow-down of compute-bound work beside it. Both grow with the size.
constexpr std::int64_t peer_copies_from(const plan_options& s) {
    const machine_description& m = s.machine;
    constexpr int product = static_cast<int>(work_class::compute_bound);
    if (s.between_roles == link::network) return never;
    if (s.channels == transport::peer_copy) return 0;
    if (s.channels == transport::nccl || m.peer_bandwidth <= 0) return never;
    for (int power = 0; power < 40; ++power) {
        const std::int64_t bytes = std::int64_t{1} << power;
        const std::int64_t nccl = transfer_time(m, bytes, false), copied = transfer_time(m, bytes, true);
        if (copied / 1000 * m.with_copy.of_compute[product] < nccl / 1000 * m.with_communication.of_compute[product]) return bytes;
    }
    return never;
}

// The options that the expansion of a graph depends on.
struct expansion_options {
    int in_flight = 1;
    int channel_slots = 1;
    std::int64_t peer_copies_from = never;
    link_options links = {};

    constexpr expansion_options(int runs, int slots, std::int64_t from, const link_options& between = {})
        : in_flight{runs}, channel_slots{slots}, peer_copies_from{from}, links{between} {}
    constexpr expansion_options(const plan_options& s)
        : expansion_options{s.in_flight, s.channel_slots, cost_model::peer_copies_from(s), link_options{s}} {}

    // Whether copies between roles may go over a third one.
    constexpr bool relays() const { return links.relays && links.pairs && peer_copies_from != never; }
};

}  // namespace dovetail::cost_model
