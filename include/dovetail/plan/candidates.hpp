// The schedules of the candidates: which has an order of its own, which uses the order of another, and the prediction of each.
#pragma once

#include "../ir/table.hpp"
#include "../pass/schedule/candidates.hpp"
#include "../pass/schedule/min_memory_order.hpp"

namespace dovetail::plan {

using dovetail::candidate;
using dovetail::candidates;

// The candidate whose order this candidate uses: itself, except for two.
constexpr candidate order_of(candidate c) {
    return c == candidate::min_memory_overlapped ? candidate::min_memory : c == candidate::listed_serial ? candidate::listed : c;
}

// The schedule of a candidate with an order of its own, on three streams.
template <class Schedule, class Program, class Occupancy, class Edges, class Costs>
constexpr Schedule overlapped(const Program& p, const Occupancy& r, span<const int> order, const Edges& edges, const Costs& costs,
                              const plan_options& s) {
    auto made = pass::estimate_timeline<Schedule>(p, r, costs, order, s);
    pass::improve(made, p, r, edges, costs, s);
    return made;
}

// The schedule of a candidate with an order of its own, on one stream.
template <class Schedule, class Program, class Edges, class Costs>
constexpr Schedule on_one_stream(candidate c, const Program& p, const Edges& edges, const Costs& costs) {
    if (c == candidate::sequential) return pass::sequential_schedule<Schedule>(p, edges, costs);
    const vec<int> order = pass::min_memory_order(ir::view(p), {edges.begin(), edges.count});
    return pass::serial_schedule<Schedule>(p, costs, order.view());
}

constexpr bool one_stream(candidate c) { return c == candidate::sequential || c == candidate::min_memory; }

// The schedule of a candidate with an order of its own.
template <class Program, class Edges, class Costs>
constexpr pass::schedule schedule_of(candidate c, const Program& p, const Edges& edges, const Costs& costs, const plan_options& s) {
    if (one_stream(c)) return on_one_stream<pass::schedule>(c, p, edges, costs);
    const auto r = pass::occupancy_of(p, edges);
    const vec<int> order = pass::overlapped_order(c, p, r, edges, costs, s);
    return overlapped<pass::schedule>(p, r, order.view(), edges, costs, s);
}

// The schedule of a candidate that uses the order of another. `sequential`: the length of the sequential candidate.
template <class Schedule, class Program, class Edges, class Costs>
constexpr Schedule schedule_in(candidate c, span<const int> order, const Program& p, const Edges& edges, const Costs& costs,
                               std::int64_t sequential, const plan_options& s) {
    auto serial_schedule = pass::serial_schedule<Schedule>(p, costs, order);
    if (c != candidate::min_memory_overlapped) return serial_schedule;
    const auto r = pass::occupancy_of(p, edges);
    auto made = pass::estimate_timeline<Schedule>(p, r, costs, order, s);
    if (pass::gains(made.length, serial_schedule.length, s) && pass::gains(made.length, sequential, s)) return made;
    return serial_schedule;
}

}  // namespace dovetail::plan
