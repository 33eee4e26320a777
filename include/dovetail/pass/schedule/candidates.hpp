// Candidate schedules, and the choice among them by predicted time. Each candidate is a function of its own, so that each
// can be its own constant evaluation: compile-time limits are per evaluation.
#pragma once

#include "list_scheduling.hpp"
#include "timeline_estimate.hpp"

namespace dovetail::pass {

// Everything on one stream, as written.
template <class Schedule = schedule, class Program, class Edges, class Costs>
constexpr Schedule sequential_schedule(const Program& p, const Edges& edges, const Costs& costs) {
    const auto order = written_order<room<int, decltype(p.tasks)>>(p.tasks.count, edges);
    return serial_schedule<Schedule>(p, costs, order.view());
}

// What it would take: the sum, where there is one role.
template <class Program, class Edges, class Costs>
constexpr std::int64_t sequential_length(const Program& p, const Edges& edges, const Costs& costs) {
    const auto& cost = costs.first;
    if (p.roles == 1) {
        std::int64_t sum = 0;
        for (int v = 0; v < costs.count; ++v) sum += cost[v];
        return sum;
    }
    if (!leads_forward(edges)) return sequential_schedule(p, edges, costs).length;
    // The same without its times, in the order of the tasks.
    const auto& tasks = p.tasks.first;
    const auto& participations = p.participations.first;
    vec<std::int64_t> time_list(p.roles);
    std::int64_t *done = time_list.begin(), now = 0;  // done: by role
    for (int v = 0, i = 0, first = 0, end = 0; v < costs.count; ++v) {
        first = tasks[v].first_participation;
        if (tasks[v].participations == 1) {
            done[participations[first].role] += cost[v];
            continue;
        }
        end = first + tasks[v].participations;
        now = 0;
        for (i = first; i < end; ++i)
            if (done[participations[i].role] > now) now = done[participations[i].role];
        now += cost[v];
        for (i = first; i < end; ++i) done[participations[i].role] = now;
    }
    for (const std::int64_t time : time_list)
        if (time > now) now = time;
    return now;
}

// The orders of the overlapped candidates: on three streams, each as written, or by list scheduling.
template <class Program, class Occupancy, class Edges, class Costs>
constexpr auto overlapped_order(const Program& p, const Occupancy& r, const Edges& edges, const Costs& costs, bool listed, const plan_options& s) {
    auto order = written_order<room<int, decltype(p.tasks)>>(p.tasks.count, edges);
    if (listed) {
        const auto priority = priorities(p, r, costs, order.view(), s);
        order = list_order(p, r, costs, priority, s);
    }
    return order;
}

// Tasks up to which `improved` does anything, and how much: predictions times tasks.
inline constexpr int improved_tasks = 32;
inline constexpr int improvement_budget = 1024;
inline constexpr int improvement_window = 8;

// A better order of a small graph: one task at a time is tried earlier, by at most a window, and stays there if the
// prediction gains. A larger one stays as it is.
template <class Schedule, class Program, class Occupancy, class Edges, class Costs>
constexpr void improve(Schedule& best, const Program& p, const Occupancy& r, const Edges& edges, const Costs& costs, const plan_options& s) {
    const int n = p.tasks.count;
    if (best.length < 0 || n > improved_tasks) return;
    const adjacency in = predecessors(n, {edges.begin(), edges.count});
    vec<int> order(best.order.view());
    int left = n > 0 ? improvement_budget / n : 0;
    for (int from = 1; from < n; ++from) {
        bool beside = false;  // a task on the same slot has been passed since the last try
        const int v = order[from];
        for (int to = from - 1; to >= 0 && from - to < improvement_window && left > 0; --to) {
            const int passed = order[to];
            bool depends = false;
            for (int i = in.first[v]; i < in.first[v + 1]; ++i) depends = depends || in.neighbour[i] == passed;
            if (depends) break;
            for (int i = r.participations_of[v]; i < r.participations_of[v + 1]; ++i)
                for (int j = r.participations_of[passed]; j < r.participations_of[passed + 1]; ++j) beside = beside || r.slot[i] == r.slot[j];
            if (!beside) continue;
            vec<int> tried = order;
            for (int k = from; k > to; --k) tried[k] = tried[k - 1];
            tried[to] = v;
            --left;
            Schedule other = estimate_timeline<Schedule>(p, r, costs, tried.view(), s);
            beside = false;
            if (other.length >= best.length) continue;
            best = static_cast<Schedule&&>(other);
            order = static_cast<vec<int>&&>(tried);
            break;
        }
    }
}

// Whether an overlapped schedule gains more over the sequential one than the prediction may be wrong by.
constexpr bool gains(std::int64_t overlapped, std::int64_t sequential, const plan_options& s) {
    if (!s.overlap || overlapped < 0) return false;
    // Whole thousandths first: lengths of many long tasks times 1000 do not fit in 64 bits.
    const std::int64_t margin = sequential / 1000 * s.machine.model_error + sequential % 1000 * s.machine.model_error / 1000;
    return sequential - overlapped > margin;
}

}  // namespace dovetail::pass
