// The dependencies within a run: what must start after what because both touch the same buffer of one role. `edges` finds
// them, `adjacency` lists them by task, `find_cycle` names the tasks of a cycle among them.
#pragma once

#include "../../core/hasher.hpp"
#include "touches.hpp"

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

constexpr adjacency successors(int tasks, span<const ir::edge> list) {
    return detail::adjacent<&ir::edge::from, &ir::edge::to>(tasks, list);
}
constexpr adjacency predecessors(int tasks, span<const ir::edge> list) {
    return detail::adjacent<&ir::edge::to, &ir::edge::from>(tasks, list);
}

namespace detail {

// A set of edges of a list, found by their ends. Open addressing: at each place the index of an edge, one more, or 0.
template <class List>
class edge_set {
public:
    constexpr edge_set(const List& list, int capacity) : list_{list} {
        int size = 8;
        while (size < 2 * capacity) size *= 2;
        mask_ = static_cast<unsigned>(size - 1);
        places_ = vec<int>(size);
    }

    // Enters an edge, which is to stand at `id`, unless another one has its ends; returns whether none has.
    constexpr bool insert(const ir::edge& e, int id) {
        dovetail::detail::hasher hash;
        hash.all(e.from, e.to);
        for (unsigned i = static_cast<unsigned>(hash.h);; ++i) {
            int& place = places_[static_cast<int>(i & mask_)];
            if (place == 0) {
                place = id + 1;
                return true;
            }
            if (list_[place - 1].from == e.from && list_[place - 1].to == e.to) return false;
        }
    }

private:
    const List& list_;
    unsigned mask_ = 0;
    vec<int> places_;
};

// Writes the edges of one leaf after the other.
template <class Program, class List>
class edge_list {
public:
    int count = 0;

    constexpr edge_list(const leaf_touches<Program>& of, List& list)
        : list_{list}, first_{of.first.first}, task_{of.task.first}, mode_{of.mode.first} {}

    // The edges of a value: from its definition to its readers; if it re-uses the bytes of the leaf `aliased` (else -1), also from the
    // other readers of that leaf to the definition.
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
            if (alone && mode_[i] == access_mode::write && writer >= 0 && writer != v)
                list_[count++] = {writer, v, role, buffer, ir::edge_kind::output};
            writer = v;
            read = i + 1;
        }
    }

    // Of the edges from `begin` on, all of one buffer, those that several leaves have.
    constexpr void drop_repeated(int begin) {
        edge_set<List> known{list_, count - begin};
        int kept = begin;
        for (int i = begin; i < count; ++i)
            if (known.insert(list_[i], kept)) list_[kept++] = list_[i];
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
// which has room for most_edges(p), and returns their number.
template <class Program, class List>
constexpr int edges(const Program& p, List& list) {
    const auto& buffers = p.buffers.first;
    const detail::leaf_touches<Program> touches{p, detail::has_states(p), detail::count_touches(p)};
    detail::edge_list<Program, List> made{touches, list};
    // Of the buffer at hand; declared once, see plan/compile/README.md.
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

// Each access to a leaf makes at most one edge to or from the definition of a value, or two for a state. The definition itself makes none,
// which leaves room for the edge of an in-place result from another reader of the bytes that it re-uses.
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
