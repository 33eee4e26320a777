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

namespace detail {

// How many leaves all accesses cover together.
template <class Program>
constexpr int count_touches(const Program& p) {
    if (!ir::has_parts(p)) return p.accesses.count;
    int touches = 0;
    for (const ir::access *a = p.accesses.begin(), *end = a + p.accesses.count; a != end; ++a) touches += a->leaves;
    return touches;
}

// Who touches each leaf and how, in the order of the parts, those of states in written order: those of leaf l stand at
// [first[l], first[l + 1]).
template <class Program>
struct leaf_touches {
    room<int, decltype(Program::leaves), 1> first;
    vec<int> task;
    vec<access_mode> mode;

    constexpr leaf_touches(const Program& p, bool states, int touches)
        : first(decltype(first)::sized(p.leaves.count + 1)), task(touches, unset{}), mode(touches, unset{}) {
        count(p);
        auto task_of = room<int, decltype(p.participations)>::sized(p.participations.count);
        const bool as_written = own_participations(p, states, task_of);
        vec<int> sorted;
        if (!as_written) sorted = participations_as_written(p, task_of);
        fill(p, task_of, as_written ? nullptr : sorted.begin());
    }

private:
    // Where the touches of each leaf end.
    constexpr void count(const Program& p) {
        auto& end = first.first;
        const auto& accesses = p.accesses.first;
        for (int a = 0, l = 0, last = 0; a < p.accesses.count; ++a)
            for (l = accesses[a].leaf, last = l + accesses[a].leaves; l < last; ++l) ++end[l];
        for (int l = 0, sum = 0; l <= p.leaves.count; ++l) end[l] = sum += end[l];
    }
    // The task of each part. Returns whether the parts that touch states stand in written order.
    constexpr bool own_participations(const Program& p, bool states, auto& task_of) {
        const auto& tasks = p.tasks.first;
        const auto& participations = p.participations.first;
        bool as_written = true;
        // Declared once, see timeline_estimate.hpp.
        int i = 0, end = 0, at = 0, node = -1;
        for (int v = 0; v < p.tasks.count; ++v)
            for (i = tasks[v].first_participation, end = i + tasks[v].participations; i < end; ++i) {
                task_of.first[i] = v;
                if (!states || !touches_state(p, participations[i])) continue;
                at = p.members.first[participations[i].member].node;
                if (at < node || at < 0) as_written = false;
                node = at;
            }
        return as_written;
    }
    static constexpr bool touches_state(const Program& p, const ir::participation& participation) {
        for (int a = participation.first_access, last = a + participation.accesses; a < last; ++a)
            if (p.buffers.first[p.accesses.first[a].buffer].where == ir::storage::state) return true;
        return false;
    }
    // From the back, so that every start ends where it belongs. `sorted`: the parts in written order; null: as they are.
    constexpr void fill(const Program& p, const auto& task_of, const int* sorted) {
        auto& start = first.first;
        const auto& accesses = p.accesses.first;
        const auto& participations = p.participations.first;
        int* const to = task.first;
        access_mode* const how = mode.first;
        // Declared once, see timeline_estimate.hpp.
        int i = 0, v = 0, begin = 0, a = 0, l = 0, at = 0;
        for (int k = p.participations.count - 1; k >= 0; --k) {
            i = sorted == nullptr ? k : sorted[k];
            v = task_of.first[i];
            for (begin = participations[i].first_access, a = begin + participations[i].accesses - 1; a >= begin; --a)
                for (l = accesses[a].leaf + accesses[a].leaves; l-- > accesses[a].leaf;) {
                    at = --start[l];
                    to[at] = v;
                    how[at] = accesses[a].mode;
                }
        }
    }
};

// Writes the edges of one leaf after the other.
template <class Program, class List>
class edge_list {
public:
    int count = 0;

    constexpr edge_list(const leaf_touches<Program>& of, List& list) : list_{list}, first_{of.first.first}, task_{of.task.first}, mode_{of.mode.first} {}

    // A value follows its definition, and the definition whoever else reads the bytes that it re-uses: the leaf `taken`, or -1.
    constexpr void add_value(int leaf, int aliased, int buffer, const ir::buffer& x) {
        const int begin = first_[leaf], end = first_[leaf + 1];
        int definition = begin;
        while (definition < end && mode_[definition] == access_mode::read) ++definition;
        if (definition == end) return;
        const int writer = task_[definition];
        int last = -1, v = 0;
        for (int i = begin; i < end; ++i) {
            v = task_[i];
            if (i == definition || v == last) continue;
            last = v;
            list_[count++] = {writer, v, x.role, buffer, ir::edge_kind::flow};
        }
        if (aliased < 0) return;
        last = writer;
        for (int i = first_[aliased], stop = first_[aliased + 1]; i < stop; ++i) {
            v = task_[i];
            if (v == last || v == writer || mode_[i] != access_mode::read) continue;
            last = v;
            list_[count++] = {last, writer, x.role, x.alias, ir::edge_kind::anti};
        }
    }

    // Reads follow the update above them, an update the reads since the one before, or that one.
    constexpr void add_state(int leaf, int buffer, int role) {
        int writer = -1, read = first_[leaf];  // reads since the last write stand at [read, i)
        for (int i = read, end = first_[leaf + 1]; i < end; ++i) {
            const int v = task_[i];
            if (reads(mode_[i]) && writer >= 0 && writer != v) list_[count++] = {writer, v, role, buffer, ir::edge_kind::flow};
            if (!writes(mode_[i])) continue;
            bool alone = true;
            for (int from = -1; read < i; ++read) {
                if (task_[read] == from || task_[read] == v || task_[read] == writer) continue;
                from = task_[read];
                list_[count++] = {from, v, role, buffer, ir::edge_kind::anti};
                alone = false;
            }
            if (alone && mode_[i] == access_mode::write && writer >= 0 && writer != v) list_[count++] = {writer, v, role, buffer, ir::edge_kind::output};
            writer = v;
            read = i + 1;
        }
    }

    // Of the edges from `begin` on, all of one buffer, those that several leaves have.
    constexpr void drop_repeated(int begin) {
        int kept = begin;
        for (int i = begin; i < count; ++i) {
            bool known = false;
            for (int k = begin; k < kept; ++k) known = known || (list_[k].from == list_[i].from && list_[k].to == list_[i].to);
            if (!known) list_[kept++] = list_[i];
        }
        count = kept;
    }

private:
    List& list_;
    const decltype(leaf_touches<Program>::first.first)& first_;
    const int* task_;
    const access_mode* mode_;
};

}  // namespace detail

// One edge for each pair of tasks that conflict over a leaf and are not ordered by others over the same leaf. Writes them to `list`,
// which has room for most_edges(p), and gives their number.
template <class Program, class List>
constexpr int edges(const Program& p, List& list) {
    const auto& buffers = p.buffers.first;
    const detail::leaf_touches<Program> touches{p, detail::has_states(p), detail::count_touches(p)};
    detail::edge_list<Program, List> made{touches, list};
    // Of the buffer at hand; declared once, see timeline_estimate.hpp.
    int first = 0, leaf = 0, end = 0, aliased = 0, before = 0;
    ir::storage where{};
    for (int b = 0; b < p.buffers.count; ++b) {
        where = buffers[b].where;
        if (where == ir::storage::constant || where == ir::storage::workspace) continue;
        first = leaf = buffers[b].first_leaf;
        // In-place results are cut where the value is whose bytes they take over.
        aliased = buffers[b].alias < 0 ? -1 : buffers[buffers[b].alias].first_leaf;
        before = made.count;
        for (end = leaf + buffers[b].leaves; leaf < end; ++leaf)
            if (where == ir::storage::state)
                made.add_state(leaf, b, buffers[b].role);
            else
                made.add_value(leaf, aliased < 0 ? -1 : aliased + leaf - first, b, buffers[b]);
        if (buffers[b].leaves > 1) made.drop_repeated(before);
    }
    return made.count;
}

// Whether every edge leads from a task to one behind it, as it mostly does: the tasks' own order is then one that respects them.
template <class Edges>
constexpr bool leads_forward(const Edges& edges) {
    for (const ir::edge *e = edges.begin(), *const end = edges.end(); e != end; ++e)
        if (e->from >= e->to) return false;
    return true;
}

// Touching a leaf gives at most one edge to or from the definition of a value, or two of a state's. The definition itself gives none,
// which leaves room for the edge of an in-place result, from whoever else read the bytes that it re-uses.
template <class Program>
constexpr int most_edges(const Program& p) {
    return (detail::has_states(p) ? 2 : 1) * detail::count_touches(p);
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
