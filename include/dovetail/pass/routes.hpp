// Where vertices run and what their edges reach: the streams that each vertex occupies, one on each role that takes part, and
// its edges onwards. Takes a program and its edges; gives one table that all who look for an overlapped schedule read.
#pragma once

#include "../ir/program.hpp"

namespace dovetail::pass {

template <class Program, class Edges>
struct basic_routes {
    using by_vertex = room<int, decltype(Program::vertices), 1>;
    using by_seat = room<int, decltype(Program::parts)>;
    using by_edge = room<int, Edges>;

    by_vertex seats;   // those of vertex v stand at [seats[v], seats[v + 1]), roles ascending
    by_seat slot;      // of a seat: role * stream_count + stream
    by_seat vertex;    // of a seat
    by_seat incoming;  // edges into a seat
    by_vertex first;   // the edges from vertex v stand at [first[v], first[v + 1])
    by_edge arrival;   // the seat into which an edge leads
    int slots;

    constexpr basic_routes(const Program& p, const Edges& edges)
        : seats(by_vertex::sized(p.vertices.count + 1)),
          slot(by_seat::sized(p.parts.count)),
          vertex(by_seat::sized(p.parts.count)),
          incoming(by_seat::sized(p.parts.count)),
          first(by_vertex::sized(p.vertices.count + 1)),
          arrival(by_edge::sized(edges.count)),
          slots{p.roles * stream_count} {}
};
using routes = basic_routes<ir::program, span<const ir::edge>>;

template <class Program, class Edges>
constexpr basic_routes<Program, Edges> routes_of(const Program& p, const Edges& edges) {
    const int n = p.vertices.count;
    basic_routes<Program, Edges> r{p, edges};
    auto &seats = r.seats.first, &first = r.first.first;
    auto &slot = r.slot.first, &vertex = r.vertex.first, &incoming = r.incoming.first;
    auto& arrival = r.arrival.first;
    const auto& vertices = p.vertices.first;
    const auto& parts = p.parts.first;
    const auto& edge = edges.first;
    int count = 0, i = 0, end = 0, before = 0, role = 0, stream = 0;  // declared once, see predict.hpp
    for (int v = 0; v < n; ++v) {
        seats[v] = count;
        stream = static_cast<int>(vertices[v].stream);
        before = -1;
        for (i = vertices[v].first_part, end = i + vertices[v].parts; i < end; ++i) {
            role = parts[i].role;
            if (role == before) continue;
            before = role;
            slot[count] = role * stream_count + stream;
            vertex[count++] = v;
        }
    }
    seats[n] = count;
    const bool one_each = count == n;

    for (int e = 0; e < edges.count; ++e) ++first[edge[e].from];
    for (int v = 0, sum = 0; v <= n; ++v) first[v] = sum += first[v];
    // From the back, so that every start ends where it belongs and edges keep their order.
    int low = 0, high = 0, middle = 0;
    for (int e = edges.count - 1; e >= 0; --e) {
        low = edge[e].to;
        if (!one_each) {
            role = edge[e].role;
            high = seats[low + 1];
            for (low = seats[low]; high - low > 1;) {
                middle = (low + high) / 2;
                if (slot[middle] / stream_count > role)
                    high = middle;
                else
                    low = middle;
            }
        }
        ++incoming[low];
        arrival[--first[edge[e].from]] = low;
    }
    return r;
}

}  // namespace dovetail::pass
