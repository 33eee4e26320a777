// The minimum cut, against all cuts of small random networks.
#include "support/how_many.hpp"
#include "support/values.hpp"

#include <dovetail/pass/rewrite/min_cut.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {

using dovetail::pass::min_cut;

struct arc {
    int from, to;
    std::int64_t capacity;
};

// A cut as a mask of the nodes on the sink's side.
std::int64_t capacity(const std::vector<arc>& arcs, unsigned sink_side) {
    std::int64_t sum = 0;
    for (const arc& a : arcs)
        if ((sink_side >> a.from & 1u) == 0 && (sink_side >> a.to & 1u) != 0) sum += a.capacity;
    return sum;
}

unsigned mask_of(const dovetail::vec<char>& side) {
    unsigned mask = 0;
    for (int v = 0; v < side.size(); ++v)
        if (side[v] != 0) mask |= 1u << v;
    return mask;
}

}  // namespace

TEST_CASE("the cut is the least of all, and its sink side the smallest") {
    const support::how_many many{3000};
    for (long i = many.first(); i < many.last(); ++i) {
        CAPTURE(i);
        support::chooser r{many.of(i)};
        const int nodes = r.between(2, 9);
        std::vector<arc> arcs;
        for (int k = r.below(4 * nodes); k >= 0; --k) {
            const int from = r.below(nodes), to = r.below(nodes);
            const bool forced = r.chance(20) && (from != min_cut::source || to != min_cut::sink);
            arcs.push_back({from, to, forced ? 1'000'000 : r.below(5)});
        }
        min_cut network{nodes};
        for (const arc& a : arcs) network.add_arc(a.from, a.to, a.capacity);
        const unsigned found = mask_of(network.sink_side());
        REQUIRE((found & 3u) == 1u << min_cut::sink);
        for (unsigned other = 2; other < 1u << nodes; other += 4) {
            REQUIRE(capacity(arcs, found) <= capacity(arcs, other));
            const bool as_small = capacity(arcs, found) == capacity(arcs, other);
            if (as_small) REQUIRE((found & other) == found);
        }
    }
}
