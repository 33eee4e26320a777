// An order for little memory: a linear extension of the edges that is chosen greedily by the bytes that it holds, once from
// the front and once from the back. Takes a program and its edges; gives the order of the two that holds less at its most.
#pragma once

#include "../program/edges.hpp"
#include "../sync/synchronisation.hpp"

namespace dovetail::pass {

// Ready tasks that may be looked at, over all steps of an order: what bounds its cost while compiling.
struct min_memory_options {
    int looks = 4'096;
};

namespace detail {

// What an order has to hold, by tasks. A buffer that aliases another one counts as that one.
struct held_bytes {
    vec<int> first;            // those of task v stand at [first[v], first[v + 1]); only buffers that share bytes with others
    vec<int> buffer;           // ... in turn
    vec<int> touches;          // by buffer: how many tasks touch it
    vec<std::int64_t> bytes;   // by buffer
    vec<bool> output;          // by buffer: held to the end
    vec<std::int64_t> always;  // by role: states, and values of several slots
};

constexpr held_bytes held_by_tasks(const ir::program& p) {
    const int n = p.tasks.count, buffers = p.buffers.count;
    held_bytes h{vec<int>(n + 1),    vec<int>(p.accesses.count, unset{}), vec<int>(buffers), vec<std::int64_t>(buffers),
                 vec<bool>(buffers), vec<std::int64_t>(p.roles)};
    const ir::buffer* buffer = p.buffers.first;
    for (int b = 0; b < buffers; ++b) {
        const ir::storage where = buffer[b].where;
        if (buffer[b].output) h.output[ir::owner_of(p, b)] = true;
        if (buffer[b].alias >= 0) continue;
        const std::int64_t bytes = ir::aligned(buffer[b].bytes);
        if (where == ir::storage::state)
            h.always[buffer[b].role] += bytes;
        else if (where == ir::storage::arena && buffer[b].slots > 1)
            h.always[buffer[b].role] += buffer[b].slots * bytes;
        else if (where == ir::storage::arena || where == ir::storage::workspace)
            h.bytes[b] = bytes;
    }
    vec<int> seen(buffers, -1);
    int count = 0;
    for (int v = 0; v < n; ++v) {
        h.first[v] = count;
        for (const ir::participation& participation : p.participations.subspan(p.tasks[v].first_participation, p.tasks[v].participations))
            for (const ir::access& a : p.accesses.subspan(participation.first_access, participation.accesses)) {
                const int b = ir::owner_of(p, a.buffer);
                if (h.bytes[b] == 0 || seen[b] == v) continue;
                seen[b] = v;
                ++h.touches[b];
                h.buffer[count++] = b;
            }
    }
    h.first[n] = count;
    return h;
}

struct held_order {
    vec<int> order;
    std::int64_t bytes = 0;  // at the most, of the role that holds most
};

// From the front, or, where all is reversed, from the back. First of all what leaves no more bytes behind than there were
// before, of it what takes the fewest meanwhile; else what brings the most bytes to their end, or nearer to it (a value that
// several still need counts in parts). Among equals it is the written order.
constexpr held_order held_from(const ir::program& p, const held_bytes& h, span<const ir::edge> edges, bool from_the_back, const min_memory_options& s) {
    const int n = p.tasks.count;
    adjacency onwards = successors(n, edges);
    if (from_the_back) onwards = predecessors(n, edges);
    const int *first = onwards.first.begin(), *neighbour = onwards.neighbour.begin();
    const int *begin = h.first.begin(), *buffer = h.buffer.begin(), *touches = h.touches.begin();
    const std::int64_t* bytes = h.bytes.begin();
    const bool* output = h.output.begin();
    held_order result{vec<int>(n, unset{})};
    vec<int> waiting_list(n), ready_list(n, unset{}), left_list(h.touches);
    vec<std::int64_t> now_list(h.always), most_list(h.always);
    int *waiting = waiting_list.begin(), *ready = ready_list.begin(), *left = left_list.begin();  // left: tasks that have yet to touch a buffer
    std::int64_t *now = now_list.begin(), *most = most_list.begin();                              // by role
    for (int i = 0; i < edges.count; ++i) ++waiting[neighbour[i]];
    int count = 0;
    for (int k = 0; k < n; ++k) {
        const int v = from_the_back ? k : n - 1 - k;
        if (waiting[v] == 0) ready[count++] = v;
    }
    if (from_the_back)
        for (int b = 0; b < p.buffers.count; ++b)
            if (output[b] && touches[b] > 0) now[p.buffers[b].role] += bytes[b];
    const int looks = n > 0 && s.looks / n > 4 ? s.looks / n : 4;
    for (int issued = 0; count > 0; ++issued) {
        int best = -1;
        bool best_leaves = false;
        std::int64_t best_merit = 0;
        for (int k = count - 1; k >= 0 && count - k <= looks; --k) {
            const int v = ready[k];
            std::int64_t taken = 0, ended = 0, nearer = 0;
            for (int i = begin[v], end = begin[v + 1]; i < end; ++i) {
                const int b = buffer[i], others = left[b];
                const bool open = others < touches[b] || (from_the_back && output[b]);
                if (!open) taken += bytes[b];
                if (output[b] && !from_the_back) continue;
                if (others == 1)
                    ended += bytes[b];
                else if (open)
                    nearer += bytes[b] / others;
            }
            const bool leaves = taken > ended;
            const std::int64_t merit = leaves ? ended + nearer : -taken;
            const bool better = best < 0 || (leaves != best_leaves ? best_leaves
                                             : merit != best_merit ? merit > best_merit
                                                                   : (v < ready[best]) != from_the_back);
            if (!better) continue;
            best = k;
            best_leaves = leaves;
            best_merit = merit;
        }
        const int v = ready[best];
        for (--count; best < count; ++best) ready[best] = ready[best + 1];
        result.order[from_the_back ? n - 1 - issued : issued] = v;
        for (int i = begin[v], end = begin[v + 1]; i < end; ++i) {
            const int b = buffer[i], role = p.buffers[b].role;
            if (left[b] == touches[b] && !(from_the_back && output[b])) now[role] += bytes[b];
            if (now[role] > most[role]) most[role] = now[role];
        }
        for (int i = begin[v], end = begin[v + 1]; i < end; ++i) {
            const int b = buffer[i];
            if (--left[b] == 0 && (from_the_back || !output[b])) now[p.buffers[b].role] -= bytes[b];
        }
        for (int i = first[v], end = first[v + 1]; i < end; ++i)
            if (--waiting[neighbour[i]] == 0) ready[count++] = neighbour[i];
    }
    for (const std::int64_t bytes_of_role : most_list)
        if (bytes_of_role > result.bytes) result.bytes = bytes_of_role;
    return result;
}

}  // namespace detail

constexpr vec<int> min_memory_order(const ir::program& p, span<const ir::edge> edges, const min_memory_options& s = {}) {
    const detail::held_bytes h = detail::held_by_tasks(p);
    detail::held_order front = detail::held_from(p, h, edges, false, s);
    detail::held_order back = detail::held_from(p, h, edges, true, s);
    if (back.bytes < front.bytes) return static_cast<vec<int>&&>(back.order);
    return static_cast<vec<int>&&>(front.order);
}

}  // namespace dovetail::pass
