// The timeline of an order: what every lane of every role does when, if each lane takes its vertices in that order. Takes
// the durations of the vertices alone; gives their starts and ends, slowed by what runs beside them.
#pragma once

#include "../cost/machine.hpp"
#include "edges.hpp"
#include "heap.hpp"
#include "seats.hpp"

namespace dovetail::pass {

// An order with its prediction, in picoseconds from the start of the run.
struct schedule {
    vec<int> order;
    vec<unsigned char> lane;       // of each vertex
    vec<std::int64_t> start, end;  // of each vertex
    std::int64_t length = 0;       // -1: the order is no linear extension of the edges, the run would not end
    bool overlapped = false;
};

namespace detail {

// Where nothing slows anything, a vertex starts at the latest of what it waits for: one walk along the order.
constexpr schedule predict_alone(const ir::program& p, span<const ir::edge> edges, span<const std::int64_t> costs, span<const int> order, bool overlapped,
                                 const settings& s) {
    const int n = p.vertices.count;
    seats at = seats_of(p, overlapped);
    const adjacency out = successors(n, edges);
    schedule result{vec<int>(order.count), {}, vec<std::int64_t>(n), vec<std::int64_t>(n), 0, overlapped};
    vec<std::int64_t> free_list(at.slots);
    const int *seat = at.first.begin(), *slot = at.slot.begin(), *first = out.first.begin(), *to = out.neighbour.begin();
    const unsigned char* lane = at.lane.begin();
    std::int64_t *start = result.start.begin(), *end = result.end.begin();  // start: the latest known so far
    std::int64_t* free_at = free_list.begin();
    vec<unsigned char> passed_list(n);
    unsigned char* passed = passed_list.begin();
    bool extension = true;
    for (int k = 0; k < order.count; ++k) {
        const int v = order.first[k];
        passed[v] = 1;
        for (int i = seat[v]; i < seat[v + 1]; ++i)
            if (free_at[slot[i]] > start[v]) start[v] = free_at[slot[i]];
        end[v] = start[v] + costs.first[v];
        if (end[v] > result.length) result.length = end[v];
        for (int i = seat[v]; i < seat[v + 1]; ++i) free_at[slot[i]] = end[v];
        for (int i = first[v]; i < first[v + 1]; ++i) {
            const std::int64_t time = lane[to[i]] == lane[v] ? end[v] : end[v] + s.machine.edge_latency;
            if (passed[to[i]] != 0)
                extension = false;
            else if (time > start[to[i]])
                start[to[i]] = time;
        }
    }
    if (!extension || order.count != n) result.length = -1;
    copy_elements(order, result.order);
    result.lane = static_cast<vec<unsigned char>&&>(at.lane);
    return result;
}

}  // namespace detail

// `order` has every vertex once. Sequential: one lane per role, so that nothing runs beside anything on a role.
//
// Event-driven. A seat (a vertex on one role) opens when its lane reaches it and the edges into it on that role are met; the
// vertex runs once all its seats are open, and ends on all at once. A communication occupies its lane from the opening, its
// wait for the others included: its kernel holds multiprocessors while it waits.
constexpr schedule predict(const ir::program& p, span<const ir::edge> edges, span<const std::int64_t> costs, span<const int> order, bool overlapped,
                           const settings& s) {
    if (!overlapped || (s.machine.beside_communication == 1000 && s.machine.beside_copy == 1000))
        return detail::predict_alone(p, edges, costs, order, overlapped, s);
    struct slot_state {
        int next = 0, end = 0;       // of its seats in order
        bool occupied = false;       // by a communication or copy
        int running = -1;            // the vertex that computes here
        int pace = 1000;             // its time in thousandths of alone
        std::int64_t since = 0;      // when the pace was set
        std::int64_t remaining = 0;  // work left at that moment, in time alone
    };
    struct seat_state {
        std::int64_t ready = 0;  // when the met edges allow it to open
        int closed = 0;          // what is missing: the lane's arrival and edges
        int vertex = 0;
    };
    constexpr int compute = static_cast<int>(lane_kind::compute);
    constexpr int communication = static_cast<int>(lane_kind::communication);
    constexpr int copy = static_cast<int>(lane_kind::copy);

    const int n = p.vertices.count;
    seats at = seats_of(p, overlapped);
    const adjacency out = successors(n, edges);
    schedule result{vec<int>(order.count), {}, vec<std::int64_t>(n), vec<std::int64_t>(n), 0, overlapped};
    vec<seat_state> seat_list(at.slot.size());
    vec<slot_state> slot_list(at.slots);
    vec<int> line_list(at.slot.size()), closed_list(n), target_list(edges.count);
    const int *first_seat = at.first.begin(), *slot_of = at.slot.begin(), *first = out.first.begin(), *edge = out.edge.begin();
    const unsigned char* lane = at.lane.begin();
    std::int64_t *start = result.start.begin(), *end = result.end.begin();
    seat_state* seat = seat_list.begin();
    slot_state* slot = slot_list.begin();
    int* line = line_list.begin();      // seats by slot, in order
    int* closed = closed_list.begin();  // seats of a vertex that are not open; -1: it has ended
    int* target = target_list.begin();  // the seat that an edge leads to
    heap events;                        // v: vertex v ends; n + i: seat i opens
    std::int64_t now = 0;

    // Of the role whose compute slot this is, as its other lanes are: what runs there adds up.
    const auto set_pace = [&](slot_state* here) {
        if (here->running < 0) return;
        int pace = 1000;
        if (here[communication].occupied) pace += s.machine.beside_communication - 1000;
        if (here[copy].occupied) pace += s.machine.beside_copy - 1000;
        if (pace < 1) pace = 1;
        if (pace == here->pace) return;
        const std::int64_t left = here->remaining - (now - here->since) * 1000 / here->pace;
        here->remaining = left > 0 ? left : 0;
        here->since = now;
        here->pace = pace;
        end[here->running] = now + here->remaining + (here->remaining * (pace - 1000) + 999) / 1000;
        events.push(end[here->running], here->running);
    };
    const auto open = [&](int i) {
        const int v = seat[i].vertex;
        slot_state* here = slot + slot_of[i];
        if (lane[v] != compute) {
            here->occupied = true;
            set_pace(here - lane[v]);
        }
        if (--closed[v] > 0) return;
        start[v] = now;
        end[v] = now + costs.first[v];
        if (lane[v] == compute) {
            here->running = v;
            here->pace = 1000;
            here->since = now;
            here->remaining = costs.first[v];
            set_pace(here);
            if (here->pace != 1000) return;
        }
        events.push(end[v], v);
    };
    // One more of what the seat waits for has come, or will at `time`.
    const auto meet = [&](int i, std::int64_t time) {
        if (time > seat[i].ready) seat[i].ready = time;
        if (--seat[i].closed > 0) return;
        if (seat[i].ready <= now)
            open(i);
        else
            events.push(seat[i].ready, n + i);
    };

    for (int v = 0; v < n; ++v) {
        closed[v] = first_seat[v + 1] - first_seat[v];
        for (int i = first_seat[v]; i < first_seat[v + 1]; ++i) {
            seat[i] = {0, 1, v};
            ++slot[slot_of[i]].end;
        }
    }
    for (int i = 0; i < edges.count; ++i) {
        int low = first_seat[edges.first[i].to];
        if (closed[edges.first[i].to] > 1)
            for (int high = first_seat[edges.first[i].to + 1]; high - low > 1;) {
                const int middle = (low + high) / 2;
                if (slot_of[middle] / lane_count > edges.first[i].role)
                    high = middle;
                else
                    low = middle;
            }
        target[i] = low;
        ++seat[low].closed;
    }
    for (int i = 0, sum = 0; i < at.slots; ++i) slot[i].next = slot[i].end = sum += slot[i].end;
    for (int k = order.count - 1; k >= 0; --k)
        for (int v = order.first[k], i = first_seat[v]; i < first_seat[v + 1]; ++i) line[--slot[slot_of[i]].next] = i;

    for (int i = 0; i < at.slots; ++i)
        if (slot[i].next < slot[i].end) meet(line[slot[i].next++], 0);
    int ended = 0;
    while (events.count > 0) {
        const heap_item event = events.pop();
        now = event.key;
        const int v = event.id;
        if (v >= n) {
            open(v - n);
            continue;
        }
        if (closed[v] < 0 || end[v] != now) continue;  // its pace has changed since
        closed[v] = -1;
        ++ended;
        result.length = now;
        for (int i = first_seat[v]; i < first_seat[v + 1]; ++i) {
            slot_state* here = slot + slot_of[i];
            here->running = -1;
            here->occupied = false;
            if (here->next < here->end) meet(line[here->next++], now);
            if (lane[v] != compute && !here->occupied) set_pace(here - lane[v]);
        }
        for (int i = first[v]; i < first[v + 1]; ++i) meet(target[edge[i]], lane[edges.first[edge[i]].to] == lane[v] ? now : now + s.machine.edge_latency);
    }
    if (ended != n) result.length = -1;
    copy_elements(order, result.order);
    result.lane = static_cast<vec<unsigned char>&&>(at.lane);
    return result;
}

}  // namespace dovetail::pass
