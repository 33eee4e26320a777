// Candidate schedules and their predicted times. Each candidate is a separate function, so that it can be a separate constant evaluation:
// compilers limit each evaluation.
#pragma once

#include "list_scheduling.hpp"
#include "objective.hpp"

namespace dovetail::pass {

// All tasks of a rank on one stream, in written order.
template <class Schedule = schedule, class Program, class Edges, class Costs>
constexpr Schedule sequential_schedule(const Program& p, const Edges& edges, const Costs& costs) {
    const auto order = written_order<room<int, decltype(p.tasks)>>(p.tasks.count, edges);
    return serial_schedule<Schedule>(p, costs, order.view());
}

// The predicted time of that schedule; with one role, the sum of the costs.
template <class Program, class Edges, class Costs>
constexpr std::int64_t sequential_length(const Program& p, const Edges& edges, const Costs& costs) {
    std::int64_t length = 0;
    if (p.roles == 1) {
        for (int v = 0; v < costs.count; ++v) length += costs.first[v].time;
        return length;
    }
    if (!leads_forward(edges)) return sequential_schedule(p, edges, costs).length;
    // As in sequential_schedule, without the times of the tasks: their numbers are the order.
    const auto& participations = p.participations.first;
    vec<std::int64_t> free_at(p.roles);  // by role
    for (int v = 0; v < costs.count; ++v) {
        const int first = p.tasks.first[v].first_participation, last = first + p.tasks.first[v].participations;
        std::int64_t end = 0;
        for (int i = first; i < last; ++i)
            if (const std::int64_t time = free_at.first[participations[i].role]; time > end) end = time;
        end += costs.first[v].time;
        for (int i = first; i < last; ++i) free_at.first[participations[i].role] = end;
    }
    for (const std::int64_t time : free_at)
        if (time > length) length = time;
    return length;
}

// Inputs of at most so many bytes, whose copies take little more than a latency; and as many of them on a role as have this size together.
inline constexpr std::int64_t small_input = std::int64_t{64} << 10, small_inputs_of_role = std::int64_t{1} << 20;

// Puts the copies of small inputs first. Within a run they wait for nothing, and they need little memory, but where they are written, at
// their first use, they would wait for the communication that their stream has before them.
template <class Program, class Order>
constexpr void put_small_inputs_first(const Program& p, Order& order) {
    vec<std::int64_t> bytes_first(p.roles, std::int64_t{0});
    const auto is_put_first = [&](int v) {
        if (p.tasks.first[v].kind != op_kind::input) return false;
        const auto& x = p.participations.first[p.tasks.first[v].first_participation];
        const std::int64_t bytes = ir::bytes_of(p, p.accesses.first[x.first_access]);
        if (bytes > small_input || bytes > small_inputs_of_role - bytes_first[x.role]) return false;
        bytes_first[x.role] += bytes;
        return true;
    };
    vec<int> others;
    int count = 0;
    for (const int v : order.view())
        if (is_put_first(v))
            order.first[count++] = v;
        else
            others.push(v);
    for (const int v : others) order.first[count++] = v;
}

// The orders of the overlapped candidates, which use three streams: the written order with small inputs first, or list scheduling.
template <class Program, class Occupancy, class Edges, class Costs>
constexpr auto overlapped_order(candidate c, const Program& p, const Occupancy& r, const Edges& edges, const Costs& costs,
                                const plan_options& s) {
    auto order = written_order<room<int, decltype(p.tasks)>>(p.tasks.count, edges);
    if (c == candidate::written) {
        put_small_inputs_first(p, order);
        return order;
    }
    auto priority = priorities(p, r, costs, order.view(), s);
    if (s.preferred >= 0) raise_ancestors(priority, p, r, order.view(), s.preferred);
    if (c == candidate::johnson) raise_unlocking(priority, p, r, costs, order.view());
    return list_order(p, r, costs, priority, s);
}

// Bounds of `improve`: the largest graph, in tasks, that it changes; its effort, in predictions times tasks; and how far a task moves.
inline constexpr int improved_tasks = 32;
inline constexpr int improvement_budget = 1024;
inline constexpr int improvement_window = 8;

namespace detail {

// Whether an edge leads from `before` to the task v.
constexpr bool depends(const adjacency& in, int v, int before) {
    for (int i = in.first[v]; i < in.first[v + 1]; ++i)
        if (in.neighbour[i] == before) return true;
    return false;
}

template <class Occupancy>
constexpr bool share_slot(const Occupancy& r, int v, int other) {
    for (int i = r.occupants_of[v]; i < r.occupants_of[v + 1]; ++i)
        for (int j = r.occupants_of[other]; j < r.occupants_of[other + 1]; ++j)
            if (r.slot[i] == r.slot[j]) return true;
    return false;
}

// The order with the task at `from` moved forward to `to`.
constexpr vec<int> moved_earlier(const vec<int>& order, int from, int to) {
    vec<int> moved = order;
    for (int k = from; k > to; --k) moved[k] = order[k - 1];
    moved[to] = order[from];
    return moved;
}

}  // namespace detail

// Local search on the order of a small graph: moves one task at a time to an earlier position within a window, and keeps the move if
// what the objective counts decreases. Larger graphs are not changed.
template <class Schedule, class Program, class Occupancy, class Edges, class Costs>
constexpr void improve(Schedule& best, const Program& p, const Occupancy& r, const Edges& edges, const Costs& costs,
                       const plan_options& s) {
    const int n = p.tasks.count;
    if (best.length < 0 || n > improved_tasks) return;
    const adjacency in = predecessors(n, {edges.begin(), edges.count});
    vec<int> order(best.order.view());
    int left = n > 0 ? improvement_budget / n : 0;
    std::int64_t shortest = objective_of(p, best, s);
    for (int from = 1; from < n; ++from) {
        bool differs = false;  // from the order tried last: the task has moved past a task on the same slot
        for (int to = from - 1; to >= 0 && from - to < improvement_window && left > 0; --to) {
            if (detail::depends(in, order[from], order[to])) break;
            differs = differs || detail::share_slot(r, order[from], order[to]);
            if (!differs) continue;
            vec<int> tried = detail::moved_earlier(order, from, to);
            --left;
            Schedule other = estimate_timeline<Schedule>(p, r, costs, tried.view(), s);
            differs = false;
            const std::int64_t reached = objective_of(p, other, s);
            if (other.length < 0 || reached >= shortest) continue;
            shortest = reached;
            best = static_cast<Schedule&&>(other);
            order = static_cast<vec<int>&&>(tried);
            break;
        }
    }
}

// Whether an overlapped schedule gains over the sequential one. The latency of its waits is part of the prediction; a gain that is smaller
// than one of them counts as none.
constexpr bool gains(std::int64_t overlapped, std::int64_t sequential, const plan_options& s) {
    return s.overlap && overlapped >= 0 && sequential - overlapped > s.machine.edge_latency;
}

}  // namespace dovetail::pass
