// The wide search over rewrites: never behind the search while compiling, a number of blocks for each split, and decisions that a program
// takes as an option.
#include "support/planner.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/plan/wide_search.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
namespace plan = dovetail::plan;

namespace app {
using namespace dv::ops;
struct tp;
template <int> struct x;
template <int> struct w;
template <int> struct product;
template <int> struct summed;

// A chain in which blocks gain, and behind it one that is so small that they cost.
template <int Size> using matrix = dv::tensor<dv::half, Size, Size>;
template <int I> using size = matrix<I == 0 ? 8192 : 512>;
template <int I>
using layer = dv::group<dv::input<x<I>, size<I>>, dv::input<w<I>, size<I>>, dv::let<product<I>, matmul(x<I>, w<I>)>,
                        dv::let<summed<I>, all_reduce<sum, tp>(product<I>)>>;
using behind = dv::group<dv::input<x<1>, size<1>>, dv::input<w<1>, size<1>>, dv::after<summed<0>, dv::let<product<1>, matmul(x<1>, w<1>)>>,
                         dv::let<summed<1>, all_reduce<sum, tp>(product<1>)>>;
using four_ranks = dv::mesh<dv::axis<tp, 4>>;
struct two_chains
    : dv::graph<four_ranks, dv::split<dv::automatic, layer<0>>, dv::split<dv::automatic, behind>, dv::output<summed<0>, summed<1>>> {};
struct unasked : dv::graph<four_ranks, layer<0>, dv::output<summed<0>>> {};

// Gathered twice.
struct shard;
struct twice : dv::graph<four_ranks, dv::state<shard, dv::tensor<dv::half, 2048, 8192>, zeros>, dv::input<x<0>, matrix<8192>>,
                         dv::let<product<0>, matmul(x<0>, all_gather<tp>(shard))>,
                         dv::let<product<1>, matmul(product<0>, all_gather<tp>(shard))>, dv::output<product<1>>> {};

using h200 = dv::options<dv::machine::h200_nvlink>;
using searched = dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::automatic>>;
}  // namespace app

namespace {

template <class G, class O>
plan::rewrite_trial searched_widely() {
    return plan::wide_search{plan::typed<G>::value, O::value, [](const plan::rewrite_trial&) {}}.best();
}

}  // namespace

TEST_CASE("the wide search finds what the search while compiling finds, or better") {
    CHECK(searched_widely<app::unasked, app::h200>().length <= dv::predicted_time<app::unasked, app::searched>);
    CHECK(searched_widely<app::two_chains, app::h200>().length <= dv::predicted_time<app::two_chains, app::searched>);
    CHECK(searched_widely<app::twice, app::h200>().length <= dv::predicted_time<app::twice, app::searched>);
}

TEST_CASE("each split gets a number of its own") {
    const plan::rewrite_trial best = searched_widely<app::two_chains, app::h200>();
    CHECK(best.list.blocks_of(0) > 1);
    CHECK(best.list.blocks_of(1) < best.list.blocks_of(0));
    CHECK(best.length < dv::predicted_time<app::two_chains, app::h200>);
}

TEST_CASE("two bits say how often a number is halved, for the first 32 splits") {
    dv::rewrite_list list;
    list.blocks = 8;
    list.halved = 0b11'10'01'00;
    for (int split = 0; split < 4; ++split) CHECK(list.blocks_of(split) == 8 >> split);
    CHECK(list.blocks_of(4) == 8);
    CHECK(list.blocks_of(100) == 8);
    list.blocks = 2;
    CHECK(list.blocks_of(3) == 1);
}

TEST_CASE("decisions as an option give the plan, and nothing is searched") {
    using decided = dv::options<dv::machine::h200_nvlink, dv::decided_rewrites<4, 0b1000, false, dv::all_kept>>;
    using planned = plan::planned<app::two_chains, decided>;
    CHECK(planned::rewrites.count == 0);
    int blocks[2] = {};
    for (const dv::ir::node& n : planned::graph.nodes)
        if (n.kind == dv::op_kind::all_reduce) ++blocks[plan::typed<app::two_chains>::value.nodes[n.origin].region];
    CHECK(blocks[0] == 4);
    CHECK(blocks[1] == 1);
    const plan::made made = support::make_plan(plan::typed<app::two_chains>::value, decided::value);
    CHECK(made.plan.predicted == planned::plan.predicted);
    using kept = dv::options<dv::machine::h200_nvlink, dv::decided_rewrites<1, 0, false, 1, dv::rewrite::keep>>;
    static_assert(dv::predicted_time<app::twice, kept> < dv::predicted_time<app::twice, app::h200>);
}
