// Where tasks run and what their edges reach: the streams that each task occupies, one on each role that takes part, and
// its edges onwards. Takes a program and its edges; gives one table that all who look for an overlapped schedule read.
#pragma once

#include "../../ir/program.hpp"

namespace dovetail::pass {

template <class Program, class Edges>
struct basic_occupancy {
    using by_task = room<int, decltype(Program::tasks), 1>;
    using by_participation = room<int, decltype(Program::participations)>;
    using by_edge = room<int, Edges>;

    by_task participations_of;  // those of task v stand at [participations[v], participations[v + 1]), roles ascending
    by_participation slot;      // of a participation: role * stream_count + stream
    by_participation task;      // of a participation
    by_participation incoming;  // edges into a participation
    by_task first;              // the edges from task v stand at [first[v], first[v + 1])
    by_edge arrival;            // the participation into which an edge leads
    int slots;

    constexpr basic_occupancy(const Program& p, const Edges& edges)
        : participations_of(by_task::sized(p.tasks.count + 1)),
          slot(by_participation::sized(p.participations.count)),
          task(by_participation::sized(p.participations.count)),
          incoming(by_participation::sized(p.participations.count)),
          first(by_task::sized(p.tasks.count + 1)),
          arrival(by_edge::sized(edges.count)),
          slots{p.roles * stream_count} {}
};
using occupancy = basic_occupancy<ir::program, span<const ir::edge>>;

template <class Program, class Edges>
constexpr basic_occupancy<Program, Edges> occupancy_of(const Program& p, const Edges& edges) {
    const int n = p.tasks.count;
    basic_occupancy<Program, Edges> r{p, edges};
    auto &participations_of = r.participations_of.first, &first = r.first.first;
    auto &slot = r.slot.first, &task = r.task.first, &incoming = r.incoming.first;
    auto& arrival = r.arrival.first;
    const auto& tasks = p.tasks.first;
    const auto& participations = p.participations.first;
    const auto& edge = edges.first;
    int count = 0, i = 0, end = 0, before = 0, role = 0, stream = 0;  // declared once, see timeline_estimate.hpp
    for (int v = 0; v < n; ++v) {
        participations_of[v] = count;
        stream = static_cast<int>(tasks[v].stream);
        before = -1;
        for (i = tasks[v].first_participation, end = i + tasks[v].participations; i < end; ++i) {
            role = participations[i].role;
            if (role == before) continue;
            before = role;
            slot[count] = role * stream_count + stream;
            task[count++] = v;
        }
    }
    participations_of[n] = count;
    const bool one_each = count == n;

    for (int e = 0; e < edges.count; ++e) ++first[edge[e].from];
    for (int v = 0, sum = 0; v <= n; ++v) first[v] = sum += first[v];
    // From the back, so that every start ends where it belongs and edges keep their order.
    int low = 0, high = 0, middle = 0;
    for (int e = edges.count - 1; e >= 0; --e) {
        low = edge[e].to;
        if (!one_each) {
            role = edge[e].role;
            high = participations_of[low + 1];
            for (low = participations_of[low]; high - low > 1;) {
                middle = (low + high) / 2;
                if (slot[middle] / stream_count > role)
                    high = middle;
                else
                    low = middle;
            }
        }
        ++incoming[low];
        arrival[--first[edge[e].from]] = low;
    }
    return r;
}

}  // namespace dovetail::pass
