// The comparison of a rewritten graph with the written one: right for every sample with a split, for bucketed graphs and random ones; and
// damages, each refused by the flaw that is named. Planner and prover cannot refuse most of them: they see the rewritten graph alone.
#include "support/how_many.hpp"
#include "support/origins.hpp"
#include "support/random_rows.hpp"
#include "support/samples.hpp"

#include <dovetail/plan/planned.hpp>

#include <doctest/doctest.h>

#include <functional>

using namespace support;
using flaw = rewrite_flaw;

namespace {

dv::ir::graph_data rewritten(const dv::ir::graph& g, dv::rewrite_list list = {}) {
    return dv::pass::detail::rewritten(g, dv::pass::rewrites_of(g, list));
}
std::string compared(const dv::ir::graph& g, const dv::ir::graph_data& made) {
    const rewrite_verdict v = compare_by_origins(g, dv::ir::view(made));
    return name_of(v.what) + (v ? std::string{} : " at " + std::to_string(v.node));
}
template <class G>
std::string compared() {
    return compared(dv::plan::typed<G>::value, rewritten(dv::plan::typed<G>::value));
}

// The nodes of an operation in blocks, by number.
struct found {
    dv::ir::graph_data& g;
    dv::ir::node& block(dv::op_kind kind, int b, int which = 0) const {
        for (dv::ir::node& n : g.nodes)
            if (n.kind == kind && n.blocks > 0 && n.block == b && which-- == 0) return n;
        FAIL("no such node");
        return g.nodes[0];
    }
    dv::ir::node& view(dv::view_kind kind, int part = 0) const {
        for (dv::ir::node& n : g.nodes)
            if (n.origin < 0 && n.op->view == kind && n.part == part) return n;
        FAIL("no such view");
        return g.nodes[0];
    }
    dv::ir::node& copy(int which) const {
        for (dv::ir::node& n : g.nodes)
            if (n.kind == dv::op_kind::own_rows && n.origin < 0 && which-- == 0) return n;
        FAIL("no such copy");
        return g.nodes[0];
    }
    dv::ir::node& update() const {
        for (dv::ir::node& n : g.nodes)
            if (n.update) return n;
        FAIL("no update");
        return g.nodes[0];
    }
};

template <class G>
std::string damaged(const std::function<void(found)>& damage) {
    dv::ir::graph_data made = rewritten(dv::plan::typed<G>::value);
    damage(found{made});
    return name_of(compare_by_origins(dv::plan::typed<G>::value, dv::ir::view(made)).what);
}
using samples::split_chain;
using samples::split_experts;
using samples::split_pair;
using samples::split_state;
using enum dv::op_kind;

}  // namespace

TEST_CASE("what the rewrites make has its origins") {
    CHECK(compared<split_chain<4>>() == "none");
    CHECK(compared<samples::split_layers<2>>() == "none");
    CHECK(compared<split_pair<2>>() == "none");
    CHECK(compared<split_experts<2>>() == "none");
    CHECK(compared<samples::split_across<4>>() == "none");
    CHECK(compared<samples::split_over_roles<2>>() == "none");
    CHECK(compared<split_state<2>>() == "none");
    CHECK(compared<samples::split_groups<2>>() == "none");
    const dv::ir::graph& many = dv::plan::typed<samples::along_an_axis>::value;
    CHECK(compared(many, rewritten(many, {{dv::rewrite::identity, dv::rewrite::bucket}, 2})) == "none");
    static_assert(compare_by_origins(dv::plan::planned<split_pair<1>>::graph, dv::plan::planned<split_pair<1>>::graph));
}

TEST_CASE("and of random graphs") {
    const how_many many{10000};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    int blocks = 0;
    for (long i = many.first(); i < many.last(); ++i) {
        const random_rows drawn{many.of(i), {{dv::rewrite::split, 2 << (i % 3)}}};
        const dv::ir::graph g = dv::ir::view(drawn.graph);
        if (g.wrong || dv::pass::check_regions(g)) continue;
        CAPTURE(i);
        const dv::ir::graph_data made = rewritten(g);
        REQUIRE(compared(g, made) == "none");
        for (const dv::ir::node& n : made.nodes) blocks += n.blocks > 0 ? 1 : 0;
    }
    MESSAGE(blocks << " blocks of nodes");
    if (many.only < 0 && many.count >= 10000) CHECK(blocks > 10000);
}

TEST_CASE("damages to nodes") {
    CHECK(damaged<split_chain<4>>([](found f) { f.block(all_reduce, 1).reduce = dv::reduction::maximum; }) == "node_changed");
    CHECK(damaged<split_chain<4>>([](found f) { f.block(all_reduce, 1).axes = 0; }) == "node_changed");
    CHECK(damaged<split_chain<4>>([](found f) { f.block(compute, 1).op = f.view(dv::view_kind::rows).op; }) == "node_changed");
    CHECK(damaged<split_chain<4>>([](found f) { f.block(compute, 1).blocks = 2; }) == "node_changed");
    CHECK(damaged<split_chain<4>>([](found f) { f.block(compute, 1).block = 2; }) == "node_twice");
    CHECK(damaged<split_chain<4>>([](found f) { f.g.nodes.resize(f.g.nodes.size() - 2); }) == "node_missing");
    CHECK(damaged<split_chain<4>>([](found f) { f.block(compute, 3).origin = -1; }) == "node_added");
    CHECK(damaged<split_chain<4>>([](found f) { f.block(compute, 3).origin = 99; }) == "node_added");
}

TEST_CASE("damages to arguments and results") {
    const auto swap = [](found f, dv::ir::node& a, dv::ir::node& b) {
        std::swap(f.g.operands[a.first_argument], f.g.operands[b.first_argument]);
    };
    // Another block of the same value.
    CHECK(damaged<split_chain<4>>([&](found f) { swap(f, f.block(all_reduce, 0), f.block(all_reduce, 1)); }) == "wrong_argument");
    CHECK(damaged<split_chain<4>>([&](found f) { swap(f, f.block(compute, 2), f.block(compute, 3)); }) == "wrong_argument");
    // The same block of another value.
    CHECK(damaged<split_chain<4>>([&](found f) { swap(f, f.block(compute, 2, 1), f.block(compute, 2, 2)); }) == "wrong_argument");
    // The rows of another member, in an argument and in a result of an all_to_all, and in a copy.
    const auto swap_operands = [](found f, int first) { std::swap(f.g.operands[first], f.g.operands[first + 1]); };
    CHECK(damaged<split_experts<2>>([&](found f) { swap_operands(f, f.block(all_to_all, 1).first_argument); }) == "wrong_argument");
    CHECK(damaged<split_experts<2>>([&](found f) { swap_operands(f, f.block(all_to_all, 1, 1).first_result); }) == "wrong_argument");
    CHECK(damaged<split_experts<2>>([&](found f) { f.copy(0).first_argument = f.copy(1).first_argument; }) == "wrong_argument");
    // A whole value in place of another one.
    CHECK(damaged<split_state<2>>([](found f) { f.g.operands[f.update().first_argument + 1] = f.g.operands[f.update().first_argument]; }) ==
          "wrong_argument");
    // Rows put together in another order, rows of another place, results exchanged.
    CHECK(damaged<split_chain<4>>([](found f) {
              const int first = f.view(dv::view_kind::concat).first_argument;
              std::swap(f.g.operands[first], f.g.operands[first + 1]);
          }) == "wrong_argument");
    CHECK(damaged<split_chain<4>>([](found f) { f.view(dv::view_kind::rows).part = 1; }) == "wrong_argument");
    CHECK(damaged<split_chain<4>>([](found f) { f.view(dv::view_kind::rows).part = 4; }) == "wrong_argument");
    CHECK(damaged<split_chain<4>>([](found f) {
              std::swap(f.g.operands[f.block(compute, 0).first_result], f.g.operands[f.block(compute, 1).first_result]);
          }) == "wrong_result");
    CHECK(damaged<split_chain<4>>([](found f) { f.g.symbols[f.g.operands[f.block(compute, 0).first_result]].type.extent[0] = 8; }) ==
          "wrong_result");
}

TEST_CASE("damages to the order of rows and of states") {
    // A bias that differs between the ranks.
    dv::ir::graph_data written;
    dv::ir::graph_data made = rewritten(dv::plan::typed<split_pair<2>>::value);
    dv::ir::zip(dv::plan::typed<split_pair<2>>::value, written, [](const auto& from, auto& to) {
        to.resize(from.size());
        dv::copy_elements(from, to);
    });
    for (dv::ir::graph_data* g : {&written, &made})
        for (dv::ir::symbol& s : g->symbols) s.replicated = 0;
    CHECK(compared(dv::ir::view(written), made).starts_with("differs_by_rank"));
    // The update behind a read of the state, moved in front of it.
    CHECK(damaged<split_state<2>>([](found f) {
              dv::ir::node& first = f.g.nodes[2];
              std::swap(first, f.update());
              for (int i = 0; i < f.g.nodes.size(); ++i)
                  for (int k = 0; k < f.g.nodes[i].results && !f.g.nodes[i].update; ++k)
                      if (const int s = f.g.operands[f.g.nodes[i].first_result + k]; s >= 0) f.g.symbols[s].node = i;
          }) == "state_order");
}

TEST_CASE("damages to symbols") {
    CHECK(damaged<split_chain<4>>([](found f) { f.g.symbols[0].type.extent[0] = 4; }) == "symbol_changed");
    CHECK(damaged<split_chain<4>>([](found f) { f.g.symbols[f.g.operands[f.block(compute, 0).first_result]].output = true; }) ==
          "symbol_changed");
    CHECK(damaged<split_chain<4>>([](found f) {
              dv::ir::node& put_together = f.view(dv::view_kind::concat);
              put_together = f.g.nodes[f.g.nodes.size() - 1];
              f.g.nodes.resize(f.g.nodes.size() - 1);
          }) == "symbol_changed");
}
