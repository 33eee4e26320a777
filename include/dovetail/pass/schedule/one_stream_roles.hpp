// Overlap is decided role by role: a role that gains nothing by it has its communication on the compute stream, which saves the latency of
// the waits between streams. From a schedule to one in the same order with fewer streams. Copies stay where they are: a caller's copy of an
// input, which the prediction does not know, goes on beside the previous run.
#pragma once

#include "objective.hpp"

namespace dovetail::pass {

// Bound of `join_streams`: predictions times tasks.
inline constexpr int join_budget = 512;

namespace detail {

constexpr bool is_of_communication(int slot) { return slot % stream_count == static_cast<int>(stream_kind::communication); }

// Whether no other role has a part in a task.
template <class Occupancy>
constexpr bool is_own(const Occupancy& r, int v) {
    return r.occupants_of.first[v + 1] - r.occupants_of.first[v] == 1;
}

// Whether a role has work on the stream of communication, and no part of it is of another role: all calls of NCCL of a rank are on one
// stream.
template <class Occupancy>
constexpr bool can_join(const Occupancy& r, int tasks, int role) {
    bool found = false;
    for (int v = 0; v < tasks; ++v)
        for (int i = r.occupants_of.first[v]; i < r.occupants_of.first[v + 1]; ++i) {
            const int slot = r.slot.first[i];
            if (slot / stream_count != role || !is_of_communication(slot)) continue;
            if (!is_own(r, v)) return false;
            found = true;
        }
    return found;
}

template <class Occupancy>
constexpr Occupancy joined(const Occupancy& r, int tasks, int role) {
    Occupancy one = r;
    for (int i = 0; i < r.occupants_of.first[tasks]; ++i)
        if (const int slot = r.slot.first[i]; slot / stream_count == role && is_of_communication(slot))
            one.slot.first[i] = role * stream_count;
    return one;
}

// When the last task of a role ends.
template <class Schedule, class Occupancy>
constexpr std::int64_t end_of_role(const Schedule& t, const Occupancy& r, int tasks, int role) {
    std::int64_t end = 0;
    for (int i = 0; i < r.occupants_of.first[tasks]; ++i)
        if (r.slot.first[i] / stream_count == role && t.end.first[r.task.first[i]] > end) end = t.end.first[r.task.first[i]];
    return end;
}

}  // namespace detail

// Joins the streams of communication and of compute in each role that ends earlier so, if what the objective counts does not increase.
// Not for the objective `interval`: in a row of runs, communication goes on beside the next run although nothing of its own run is left.
template <class Schedule, class Program, class Occupancy, class Costs>
constexpr void join_streams(Schedule& best, const Program& p, const Occupancy& r, const Costs& costs, const plan_options& s) {
    const int roles = p.roles, tasks = p.tasks.count;
    if (roles == 1 || tasks == 0 || best.length < 0 || s.objective == objective_kind::interval) return;
    Occupancy streams = r;
    for (int role = 0, left = join_budget / tasks; role < roles && left > 0; ++role) {
        if (!detail::can_join(streams, tasks, role)) continue;
        --left;
        Occupancy one = detail::joined(streams, tasks, role);
        Schedule other = estimate_timeline<Schedule>(p, one, costs, best.order.view(), s);
        if (detail::end_of_role(other, r, tasks, role) >= detail::end_of_role(best, r, tasks, role)) continue;
        if (other.length < 0 || other.length > best.length || objective_of(p, other, s) > objective_of(p, best, s)) continue;
        best = static_cast<Schedule&&>(other);
        streams = static_cast<Occupancy&&>(one);
    }
}

}  // namespace dovetail::pass
