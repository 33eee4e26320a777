// Cycles that only the program shows: through states, channels and the members of a group. Statements are named in their order.
#include "support/samples.hpp"

#include <dovetail/dsl/source_position.hpp>
#include <dovetail/pass/program/cycle.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace samples;
using dv::ir::fault_kind;

struct s;

template <class G>
struct looked {
    dv::ir::graph_data graph = dv::pass::infer(dv::ir::view(dv::ir::lower(dv::dsl::describe_graph<G>)));
    dv::ir::program_data program = dv::pass::expand(dv::ir::view(graph), dv::plan_options{});
    dv::ir::fault fault = dv::pass::check_cycles(dv::ir::view(graph), dv::ir::view(program), dv::pass::edges(dv::ir::view(program)).view());

    // The statements that the fault names.
    std::vector<int> named() const { return {fault.source_position, fault.source_position + fault.count}; }
    // Where the statement stands that makes this name.
    int statement_of(const dv::tag& name) const {
        for (const dv::ir::node& n : graph.nodes)
            for (int i = 0; i < n.results; ++i)
                if (dv::same(graph.symbols[graph.operands[n.first_result + i]].name, &name)) return n.statement;
        return -1;
    }
};

}  // namespace

TEST_CASE("graphs without a cycle have no fault, in whatever order they are written") {
    CHECK(!looked<there_and_back>{}.fault);
    CHECK(!looked<descent>{}.fault);
    CHECK(!looked<dv::graph<dv::input<x, vector>, dv::let<b, copy(a)>, dv::let<a, copy(x)>, dv::output<b>>>{}.fault);
}

TEST_CASE("a state that is written from what is read of it later") {
    // The update is written first, so that the read sees what it writes.
    const looked<dv::graph<dv::input<x, vector>, dv::state<s, vector, zeros>,
                           dv::update<s, copy(y)>, dv::let<y, add(x, s)>, dv::output<y>>> g;
    REQUIRE(g.fault);
    CHECK(g.fault.kind == fault_kind::cycle);
    const int update = g.statement_of(dv::tag_of<s>), read = g.statement_of(dv::tag_of<y>);
    CHECK(update < read);
    CHECK(g.named() == std::vector{update, read, update});
}

TEST_CASE("members of a group of which one needs the other") {
    const looked<dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 2>>,
                           dv::nccl_group<dv::let<a, all_reduce<sum, dp>(x)>, dv::let<b, all_reduce<sum, dp>(a)>>, dv::output<b>>> g;
    REQUIRE(g.fault);
    CHECK(g.fault.kind == fault_kind::group_dependence);
    CHECK(!g.named().empty());
}

TEST_CASE("a group whose members meet through what stands between them") {
    const looked<dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 2>>,
                           dv::nccl_group<dv::let<a, all_reduce<sum, dp>(x)>, dv::let<c, all_reduce<sum, dp>(b)>>,
                           dv::let<b, copy(a)>, dv::output<c>>> g;
    REQUIRE(g.fault);
    CHECK(g.fault.kind == fault_kind::group_dependence);
    CHECK(g.named().size() == 2);
}
