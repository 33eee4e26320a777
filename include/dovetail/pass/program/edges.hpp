// The dependencies within a run: what must start after what because both touch the same buffer of one role. `edges` finds
// them, `adjacency` lists them by task, `find_cycle` names the tasks of a cycle among them.
#pragma once

#include "../../ir/program.hpp"
#include "../schedule/pairing_heap.hpp"

namespace dovetail::pass {

// Edges by one of their ends: those of task v stand at [first[v], first[v + 1]).
struct adjacency {
    vec<int> first;
    vec<int> edge;       // index of the edge
    vec<int> neighbour;  // the task at its other end
};

namespace detail {
template <int ir::edge::* Near, int ir::edge::* Far>
constexpr adjacency adjacent(int tasks, span<const ir::edge> list) {
    adjacency a{vec<int>(tasks + 1), vec<int>(list.count), vec<int>(list.count)};
    int* first = a.first.begin();
    int* edge = a.edge.begin();
    int* neighbour = a.neighbour.begin();
    for (int i = 0; i < list.count; ++i) ++first[list.first[i].*Near];
    for (int v = 0, sum = 0; v <= tasks; ++v) first[v] = sum += first[v];
    // From the back, so that every start ends where it belongs and edges keep their order.
    for (int i = list.count - 1; i >= 0; --i) {
        const int at = --first[list.first[i].*Near];
        edge[at] = i;
        neighbour[at] = list.first[i].*Far;
    }
    return a;
}
}  // namespace detail

constexpr adjacency successors(int tasks, span<const ir::edge> list) { return detail::adjacent<&ir::edge::from, &ir::edge::to>(tasks, list); }
constexpr adjacency predecessors(int tasks, span<const ir::edge> list) { return detail::adjacent<&ir::edge::to, &ir::edge::from>(tasks, list); }

namespace detail {

// The parts in written order, by the node of their member. The transfer of a state has no node of its own: it reads the
// state where the first reader of what it brings is written.
template <class Program, class Owner>
constexpr vec<int> participations_as_written(const Program& p, const Owner& owner) {
    const auto& task_of = owner.first;
    const auto& participations = p.participations.first;
    const auto& accesses = p.accesses.first;
    vec<int> reader_list(p.buffers.size(), -1), place_list(p.participations.size());
    int *reader = reader_list.begin(), *place = place_list.begin();
    int last = 0;
    for (int i = 0; i < p.participations.count; ++i) {
        const int node = place[i] = p.members.first[participations[i].member].node;
        if (node > last) last = node;
        if (node >= 0)
            for (int a = participations[i].first_access; a < participations[i].first_access + participations[i].accesses; ++a) {
                int& first = reader[accesses[a].buffer];
                if (accesses[a].mode != access_mode::write && (first < 0 || node < first)) first = node;
            }
    }
    for (int i = 0; i < p.participations.count; ++i) {
        if (place[i] >= 0) continue;
        const ir::task& v = p.tasks.first[task_of[i]];
        for (int other = v.first_participation; other < v.first_participation + v.participations; ++other)
            for (int a = participations[other].first_access; a < participations[other].first_access + participations[other].accesses; ++a)
                if (participations[other].member == participations[i].member && accesses[a].mode != access_mode::read && reader[accesses[a].buffer] > place[i])
                    place[i] = reader[accesses[a].buffer];
    }
    vec<int> start(last + 3), sorted(p.participations.size());
    int* next = start.begin();
    int* to = sorted.begin();
    for (int i = 0; i < p.participations.count; ++i) ++next[place[i] + 2];
    for (int i = 1; i < last + 3; ++i) next[i] += next[i - 1];
    for (int i = 0; i < p.participations.count; ++i) to[next[place[i] + 1]++] = i;
    return sorted;
}

template <class Program>
constexpr bool has_states(const Program& p) {
    const auto& buffers = p.buffers.first;
    for (int b = 0; b < p.buffers.count; ++b)
        if (buffers[b].where == ir::storage::state) return true;
    return false;
}

}  // namespace detail

// One edge for each pair of tasks that conflict over a buffer and are not ordered by others over the same buffer. Writes
// them to `list`, which has room for most_edges(p), and gives their number.
template <class Program, class List>
constexpr int edges(const Program& p, List& list) {
    const auto& buffers = p.buffers.first;
    const auto& accesses = p.accesses.first;
    const auto& participations = p.participations.first;

    // The touches of each buffer, states in written order.
    const auto& tasks = p.tasks.first;
    auto first_room = room<int, decltype(p.buffers), 1>::sized(p.buffers.count + 1);
    auto owner = room<int, decltype(p.participations)>::sized(p.participations.count);
    auto& first = first_room.first;
    auto& task_of = owner.first;
    const bool states = detail::has_states(p);
    bool as_written = true;
    // Of the task, part, access or buffer at hand; declared once, see timeline_estimate.hpp.
    int v = 0, i = 0, end = 0, a = 0, last = 0, at = 0, begin = 0, role = 0;
    bool state = false;
    for (; a < p.accesses.count; ++a) ++first[accesses[a].buffer];
    for (int node = -1; v < p.tasks.count; ++v)
        for (i = tasks[v].first_participation, end = i + tasks[v].participations; i < end; ++i) {
            task_of[i] = v;
            if (!states) continue;
            state = false;
            for (a = participations[i].first_access, last = a + participations[i].accesses; a < last; ++a)
                state = state || buffers[accesses[a].buffer].where == ir::storage::state;
            if (!state) continue;
            at = p.members.first[participations[i].member].node;
            if (at < node || at < 0) as_written = false;
            node = at;
        }
    for (int b = 0, sum = 0; b <= p.buffers.count; ++b) first[b] = sum += first[b];
    auto task_room = room<int, decltype(p.accesses)>::sized(p.accesses.count);
    auto mode_room = room<access_mode, decltype(p.accesses)>::sized(p.accesses.count);
    auto& task = task_room.first;
    auto& mode = mode_room.first;
    vec<int> sorted;
    if (!as_written) sorted = detail::participations_as_written(p, owner);
    for (int k = p.participations.count - 1; k >= 0; --k) {
        i = as_written ? k : sorted[k];
        v = task_of[i];
        for (begin = participations[i].first_access, a = begin + participations[i].accesses - 1; a >= begin; --a) {
            at = --first[accesses[a].buffer];
            task[at] = v;
            mode[at] = accesses[a].mode;
        }
    }

    int count = 0, definition = 0, alias_task = 0, aliased = 0;
    ir::storage where{};
    for (int b = 0; b < p.buffers.count; ++b) {
        begin = first[b];
        end = first[b + 1];
        role = buffers[b].role;
        where = buffers[b].where;
        if (where == ir::storage::constant || where == ir::storage::workspace) continue;
        if (where == ir::storage::state) {
            int writer = -1, read = begin;  // reads since the last write stand at [read, i)
            for (i = begin; i < end; ++i) {
                v = task[i];
                if (reads(mode[i]) && writer >= 0 && writer != v) list[count++] = {writer, v, role, b, ir::edge_kind::flow};
                if (!writes(mode[i])) continue;
                bool alone = true;
                for (int from = -1; read < i; ++read) {
                    if (task[read] == from || task[read] == v || task[read] == writer) continue;
                    from = task[read];
                    list[count++] = {from, v, role, b, ir::edge_kind::anti};
                    alone = false;
                }
                if (alone && mode[i] == access_mode::write && writer >= 0 && writer != v) list[count++] = {writer, v, role, b, ir::edge_kind::output};
                writer = v;
                read = i + 1;
            }
            continue;
        }
        definition = begin;
        while (definition < end && mode[definition] == access_mode::read) ++definition;
        if (definition == end) continue;
        alias_task = task[definition];
        last = -1;
        for (i = begin; i < end; ++i) {
            v = task[i];
            if (i == definition || v == last) continue;
            last = v;
            list[count++] = {alias_task, v, role, b, ir::edge_kind::flow};
        }
        // Whoever else reads the bytes that this value re-uses has to be done.
        aliased = buffers[b].alias;
        if (aliased < 0) continue;
        last = alias_task;
        for (i = first[aliased], end = first[aliased + 1]; i < end; ++i) {
            v = task[i];
            if (v == last || v == alias_task || mode[i] != access_mode::read) continue;
            last = v;
            list[count++] = {last, alias_task, role, aliased, ir::edge_kind::anti};
        }
    }
    return count;
}

// Whether every edge leads from a task to one behind it, as it mostly does: the tasks' own order is then one that respects them.
template <class Edges>
constexpr bool leads_forward(const Edges& edges) {
    for (const ir::edge *e = edges.begin(), *const end = edges.end(); e != end; ++e)
        if (e->from >= e->to) return false;
    return true;
}

// An access gives at most one edge to or from the definition of a value, or two of a state's. The definition itself gives none,
// which leaves room for the edge of an in-place result, from whoever else read the bytes that it re-uses.
template <class Program>
constexpr int most_edges(const Program& p) {
    return detail::has_states(p) ? 2 * p.accesses.count : p.accesses.count;
}

template <class Program>
constexpr vec<ir::edge> edges(const Program& p) {
    vec<ir::edge> list(most_edges(p), unset{});
    list.resize(edges(p, list.first));
    return list;
}

// The tasks of one cycle in the order of its edges, the smallest id first; empty where there is none.
constexpr vec<int> find_cycle(int tasks, span<const ir::edge> list) {
    const adjacency out = successors(tasks, list), in = predecessors(tasks, list);
    vec<int> waiting(tasks), done;
    done.reserve(tasks);
    for (int v = 0; v < tasks; ++v) {
        waiting[v] = in.first[v + 1] - in.first[v];
        if (waiting[v] == 0) done.push(v);
    }
    for (int k = 0; k < done.size(); ++k)
        for (int i = out.first[done[k]]; i < out.first[done[k] + 1]; ++i)
            if (--waiting[out.neighbour[i]] == 0) done.push(out.neighbour[i]);
    vec<int> cycle;
    if (done.size() == tasks) return cycle;
    // Everything left waits for something that is left: going back meets a task again.
    int v = 0;
    while (waiting[v] == 0) ++v;
    vec<int> path, seen(tasks, -1);
    while (seen[v] < 0) {
        seen[v] = path.size();
        path.push(v);
        int i = in.first[v];
        while (waiting[in.neighbour[i]] == 0) ++i;
        v = in.neighbour[i];
    }
    int smallest = seen[v];
    for (int i = seen[v]; i < path.size(); ++i)
        if (path[i] < path[smallest]) smallest = i;
    for (int i = smallest; i >= seen[v]; --i) cycle.push(path[i]);
    for (int i = path.size() - 1; i > smallest; --i) cycle.push(path[i]);
    return cycle;
}

}  // namespace dovetail::pass
