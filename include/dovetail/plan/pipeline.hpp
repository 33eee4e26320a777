// The list of passes, in the order in which data flows through them:
//
//   graph -> expand -> edges -> cycle -> costs -> schedule candidates -> choose
//         -> steps -> waits and lifetimes -> arena -> wrap -> plan (all of it: emit)
//
// Each stage is an ordinary function; `make` runs them all at run time, `planned<G, O>` (planned.hpp) runs the same ones in
// constant evaluations of their own, because compile-time limits are per evaluation.
#pragma once

#include "../cost/model.hpp"
#include "../pass/program/cycle.hpp"
#include "../pass/program/expand.hpp"
#include "../pass/schedule/candidates.hpp"
#include "../pass/schedule/min_memory_order.hpp"
#include "emit.hpp"

namespace dovetail::plan {

// The schedules that are tried. Each keeps every dependency; they differ in streams and order. Those from `min_memory_overlapped`
// on are tried only where none before keeps within a memory limit: an order chosen for little memory, overlapped where that
// gains, and on one stream; then the order of list scheduling on one stream.
enum class candidate : unsigned char { sequential, written, listed, min_memory_overlapped, min_memory, listed_serial };
inline constexpr int candidates = 6;
inline constexpr int compared = 3;  // whose lengths are compared

// Of a larger graph the written order is not predicted: list scheduling hardly ever loses to it, and a prediction is most of
// what a candidate costs the compiler.
inline constexpr int most_tried_as_written = 256;
inline constexpr std::int64_t not_tried = INT64_MAX;

// The candidate whose order a candidate takes: mostly its own.
constexpr candidate order_of(candidate c) {
    return c == candidate::min_memory_overlapped ? candidate::min_memory : c == candidate::listed_serial ? candidate::listed : c;
}

// A candidate in an order of its own, on several streams.
template <class Schedule, class Program, class Occupancy, class Edges, class Costs>
constexpr Schedule overlapped(const Program& p, const Occupancy& r, span<const int> order, const Edges& edges, const Costs& costs, const plan_options& s) {
    auto made = pass::estimate_timeline<Schedule>(p, r, costs, order, s);
    pass::improve(made, p, r, edges, costs, s);
    return made;
}

// A candidate with an order of its own, on one stream.
template <class Schedule, class Program, class Edges, class Costs>
constexpr Schedule on_one_stream(candidate c, const Program& p, const Edges& edges, const Costs& costs) {
    if (c == candidate::sequential) return pass::sequential_schedule<Schedule>(p, edges, costs);
    const vec<int> order = pass::min_memory_order(ir::view(p), {edges.begin(), edges.count});
    return pass::serial_schedule<Schedule>(p, costs, order.view());
}

constexpr bool one_stream(candidate c) { return c == candidate::sequential || c == candidate::min_memory; }

// A candidate with an order of its own.
template <class Program, class Edges, class Costs>
constexpr pass::schedule schedule_of(candidate c, const Program& p, const Edges& edges, const Costs& costs, const plan_options& s) {
    if (one_stream(c)) return on_one_stream<pass::schedule>(c, p, edges, costs);
    const auto r = pass::occupancy_of(p, edges);
    const vec<int> order = pass::overlapped_order(p, r, edges, costs, c == candidate::listed, s);
    return overlapped<pass::schedule>(p, r, order.view(), edges, costs, s);
}

// A candidate with the order of another. `sequential`: the length of the sequential one.
template <class Schedule, class Program, class Edges, class Costs>
constexpr Schedule schedule_in(candidate c, span<const int> order, const Program& p, const Edges& edges, const Costs& costs, std::int64_t sequential,
                               const plan_options& s) {
    auto serial_schedule = pass::serial_schedule<Schedule>(p, costs, order);
    if (c != candidate::min_memory_overlapped) return serial_schedule;
    const auto r = pass::occupancy_of(p, edges);
    auto made = pass::estimate_timeline<Schedule>(p, r, costs, order, s);
    if (pass::gains(made.length, serial_schedule.length, s) && pass::gains(made.length, sequential, s)) return made;
    return serial_schedule;
}

// In which order the candidates are taken until one fits into memory: overlapped ones first where their prediction gains
// more than the model's error, the shortest before the other; then the sequential one; then those for little memory.
struct preference {
    candidate list[candidates] = {};
    int count = 0;

    constexpr void then(candidate c) { list[count++] = c; }
};
constexpr preference preferred(const std::int64_t (&length)[compared], const plan_options& s) {
    preference p;
    const bool listed_first = length[2] < length[1];
    const candidate overlapped[] = {listed_first ? candidate::listed : candidate::written, listed_first ? candidate::written : candidate::listed};
    for (candidate c : overlapped)
        if (pass::gains(length[static_cast<int>(c)], length[0], s)) p.then(c);
    p.then(candidate::sequential);
    if (s.memory_limit == 0) return p;
    if (s.overlap) p.then(candidate::min_memory_overlapped);
    p.then(candidate::min_memory);
    p.then(candidate::listed_serial);
    return p;
}

}  // namespace dovetail::plan
