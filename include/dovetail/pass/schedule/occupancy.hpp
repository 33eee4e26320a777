// The streams that each task occupies, one on each participating role, and the occupants that its outgoing edges reach. From a program
// and its edges to one table, which list scheduling and the timeline estimate read.
#pragma once

#include "../../ir/program.hpp"

namespace dovetail::pass {

// An occupant is a task on one role, where it occupies a stream. In an NCCL group a role may take part in several members of a task: it is
// one occupant all the same, so that occupants are fewer than `program.participations`.
template <class Program, class Edges>
struct basic_occupancy {
    using by_task = room<int, decltype(Program::tasks), 1>;
    using by_occupant = room<int, decltype(Program::participations)>;
    using by_edge = room<int, Edges>;

    by_task occupants_of;  // task v has the occupants [occupants_of[v], occupants_of[v + 1]), roles ascending
    by_occupant slot;      // role * stream_count + stream
    by_occupant task;      // the task of an occupant
    by_occupant incoming;  // number of edges into an occupant
    by_task first;         // the edges from task v are at [first[v], first[v + 1]) of `arrival`
    by_edge arrival;       // the occupant that an edge leads to
    int slots;

    constexpr basic_occupancy(const Program& p, const Edges& edges)
        : occupants_of(by_task::sized(p.tasks.count + 1)),
          slot(by_occupant::sized(p.participations.count)),
          task(by_occupant::sized(p.participations.count)),
          incoming(by_occupant::sized(p.participations.count)),
          first(by_task::sized(p.tasks.count + 1)),
          arrival(by_edge::sized(edges.count)),
          slots{p.roles * stream_count} {}
};
using occupancy = basic_occupancy<ir::program, span<const ir::edge>>;

namespace detail {

// Lists the occupants of all tasks: one for each participating role.
template <class Program, class Edges>
constexpr void list_occupants(const Program& p, basic_occupancy<Program, Edges>& r) {
    const auto& participations = p.participations.first;
    int count = 0;
    for (int v = 0; v < p.tasks.count; ++v) {
        r.occupants_of.first[v] = count;
        const auto& x = p.tasks.first[v];
        for (int i = x.first_participation, end = i + x.participations, before = -1; i < end; ++i) {
            if (participations[i].role == before) continue;
            before = participations[i].role;
            r.slot.first[count] = before * stream_count + static_cast<int>(x.stream);
            r.task.first[count++] = v;
        }
    }
    r.occupants_of.first[p.tasks.count] = count;
}

// The occupant that a task is on a role, by binary search.
template <class Occupancy>
constexpr int occupant_of(const Occupancy& r, int task, int role) {
    int low = r.occupants_of.first[task], high = r.occupants_of.first[task + 1];
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (r.slot.first[middle] / stream_count > role ? high : low) = middle;
    }
    return low;
}

// Sorts the edges by the task that they start from: a counting sort.
template <class Edges, class Occupancy>
constexpr void list_edges(int tasks, const Edges& edges, Occupancy& r) {
    const auto& edge = edges.first;
    auto& first = r.first.first;
    for (int e = 0; e < edges.count; ++e) ++first[edge[e].from];
    for (int v = 0, sum = 0; v <= tasks; ++v) first[v] = sum += first[v];
    // Backwards, so that each `first` ends at the begin of its range and the sort is stable.
    for (int e = edges.count - 1; e >= 0; --e) {
        const int occupant = occupant_of(r, edge[e].to, edge[e].role);
        ++r.incoming.first[occupant];
        r.arrival.first[--first[edge[e].from]] = occupant;
    }
}

}  // namespace detail

template <class Program, class Edges>
constexpr basic_occupancy<Program, Edges> occupancy_of(const Program& p, const Edges& edges) {
    basic_occupancy<Program, Edges> r{p, edges};
    detail::list_occupants(p, r);
    detail::list_edges(p.tasks.count, edges, r);
    return r;
}

}  // namespace dovetail::pass
