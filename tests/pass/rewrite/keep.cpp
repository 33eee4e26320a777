// The rewrite that leaves out repeated collectives: which ones, in which order, what that saves and costs, and that rewritten random
// graphs are proven and compute what the written ones mean.
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
#include <dovetail/pass/rewrite/keep.hpp>
#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

using namespace support;

namespace app {
using namespace dv::ops;
struct dp;
struct tp;
template <int> struct x;
template <int> struct w;
template <int> struct s;
template <int> struct y;
template <int> struct z;

using four_ranks = dv::mesh<dv::axis<dp, 4>>;
using shard = dv::tensor<float, 64, 64>;
using both_axes = dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 2>>;
using h200 = dv::options<dv::machine::h200_nvlink>;
using kept = dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::keep>>;

// The third is the first one too; the same rows of one input are one argument.
struct three_times : dv::graph<four_ranks, dv::input<x<0>, shard>, dv::let<y<0>, all_gather<dp>(x<0>)>, dv::let<y<1>, all_gather<dp>(x<0>)>,
                               dv::let<y<2>, all_gather<dp>(x<0>)>, dv::let<z<0>, add(add(y<0>, y<1>), y<2>)>, dv::output<z<0>>> {};
struct of_rows : dv::graph<four_ranks, dv::input<x<0>, shard>, dv::let<z<0>, relu(all_reduce<sum, dp>(rows<1, 2>(x<0>)))>,
                           dv::let<z<1>, copy(all_reduce<sum, dp>(rows<1, 2>(x<0>)))>,
                           dv::let<z<2>, copy(all_reduce<sum, dp>(rows<0, 2>(x<0>)))>, dv::output<z<0>, z<1>, z<2>>> {};
// A state is read in two versions; one of the four is the repetition of another.
struct around_an_update : dv::graph<four_ranks, dv::state<s<0>, shard, zeros>, dv::let<z<0>, relu(all_reduce<sum, dp>(s<0>))>,
                                    dv::let<z<1>, copy(all_reduce<sum, dp>(s<0>))>, dv::update<s<0>, relu(s<0>)>,
                                    dv::let<z<2>, relu(all_reduce<sum, dp>(s<0>))>, dv::output<z<0>, z<1>, z<2>>> {};
// None: other axes, reductions, roots and arguments, an output, a member of a group, an update.
struct none_alike : dv::graph<both_axes, dv::input<x<0>, shard>, dv::input<x<1>, shard>, dv::state<s<0>, shard, zeros>,
                              dv::let<z<0>, relu(all_reduce<sum, dp>(x<0>))>, dv::let<z<1>, relu(all_reduce<sum, tp>(x<0>))>,
                              dv::let<z<2>, relu(all_reduce<maximum, dp>(x<0>))>, dv::let<z<3>, relu(all_reduce<sum, dp>(x<1>))>,
                              dv::let<z<4>, relu(broadcast<dp, root_index<0>>(x<0>))>,
                              dv::let<z<5>, relu(broadcast<dp, root_index<1>>(x<0>))>, dv::let<z<6>, all_reduce<sum, dp>(x<0>)>,
                              dv::nccl_group<dv::let<y<0>, all_reduce<sum, dp>(x<0>)>, dv::update<s<0>, all_reduce<sum, dp>(x<1>)>>,
                              dv::let<z<7>, relu(y<0>)>, dv::output<dv::all<8, z>>> {};

// None: the first result is part of a value that an operation changes in place.
struct reversed {
    static constexpr bool in_place_only = true;
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
};
struct part_in_place : dv::graph<four_ranks, dv::input<x<0>, shard>, dv::let<y<0>, all_gather<dp>(x<0>)>, dv::let<y<1>, copy(y<2>)>,
                                 dv::let<z<0>, reversed(dv::ops::concat<>(y<0>, y<1>))>, dv::let<y<2>, all_gather<dp>(x<0>)>,
                                 dv::output<z<0>>> {};

// Statements that ask for it: what stands outside is not looked at; what is inside of another one belongs to both; blocks of a split repeat
// each other.
struct in_a_statement : dv::graph<four_ranks, dv::input<x<0>, shard>, dv::let<y<0>, all_gather<dp>(x<0>)>,
                                  dv::keep<dv::let<y<1>, all_gather<dp>(x<0>)>, dv::let<y<2>, all_gather<dp>(x<0>)>>,
                                  dv::let<z<0>, add(add(y<0>, y<1>), y<2>)>, dv::output<z<0>>> {};
// What another statement gathers stays.
struct in_two_statements
    : dv::graph<four_ranks, dv::input<x<0>, shard>,
                dv::keep<dv::let<y<0>, all_gather<dp>(x<0>)>, dv::let<y<1>, all_gather<dp>(x<0>)>>,
                dv::keep<dv::let<y<2>, all_gather<dp>(x<0>)>, dv::let<y<3>, all_gather<dp>(x<0>)>>,
                dv::let<z<0>, add(add(y<0>, y<1>), add(y<2>, y<3>))>, dv::output<z<0>>> {};
struct in_one_inside
    : dv::graph<
          four_ranks, dv::input<x<0>, shard>,
          dv::keep<dv::let<y<0>, all_gather<dp>(x<0>)>, dv::keep<dv::let<y<1>, all_gather<dp>(x<0>)>, dv::let<y<2>, all_gather<dp>(x<0>)>>>,
          dv::let<z<0>, add(add(y<0>, y<1>), y<2>)>, dv::output<z<0>>> {};
struct blocks_of_a_split
    : dv::graph<four_ranks, dv::input<x<0>, shard>,
                dv::keep<dv::split<2, dv::let<z<0>, relu(all_reduce<sum, dp>(x<0>))>, dv::let<z<1>, copy(all_reduce<sum, dp>(x<0>))>>>,
                dv::output<z<0>, z<1>>> {};

// Each layer's weights gathered for the forward and for the backward pass.
template <int L> struct h;
template <int L> struct dh;
template <int L> struct full;
template <int L> struct again;
using batch = dv::tensor<dv::half, 128, 4096>;
using weight_shard = dv::tensor<dv::half, 1024, 4096>;
template <int L> using weight = dv::state<w<L>, weight_shard, zeros>;
template <int L> using forward = dv::group<dv::let<full<L>, all_gather<dp>(w<L>)>, dv::let<h<L + 1>, matmul(h<L>, full<L>)>>;
template <int L> using backward = dv::group<dv::let<again<L>, all_gather<dp>(w<L>)>, dv::let<dh<L>, matmul_nt(dh<L + 1>, again<L>)>>;
template <int Layers>
struct there_and_back : dv::graph<four_ranks, dv::input<h<0>, batch>, dv::repeat<weight, Layers>, dv::repeat<forward, Layers>,
                                  dv::let<dh<Layers>, relu(h<Layers>)>, dv::repeat<backward, dv::down<Layers>>, dv::output<dh<0>>> {};
}  // namespace app

namespace {

template <class G>
const dv::ir::graph& written() {
    return dv::plan::typed<G>::value;
}
dv::plan_options keeping(dv::plan_options o, int count) {
    o.rewrites = {};
    o.rewrites.kind[o.rewrites.count++] = dv::rewrite::keep;
    o.rewrites.kept = count;
    return o;
}
template <class G>
int repeated() {
    return dv::pass::repetitions(written<G>(), dv::pass::scope::graph).size();
}

}  // namespace

TEST_CASE("a collective repeats one that has the same argument, axes, root, reduction and version of a state") {
    CHECK(repeated<app::three_times>() == 2);
    CHECK(repeated<app::of_rows>() == 1);
    CHECK(repeated<app::around_an_update>() == 1);
    CHECK(repeated<app::none_alike>() == 0);
    CHECK(repeated<app::part_in_place>() == 0);
    CHECK(repeated<app::there_and_back<4>>() == 4);
}

TEST_CASE("all readers of what is left out read the first of its kind") {
    const dv::ir::graph_data g =
        dv::pass::rewrite_keep(dv::pass::detail::copy_of(written<app::three_times>()), dv::pass::scope::graph, dv::all_kept);
    REQUIRE(g.nodes.size() == 3);
    const int made = g.operands[g.nodes[0].first_result];
    CHECK(g.symbols[made].node == 0);
    for (int i = 1; i < 3; ++i) CHECK(g.operands[g.nodes[i].first_argument + g.nodes[i].arguments - 1] == made);
}

TEST_CASE("what lives longer by the least is kept first: the last layers of the forward pass") {
    const dv::ir::graph& g = written<app::there_and_back<4>>();
    for (int count = 0; count <= 5; ++count) {
        const dv::ir::graph_data now = dv::pass::rewrite_keep(dv::pass::detail::copy_of(g), dv::pass::scope::graph, count);
        const int taken = count < 4 ? count : 4;
        REQUIRE(now.nodes.size() == g.nodes.size() - taken);
        // The backward pass goes through the layers 3, 2, 1, 0, and gathers those that are not kept.
        int gathers = 0;
        for (const dv::ir::node& n : now.nodes) gathers += n.kind == dv::op_kind::all_gather ? 1 : 0;
        CHECK(gathers == 8 - taken);
        for (int s = 0; s < g.symbols.size(); ++s)
            if (const int n = g.symbols[s].node; n >= 0 && g.nodes[n].kind == dv::op_kind::all_gather)
                CHECK((now.symbols[s].node < 0) == (n > 8 && n < 9 + 2 * taken));
    }
}

TEST_CASE("a statement keeps what stands in it, by itself, in another one or in a split") {
    const auto collectives = [](const dv::ir::graph& g) {
        const dv::ir::graph_data now = dv::pass::detail::rewritten(g, dv::pass::rewrites_of(g, {}));
        int n = 0;
        for (const dv::ir::node& x : now.nodes) n += dv::is_collective(x.kind) ? 1 : 0;
        return n;
    };
    CHECK(collectives(written<app::in_a_statement>()) == 2);
    CHECK(collectives(written<app::in_two_statements>()) == 2);
    CHECK(collectives(written<app::in_one_inside>()) == 1);
    CHECK(collectives(written<app::blocks_of_a_split>()) == 2);
    static_assert(dv::valid<app::in_a_statement> && dv::valid<app::in_one_inside> && dv::valid<app::blocks_of_a_split>);
}

TEST_CASE("keeping saves the time of the second gathers") {
    constexpr std::int64_t gathered = dv::predicted_time<app::there_and_back<8>, app::h200>;
    static_assert(dv::predicted_time<app::there_and_back<8>, app::kept> < gathered * 6 / 10);
}

TEST_CASE("rewritten random graphs are proven and compute what the written ones mean") {
    int rewritten = 0, removed = 0, of_states = 0;
    const how_many many{3000};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    for (long i = many.first(); i < many.last(); ++i) {
        knobs k;
        k.repeats = true;
        k.least_axes = 1;
        if (i % 5 == 4) k.nodes_low = 30, k.nodes_high = 60;
        const sketch s = random_graph(mix(many.of(i) + 9), k);
        const dv::ir::graph_data data = emit(s);
        const dv::ir::graph g = dv::ir::view(data);
        const dv::vec<dv::pass::repetition> all = dv::pass::repetitions(g, dv::pass::scope::graph);
        if (all.empty()) continue;
        for (const dv::pass::repetition& r : all)
            of_states += g.symbols[g.operands[g.nodes[r.again].first_argument]].kind == dv::ir::symbol_kind::state ? 1 : 0;
        const dv::plan_options o = keeping(s.plan_options, i % 3 == 0 ? 1 : dv::all_kept);
        CAPTURE(i);
        dv::plan::tables t{g, o};
        const dv::ir::graph now = dv::ir::view(t.read<dv::plan::stage::rewrite>());
        ++rewritten;
        removed += g.nodes.size() - now.nodes.size();
        const dv::plan::made made = make_plan(g, o);
        REQUIRE(!made.wrong);
        const dv::ir::program p = dv::ir::view(made.program);
        const dv::plan::plan plan = dv::ir::view(made.plan);
        CHECK(static_cast<bool>(prove_plan(now, p, plan, o)));
        meaning m = renumbered(read_sketch(s, g, s.runs), now);
        simulation how;
        how.seed = s.seed;
        how.in_flight = o.in_flight;
        CHECK_NOTHROW(simulate(now, p, plan, m, how));
    }
    MESSAGE(rewritten << " graphs rewritten, " << removed << " collectives left out, " << of_states << " of states");
    if (many.only < 0 && many.count >= 3000) {
        CHECK(rewritten > 500);
        CHECK(of_states > 50);
    }
}
