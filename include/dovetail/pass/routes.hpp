// Where vertices run and what their edges reach: the lanes that each vertex occupies, one on each role that takes part, and
// its edges onwards. Takes a program and its edges; gives one table that all who look for an overlapped schedule read.
#pragma once

#include "../ir/program.hpp"

namespace dovetail::pass {

struct routes {
    vec<int> seats;     // those of vertex v stand at [seats[v], seats[v + 1]), roles ascending
    vec<int> slot;      // of a seat: role * lane_count + lane
    vec<int> vertex;    // of a seat
    vec<int> incoming;  // edges into a seat
    vec<int> first;     // the edges from vertex v stand at [first[v], first[v + 1])
    vec<int> arrival;   // the seat into which an edge leads
    int slots = 0;
};

constexpr routes routes_of(const ir::program& p, span<const ir::edge> edges) {
    const int n = p.vertices.count, most = p.parts.count;
    routes r{vec<int>(n + 1, unset{}), vec<int>(most, unset{}),        vec<int>(most, unset{}), vec<int>(most),
             vec<int>(n + 1),          vec<int>(edges.count, unset{}), p.roles * lane_count};
    int *seats = r.seats.begin(), *slot = r.slot.begin(), *vertex = r.vertex.begin(), *incoming = r.incoming.begin();
    int *first = r.first.begin(), *arrival = r.arrival.begin();
    const ir::vertex* vertices = p.vertices.first;
    const ir::part* parts = p.parts.first;
    int count = 0;
    for (int v = 0; v < n; ++v) {
        seats[v] = count;
        const int lane = static_cast<int>(vertices[v].lane);
        for (int i = vertices[v].first_part, end = i + vertices[v].parts, before = -1; i < end; ++i) {
            const int role = parts[i].role;
            if (role == before) continue;
            before = role;
            slot[count] = role * lane_count + lane;
            vertex[count++] = v;
        }
    }
    seats[n] = count;
    const bool one_each = count == n;

    for (const ir::edge *e = edges.begin(), *end = edges.end(); e != end; ++e) ++first[e->from];
    for (int v = 0, sum = 0; v <= n; ++v) first[v] = sum += first[v];
    // From the back, so that every start ends where it belongs and edges keep their order.
    for (const ir::edge *e = edges.end(), *begin = edges.begin(); e != begin;) {
        int low = (--e)->to;
        if (!one_each) {
            const int role = e->role;
            int high = seats[low + 1];
            for (low = seats[low]; high - low > 1;) {
                const int middle = (low + high) / 2;
                if (slot[middle] / lane_count > role)
                    high = middle;
                else
                    low = middle;
            }
        }
        ++incoming[low];
        arrival[--first[e->from]] = low;
    }
    return r;
}

}  // namespace dovetail::pass
