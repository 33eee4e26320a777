// An order with the predicted times of its tasks, and the prediction if each role has one stream.
#pragma once

#include "../../cost/time.hpp"
#include "../../ir/program.hpp"

namespace dovetail::pass {

// An order with its prediction, in picoseconds from the start of the run.
template <class Store>
struct basic_schedule {
    typename Store::template of<int, 0> order;
    typename Store::template of<unsigned char, 1> stream;  // of each task
    typename Store::template of<std::int64_t, 2> start;    // of each task
    typename Store::template of<std::int64_t, 3> end;      // of each task
    std::int64_t length = 0;                               // -1: the order is not a linear extension of the edges; the run would not end
    bool overlapped = false;

    constexpr void resize(int tasks, int ordered) {
        order.resize(ordered);
        stream.resize(tasks);
        start.resize(tasks);
        end.resize(tasks);
    }
};
using schedule = basic_schedule<owning>;

// The timeline with one stream per role, for an order that respects the edges: no two tasks of a role are concurrent, and a task starts
// when the previous task of each of its roles has ended.
template <class Schedule = schedule, class Program, class Costs>
constexpr Schedule serial_schedule(const Program& p, const Costs& costs, span<const int> order) {
    const auto& participations = p.participations.first;
    Schedule result{};
    result.resize(p.tasks.count, order.count);
    vec<std::int64_t> free_at(p.roles);  // by role
    for (int k = 0; k < order.count; ++k) {
        const int v = order.first[k], first = p.tasks.first[v].first_participation, last = first + p.tasks.first[v].participations;
        std::int64_t start = 0;
        for (int i = first; i < last; ++i)
            if (const std::int64_t time = free_at.first[participations[i].role]; time > start) start = time;
        const std::int64_t end = start + costs.first[v].time;
        for (int i = first; i < last; ++i) free_at.first[participations[i].role] = end;
        result.order.first[k] = v;
        result.start.first[v] = start;
        result.end.first[v] = end;
    }
    for (const std::int64_t time : free_at)
        if (time > result.length) result.length = time;
    if (order.count != p.tasks.count) result.length = -1;
    return result;
}

}  // namespace dovetail::pass
