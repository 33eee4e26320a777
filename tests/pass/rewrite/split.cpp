// The rewrite that computes statements in blocks: which graph it makes, that random graphs mean the same afterwards, row by row, and that
// their plans are proven. What it refuses: tests/fail.
#include "support/how_many.hpp"
#include "support/planner.hpp"
#include "support/random_rows.hpp"
#include "support/row_values.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

using namespace support;

namespace app {
using namespace dv::ops;
struct x;
struct bias;
struct h;
struct y;
struct z;
struct tp;
template <int> struct w;
template <int> struct product;
template <int> struct summed;

using matrix = dv::tensor<dv::half, 8192, 8192>;
using two_ranks = dv::mesh<dv::axis<tp, 2>>;
using h200 = dv::options<dv::machine::h200_nvlink>;

// h is used in blocks alone, y outside too.
struct two_blocks : dv::graph<dv::input<x, matrix>, dv::input<w<0>, matrix>,
                              dv::split<2, dv::let<h, matmul(x, w<0>)>, dv::let<y, relu(h)>>, dv::let<z, relu(y)>, dv::output<y, z>> {};
// The rows of a reduce_scatter of blocks come back in order with the all_gather.
struct there_and_back
    : dv::graph<two_ranks, dv::input<x, matrix>, dv::input<bias, dv::tensor<dv::half, 8192>, dv::replicated<tp>>,
                dv::split<4, dv::let<h, reduce_scatter<sum, tp>(x)>, dv::let<y, bias_add(h, bias)>, dv::let<z, all_gather<tp>(y)>>,
                dv::output<z>> {};

// Tokens to the rank of their expert and back, with the experts' products between: W ranks, tokens of T rows; the result also as a whole.
template <int Ranks, int Rows>
struct experts_of : dv::graph<dv::mesh<dv::axis<tp, Ranks>>, dv::input<x, dv::tensor<dv::half, Rows, 8192>>, dv::input<w<0>, matrix>,
                              dv::let<h, all_to_all<tp>(x)>, dv::let<y, matmul(h, w<0>)>, dv::let<z, all_to_all<tp>(y)>, dv::output<z>> {};
using experts = experts_of<2, 8192>;
template <class... Names>
struct used_whole : dv::graph<two_ranks, dv::input<x, matrix>, dv::input<w<0>, matrix>,
                              dv::split<2, dv::let<h, all_to_all<tp>(x)>, dv::let<y, matmul(h, w<0>)>, dv::let<z, all_to_all<tp>(y)>>,
                              dv::output<Names...>> {};
// Nothing goes by rows before the tokens are back, or behind them.
struct back_alone : dv::graph<two_ranks, dv::input<x, matrix>, dv::let<h, relu(x)>, dv::let<z, all_to_all<tp>(h)>,
                              dv::let<bias, bias_gradient(z)>, dv::output<bias>> {};

// Two roles add up what their all_to_alls have brought: where the sum is used whole, no copy of either role could put it together.
struct a;
struct b;
template <class Role, class Brought, class Made>
using brings = dv::on<Role, dv::let<Brought, all_to_all<tp>(x)>, dv::let<Made, relu(Brought)>>;
struct joined_between_roles
    : dv::graph<two_ranks, dv::input<x, matrix>, brings<a, h, w<0>>, brings<b, y, w<1>>,
                dv::let<z, all_reduce<sum>(w<0>, w<1>)>, dv::on<a, dv::let<bias, bias_gradient(z)>>, dv::output<bias>> {};
// What gathers and adds up: any number of rows will do for a collective over roles.
struct gathered_between_roles
    : dv::graph<two_ranks, dv::input<x, matrix>,
                dv::split<2, dv::on<a, dv::let<h, all_gather<tp>(x)>>, dv::on<b, dv::let<y, all_gather<tp>(x)>>,
                          dv::let<z, all_reduce<sum>(h, y)>, dv::on<a, dv::let<bias, reduce_scatter<sum, tp>(z)>>>,
                dv::output<bias>> {};
// An all_to_all of one rank keeps the order of the rows.
struct alone : dv::graph<dv::mesh<dv::axis<tp, 1>>, dv::input<x, matrix>,
                         dv::split<2, dv::let<h, all_to_all<tp>(x)>, dv::let<y, add(h, x)>>, dv::output<y>> {};
// One of a value that is made whole, for somebody who takes it whole.
struct made_whole : dv::graph<two_ranks, dv::input<x, matrix>, dv::input<bias, dv::tensor<dv::half, 8192>>,
                              dv::split<2, dv::let<h, bias_gradient(x)>, dv::let<y, all_to_all<tp>(h)>, dv::let<z, bias_add(x, y)>>,
                              dv::output<z>> {};

// Nobody asks. The relu communicates with nobody, and bias_gradient does not go by rows.
struct unasked : dv::graph<two_ranks, dv::input<x, matrix>, dv::input<w<0>, matrix>, dv::let<h, matmul(x, w<0>)>,
                           dv::let<y, all_reduce<sum, tp>(h)>, dv::let<bias, bias_gradient(y)>, dv::let<z, relu(x)>, dv::output<bias, z>> {
};

// The tensor-parallel chain, as everyone writes it and in blocks.
template <int I> using weight = dv::state<w<I>, dv::tensor<dv::half, 8192, 8192>, zeros>;
template <int I> struct input_of { using type = summed<I - 1>; };
template <> struct input_of<0> { using type = x; };
template <int I>
using layer = dv::group<dv::let<product<I>, matmul(typename input_of<I>::type, w<I>)>,
                        dv::let<summed<I>, all_reduce<sum, tp>(product<I>)>>;
template <int Blocks>
struct chain : dv::graph<dv::mesh<dv::axis<tp, 4>>, dv::input<x, matrix>, dv::repeat<weight, 4>, dv::split<Blocks, dv::repeat<layer, 4>>,
                         dv::output<summed<3>>> {};

// A split in every layer, of 17 statements each: `part<17 * L>` goes in, and `part<17 * L + 17>` comes out.
template <int> struct part;
template <int L>
struct deep_layer {
    template <int I> using relu_of = dv::let<part<17 * L + I + 1>, relu(part<17 * L + I>)>;
    using statements = dv::split<2, dv::repeat<relu_of, 15>, dv::let<part<17 * L + 16>, matmul(part<17 * L + 15>, w<0>)>,
                                 dv::let<part<17 * L + 17>, all_reduce<sum, tp>(part<17 * L + 16>)>>;
};
template <int L> using statements_of_layer = typename deep_layer<L>::statements;
template <int Layers>
struct deep : dv::graph<two_ranks, dv::input<part<0>, matrix>, dv::input<w<0>, matrix>, dv::repeat<statements_of_layer, Layers>,
                        dv::output<part<17 * Layers>>> {};
}  // namespace app

namespace {

dv::ir::graph_data rewritten(const dv::ir::graph& g) {
    return dv::pass::detail::rewritten(g, dv::pass::rewrites_of(g, {}));
}
template <class G>
dv::ir::graph_data rewritten() {
    return rewritten(dv::plan::typed<G>::value);
}

int count(const dv::ir::graph_data& g, dv::view_kind view) {
    int n = 0;
    for (const dv::ir::node& x : g.nodes) n += x.op->view == view ? 1 : 0;
    return n;
}

template <class G>
dv::ir::graph_data split_everywhere(int blocks) {
    dv::rewrite_list list;
    list.everywhere = true;
    list.blocks = blocks;
    return dv::pass::detail::rewritten(dv::plan::typed<G>::value, list);
}
// As if there were one split at a time.
dv::ir::graph_data split_one_by_one(const dv::ir::graph& g) {
    dv::ir::graph_data made = dv::pass::detail::copy_of(g);
    for (int r = 0; r < g.regions.size(); ++r) {
        dv::vec<int> blocks(g.regions.size());
        blocks[r] = g.regions[r].number;
        made = dv::pass::rewrite_split(std::move(made), blocks);
    }
    return made;
}
// How many numbers of blocks there are in a graph.
int splits_in(const dv::ir::graph_data& g) {
    std::set<int> blocks;
    for (const dv::ir::node& n : g.nodes)
        if (n.blocks > 0) blocks.insert(n.blocks);
    return static_cast<int>(blocks.size());
}
int copies_in(const dv::ir::graph_data& g) {
    int n = 0;
    for (const dv::ir::node& x : g.nodes) n += x.kind == dv::op_kind::own_rows ? 1 : 0;
    return n;
}
// The view that a block of an all_to_all takes as an argument.
int part_read_by(const dv::ir::graph_data& g, int block, int argument) {
    for (const dv::ir::node& x : g.nodes)
        if (x.kind == dv::op_kind::all_to_all && x.block == block && x.arguments > 1)
            return g.symbols[g.operands[x.first_argument + argument]].node;
    return -1;
}

}  // namespace

TEST_CASE("inputs are read by views, what is used outside is put together, the rest exists in blocks alone") {
    const dv::ir::graph_data g = rewritten<app::two_blocks>();
    REQUIRE(g.nodes.size() == 2 + 2 * 2 + 1 + 1);
    CHECK(count(g, dv::view_kind::rows) == 2);
    CHECK(count(g, dv::view_kind::concat) == 1);
    CHECK(g.regions.empty());
    int made_in_two = 0;
    for (const dv::ir::node& n : g.nodes) made_in_two += n.blocks == 2 && n.block == 1 ? 1 : 0;
    CHECK(made_in_two == 2);
}

TEST_CASE("one block is the graph as written") {
    CHECK(rewritten<app::chain<1>>().nodes.size() == dv::plan::typed<app::chain<1>>::value.nodes.size());
    static_assert(dv::predicted_time<app::chain<1>, app::h200> > dv::predicted_time<app::chain<2>, app::h200>);
}

TEST_CASE("a split hides what a chain exposes") {
    constexpr std::int64_t whole = dv::predicted_time<app::chain<1>, app::h200>, blocks = dv::predicted_time<app::chain<4>, app::h200>;
    static_assert(blocks < whole / 100 * 90);
    static_assert(dv::hidden_fraction<app::chain<1>, app::h200> == 0 && dv::hidden_fraction<app::chain<4>, app::h200> > 0.9);
}

TEST_CASE("every layer of a deep graph may be split") {
    static_assert(dv::predicted_time<app::deep<24>, app::h200> > 0);  // clang allows 1,048,576 steps for each stage
    const int nodes = rewritten<app::deep<24>>().nodes.size();
    CHECK(nodes == 24 * (2 + 17 * 2 + 1));  // the views of what comes from above, two blocks of each statement, the whole
}

TEST_CASE("a pair of reduce_scatter and all_gather goes by blocks, with what is equal on all ranks between them") {
    static_assert(dv::valid<app::there_and_back>);
    CHECK(rewritten<app::there_and_back>().nodes.size() == 4 + 3 * 4 + 1);
}

TEST_CASE("an all_to_all goes in blocks of the rows of each member, read and put together by views") {
    const dv::ir::graph_data g = split_everywhere<app::experts>(4);
    int takes = 0, makes = 0;
    for (const dv::ir::node& n : g.nodes) {
        if (n.kind != dv::op_kind::all_to_all) continue;
        CHECK(n.blocks == 4);
        takes += n.arguments == 2 && n.results == 1 ? 1 : 0;
        makes += n.arguments == 1 && n.results == 2 ? 1 : 0;
    }
    CHECK(takes == 4);
    CHECK(makes == 4);
    CHECK(count(g, dv::view_kind::rows) == 2 * 4);
    CHECK(copies_in(g) == 0);
    // Block 1 of 4: the rows for rank 0 are block 1 of the 8 of x, and those for rank 1 block 5.
    CHECK(g.nodes[part_read_by(g, 1, 0)].part == 1);
    CHECK(g.nodes[part_read_by(g, 1, 1)].part == 5);
}

TEST_CASE("what an all_to_all has brought is copied where it is used as a whole too") {
    CHECK(copies_in(rewritten<app::used_whole<app::z>>()) == 0);
    CHECK(copies_in(rewritten<app::used_whole<app::z, app::h>>()) == 2 * 2);
    CHECK(copies_in(rewritten<app::used_whole<app::z, app::h, app::y>>()) == 2 * 2 * 2);
}

TEST_CASE("an all_to_all stays whole if its rows cannot be divided, or nobody takes its result in blocks") {
    const auto nodes_of = [](const dv::ir::graph& g) { return g.nodes.size(); };
    CHECK(split_everywhere<app::experts_of<2, 4100>>(4).nodes.size() == nodes_of(dv::plan::typed<app::experts_of<2, 4100>>::value));
    CHECK(split_everywhere<app::experts_of<2, 4100>>(2).nodes.size() > nodes_of(dv::plan::typed<app::experts_of<2, 4100>>::value));
    CHECK(split_everywhere<app::back_alone>(2).nodes.size() == nodes_of(dv::plan::typed<app::back_alone>::value));
}

TEST_CASE("a sum over roles of what all_to_alls have brought stays whole if it is used whole; one of what was gathered goes in blocks") {
    static_assert(dv::valid<app::joined_between_roles> && dv::valid<app::gathered_between_roles>);
    const dv::ir::graph_data whole = split_everywhere<app::joined_between_roles>(2);
    int sums = 0;
    for (const dv::ir::node& n : whole.nodes) {
        sums += n.kind == dv::op_kind::all_reduce ? 1 : 0;
        CHECK((n.kind != dv::op_kind::own_rows || n.role >= 0));
    }
    CHECK(sums == 1);
    CHECK(copies_in(whole) == 2 * 2 * 2);  // of what each role adds: two blocks, the rows of two members in each
    CHECK(copies_in(rewritten<app::gathered_between_roles>()) == 0);
    CHECK(rewritten<app::gathered_between_roles>().nodes.size() == 2 + 4 * 2 + 1);
}

TEST_CASE("an all_to_all of one rank goes in blocks as they are, and one of a whole value for the whole goes once") {
    static_assert(dv::valid<app::alone>);
    const dv::ir::graph_data g = rewritten<app::alone>();
    CHECK(copies_in(g) == 0);
    CHECK(count(g, dv::view_kind::concat) == 1);
    CHECK(g.nodes.size() == 2 + 2 * 2 + 1);
}

TEST_CASE("experts are split without being asked where that is predicted to gain") {
    using automatic = dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::automatic>,
                                  dv::collective_transport<dv::transport::automatic>>;
    using copied = dv::options<dv::machine::h200_nvlink, dv::collective_transport<dv::transport::peer_copy>>;
    static_assert(dv::predicted_time<app::experts, automatic> < dv::predicted_time<app::experts, copied> / 100 * 95);
    static_assert(dv::hidden_fraction<app::experts, automatic> > 0.5 && dv::hidden_fraction<app::experts, copied> == 0);
}

TEST_CASE("what communicates can be split without being asked, and the rest stays whole") {
    dv::rewrite_list list;
    list.everywhere = true;
    list.blocks = 2;
    const dv::ir::graph g = dv::plan::typed<app::unasked>::value;
    const dv::ir::graph_data blocks = dv::pass::detail::rewritten(g, list);
    // The product and its all_reduce in two blocks each, which are joined; relu and bias_gradient as written.
    CHECK(blocks.nodes.size() == g.nodes.size() + 2 + 2 + 1);
    CHECK(count(blocks, dv::view_kind::concat) == 1);
}

TEST_CASE("random graphs that are split without being asked mean the same") {
    const how_many many{10000};
    int split = 0;
    for (long i = many.first(); i < many.last(); ++i) {
        const random_rows drawn{many.of(i) + 5, {}};
        dv::ir::graph_data graph = drawn.graph;
        graph.regions.clear();
        for (dv::ir::node& n : graph.nodes) n.region = -1;
        const dv::ir::graph g = dv::ir::view(graph);
        CAPTURE(i);
        dv::plan_options o;
        o.machine = dv::machine::h200_nvlink::description;
        o.rewrites.everywhere = true;
        o.rewrites.blocks = 2 << (i % 3);
        const dv::ir::graph_data blocks = dv::pass::detail::rewritten(g, o.rewrites);
        if (blocks.nodes.size() == g.nodes.size()) continue;
        ++split;
        REQUIRE(difference_of_outputs(g, dv::ir::view(blocks)) == "");
        if (i % 10 != 0) continue;
        const dv::plan::made made = make_plan(g, o);
        REQUIRE(!made.wrong);
        CHECK(static_cast<bool>(prove_plan(dv::ir::view(blocks), dv::ir::view(made.program), dv::ir::view(made.plan), o)));
    }
    MESSAGE(split << " graphs split");
    if (many.only < 0 && many.count >= 10000) CHECK(split > 2000);
}

TEST_CASE("random graphs mean the same in blocks, and their plans are proven") {
    const how_many many{10000};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    int split = 0, several = 0, refused = 0, scattered = 0, exchanged = 0, joined = 0;
    for (long i = many.first(); i < many.last(); ++i) {
        std::vector<dv::ir::region> splits;
        for (int r = 0; r <= i % 4; ++r) splits.push_back({dv::rewrite::split, 2 << ((i + r) % 3)});
        const random_rows drawn{many.of(i), splits};
        const dv::ir::graph g = dv::ir::view(drawn.graph);
        CAPTURE(i);
        REQUIRE(!g.wrong);
        const auto refusal = dv::pass::check_regions(g);  // of a split that cannot be cut, which stays whole
        refused += refusal ? 1 : 0;
        const dv::ir::graph_data blocks = rewritten(g);
        REQUIRE(blocks.nodes.size() == split_one_by_one(g).nodes.size());
        if (blocks.nodes.size() == g.nodes.size()) continue;
        ++split;
        several += splits_in(blocks) > 1 ? 1 : 0;
        joined += count(blocks, dv::view_kind::concat);
        for (const dv::ir::node& n : blocks.nodes) {
            scattered += n.blocks > 0 && n.kind == dv::op_kind::reduce_scatter ? 1 : 0;
            exchanged += n.blocks > 0 && n.kind == dv::op_kind::all_to_all ? 1 : 0;
        }
        REQUIRE(difference_of_outputs(g, dv::ir::view(blocks)) == "");
        if (i % 10 != 0 || refusal) continue;
        dv::plan_options o;
        o.machine = dv::machine::h200_nvlink::description;
        o.in_flight = 1 + static_cast<int>(i / 10 % 2);
        const dv::plan::made made = make_plan(g, o);
        REQUIRE(!made.wrong);
        CHECK(static_cast<bool>(prove_plan(dv::ir::view(blocks), dv::ir::view(made.program), dv::ir::view(made.plan), o)));
    }
    MESSAGE(split << " graphs split, " << several << " more than once, " << refused << " refused, " << scattered
                  << " blocks of reduce_scatters, " << exchanged << " of all_to_alls, " << joined << " joined values");
    if (many.only < 0 && many.count >= 10000) {
        CHECK(split > 2000);
        CHECK(several > 500);
        CHECK(scattered > 50);
        CHECK(exchanged > 300);
    }
}
