// An order that needs little memory: a linear extension of the edges, chosen greedily by the live bytes, once forwards and once backwards.
// From a program and its edges to the order with the smaller peak of the two.
#pragma once

#include "../../ir/schedule.hpp"
#include "../program/edges.hpp"

namespace dovetail::pass {

// The number of ready tasks that are examined over all steps of an order. It bounds the compile time.
struct min_memory_options {
    int looks = 4'096;
};

namespace detail {

// The buffers that tasks keep alive. A buffer that aliases another one counts as that one.
struct held_bytes {
    vec<int> first;            // the buffers of task v are at [first[v], first[v + 1]) of `buffer`; only buffers that can share bytes
    vec<int> buffer;           // by task
    vec<int> touches;          // by buffer: number of tasks that access it
    vec<std::int64_t> bytes;   // by buffer
    vec<bool> output;          // by buffer: alive to the end
    vec<std::int64_t> always;  // by role: bytes that are always alive: states, and values of several slots
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
            for (const ir::access& a : p.accesses.subspan(participation.first_access, participation.touches())) {
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
    std::int64_t bytes = 0;  // peak of live bytes, of the role with the largest peak
};

// Greedy list scheduling by live bytes, forwards, or backwards with all edges reversed. Among the ready tasks, those that do not increase
// the live bytes come first, the one that allocates least before the others. If there is none: the task that releases most bytes, where a
// value with n remaining users counts as released to 1/n. Ties are broken by the written order.
class min_memory_scheduler {
public:
    constexpr min_memory_scheduler(const ir::program& p, const held_bytes& h, span<const ir::edge> edges, bool from_the_back,
                                   const min_memory_options& s)
        : p_{p},
          h_{h},
          back_{from_the_back},
          looks_{p.tasks.count > 0 && s.looks / p.tasks.count > 4 ? s.looks / p.tasks.count : 4},
          onwards_{leading_on(p.tasks.count, edges, from_the_back)},
          missing_(p.tasks.count),
          ready_(p.tasks.count, unset{}),
          left_(h.touches),
          now_(h.always),
          most_(h.always) {}

    constexpr held_order run() {
        const int n = p_.tasks.count;
        held_order result{vec<int>(n, unset{})};
        begin();
        for (int issued = 0; ready_count_ > 0; ++issued) {
            const int v = take(choose());
            result.order.first[back_ ? n - 1 - issued : issued] = v;
            allocate(v);
            release(v);
            meet_edges(v);
        }
        for (const std::int64_t bytes : most_)
            if (bytes > result.bytes) result.bytes = bytes;
        return result;
    }

private:
    struct merit {
        bool grows = false;  // more bytes are alive after it than before
        std::int64_t bytes = 0;
    };

    static constexpr adjacency leading_on(int tasks, span<const ir::edge> edges, bool back) {
        if (back) return predecessors(tasks, edges);  // g++ 12 would read the freed arrays of a `?:`
        return successors(tasks, edges);
    }

    constexpr void begin() {
        const int n = p_.tasks.count;
        for (const int to : onwards_.neighbour) ++missing_.first[to];
        for (int k = 0; k < n; ++k)
            if (const int v = back_ ? k : n - 1 - k; missing_.first[v] == 0) ready_.first[ready_count_++] = v;
        for (int b = 0; back_ && b < p_.buffers.count; ++b)
            if (h_.output[b] && h_.touches[b] > 0) now_[p_.buffers[b].role] += h_.bytes[b];
    }

    // Whether a buffer is alive already.
    constexpr bool held(int b) const { return left_.first[b] < h_.touches.first[b] || (back_ && h_.output.first[b]); }
    // Whether it stays alive to the end of the order.
    constexpr bool held_on(int b) const { return !back_ && h_.output.first[b]; }

    // The index in `ready_` of the best of the tasks that became ready last.
    constexpr int choose() const {
        int best = ready_count_ - 1;
        merit most = merit_of(ready_.first[best]);
        for (int k = best - 1; k >= 0 && ready_count_ - k <= looks_; --k) {
            const merit other = merit_of(ready_.first[k]);
            if (!better(other, ready_.first[k], most, ready_.first[best])) continue;
            best = k;
            most = other;
        }
        return best;
    }
    constexpr merit merit_of(int v) const {
        std::int64_t taken = 0, ended = 0, nearer = 0;
        for (int i = h_.first.first[v]; i < h_.first.first[v + 1]; ++i) {
            const int b = h_.buffer.first[i], users = left_.first[b];
            const std::int64_t bytes = h_.bytes.first[b];
            const bool open = held(b);
            if (!open) taken += bytes;
            if (held_on(b)) continue;
            if (users == 1)
                ended += bytes;
            else if (open)
                nearer += bytes / users;
        }
        if (taken > ended) return {true, ended + nearer};
        return {false, -taken};
    }
    constexpr bool better(const merit& a, int v, const merit& b, int w) const {
        if (a.grows != b.grows) return b.grows;
        if (a.bytes != b.bytes) return a.bytes > b.bytes;
        return (v < w) != back_;
    }
    constexpr int take(int k) {
        const int v = ready_.first[k];
        for (--ready_count_; k < ready_count_; ++k) ready_.first[k] = ready_.first[k + 1];
        return v;
    }

    // While v runs, all buffers that it accesses are alive.
    constexpr void allocate(int v) {
        for (int i = h_.first.first[v]; i < h_.first.first[v + 1]; ++i) {
            const int b = h_.buffer.first[i], role = p_.buffers.first[b].role;
            if (!held(b)) now_.first[role] += h_.bytes.first[b];
            if (now_.first[role] > most_.first[role]) most_.first[role] = now_.first[role];
        }
    }
    constexpr void release(int v) {
        for (int i = h_.first.first[v]; i < h_.first.first[v + 1]; ++i) {
            const int b = h_.buffer.first[i];
            if (--left_.first[b] == 0 && !held_on(b)) now_.first[p_.buffers.first[b].role] -= h_.bytes.first[b];
        }
    }
    constexpr void meet_edges(int v) {
        for (int i = onwards_.first.first[v]; i < onwards_.first.first[v + 1]; ++i)
            if (const int to = onwards_.neighbour.first[i]; --missing_.first[to] == 0) ready_.first[ready_count_++] = to;
    }

    const ir::program& p_;
    const held_bytes& h_;
    bool back_;
    int looks_;          // ready tasks that are examined in one step
    adjacency onwards_;  // the edges in the direction of this order
    vec<int> missing_;   // by task: edges that are not satisfied
    vec<int> ready_;
    int ready_count_ = 0;
    vec<int> left_;           // by buffer: remaining tasks that access it
    vec<std::int64_t> now_;   // by role: live bytes
    vec<std::int64_t> most_;  // by role: peak of live bytes so far
};

}  // namespace detail

constexpr vec<int> min_memory_order(const ir::program& p, span<const ir::edge> edges, const min_memory_options& s = {}) {
    const detail::held_bytes h = detail::held_by_tasks(p);
    detail::held_order front = detail::min_memory_scheduler{p, h, edges, false, s}.run(),
                       back = detail::min_memory_scheduler{p, h, edges, true, s}.run();
    if (back.bytes < front.bytes) return static_cast<vec<int>&&>(back.order);
    return static_cast<vec<int>&&>(front.order);
}

}  // namespace dovetail::pass
