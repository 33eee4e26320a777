// The schedules of the candidates: which has an order of its own, which uses the order of another, and the prediction of each.
#pragma once

#include "../cost/measured.hpp"
#include "../ir/table.hpp"
#include "../pass/memory/memory_waits.hpp"
#include "../pass/schedule/candidates.hpp"
#include "../pass/schedule/one_stream_roles.hpp"

namespace dovetail::plan {

using dovetail::candidate;
using dovetail::candidates;

constexpr bool one_stream(candidate c) { return c == candidate::sequential || c == candidate::min_memory || c == candidate::listed_serial; }
// Whether the order comes with times, and buffers take over bytes by these times.
constexpr bool booked(candidate c) { return budget_of(c) > 0; }

// The schedule of a candidate on three streams.
template <class Schedule, class Program, class Occupancy, class Edges, class Costs>
constexpr Schedule overlapped(const Program& p, const Occupancy& r, span<const int> order, const Edges& edges, const Costs& costs,
                              const plan_options& s) {
    auto made = pass::estimate_timeline<Schedule>(p, r, costs, order, s);
    pass::improve(made, p, r, edges, costs, s);
    pass::join_streams(made, p, r, costs, s);
    return made;
}

// The time of that schedule, in its order and on its streams, if communication takes three times as long.
template <class Program, class Occupancy, class Costs, class Schedule>
constexpr std::int64_t slowed_length(const Program& p, Occupancy r, const Costs& costs, const Schedule& t, const plan_options& s) {
    vec<task_cost> slowed;
    for (int v = 0; v < p.tasks.count; ++v) {
        slowed.push(costs.first[v]);
        if (is_communication(p.tasks.first[v].kind)) slowed.back().time = cost_model::scaled(slowed.back().time, 3000);
        for (int i = r.occupants_of.first[v]; i < r.occupants_of.first[v + 1]; ++i)
            r.slot.first[i] = r.slot.first[i] / stream_count * stream_count + t.stream.first[v];
    }
    return pass::estimate_timeline(p, r, slowed, t.order.view(), s).length;
}

// The schedule of a booked candidate: the waits for memory count as edges.
template <class Schedule, class Program, class Booking, class Memory, class Edges, class Costs>
constexpr Schedule booked_schedule(const Program& p, const Booking& booking, const Memory& memory, const Edges& edges, const Costs& costs,
                                   const plan_options& s) {
    const vec<ir::edge> all = pass::with_memory_waits(p, booking, memory, edges);
    return pass::estimate_timeline<Schedule>(p, pass::occupancy_of(p, all.view()), costs, booking.order.view(), s);
}

// The schedule of a candidate on one stream.
template <class Schedule, class Program, class Edges, class Costs>
constexpr Schedule on_one_stream(candidate c, const Program& p, const Edges& edges, const Costs& costs) {
    if (c == candidate::sequential) return pass::sequential_schedule<Schedule>(p, edges, costs);
    const vec<int> order = pass::min_memory_order(ir::view(p), {edges.begin(), edges.count});
    return pass::serial_schedule<Schedule>(p, costs, order.view());
}

}  // namespace dovetail::plan
