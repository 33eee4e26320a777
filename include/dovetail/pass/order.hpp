// Linear extensions of the edges, among which the plan chooses: the written order, and list scheduling on the lanes of all
// roles with critical-path priority. Every lane of every role is then the restriction of the order to it.
#pragma once

#include "../cost/machine.hpp"
#include "edges.hpp"
#include "heap.hpp"
#include "seats.hpp"

namespace dovetail::pass {

// The order that keeps closest to the declared one: always the smallest vertex of those that are ready. Shorter than the
// number of vertices where the edges have a cycle.
constexpr vec<int> written_order(int vertices, span<const ir::edge> edges) {
    vec<int> order(vertices);
    bool forward = true;
    for (int i = 0; i < edges.count; ++i)
        if (edges.first[i].from >= edges.first[i].to) forward = false;
    if (forward) {
        for (int v = 0; v < vertices; ++v) order[v] = v;
        return order;
    }
    const adjacency out = successors(vertices, edges);
    const int *first = out.first.begin(), *to = out.neighbour.begin();
    vec<int> waiting_list(vertices);
    int* waiting = waiting_list.begin();
    for (int i = 0; i < edges.count; ++i) ++waiting[edges.first[i].to];
    heap ready;
    for (int v = 0; v < vertices; ++v)
        if (waiting[v] == 0) ready.push(v, v);
    order.clear();
    while (ready.count > 0) {
        const int v = ready.pop().id;
        order.push(v);
        for (int i = first[v]; i < first[v + 1]; ++i)
            if (--waiting[to[i]] == 0) ready.push(to[i], to[i]);
    }
    return order;
}

// The longest way, in time, from the start of a vertex to the end of the run, on all roles together.
constexpr vec<std::int64_t> priorities(const ir::program& p, span<const ir::edge> edges, span<const std::int64_t> costs, span<const int> topological,
                                       const settings& s) {
    const adjacency out = successors(p.vertices.size(), edges);
    const int *first = out.first.begin(), *to = out.neighbour.begin();
    const ir::vertex* vertices = p.vertices.first;
    vec<std::int64_t> list(p.vertices.size());
    std::int64_t* longest = list.begin();
    for (int k = topological.count - 1; k >= 0; --k) {
        const int v = topological.first[k];
        std::int64_t behind = 0;
        for (int i = first[v]; i < first[v + 1]; ++i) {
            const std::int64_t way = longest[to[i]] + (vertices[to[i]].lane == vertices[v].lane ? 0 : s.machine.edge_latency);
            if (way > behind) behind = way;
        }
        longest[v] = behind + costs.first[v];
    }
    return list;
}

// List scheduling on the lanes of all roles: whatever can start earliest, then the higher priority, then communication
// before compute, then the smaller vertex. A vertex shared by roles takes its lane on all of them at once.
//
// A ready vertex waits in the queue of one slot: of one that is busy if any of its slots is. A slot is looked at when it
// becomes free or, being free, gets another vertex.
constexpr vec<int> list_order(const ir::program& p, span<const ir::edge> edges, span<const std::int64_t> costs, span<const std::int64_t> priority,
                              const settings& s) {
    const int n = p.vertices.count;
    const seats at = seats_of(p, true);
    const adjacency out = successors(n, edges);
    const int *seat = at.first.begin(), *slot = at.slot.begin(), *first = out.first.begin(), *neighbour = out.neighbour.begin();
    const unsigned char* lane = at.lane.begin();
    vec<int> waiting_list(n), order(n), look_list(lane_count * at.slots);
    vec<std::int64_t> ready_list(n), key_list(n), free_list(at.slots);
    vec<unsigned char> busy_list(at.slots), listed_list(at.slots);
    vec<heap> queues(at.slots);
    int* waiting = waiting_list.begin();          // edges not yet met
    std::int64_t* ready = ready_list.begin();     // when the met ones allow a start
    std::int64_t* key = key_list.begin();         // smaller goes first
    unsigned char* busy = busy_list.begin();      // by slot
    std::int64_t* free_at = free_list.begin();    // when a busy slot becomes free
    heap* queue = queues.begin();                 // by slot
    int* look = look_list.begin();                // the slots to look at, by lane
    unsigned char* listed = listed_list.begin();  // whether a slot stands there
    int* issued = order.begin();
    int looks[lane_count] = {};
    int started = 0;
    heap events;  // v: vertex v ends; n + v: it becomes ready
    std::int64_t now = 0;

    // The slot of v that is busy longest, or its first.
    const auto slot_to_wait_in = [&](int v) {
        int wait = slot[seat[v]];
        for (int i = seat[v] + 1; i < seat[v + 1]; ++i)
            if (busy[slot[i]] != 0 && (busy[wait] == 0 || free_at[slot[i]] > free_at[wait])) wait = slot[i];
        return wait;
    };
    const auto look_at = [&](int here) {
        if (listed[here] != 0) return;
        listed[here] = 1;
        look[here % lane_count * at.slots + looks[here % lane_count]++] = here;
    };
    const auto place = [&](int v) {
        const int here = slot_to_wait_in(v);
        queue[here].push(key[v], v);
        if (busy[here] == 0) look_at(here);
    };
    const auto start_on = [&](lane_kind which) {
        int& count = looks[static_cast<int>(which)];
        int* list = look + static_cast<int>(which) * at.slots;
        while (count > 0) {
            int best = 0;  // the slot whose first vertex goes first
            for (int i = 1; i < count; ++i) {
                const heap_item &a = *queue[list[i]].at, &b = *queue[list[best]].at;
                if (a.key < b.key || (a.key == b.key && a.id < b.id)) best = i;
            }
            const int here = list[best];
            list[best] = list[--count];
            listed[here] = 0;
            if (busy[here] != 0) continue;
            const int v = queue[here].pop().id;
            const int other = slot_to_wait_in(v);
            if (busy[other] != 0) {
                queue[other].push(key[v], v);
                if (queue[here].count > 0) look_at(here);
                continue;
            }
            for (int i = seat[v]; i < seat[v + 1]; ++i) {
                busy[slot[i]] = 1;
                free_at[slot[i]] = now + costs.first[v];
            }
            issued[started++] = v;
            events.push(now + costs.first[v], v);
        }
    };

    for (int i = 0; i < edges.count; ++i) ++waiting[edges.first[i].to];
    for (int v = 0; v < n; ++v) {
        key[v] = -2 * priority.first[v] + (lane[v] == static_cast<unsigned char>(lane_kind::communication) ? 0 : 1);
        if (waiting[v] == 0) place(v);
    }
    for (;;) {
        // Communication is issued first: a kernel that fills the device would let none start beside it.
        if (looks[static_cast<int>(lane_kind::communication)] > 0) start_on(lane_kind::communication);
        if (looks[static_cast<int>(lane_kind::copy)] > 0) start_on(lane_kind::copy);
        if (looks[static_cast<int>(lane_kind::compute)] > 0) start_on(lane_kind::compute);
        if (events.count == 0) break;
        now = events.at[0].key;
        while (events.count > 0 && events.at[0].key == now) {
            const int v = events.pop().id;
            if (v >= n) {
                place(v - n);
                continue;
            }
            for (int i = seat[v]; i < seat[v + 1]; ++i) {
                busy[slot[i]] = 0;
                if (queue[slot[i]].count > 0) look_at(slot[i]);
            }
            for (int i = first[v]; i < first[v + 1]; ++i) {
                const int to = neighbour[i];
                const std::int64_t time = lane[to] == lane[v] ? now : now + s.machine.edge_latency;
                if (time > ready[to]) ready[to] = time;
                if (--waiting[to] > 0) continue;
                if (ready[to] <= now)
                    place(to);
                else
                    events.push(ready[to], n + to);
            }
        }
    }
    order.resize(started);
    return order;
}

}  // namespace dovetail::pass
