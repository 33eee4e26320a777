// The rewrite that makes reduce_scatters and all_gathers of all_reduces: which operations work on shards and which values are gathered,
// that random graphs mean the same afterwards, row by row, and that their plans are proven. What it refuses: tests/fail.
#include "support/how_many.hpp"
#include "support/planner.hpp"
#include "support/random_rows.hpp"
#include "support/row_values.hpp"

#include <dovetail/core/display.hpp>
#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

#include <map>
#include <utility>
#include <vector>

using namespace support;

namespace app {
using namespace dv::ops;
struct tokens;
struct x;
struct bias;
struct h;
struct y;
struct z;
struct tp;
struct dp;
template <int> struct w;
template <int> struct up;
template <int> struct down;
template <int> struct stream;
template <int> struct middle;

template <int> struct part;

using matrix = dv::tensor<dv::half, 1024, 1024>;
using row = dv::tensor<dv::half, 1024>;
using four_ranks = dv::mesh<dv::axis<tp, 4>>;

// A region in every layer, of 17 statements each.
template <int L>
struct deep_layer {
    template <int I> using relu_of = dv::let<part<17 * L + I + 2>, relu(part<17 * L + I + 1>)>;
    using statements = dv::decompose<dv::let<part<17 * L + 1>, all_reduce<sum, tp>(part<17 * L>)>, dv::repeat<relu_of, 16>>;
};
template <int L> using statements_of_layer = typename deep_layer<L>::statements;
template <int Layers>
struct deep : dv::graph<four_ranks, dv::input<part<0>, matrix>, dv::repeat<statements_of_layer, Layers>, dv::output<part<17 * Layers>>> {};
using h200 = dv::options<dv::machine::h200_nvlink>;
using decomposed = dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::decompose>>;

struct norm {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
    static constexpr dv::cost cost(dv::tensor_type x) { return dv::bytes_moved(2 * x.bytes()); }
    static constexpr auto row_wise = dv::by_rows(0);
};
struct other_norm : norm {};
// Twice the bytes.
struct widen : norm {
    static constexpr dv::tensor_type result(dv::tensor_type x) {
        x.type = dv::element::float32;
        return x;
    }
};
// Each row depends on all of them.
struct over_rows {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
};
// A square whatever the rows are: the shape rule does not make shards of shards.
struct square : norm {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(x.extent[1], x.extent[1]); }
};

template <class... Statement>
struct summed : dv::graph<four_ranks, dv::input<x, matrix>, dv::decompose<dv::let<h, all_reduce<sum, tp>(x)>, Statement...>> {};
struct alone : summed<dv::output<h>> {};
struct normed : summed<dv::let<y, norm(h)>, dv::let<z, over_rows(y)>, dv::output<z>> {};
struct read_whole_anyway : summed<dv::let<y, norm(h)>, dv::let<z, over_rows(y)>, dv::output<z, h>> {};
struct forked : summed<dv::let<y, norm(h)>, dv::let<z, other_norm(h)>, dv::output<y, z>> {};
struct rejoined : summed<dv::let<y, norm(h)>, dv::let<z, add(y, other_norm(h))>, dv::output<z>> {};
struct widened : summed<dv::let<y, widen(h)>, dv::output<y>> {};
struct squared : summed<dv::let<y, square(h)>, dv::output<y>> {};
struct outside : dv::graph<four_ranks, dv::input<x, matrix>, dv::decompose<dv::let<h, all_reduce<sum, tp>(x)>>, dv::let<y, norm(h)>,
                           dv::output<y>> {};
template <class... Replicated>
struct biased : dv::graph<four_ranks, dv::input<x, matrix>, dv::input<bias, row, Replicated...>,
                          dv::decompose<dv::let<h, all_reduce<sum, tp>(x)>, dv::let<y, bias_add(h, bias)>>, dv::output<y>> {};
// The first term is there as a whole: an input, which two additions read, or a state, of which the second one reads another version.
template <class... Replicated>
struct from_an_input
    : dv::graph<four_ranks, dv::input<x, matrix>, dv::input<tokens, matrix, Replicated...>,
                dv::decompose<dv::let<h, all_reduce<sum, tp>(x)>, dv::let<y, add(h, tokens)>, dv::let<z, add(norm(y), tokens)>>,
                dv::output<z>> {};
struct from_a_state
    : dv::graph<four_ranks, dv::input<x, matrix>, dv::state<bias, matrix, zeros, dv::replicated<tp>>,
                dv::decompose<dv::let<h, all_reduce<sum, tp>(x)>, dv::let<y, add(h, bias)>, dv::update<bias, copy(bias)>,
                              dv::let<z, add(y, bias)>>,
                dv::output<z>> {};
// The same without a rewrite, for blocks everywhere.
struct from_a_state_as_written
    : dv::graph<four_ranks, dv::input<x, matrix>, dv::state<bias, matrix, zeros, dv::replicated<tp>>,
                dv::let<h, all_reduce<sum, tp>(x)>, dv::let<y, add(h, bias)>, dv::update<bias, copy(bias)>, dv::let<z, add(y, bias)>,
                dv::output<z>> {};
// Updates on shards; in a decompose they stay whole. The state is not an argument of the last one.
template <template <class...> class Rewrite, class... Replicated>
struct trained : dv::graph<four_ranks, dv::input<x, matrix>, dv::input<bias, dv::scalar<dv::half>, dv::replicated<tp>>,
                           dv::state<tokens, matrix, zeros, Replicated...>,
                           Rewrite<dv::let<h, all_reduce<sum, tp>(x)>, dv::update<tokens, sgd(tokens, norm(h), bias)>,
                                   dv::update<tokens, norm(h)>>,
                           dv::let<y, copy(tokens)>, dv::output<y>> {};
template <int Width>
struct trained_on : dv::graph<dv::mesh<dv::axis<tp, Width>>, dv::input<x, matrix>, dv::state<tokens, matrix, zeros, dv::replicated<tp>>,
                              dv::shard_update<dv::update<tokens, add(tokens, all_reduce<sum, tp>(x))>>, dv::let<y, copy(tokens)>,
                              dv::output<y>> {};
// One all_reduce over both axes, one over one of them: their shards are others.
struct of_two_axes
    : dv::graph<dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 2>>, dv::input<x, matrix>,
                dv::decompose<dv::let<h, all_reduce<average>(x)>, dv::let<y, all_reduce<sum, tp>(x)>, dv::let<z, add(norm(h), norm(y))>>,
                dv::output<z>> {};
template <int Width>
struct of_width : dv::graph<dv::mesh<dv::axis<tp, Width>>, dv::input<x, matrix>, dv::let<h, all_reduce<sum, tp>(x)>, dv::output<h>> {};
struct in_a_group : dv::graph<four_ranks, dv::input<x, matrix>, dv::nccl_group<dv::let<h, all_reduce<sum, tp>(x)>>, dv::output<h>> {};

// Tensor parallel blocks with a residual stream, which begins with the sum of what the ranks know of a vocabulary.
template <int I> using weights = dv::group<dv::state<up<I>, dv::tensor<dv::half, 8192, 7168>, zeros>,
                                           dv::state<down<I>, dv::tensor<dv::half, 7168, 8192>, zeros>>;
template <int I> using block =
    dv::let<stream<I + 1>, add(stream<I>, all_reduce<sum, tp>(matmul(relu(matmul(norm(stream<I>), up<I>)), down<I>)))>;
template <int I> using layer = dv::group<block<I>>;
struct blocks : dv::graph<four_ranks, dv::input<tokens, dv::tensor<dv::half, 8192, 8192>>, dv::repeat<weights, 4>,
                          dv::let<stream<0>, all_reduce<sum, tp>(tokens)>, dv::repeat<layer, 4>, dv::output<stream<4>>> {};
// The same in two blocks of rows each.
template <int Blocks>
struct in_blocks : dv::graph<four_ranks, dv::input<tokens, dv::tensor<dv::half, 8192, 8192>>, dv::repeat<weights, 4>,
                             dv::decompose<dv::split<Blocks, dv::let<stream<0>, all_reduce<sum, tp>(tokens)>, dv::repeat<layer, 4>>>,
                             dv::output<stream<4>>> {};
}  // namespace app

namespace {

dv::ir::graph_data rewritten(const dv::ir::graph& g, const dv::rewrite_list& list = {}) {
    return dv::pass::detail::rewritten(g, dv::pass::rewrites_of(g, list));
}
template <class G>
dv::ir::graph_data rewritten(const dv::rewrite_list& list = {}) {
    static_assert(dv::valid<G>);
    return rewritten(dv::plan::typed<G>::value, list);
}

// By node: whether it works on shards that the rewrite made. The graphs here are written in a topological order.
std::vector<bool> on_shards(const dv::ir::graph& g) {
    std::vector<bool> shard(static_cast<std::size_t>(g.symbols.size())), found;
    for (const dv::ir::node& n : g.nodes) {
        bool takes = false;
        for (const int a : g.operands.subspan(n.first_argument, n.arguments)) takes = takes || shard[static_cast<std::size_t>(a)];
        found.push_back(takes && n.kind == dv::op_kind::compute);
        if (found.back() || n.op == &dv::pass::detail::reduce_scatter_operation)
            for (const int r : g.operands.subspan(n.first_result, n.results)) shard[static_cast<std::size_t>(r)] = true;
    }
    return found;
}

// The kinds of communication of a graph, and its operations, as words; an operation on shards has a quote mark.
std::string operations(const dv::ir::graph_data& g) {
    const std::vector<bool> moved = on_shards(dv::ir::view(g));
    std::string all;
    for (int i = 0; i < g.nodes.size(); ++i) {
        const dv::ir::node& n = g.nodes[i];
        std::string name = n.kind == dv::op_kind::compute ? dv::display(*n.op->name) : std::string{name_of(n.kind)};
        name = name.substr(name.rfind(':') + 1);
        all += (all.empty() ? "" : " ") + name + (moved[static_cast<std::size_t>(i)] ? "'" : "");
    }
    return all;
}

struct traffic {
    std::int64_t gathered = 0, summed = 0;  // bytes of the values of which all_gathers, or reduce_scatters, were made
    int all_gathers = 0, moved = 0;
};
traffic traffic_of(const dv::ir::graph& g) {
    traffic t;
    for (const bool moved : on_shards(g)) t.moved += moved ? 1 : 0;
    for (const dv::ir::node& n : g.nodes) {
        const std::int64_t bytes = g.symbols[g.operands[n.first_result]].type.bytes();
        if (n.op == &dv::pass::detail::all_gather_operation) {
            t.gathered += bytes;
            ++t.all_gathers;
        } else if (n.op == &dv::pass::detail::reduce_scatter_operation) {
            t.summed += bytes * dv::ir::width_along(g, n.role, n.axes);
        }
    }
    return t;
}

struct counts {
    int rewritten = 0, refused = 0, moved = 0;
};
void compare(long i, const dv::ir::graph& g, const dv::rewrite_list& list, counts& seen) {
    CAPTURE(i);
    REQUIRE(!g.wrong);
    if (dv::pass::check_regions(g)) {
        ++seen.refused;
        return;
    }
    const dv::ir::graph_data made = rewritten(g, list);
    const traffic t = traffic_of(dv::ir::view(made));
    if (t.summed == 0) return;
    ++seen.rewritten;
    seen.moved += t.moved;
    REQUIRE(t.gathered <= t.summed);
    REQUIRE(difference_of_outputs(g, dv::ir::view(made)) == "");
    if (i % 10 != 0) return;
    dv::plan_options o;
    o.machine = dv::machine::h200_nvlink::description;
    o.in_flight = 1 + static_cast<int>(i / 10 % 2);
    o.rewrites = list;
    const dv::plan::made planned = make_plan(g, o);
    REQUIRE(!planned.wrong);
    CHECK(static_cast<bool>(prove_plan(dv::ir::view(made), dv::ir::view(planned.program), dv::ir::view(planned.plan), o)));
}

// As if there were one region at a time.
dv::ir::graph_data decomposed_one_by_one(const dv::ir::graph& g) {
    dv::ir::graph_data made = dv::pass::detail::copy_of(g);
    for (int r = 0; r < g.regions.size(); ++r) {
        for (dv::ir::region& other : made.regions) other.kind = dv::rewrite::identity;
        made.regions[r].kind = dv::rewrite::decompose;
        made = dv::pass::rewrite_decompose(std::move(made), dv::rewrite::decompose);
    }
    return made;
}

// A region that cannot be decomposed stays whole.
void compare_with_one_by_one(long i, const dv::ir::graph& g, counts& seen) {
    CAPTURE(i);
    const dv::ir::graph_data made = rewritten(g);
    REQUIRE(made.nodes.size() == decomposed_one_by_one(g).nodes.size());
    REQUIRE(difference_of_outputs(g, dv::ir::view(made)) == "");
    seen.refused += dv::pass::check_regions(g) ? 1 : 0;
    const traffic t = traffic_of(dv::ir::view(made));
    seen.rewritten += t.summed > 0 ? 1 : 0;
    seen.moved += t.moved;
}

constexpr dv::rewrite_list everything() {
    dv::rewrite_list list;
    list.kind[list.count++] = dv::rewrite::decompose;
    return list;
}

}  // namespace

TEST_CASE("an all_reduce becomes a reduce_scatter and an all_gather, with row-wise operations between them") {
    CHECK(operations(rewritten<app::alone>()) == "reduce_scatter all_gather");
    CHECK(operations(rewritten<app::normed>()) == "reduce_scatter norm' all_gather over_rows");
    CHECK(operations(rewritten<app::rejoined>()) == "reduce_scatter norm' other_norm' add' all_gather");
    CHECK(operations(rewritten<app::outside>()) == "reduce_scatter all_gather norm");
}

TEST_CASE("an operation stays where it would gather more bytes") {
    CHECK(operations(rewritten<app::read_whole_anyway>()) == "reduce_scatter all_gather norm over_rows");
    CHECK(operations(rewritten<app::forked>()) == "reduce_scatter all_gather norm other_norm");
    CHECK(operations(rewritten<app::widened>()) == "reduce_scatter all_gather widen");
}

TEST_CASE("an operation stays whose arguments differ between the ranks, or that makes no shards of shards") {
    CHECK(operations(rewritten<app::biased<dv::replicated<app::tp>>>()) == "reduce_scatter bias_add' all_gather");
    CHECK(operations(rewritten<app::biased<>>()) == "reduce_scatter all_gather bias_add");
    CHECK(operations(rewritten<app::squared>()) == "reduce_scatter all_gather square");
    CHECK(operations(rewritten<app::of_two_axes>()) == "reduce_scatter reduce_scatter norm' all_gather norm' all_gather add");
}

TEST_CASE("of an argument that is there as a whole, a rank takes its own block") {
    CHECK(operations(rewritten<app::from_an_input<dv::replicated<app::tp>>>()) == "reduce_scatter own_rows add' norm' add' all_gather");
    CHECK(operations(rewritten<app::from_an_input<>>()) == "reduce_scatter all_gather add norm add");
    CHECK(operations(rewritten<app::from_a_state>()) == "reduce_scatter own_rows add' copy own_rows add' all_gather");
}

TEST_CASE("of rows of a state, too, each reader takes the block of the version that it reads") {
    dv::rewrite_list blocks_then_shards = everything();
    blocks_then_shards.everywhere = true;
    blocks_then_shards.blocks = 2;
    CHECK(operations(rewritten<app::from_a_state_as_written>(blocks_then_shards)) ==
          "rows rows reduce_scatter reduce_scatter rows rows own_rows add' own_rows add' copy own_rows add' all_gather own_rows add' "
          "all_gather concat");
}

TEST_CASE("a shard_update computes updates on shards and gathers the states") {
    using replicated = dv::replicated<app::tp>;
    CHECK(operations(rewritten<app::trained<dv::shard_update, replicated>>()) ==
          "reduce_scatter norm' own_rows sgd' all_gather norm' all_gather copy");
    CHECK(operations(rewritten<app::trained<dv::decompose, replicated>>()) == "reduce_scatter all_gather norm sgd norm copy");
    CHECK(operations(rewritten<app::trained_on<2>>()) == "reduce_scatter own_rows add' all_gather copy");
    CHECK(operations(rewritten<app::trained_on<1>>()) == "all_reduce add copy");
    const dv::ir::graph_data g = rewritten<app::trained_on<2>>();
    int shards = 0;
    for (const dv::ir::symbol& s : g.symbols)
        if (s.shard) {
            ++shards;
            CHECK(s.kind == dv::ir::symbol_kind::state);
            CHECK(s.type == dv::tensor_type{dv::element::float16, 2, {512, 1024}});
        }
    CHECK(shards == 1);
}

TEST_CASE("the option takes what can be decomposed, and leaves the rest") {
    CHECK(operations(rewritten<app::of_width<4>>(everything())) == "reduce_scatter all_gather");
    CHECK(operations(rewritten<app::of_width<1>>(everything())) == "all_reduce");
    CHECK(operations(rewritten<app::of_width<0>>(everything())) == "all_reduce");
    CHECK(operations(rewritten<app::of_width<3>>(everything())) == "all_reduce");
    CHECK(operations(rewritten<app::in_a_group>(everything())) == "all_reduce");
}

TEST_CASE("a residual stream stays sharded, and its row-wise work takes a fourth") {
    const dv::ir::graph_data g = rewritten<app::blocks>(everything());
    const traffic t = traffic_of(dv::ir::view(g));
    CHECK(t.moved == 4 + 4);        // norms and additions
    CHECK(t.all_gathers == 4 + 1);  // in front of the products, and of the output
    CHECK(t.gathered == t.summed);
    // A norm moves 2 times, an addition 3 times 128 MiB at 4 TB/s. On a fourth of the rows the four layers save 3/4 of 20 times that.
    constexpr std::int64_t whole = dv::predicted_time<app::blocks, app::h200>, shards = dv::predicted_time<app::blocks, app::decomposed>;
    constexpr std::int64_t saved = 15 * (std::int64_t{128} << 20) / 4;  // at 4 TB/s, in picoseconds
    constexpr std::int64_t latency = 5 * 10'000'000;  // of five more collectives
    static_assert(whole - shards > saved - latency * 11 / 10 && whole - shards < saved);
    MESSAGE("predicted: " << whole / 1000000 << " us, on shards " << shards / 1000000 << " us");
}

TEST_CASE("blocks of a split are decomposed, and remember the node that they come from") {
    const dv::ir::graph_data g = rewritten<app::in_blocks<2>>();
    CHECK(traffic_of(dv::ir::view(g)).all_gathers == 2 * (4 + 1));
    const dv::ir::graph written = dv::plan::typed<app::in_blocks<2>>::value;
    std::map<int, int> blocks_of;  // by node: its reduce_scatters
    for (const dv::ir::node& n : g.nodes) {
        if (n.kind != dv::op_kind::reduce_scatter) continue;
        REQUIRE(written.nodes[n.origin].kind == dv::op_kind::all_reduce);
        blocks_of[n.origin] += 1 + 2 * n.block;
    }
    CHECK(blocks_of.size() == 5);
    for (const auto& [node, sum] : blocks_of) CHECK(sum == 1 + 3);
    static_assert(dv::predicted_time<app::in_blocks<2>, app::h200> < dv::predicted_time<app::in_blocks<1>, app::h200>);
}

TEST_CASE("every layer of a deep graph may be decomposed") {
    static_assert(dv::predicted_time<app::deep<24>, app::h200> > 0);  // clang allows 1,048,576 steps for each stage
    const traffic t = traffic_of(dv::ir::view(rewritten<app::deep<24>>()));
    CHECK(t.all_gathers == 24);
    CHECK(t.moved == 24 * 16);
}

TEST_CASE("random graphs mean the same on shards, gather no more bytes, and their plans are proven") {
    const how_many many{10000};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    const dv::ir::region decompose{dv::rewrite::decompose}, inner_decompose{dv::rewrite::decompose, 0, 0};
    counts all, stated, split, several;
    for (long i = many.first(); i < many.last(); ++i) {
        const dv::ir::region blocks{dv::rewrite::split, 2 << (i % 2)}, inner_blocks{dv::rewrite::split, 2 << (i % 2), 0};
        const random_rows without{many.of(i), {}}, with{many.of(i), {decompose}};
        const random_rows both{many.of(i), i % 4 < 2 ? std::vector{blocks, inner_decompose} : std::vector{decompose, inner_blocks}};
        compare(i, dv::ir::view(without.graph), everything(), all);
        compare(i, dv::ir::view(with.graph), {}, stated);
        compare(i, dv::ir::view(both.graph), {}, split);
        const random_rows three{many.of(i), {decompose, decompose, i % 2 == 0 ? decompose : inner_decompose}};
        compare_with_one_by_one(i, dv::ir::view(three.graph), several);
    }
    for (const counts& c : {all, stated, split, several})
        MESSAGE(c.rewritten << " graphs decomposed, " << c.refused << " refused, " << c.moved << " operations on shards");
    if (many.only < 0 && many.count >= 10000) {
        CHECK(all.rewritten > 4000);
        CHECK(all.moved > 500);
        CHECK(stated.moved > 80);
        CHECK(split.moved > 60);
        CHECK(several.moved > 60);
    }
}

TEST_CASE("random updates on shards leave the states that the written graphs mean, and their plans are proven") {
    const how_many many{10000};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    int sharded = 0, refused = 0, updates = 0;
    for (long i = many.first(); i < many.last(); ++i) {
        CAPTURE(i);
        const random_rows drawn{many.of(i), {{dv::rewrite::shard_update}}, 1 + static_cast<int>(i % 2)};
        const dv::ir::graph g = dv::ir::view(drawn.graph);
        REQUIRE(!g.wrong);
        if (dv::pass::check(g) || dv::pass::check_regions(g)) {
            ++refused;
            continue;
        }
        const dv::ir::graph_data made = rewritten(g);
        bool any = false;
        for (const dv::ir::node& n : made.nodes)
            if (n.update && n.kind == dv::op_kind::all_gather) ++updates, any = true;
        sharded += any;
        REQUIRE(difference_of_outputs(g, dv::ir::view(made)) == "");
        if (!any || i % 10 != 0) continue;
        dv::plan_options o;
        o.machine = dv::machine::h200_nvlink::description;
        o.in_flight = 1 + static_cast<int>(i / 10 % 2);
        const dv::plan::made planned = make_plan(g, o);
        REQUIRE(!planned.wrong);
        CHECK(static_cast<bool>(prove_plan(dv::ir::view(made), dv::ir::view(planned.program), dv::ir::view(planned.plan), o)));
    }
    MESSAGE(sharded << " graphs with " << updates << " updates on shards, " << refused << " refused");
    if (many.only < 0 && many.count >= 10000) CHECK(sharded > 500);
}
