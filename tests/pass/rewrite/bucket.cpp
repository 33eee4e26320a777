// The rewrite that buckets collectives: which it joins, what that saves, and that rewritten random graphs are proven and compute what the
// written ones mean.
#include "support/how_many.hpp"
#include "support/laws.hpp"
#include "support/planner.hpp"
#include "support/random_graph.hpp"
#include "support/reference.hpp"
#include "support/samples.hpp"
#include "support/simulator.hpp"
#include "support/written.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

#include <map>

using namespace support;

namespace app {
using namespace dv::ops;
struct x;
struct dp;
struct tp;
struct deep;
struct s;
struct summed;
template <int> struct small;
template <int> struct big;
template <int> struct got;

using number = dv::tensor<float, 2048>;
using megabytes = dv::tensor<float, 1024, 512>;  // 2 MiB
using bucketed = dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::bucket>>;
using as_written = dv::options<dv::machine::h200_nvlink>;

template <int I> using input_of = dv::input<small<I>, number>;
template <int I> using sum_of = dv::let<got<I>, all_reduce<sum, dp>(small<I>)>;
struct many_small : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<input_of, 64>, dv::repeat<sum_of, 64>, dv::output<dv::all<64, got>>> {};
struct many_small_in_a_group : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<input_of, 64>, dv::nccl_group<dv::repeat<sum_of, 64>>,
                                         dv::output<dv::all<64, got>>> {};

template <int I> using big_input = dv::input<big<I>, megabytes>;
template <int I> using big_sum = dv::let<got<I>, all_reduce<sum, dp>(big<I>)>;
struct five_of_two_megabytes
    : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<big_input, 5>, dv::repeat<big_sum, 5>, dv::output<dv::all<5, got>>> {};

// By statements: what stands outside stays alone; bytes of one's own; the all_gathers and reduce_scatters of a decompose; blocks.
template <int Bytes, class... More>
struct by_a_statement : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<big_input, 5>, dv::bucket<Bytes, dv::repeat<big_sum, 5>>,
                                  dv::output<dv::all<5, got>>, More...> {};
struct in_part : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<input_of, 3>, dv::let<got<2>, all_reduce<sum, dp>(small<2>)>,
                           dv::bucket<dv::automatic, dv::repeat<sum_of, 2>>, dv::output<dv::all<3, got>>> {};
// Two statements with bytes of their own: none of them takes what stands in the other one.
template <int Bytes, int OtherBytes>
struct two_statements : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<big_input, 5>, dv::bucket<Bytes, dv::repeat<big_sum, 3>>,
                                  dv::bucket<OtherBytes, dv::let<got<3>, all_reduce<sum, dp>(big<3>)>,
                                             dv::let<got<4>, all_reduce<sum, dp>(big<4>)>>,
                                  dv::output<dv::all<5, got>>> {};
struct of_shards : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<input_of, 3>,
                             dv::bucket<dv::automatic, dv::decompose<dv::repeat<sum_of, 3>>>, dv::output<dv::all<3, got>>> {};

// One half is moved by copy engines, and so in no group; the other half is bucketed.
template <int I> using other_sum = dv::let<got<I + 3>, all_reduce<sum, dp>(small<I>)>;
struct half_copied : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<input_of, 3>,
                               dv::bucket<dv::automatic, dv::moved_by<dv::transport::peer_copy, dv::repeat<sum_of, 3>>,
                                          dv::repeat<other_sum, 3>>,
                               dv::output<dv::all<6, got>>> {};

// Each collective as far from the start as no other one.
template <int I> using next_sum = dv::let<got<I + 1>, all_reduce<sum, dp>(got<I>)>;
struct long_chain : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::input<x, number>, dv::let<got<0>, relu(x)>, dv::repeat<next_sum, 800>,
                              dv::output<got<800>>> {};

// Nothing to join: another axis, more operations behind, a dependence, an update.
struct each_alone
    : dv::graph<dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 2>>, dv::input<x, number>, dv::state<s, number, zeros>,
                dv::let<got<0>, all_reduce<sum, dp>(x)>, dv::let<got<1>, all_reduce<sum, tp>(x)>,
                dv::let<deep, relu(relu(all_reduce<sum, dp>(x)))>, dv::let<got<2>, all_reduce<sum, dp>(got<0>)>,
                dv::update<s, all_reduce<sum, dp>(x)>, dv::output<got<1>, got<2>, deep>> {};

// The backward pass of layers one behind the other: each gradient has its update behind it.
template <int> struct weight;
template <int> struct bias;
template <int> struct back;
template <int> struct of_weight;
template <int> struct of_bias;
using row = dv::tensor<float, 512>;
template <int L> using states_of = dv::group<dv::state<weight<L>, megabytes, zeros, dv::replicated<dp>>,
                                             dv::state<bias<L>, row, zeros, dv::replicated<dp>>>;
template <int L>
using backward_of = dv::group<dv::let<back<L>, relu(back<L + 1>)>, dv::let<of_weight<L>, all_reduce<sum, dp>(relu(back<L>))>,
                              dv::let<of_bias<L>, all_reduce<sum, dp>(bias_gradient(back<L>))>,
                              dv::update<weight<L>, add(weight<L>, of_weight<L>)>, dv::update<bias<L>, add(bias<L>, of_bias<L>)>>;
template <int Bytes>
struct backward : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::input<back<4>, megabytes>, dv::repeat<states_of, 4>,
                            dv::bucket<Bytes, dv::repeat<backward_of, dv::down<4>>>> {};
}  // namespace app

namespace {

// The sizes of the groups of the rewritten graph; a collective by itself is not listed.
template <class G>
std::vector<int> groups_of(bool by_option = true) {
    dv::plan_options s;
    s.rewrites = dv::pass::rewrites_of(dv::plan::typed<G>::value, s.rewrites);
    if (by_option) s.rewrites.kind[s.rewrites.count++] = dv::rewrite::bucket;
    dv::plan::tables t{dv::plan::typed<G>::value, s};
    std::map<int, int> members;
    for (const dv::ir::node& n : dv::ir::view(t.template read<dv::plan::stage::rewrite>()).nodes)
        if (n.nccl_group_id >= 0) ++members[n.nccl_group_id];
    std::vector<int> sizes;
    for (const auto& [group, size] : members) sizes.push_back(size);
    return sizes;
}

}  // namespace

TEST_CASE("collectives with as many operations behind them along the same axes share a group, up to its bytes") {
    CHECK(groups_of<app::many_small>() == std::vector{64});
    CHECK(groups_of<app::many_small_in_a_group>() == std::vector{64});  // as the user wrote it
    CHECK(groups_of<app::five_of_two_megabytes>() == std::vector{2, 2});
    CHECK(groups_of<app::each_alone>().empty());
}

TEST_CASE("a statement buckets what stands in it, up to its own bytes") {
    CHECK(groups_of<app::by_a_statement<dv::automatic>>(false) == std::vector{2, 2});
    CHECK(groups_of<app::by_a_statement<(6 << 20)>>(false) == std::vector{3, 2});
    CHECK(groups_of<app::by_a_statement<(64 << 20)>>(false) == std::vector{5});
    CHECK(groups_of<app::two_statements<(64 << 20), (4 << 20)>>(false) == std::vector{3, 2});
    CHECK(groups_of<app::two_statements<(4 << 20), (64 << 20)>>(false) == std::vector{2, 2});
    CHECK(groups_of<app::in_part>(false) == std::vector{2});
    CHECK(groups_of<app::of_shards>(false) == std::vector{3, 3});
    CHECK(groups_of<app::half_copied>(false) == std::vector{3});
    CHECK(groups_of<app::half_copied>() == std::vector{3});
}

TEST_CASE("gradients of layers one behind the other share a group, a bucket after the other") {
    CHECK(groups_of<app::backward<dv::automatic>>(false) == std::vector{2, 2, 2, 2});  // a gradient of 2 MiB and one of 2 KiB
    CHECK(groups_of<app::backward<(5 << 20)>>(false) == std::vector{4, 4});
    CHECK(groups_of<app::backward<(9 << 20)>>(false) == std::vector{8});
    CHECK(groups_of<app::backward<(1 << 20)>>(false) == std::vector{4});  // those of 2 MiB stay alone, and close no bucket
    CHECK(groups_of<app::backward<(2 << 20)>>(false) == std::vector{4});  // nor where one of them fills a bucket
    CHECK(groups_of<app::backward<1024>>(false).empty());
}

TEST_CASE("a compiler's limit of operations allows many levels of collectives") {
    using key = dv::plan::detail::plan_key<app::long_chain, app::bucketed>::for_program;
    static_assert(dv::plan::detail::stage_table<key, dv::plan::stage::rewrite>.nodes.size() == 801);
}

TEST_CASE("a bucket costs what the group costs that a user writes, and saves the latencies") {
    constexpr std::int64_t bucketed = dv::predicted_time<app::many_small, app::bucketed>;
    static_assert(bucketed == dv::predicted_time<app::many_small_in_a_group, app::as_written>);
    static_assert(bucketed * 40 < dv::predicted_time<app::many_small, app::as_written>);
}

TEST_CASE("rewritten random graphs are proven and compute what the written ones mean") {
    int joined = 0;
    const how_many many{3000};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    for (long i = many.first(); i < many.last(); ++i) {
        knobs k;
        if (i % 5 == 4) k.nodes_low = 30, k.nodes_high = 60;
        const sketch s = random_graph(mix(many.of(i) + 9), k);
        const dv::ir::graph_data data = emit(s);
        const dv::ir::graph g = dv::ir::view(data);
        dv::plan_options o = s.plan_options;
        o.rewrites = {};
        o.rewrites.kind[o.rewrites.count++] = dv::rewrite::bucket;
        CAPTURE(i);
        dv::plan::tables t{g, o};
        const dv::ir::graph rewritten = dv::ir::view(t.read<dv::plan::stage::rewrite>());
        int groups = 0;
        for (int n = 0; n < g.nodes.size(); ++n) groups += rewritten.nodes[n].nccl_group_id != g.nodes[n].nccl_group_id ? 1 : 0;
        if (groups == 0) continue;
        ++joined;
        const dv::plan::made made = make_plan(g, o);
        REQUIRE(!made.wrong);
        const dv::ir::program p = dv::ir::view(made.program);
        const dv::plan::plan plan = dv::ir::view(made.plan);
        CHECK(static_cast<bool>(prove_plan(rewritten, p, plan, o)));
        meaning m = read_sketch(s, g, s.runs);
        simulation how;
        how.seed = s.seed;
        how.in_flight = o.in_flight;
        CHECK_NOTHROW(simulate(rewritten, p, plan, m, how));
    }
    MESSAGE(joined << " graphs with a bucket");
    if (many.only < 0 && many.count >= 3000) CHECK(joined > 50);
}
