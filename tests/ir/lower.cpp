// lower: names become ids, nested expressions become nodes before the nodes that use them, and placement is resolved.
#include "support/samples.hpp"

#include <dovetail/core/display.hpp>

#include <doctest/doctest.h>

namespace {

using namespace samples;
using dv::ir::fault_kind;

struct z;
struct t;

template <class G>
dv::ir::graph_data lowered() {
    return dv::ir::lower(dv::dsl::describe_graph<G>);
}

int find(const dv::ir::graph_data& g, const dv::tag& name) {
    for (int s = 0; s < g.symbols.size(); ++s)
        if (dv::same(g.symbols[s].name, &name)) return s;
    return -1;
}

}  // namespace

TEST_CASE("nested expressions come first, each argument finds its symbol") {
    const auto g = lowered<dv::graph<dv::input<x, vector>, dv::let<y, add(multiply(x, x), z)>, dv::let<z, copy(x)>, dv::output<y>>>();
    REQUIRE(!g.wrong);
    REQUIRE(g.nodes.size() == 3);
    CHECK(dv::display(*g.nodes[0].op->name) == "multiply");
    CHECK(dv::display(*g.nodes[1].op->name) == "add");
    CHECK(g.operands[g.nodes[1].first_argument + 1] == find(g, dv::tag_of<z>));
    const int nested = g.operands[g.nodes[1].first_argument];
    CHECK(!dv::named(g.symbols[nested].name));
    CHECK(g.symbols[nested].node == 0);
    CHECK(g.symbols[find(g, dv::tag_of<y>)].output);
}

TEST_CASE("roles in order of appearance, with the graph's mesh or their own") {
    const auto g = lowered<dv::graph<
        dv::mesh<dv::axis<dp>, dv::axis<tp, 2>>,
        dv::input<x, vector>,
        dv::on<right, dv::let<a, copy(x)>>,
        dv::on<left, dv::mesh<dv::axis<tp, 4, dv::link::network>>, dv::let<b, copy(x)>>,
        dv::on<right, dv::let<c, copy(a)>>,
        dv::output<b, c>>>();
    REQUIRE(!g.wrong);
    REQUIRE(g.roles.size() == 2);
    CHECK(dv::same(g.roles[0].name, &dv::tag_of<right>));
    const dv::ir::graph v = dv::ir::view(g);
    CHECK(dv::ir::width_of(v, 0, 0) == 0);
    CHECK(dv::ir::width_of(v, 0, 1) == 2);
    CHECK(dv::ir::width_of(v, 1, 0) == 1);
    CHECK(dv::ir::width_of(v, 1, 1) == 4);
    for (const dv::ir::mesh_axis& m : v.mesh) CHECK((m.link == dv::link::network) == (m.width == 4));
}

TEST_CASE("a collective over roles has a group_index for each argument") {
    const auto g = lowered<overlapping_collectives>();
    REQUIRE(!g.wrong);
    int over_roles = 0;
    for (const dv::ir::node& n : g.nodes)
        if (n.role < 0) {
            ++over_roles;
            CHECK(n.targets == n.arguments);
        }
    CHECK(over_roles == 3);
}

TEST_CASE("updates, discards and position indices") {
    const auto g = lowered<dv::graph<
        dv::mesh<dv::axis<dp, 2>>,
        dv::state<t, dv::scalar<std::int32_t>, zeros>,
        dv::let<y, add(t, dv::axis_index<dp>)>,
        dv::let<z, add(dv::axis_index<dp>, dv::axis_index<dp>)>,
        dv::update<t, add(t, y)>,
        dv::output<z>>>();
    REQUIRE(!g.wrong);
    int positions = 0;
    for (const dv::ir::symbol& s : g.symbols) positions += s.kind == dv::ir::symbol_kind::axis_index ? 1 : 0;
    CHECK(positions == 1);
    CHECK(g.nodes[2].update);
    CHECK(g.operands[g.nodes[2].first_result] == find(g, dv::tag_of<t>));
}

TEST_CASE("the first mistake is reported, by kind") {
    CHECK(lowered<dv::graph<>>().wrong.kind == fault_kind::empty_graph);
    CHECK(lowered<dv::graph<dv::input<x, vector>, dv::let<y, add(x, z)>, dv::output<y>>>().wrong.kind == fault_kind::unknown_name);
    CHECK(lowered<dv::graph<dv::input<x, vector>, dv::let<y, add(x, x)>, dv::let<y, add(x, x)>, dv::output<y>>>().wrong.kind ==
          fault_kind::defined_twice);
    CHECK(lowered<dv::graph<dv::input<x, vector>, dv::let<y, add(x, copy)>, dv::output<y>>>().wrong.kind == fault_kind::operation_as_value);
    CHECK(lowered<dv::graph<dv::input<x, vector>, dv::let<y, copy(x, x)>, dv::output<y>>>().wrong.kind == fault_kind::wrong_arity);
}
