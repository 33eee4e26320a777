// Where vertices run: for each vertex the lanes it occupies, one on each role that takes part. The lane is the vertex's own
// in an overlapped plan and the only one in a sequential plan.
#pragma once

#include "../ir/program.hpp"

namespace dovetail::pass {

// The seats of vertex v stand at [first[v], first[v + 1]), roles ascending; a slot is role * lane_count + lane.
struct seats {
    vec<int> first;
    vec<int> slot;
    vec<unsigned char> lane;  // of each vertex
    int slots = 0;
};

constexpr seats seats_of(const ir::program& p, bool overlapped) {
    seats s{vec<int>(p.vertices.size() + 1), {}, vec<unsigned char>(p.vertices.size()), p.roles * lane_count};
    s.slot.reserve(p.parts.size());
    int* first = s.first.begin();
    unsigned char* lanes = s.lane.begin();
    for (int v = 0; v < p.vertices.count; ++v) {
        const ir::vertex& vertex = p.vertices.first[v];
        const int lane = overlapped ? static_cast<int>(vertex.lane) : 0;
        lanes[v] = static_cast<unsigned char>(lane);
        const ir::part* part = p.parts.first + vertex.first_part;
        for (int i = 0; i < vertex.parts; ++i)
            if (i == 0 || part[i].role != part[i - 1].role) s.slot.push(part[i].role * lane_count + lane);
        first[v + 1] = s.slot.size();
    }
    return s;
}

}  // namespace dovetail::pass
