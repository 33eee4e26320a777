// Bounds of a graph's tables: they hold for every graph of the language, and leave no room where statements hold names alone.
#include "support/random_graph.hpp"
#include "support/samples.hpp"
#include "support/written.hpp"

#include <dovetail/ir/size_bounds.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace samples;

// The sizes in the order of the bounds.
std::vector<int> sizes_of(const dv::ir::graph_data& g) {
    return {g.symbols.size(), g.nodes.size(), g.operands.size(), g.roles.size(), g.axes.size(), g.mesh.size(), g.regions.size()};
}
std::vector<int> bounds_of(const dv::dsl::descriptor& root) {
    const dv::ir::graph_sizes most = dv::ir::largest_graph(root);
    return {most.of, most.of + 7};
}
template <class G>
std::vector<int> bounds() {
    return bounds_of(dv::dsl::describe_graph<G>);
}

}  // namespace

TEST_CASE("of names alone the bounds are the sizes, and an operation that stands as an argument is a node and a symbol more") {
    using flat = dv::graph<dv::input<x, vector>, dv::let<y, add(x, x)>, dv::let<a, copy(y)>, dv::output<a>>;
    CHECK(bounds<flat>() == std::vector<int>{3, 2, 5, 1, 0, 0, 0});
    CHECK(sizes_of(dv::ir::lower(dv::dsl::describe_graph<flat>)) == bounds<flat>());

    using nested = dv::graph<dv::input<x, vector>, dv::let<y, add(copy(x), x)>, dv::output<y>>;
    const std::vector<int> made = sizes_of(dv::ir::lower(dv::dsl::describe_graph<nested>)), most = bounds<nested>();
    CHECK(made == std::vector<int>{3, 2, 5, 1, 0, 0, 0});
    for (std::size_t i = 0; i < made.size(); ++i) CHECK(made[i] <= most[i]);
}

TEST_CASE("random graphs, however they are written, stay within the bounds") {
    long used = 0, allowed = 0;
    for (unsigned seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        const support::sketch s = support::random_graph(seed, support::random_knobs(seed));
        const support::text written{s};
        const std::vector<int> most = bounds_of(written.root());
        // Room for twice as much, so that a bound that is too low shows as a number and not as a crash.
        dv::ir::graph_data g{
            dv::vec<dv::ir::symbol>(2 * most[0]), dv::vec<dv::ir::node>(2 * most[1]), dv::vec<int>(2 * most[2]),
            dv::vec<dv::ir::role>(2 * most[3]),   dv::vec<dv::ir::axis>(2 * most[4]), dv::vec<dv::ir::mesh_axis>(2 * most[5]),
            dv::vec<dv::ir::region>(2 * most[6])};
        dv::ir::lower(written.root(), s.single_rank, g);
        REQUIRE(!g.wrong);
        const std::vector<int> made = sizes_of(g);
        for (std::size_t i = 0; i < made.size(); ++i) CHECK(made[i] <= most[i]);
        used += made[1];
        allowed += most[1];
    }
    CHECK(used > 300);
    CHECK(allowed < 4 * used);
}
