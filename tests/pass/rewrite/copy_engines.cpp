// The rewrite that has copy engines move collectives: what each becomes and what stays with NCCL, that random graphs mean the same
// afterwards, bit by bit, and that their plans are proven.
#include "support/how_many.hpp"
#include "support/interpreter.hpp"
#include "support/laws.hpp"
#include "support/random_graph.hpp"
#include "support/simulator.hpp"
#include "support/written.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>

using namespace support;

namespace app {
using namespace dv::ops;
struct x;
struct y;
struct z;
struct s;
struct tp;
struct node;
struct a;
struct b;

using rows = dv::tensor<float, 8, 4>;
using odd_rows = dv::tensor<float, 3, 4>;
using four = dv::mesh<dv::axis<tp, 4>>;
template <class... Statement> struct along : dv::graph<four, dv::input<x, rows>, Statement..., dv::output<y>> {};

struct summed : along<dv::let<y, all_reduce<sum, tp>(x)>> {};
struct scattered : along<dv::let<y, reduce_scatter<sum, tp>(x)>> {};
struct to_root : along<dv::let<y, reduce<sum, tp, root_index<2>>(x)>> {};
struct gathered : along<dv::let<y, all_gather<tp>(x)>> {};
struct shifted : along<dv::let<y, shift<tp, 1, zero_edge>(x)>> {};
struct of_odd_rows : dv::graph<four, dv::input<x, odd_rows>, dv::let<y, all_reduce<maximum, tp>(x)>, dv::output<y>> {};
struct of_a_number : dv::graph<four, dv::input<x, dv::scalar<float>>, dv::let<y, all_reduce<average, tp>(x)>, dv::output<y>> {};
struct into_a_state : dv::graph<four, dv::input<x, rows>, dv::state<s, rows, zeros>, dv::update<s, all_reduce<sum, tp>(x)>> {};
struct in_a_group
    : along<dv::nccl_group<dv::let<y, all_gather<tp>(x)>, dv::let<z, all_reduce<sum, tp>(x)>>, dv::output<z>> {};
struct over_the_network : dv::graph<dv::mesh<dv::axis<node, 2, dv::link::network>, dv::axis<tp, 4>>, dv::input<x, rows>,
                                    dv::let<y, all_reduce<sum, node>(x)>, dv::let<z, all_gather<tp>(x)>, dv::output<y, z>> {};
struct of_open_width
    : dv::graph<dv::mesh<dv::axis<tp>>, dv::input<x, rows>, dv::let<y, all_reduce<sum, tp>(x)>, dv::output<y>> {};
struct of_one_rank
    : dv::graph<dv::mesh<dv::axis<tp, 1>>, dv::input<x, rows>, dv::let<y, all_reduce<sum, tp>(x)>, dv::output<y>> {};
struct over_roles : dv::graph<dv::input<x, rows>, dv::on<a, dv::let<s, add(x, x)>>, dv::on<b, dv::let<z, add(x, x)>>,
                              dv::let<y, all_reduce<sum>(s, z)>, dv::output<y>> {};

// By statements: one of two collectives, one of them with NCCL, blocks of a split, and a decompose.
template <class... Statement> struct two : dv::graph<four, dv::input<x, rows>, Statement..., dv::output<y, z>> {};
template <dv::transport By>
struct one_of_two : two<dv::moved_by<By, dv::let<y, all_reduce<sum, tp>(x)>>, dv::let<z, all_gather<tp>(x)>> {};
struct one_inside : two<dv::moved_by<dv::transport::peer_copy, dv::let<y, all_gather<tp>(x)>,
                                     dv::moved_by<dv::transport::nccl, dv::let<z, all_gather<tp>(y)>>>> {};
using wide_rows = dv::tensor<float, 8, 64>;
struct in_blocks : dv::graph<four, dv::input<x, wide_rows>,
                             dv::moved_by<dv::transport::peer_copy, dv::split<2, dv::let<y, all_reduce<sum, tp>(add(x, x))>>>,
                             dv::output<y>> {};
struct on_shards : along<dv::moved_by<dv::transport::peer_copy, dv::decompose<dv::let<y, all_reduce<sum, tp>(x)>>>> {};

using as_written = dv::options<dv::machine::h200_nvlink>;
template <std::int64_t FromBytes = 0>
using copied = dv::options<dv::machine::h200_nvlink, dv::collective_transport<dv::transport::peer_copy, FromBytes>>;
}  // namespace app

namespace {

// The kinds of the rewritten graph's nodes in their order; those that copy engines move with a star.
template <class G, class O = app::copied<>>
std::string made_of() {
    std::string text;
    for (const dv::ir::node& n : dv::plan::planned<G, O>::graph.nodes)
        text += (text.empty() ? "" : " ") + std::string(dv::name_of(n.kind)) + (n.moved_by == dv::transport::peer_copy ? "*" : "");
    return text;
}

// The first output that two meanings have different bytes of.
std::string outputs_differ(const dv::ir::graph& g, meaning& a, meaning& b) {
    for (int run = 0; run < a.runs; ++run)
        for (int role = 0; role < g.roles.size(); ++role)
            for (int position = 0; position < a.positions(role); ++position)
                for (const int s : a.outputs[static_cast<std::size_t>(a.at(role, position))]) {
                    const piece x = a.value(run, s, role, position), y = b.value(run, s, role, position);
                    if (x.bytes > 0 && std::memcmp(x.data, y.data, static_cast<std::size_t>(x.bytes)) != 0)
                        return "output " + std::to_string(s) + " of run " + std::to_string(run);
                }
    return "";
}

}  // namespace

TEST_CASE("movement is moved as it is, a reduction becomes movement and a local reduction") {
    CHECK(made_of<app::gathered>() == "all_gather*");
    CHECK(made_of<app::shifted>() == "shift*");
    CHECK(made_of<app::scattered>() == "all_to_all* local_reduce");
    CHECK(made_of<app::summed>() == "all_to_all* local_reduce all_gather*");
    CHECK(made_of<app::to_root>() == "all_to_all* local_reduce gather*");
}

TEST_CASE("all arguments are gathered where rows cannot be divided, or the result is a state") {
    CHECK(made_of<app::of_odd_rows>() == "all_gather* local_reduce");
    CHECK(made_of<app::of_a_number>() == "all_gather* local_reduce");
    CHECK(made_of<app::into_a_state>() == "all_gather* local_reduce");
}

TEST_CASE("NCCL keeps groups, the network, reductions of open width, small collectives and those over roles") {
    CHECK(made_of<app::in_a_group>() == "all_gather all_reduce");
    CHECK(made_of<app::over_the_network>() == "all_reduce all_gather*");
    CHECK(made_of<app::of_open_width>() == "all_reduce");
    CHECK(made_of<app::of_one_rank>() == "all_reduce");
    CHECK(made_of<app::over_roles>() == "compute compute all_reduce");
    CHECK(made_of<app::summed, app::copied<128>>() == "all_to_all* local_reduce all_gather*");
    CHECK(made_of<app::summed, app::copied<129>>() == "all_reduce");
    CHECK(made_of<app::gathered, app::copied<512>>() == "all_gather*");
    CHECK(made_of<app::gathered, app::copied<513>>() == "all_gather");
}

TEST_CASE("a statement says what moves the collectives in it, whatever the options say; the innermost one counts") {
    CHECK(made_of<app::one_of_two<dv::transport::peer_copy>, app::as_written>() == "all_to_all* local_reduce all_gather* all_gather");
    CHECK(made_of<app::one_of_two<dv::transport::nccl>>() == "all_reduce all_gather*");
    CHECK(made_of<app::one_of_two<dv::transport::automatic>>() == "all_to_all* local_reduce all_gather* all_gather*");
    CHECK(made_of<app::one_of_two<dv::transport::automatic>, app::as_written>() == "all_reduce all_gather");
    CHECK(made_of<app::one_inside, app::as_written>() == "all_gather* all_gather");
    CHECK(made_of<app::on_shards, app::as_written>() == "all_to_all* local_reduce all_gather*");
    const std::string blocks = made_of<app::in_blocks, app::as_written>();
    CAPTURE(blocks);
    CHECK(blocks.find("all_reduce") == std::string::npos);
    CHECK(blocks.find("all_to_all* local_reduce all_gather*") != std::string::npos);
}

TEST_CASE("blocks arrive on the stream of their reduction, results on the other one") {
    const auto& p = dv::plan::planned<app::summed, app::copied<>>::program;
    for (const dv::ir::task& v : p.tasks) {
        if (v.kind == dv::op_kind::all_to_all || v.kind == dv::op_kind::local_reduce) CHECK(v.stream == dv::stream_kind::communication);
        if (v.kind == dv::op_kind::all_gather) CHECK(v.stream == dv::stream_kind::copy);
    }
}

TEST_CASE("rewritten random graphs are proven, and compute what the written ones mean, bit by bit") {
    int changed = 0;
    const how_many many{3000};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    for (long i = many.first(); i < many.last(); ++i) {
        knobs k;
        if (i % 5 == 4) k.nodes_low = 30, k.nodes_high = 60;
        const sketch s = random_graph(mix(many.of(i) + 12), k);
        const dv::ir::graph_data data = emit(s);
        const dv::ir::graph g = dv::ir::view(data);
        dv::plan_options o = s.plan_options;
        o.rewrites = {};
        o.rewrites.copied_from = i % 3 == 0 ? 64 : 0;
        CAPTURE(i);
        dv::plan::tables t{g, o};
        const dv::ir::graph rewritten = dv::ir::view(t.read<dv::plan::stage::rewrite>());
        if (rewritten.symbols.size() == g.symbols.size()) continue;
        ++changed;
        const dv::plan::made made = dv::plan::make(g, o);
        REQUIRE(!made.wrong);
        const dv::ir::program p = dv::ir::view(made.program);
        const dv::plan::plan plan = dv::ir::view(made.plan);
        CHECK(static_cast<bool>(dv::plan::prove(rewritten, p, plan, o)));
        meaning written = interpret(g, s.runs, s.seed), m = interpret_as(rewritten, written);
        CHECK(outputs_differ(g, written, m) == "");
        simulation how;
        how.seed = s.seed;
        how.in_flight = o.in_flight;
        CHECK_NOTHROW(simulate(rewritten, p, plan, m, how));
    }
    MESSAGE(changed << " graphs with a reduction by copy engines");
    if (many.only < 0 && many.count >= 3000) CHECK(changed > 300);
}
