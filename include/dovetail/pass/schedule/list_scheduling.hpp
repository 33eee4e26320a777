// Linear extensions of the edges, among which the plan chooses: the written order, and list scheduling on the streams of all
// roles with critical-path priority. Every stream of every role is then the restriction of the order to it.
#pragma once

#include "../../cost/machine.hpp"
#include "../program/edges.hpp"
#include "occupancy.hpp"
#include "pairing_heap.hpp"

namespace dovetail::pass {

// The order that keeps closest to the declared one: always the smallest task of those that are ready. Shorter than the
// number of tasks where the edges have a cycle.
template <class Order = vec<int>, class Edges = span<const ir::edge>>
constexpr Order written_order(int tasks, const Edges& edges) {
    auto order = Order::sized(tasks);
    auto& to = order.first;
    if (leads_forward(edges)) {
        for (int v = 0; v < tasks; ++v) to[v] = v;
        return order;
    }
    const adjacency out = successors(tasks, {edges.begin(), edges.count});
    const int *first = out.first.begin(), *neighbour = out.neighbour.begin();
    vec<int> waiting_list(tasks), key_list(tasks), child(tasks, unset{}), sibling(tasks, unset{});
    int* waiting = waiting_list.begin();
    for (const ir::edge *e = edges.begin(), *const end = edges.end(); e != end; ++e) ++waiting[e->to];
    const pairing_heap<int*, int*> by_number{key_list.first, child.first, sibling.first};
    int ready = -1, count = 0;
    for (int v = 0; v < tasks; ++v)
        if (waiting[v] == 0) ready = by_number.with(ready, v);
    while (ready >= 0) {
        const int v = ready;
        ready = by_number.without(v);
        to[count++] = v;
        for (int i = first[v]; i < first[v + 1]; ++i)
            if (--waiting[neighbour[i]] == 0) ready = by_number.with(ready, neighbour[i]);
    }
    order.resize(count);
    return order;
}

// The longest way, in time, from the start of a task to the end of the run, on all roles together.
template <class Program, class Occupancy, class Costs>
constexpr auto priorities(const Program& p, const Occupancy& r, const Costs& costs, span<const int> topological, const plan_options& s) {
    const auto& first = r.first.first;
    const auto& task = r.task.first;
    const auto& arrival = r.arrival.first;
    const auto& tasks = p.tasks.first;
    const auto& cost = costs.first;
    const std::int64_t latency = s.machine.edge_latency;
    auto list = room<std::int64_t, decltype(p.tasks)>::sized(p.tasks.count);
    auto& longest = list.first;
    // Declared once, see timeline_estimate.hpp.
    int v = 0, i = 0, end = 0, to = 0;
    std::int64_t behind = 0, way = 0;
    stream_kind stream{};
    for (int k = topological.count - 1; k >= 0; --k) {
        v = topological.first[k];
        stream = tasks[v].stream;
        behind = 0;
        for (i = first[v], end = first[v + 1]; i < end; ++i) {
            to = task[arrival[i]];
            way = longest[to];
            if (tasks[to].stream != stream) way += latency;
            if (way > behind) behind = way;
        }
        longest[v] = behind + cost[v];
    }
    return list;
}

// List scheduling on the streams of all roles: whatever can start earliest, then communication before copies before compute (a
// kernel that fills the device would let none start beside it), then the higher priority, then the smaller task. A task
// shared by roles takes its stream on all of them at once.
//
// A task without open edges waits in the queue of a slot that is busy, of the one that is so longest; where all its slots
// are free it is among those that may start on its stream. A queue gives one task whenever its slot is free and the last one
// that it gave had to wait for another slot.
template <class Program, class Occupancy, class Costs, class Priorities>
constexpr auto list_order(const Program& p, const Occupancy& r, const Costs& costs, const Priorities& priorities, const plan_options& s) {
    constexpr int compute = static_cast<int>(stream_kind::compute);
    constexpr int communication = static_cast<int>(stream_kind::communication);
    constexpr int copy = static_cast<int>(stream_kind::copy);

    const int n = p.tasks.count, slots = r.slots;
    const auto &participations_of = r.participations_of.first, &first = r.first.first;
    const auto &slot = r.slot.first, &task = r.task.first, &incoming = r.incoming.first;
    const auto& arrival = r.arrival.first;
    const auto& cost = costs.first;
    const auto& priority = priorities.first;
    const std::int64_t latency = s.machine.edge_latency;
    using numbers = room<int, decltype(p.tasks)>;
    using times = room<std::int64_t, decltype(p.tasks)>;
    auto order = numbers::sized(n), waiting_room = numbers::sized(n), freed_room = numbers::sized(n), child = numbers::sized(n), sibling = numbers::sized(n);
    auto key_room = times::sized(n), ready_room = times::sized(n);
    vec<int> queue_list(slots, -1);
    vec<std::int64_t> until_list(slots, -1);
    auto& issued = order.first;
    auto& waiting = waiting_room.first;        // edges not yet met
    auto& freed = freed_room.first;            // those that have to look for a place, the last one first
    auto& ready = ready_room.first;            // when the met edges allow a start
    std::int64_t* until = until_list.begin();  // by slot: when it becomes free; -1: it is
    int* queue = queue_list.begin();           // by slot
    auto& key = key_room.first;
    auto& below = child.first;  // in the heap
    const pairing_heap<std::remove_reference_t<decltype(key)>, std::remove_reference_t<decltype(below)>> all{key, below, sibling.first};
    // A heap with one task at most, as most are, is seen to here, without a call: that is one to two hundredths of all that clang
    // needs for a graph of a thousand operations.
    int may_start[stream_count] = {-1, -1, -1};  // by stream; here and in the queues the key is the order of the start
    int running = -1, later = -1;                // by their ends, and by when they become ready
    int count = 0, homeless = 0;
    std::int64_t now = 0;

    // Of the task at hand; declared once, see timeline_estimate.hpp.
    int v = 0, i = 0, end = 0, here = 0, head = 0, stream = 0, participation = 0, to = 0;
    std::int64_t time = 0;
    for (; v < n; ++v) {
        to = 0;
        for (end = participations_of[v + 1]; i < end; ++i) to += incoming[i];
        waiting[v] = to;
        if (to == 0) freed[homeless++] = v;
    }
    for (;;) {
        while (homeless > 0) {
            v = freed[--homeless];
            i = participations_of[v];
            end = participations_of[v + 1];
            for (here = slot[i++]; i < end; ++i)
                if (until[slot[i]] > until[here]) here = slot[i];
            stream = here % stream_count;
            key[v] = -priority[v];
            if (until[here] < 0) {
                below[v] = -1;
                may_start[stream] = may_start[stream] < 0 ? v : all.both(may_start[stream], v);
                continue;
            }
            below[v] = -1;
            queue[here] = queue[here] < 0 ? v : all.both(queue[here], v);
            for (i = participations_of[v]; i < end; ++i) {
                here = slot[i];
                head = queue[here];
                if (until[here] >= 0 || head < 0) continue;
                queue[here] = below[head] < 0 ? -1 : all.without(head);
                freed[homeless++] = head;
            }
        }
        stream = may_start[communication] >= 0 ? communication : may_start[copy] >= 0 ? copy : compute;
        v = may_start[stream];
        if (v >= 0) {
            may_start[stream] = below[v] < 0 ? -1 : all.without(v);
            end = participations_of[v + 1];
            for (i = participations_of[v]; i < end && until[slot[i]] < 0;) ++i;
            if (i < end) {  // one of its slots is busy
                freed[homeless++] = v;
                continue;
            }
            time = now + cost[v];
            for (i = participations_of[v]; i < end; ++i) until[slot[i]] = time;
            issued[count++] = v;
            key[v] = time;
            below[v] = -1;
            running = running < 0 ? v : all.both(running, v);
            continue;
        }
        if (running < 0 && later < 0) break;
        now = running < 0 || (later >= 0 && key[later] < key[running]) ? key[later] : key[running];
        while (running >= 0 && key[running] == now) {
            v = running;
            running = below[v] < 0 ? -1 : all.without(v);
            stream = slot[participations_of[v]] % stream_count;
            for (i = participations_of[v], end = participations_of[v + 1]; i < end; ++i) {
                here = slot[i];
                head = queue[here];
                until[here] = -1;
                if (head < 0) continue;
                queue[here] = below[head] < 0 ? -1 : all.without(head);
                freed[homeless++] = head;
            }
            for (i = first[v], end = first[v + 1]; i < end; ++i) {
                participation = arrival[i];
                to = task[participation];
                time = slot[participation] % stream_count == stream ? now : now + latency;
                if (time < ready[to]) time = ready[to];
                if (--waiting[to] > 0) {
                    ready[to] = time;
                } else if (time <= now) {
                    freed[homeless++] = to;
                } else {
                    key[to] = time;
                    below[to] = -1;
                    later = later < 0 ? to : all.both(later, to);
                }
            }
        }
        while (later >= 0 && key[later] == now) {
            v = later;
            later = below[v] < 0 ? -1 : all.without(v);
            freed[homeless++] = v;
        }
    }
    order.resize(count);
    return order;
}

}  // namespace dovetail::pass
