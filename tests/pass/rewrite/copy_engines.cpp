// The rewrite that has copy engines move collectives: what each becomes and what stays with NCCL, that random graphs mean the same
// afterwards, bit by bit unless hosts sum floating-point numbers first, and that their plans are proven.
#include "support/exercise.hpp"
#include "support/how_many.hpp"
#include "support/interpreter.hpp"
#include "support/laws.hpp"
#include "support/planner.hpp"
#include "support/random_graph.hpp"
#include "support/simulated.hpp"
#include "support/written.hpp"

#include <dovetail/core/display.hpp>
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/host/world.hpp>
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
struct dp;
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
struct in_a_group : along<dv::nccl_group<dv::let<y, all_gather<tp>(x)>, dv::let<z, all_reduce<sum, tp>(x)>>, dv::output<z>> {};
struct over_the_network : dv::graph<dv::mesh<dv::axis<node, 2, dv::link::network>, dv::axis<tp, 4>>, dv::input<x, rows>,
                                    dv::let<y, all_reduce<sum, node>(x)>, dv::let<z, all_gather<tp>(x)>, dv::output<y, z>> {};
struct of_open_width : dv::graph<dv::mesh<dv::axis<tp>>, dv::input<x, rows>, dv::let<y, all_reduce<sum, tp>(x)>, dv::output<y>> {};
struct of_one_rank : dv::graph<dv::mesh<dv::axis<tp, 1>>, dv::input<x, rows>, dv::let<y, all_reduce<sum, tp>(x)>, dv::output<y>> {};
template <int Ranks>
struct of_many_ranks : dv::graph<dv::mesh<dv::axis<tp, Ranks>>, dv::input<x, odd_rows>, dv::let<y, all_reduce<sum, tp>(x)>,
                                 dv::let<z, all_gather<tp>(x)>, dv::output<y, z>> {};
struct of_odd_rows_to_root : dv::graph<four, dv::input<x, odd_rows>, dv::let<y, reduce<sum, tp, root_index<2>>(x)>, dv::output<y>> {};
struct over_roles : dv::graph<dv::input<x, rows>, dv::on<a, dv::let<s, add(x, x)>>, dv::on<b, dv::let<z, add(x, x)>>,
                              dv::let<y, all_reduce<sum>(s, z)>, dv::output<y>> {};

// By statements: one of two collectives, one of them with NCCL, blocks of a split, and a decompose.
template <class... Statement> struct two : dv::graph<four, dv::input<x, rows>, Statement..., dv::output<y, z>> {};
template <dv::transport By>
struct one_of_two : two<dv::moved_by<By, dv::let<y, all_reduce<sum, tp>(x)>>, dv::let<z, all_gather<tp>(x)>> {};
struct one_inside : two<dv::moved_by<dv::transport::peer_copy, dv::let<y, all_gather<tp>(x)>,
                                     dv::moved_by<dv::transport::nccl, dv::let<z, all_gather<tp>(y)>>>> {};
using wide_rows = dv::tensor<float, 8, 64>;
struct in_blocks
    : dv::graph<four, dv::input<x, wide_rows>,
                dv::moved_by<dv::transport::peer_copy, dv::split<2, dv::let<y, all_reduce<sum, tp>(add(x, x))>>>, dv::output<y>> {};
struct on_shards : along<dv::moved_by<dv::transport::peer_copy, dv::decompose<dv::let<y, all_reduce<sum, tp>(x)>>>> {};

// Over the network and within hosts.
template <int Width> using hosts = dv::axis<node, Width, dv::link::network>;
template <int Width> using hosts_first = dv::mesh<hosts<2>, dv::axis<tp, Width>>;
using hosts_last = dv::mesh<dv::axis<tp, 4>, hosts<2>>;
using hosts_between = dv::mesh<dv::axis<dp, 2>, hosts<2>, dv::axis<tp, 2>>;
template <class Mesh, class Operation, class Tensor = dv::tensor<std::int32_t, 16, 64>>
struct over : dv::graph<Mesh, dv::input<x, Tensor>, dv::let<y, Operation>, dv::output<y>> {};
template <class Mesh, class Tensor> struct means : over<Mesh, all_reduce<average>(x), Tensor> {};
template <class Mesh, class Tensor> struct sums : over<Mesh, all_reduce<sum>(x), Tensor> {};
template <class Mesh, class Tensor> struct all_rows : over<Mesh, all_gather<>(x), Tensor> {};
template <class Mesh, class Tensor> struct own_sums : over<Mesh, reduce_scatter<sum>(x), Tensor> {};
template <class Mesh, class Tensor> struct from_root : over<Mesh, broadcast<root_index<3>>(x), Tensor> {};
template <class Mesh, class Tensor> struct state_of_sums
    : dv::graph<Mesh, dv::input<x, Tensor>, dv::state<s, Tensor, zeros>, dv::update<s, all_reduce<sum>(x)>> {};
template <class Mesh, class Tensor> struct state_of_own_sums
    : dv::graph<Mesh, dv::input<x, Tensor>, dv::state<s, dv::tensor<float, 2, 64>, zeros>, dv::update<s, reduce_scatter<sum>(x)>> {};
template <class Mesh, class Tensor> struct exchanged : over<Mesh, all_to_all<>(x), Tensor> {};
template <class Mesh, class Tensor> struct sums_at_root : over<Mesh, reduce<sum, root_index<3>>(x), Tensor> {};
template <class Mesh, class Tensor> struct root_and_back : over<Mesh, broadcast<root_index<3>>(reduce<sum, root_index<3>>(x)), Tensor> {};
template <class Mesh, class Tensor> struct behind_another
    : dv::graph<Mesh, dv::input<x, Tensor>, dv::let<z, add(x, x)>, dv::after<z, dv::let<y, all_gather<>(x)>>,
                dv::after<z, dv::let<a, reduce_scatter<sum>(y)>>, dv::output<a, z>> {};

using as_written = dv::options<dv::machine::h200_nvlink>;
template <std::int64_t FromBytes = 0>
using copied = dv::options<dv::machine::h200_nvlink, dv::collective_transport<dv::transport::peer_copy, FromBytes>>;
}  // namespace app

namespace {

// The kinds of some nodes of a graph in their order; those that copy engines move with a star, views by their name.
template <class Which>
std::string kinds_of(const dv::ir::graph& g, Which which) {
    std::string text;
    for (const dv::ir::node& n : g.nodes) {
        if (!which(n)) continue;
        const bool view = n.op->view != dv::view_kind::none;
        text += (text.empty() ? "" : " ") + (view ? dv::display(*n.op->name) : std::string(dv::name_of(n.kind)));
        text += n.moved_by == dv::transport::peer_copy ? "*" : "";
    }
    return text;
}
// Of the rewritten graph.
template <class G, class O = app::copied<>>
std::string made_of() {
    return kinds_of(dv::plan::planned<G, O>::graph, [](const dv::ir::node&) { return true; });
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

// By NCCL and by copy engines: all results of all ranks, on the host backend. Sums are exact.
template <class G>
void values_are_equal(int ranks) {
    std::vector<outputs> by_nccl(static_cast<std::size_t>(ranks)), by_copies = by_nccl;
    dv::host::world{ranks}.run([&](auto& rank) {
        by_nccl[static_cast<std::size_t>(rank.index())] = exercise<G, app::as_written>(rank, 3, 1);
        by_copies[static_cast<std::size_t>(rank.index())] = exercise<G, app::copied<>>(rank, 3, 1);
    });
    CHECK(by_copies == by_nccl);
}
template <class Mesh, class Tensor>
void values_are_equal_over(int ranks) {
    values_are_equal<app::sums<Mesh, Tensor>>(ranks);
    values_are_equal<app::means<Mesh, Tensor>>(ranks);
    values_are_equal<app::all_rows<Mesh, Tensor>>(ranks);
    values_are_equal<app::own_sums<Mesh, Tensor>>(ranks);
    values_are_equal<app::from_root<Mesh, Tensor>>(ranks);
    values_are_equal<app::behind_another<Mesh, Tensor>>(ranks);
}

// What stays of collectives whose part within hosts is moved by copy engines: how many are there, and does one of them sum floating-point
// numbers, which are then rounded in another order?
struct parts_between_hosts {
    int count = 0;
    bool rounds = false;

    parts_between_hosts(const dv::ir::graph& written, const dv::ir::graph& rewritten) {
        for (const dv::ir::node& n : rewritten.nodes) {
            if (n.origin < 0 || n.kind != written.nodes[n.origin].kind || n.axes == written.nodes[n.origin].axes) continue;
            ++count;
            const dv::element e = rewritten.symbols[rewritten.operands[n.first_argument]].type.type;
            rounds = rounds || (dv::is_reducing(n.kind) && dv::is_floating(e));
        }
    }
};

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
    CHECK(made_of<app::of_many_ranks<64>>() == "all_gather* local_reduce all_gather*");
    CHECK(made_of<app::of_many_ranks<65>>() == "all_reduce all_gather*");
    CHECK(made_of<app::of_odd_rows_to_root>() == "reduce");  // where it may be read is not for the transport to say
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

using floats = dv::tensor<float, 16, 64>;
using integers = dv::tensor<std::int32_t, 16, 64>;

TEST_CASE("copy engines move the part within the hosts of what crosses the network, whose axes come first") {
    using mesh = app::hosts_first<4>;
    CHECK(made_of<app::sums<mesh, floats>>() == "all_to_all* local_reduce all_reduce all_gather*");
    CHECK(made_of<app::means<mesh, floats>>() == "all_to_all* local_reduce all_reduce all_gather*");
    CHECK(made_of<app::from_root<mesh, floats>>() == "scatter* broadcast all_gather*");
    CHECK(made_of<app::all_rows<mesh, floats>>() == "all_gather rows all_gather* rows all_gather* concat");
    CHECK(made_of<app::own_sums<mesh, floats>>() == "rows all_to_all* local_reduce rows all_to_all* local_reduce concat reduce_scatter");
    CHECK(made_of<app::state_of_own_sums<mesh, floats>>() == made_of<app::own_sums<mesh, floats>>());
}

TEST_CASE("... last, so that the rows of a place follow each other") {
    CHECK(made_of<app::sums<app::hosts_last, floats>>() == "all_to_all* local_reduce all_reduce all_gather*");
    CHECK(made_of<app::all_rows<app::hosts_last, floats>>() == "all_gather all_gather*");
    CHECK(made_of<app::own_sums<app::hosts_last, floats>>() == "all_to_all* local_reduce reduce_scatter");
    CHECK(made_of<app::all_rows<app::hosts_last, dv::scalar<float>>>() == "all_gather all_gather*");
    CHECK(made_of<app::from_root<app::hosts_last, floats>>() == "broadcast");
}

TEST_CASE("... and between others, where the members of neither a host nor a place follow each other") {
    CHECK(made_of<app::sums<app::hosts_between, floats>>() == "all_to_all* local_reduce all_reduce all_gather*");
    CHECK(made_of<app::all_rows<app::hosts_between, floats>>() == "all_gather");
    CHECK(made_of<app::own_sums<app::hosts_between, floats>>() == "reduce_scatter");
    CHECK(made_of<app::from_root<app::hosts_between, floats>>() == "broadcast");
}

TEST_CASE("NCCL keeps of what crosses the network what has no equal shards or blocks, and what would be rounded twice") {
    using mesh = app::hosts_first<4>;
    CHECK(made_of<app::sums<mesh, app::odd_rows>>() == "all_reduce");
    CHECK(made_of<app::from_root<mesh, app::odd_rows>>() == "broadcast");
    CHECK(made_of<app::means<mesh, integers>>() == "all_reduce");
    CHECK(made_of<app::state_of_sums<mesh, floats>>() == "all_reduce");
    CHECK(made_of<app::all_rows<mesh, app::odd_rows>>() == "all_gather");
    CHECK(made_of<app::all_rows<mesh, dv::scalar<float>>>() == "all_gather");
    CHECK(made_of<app::own_sums<mesh, dv::tensor<float, 8, 63>>>() == "reduce_scatter");
    CHECK(made_of<app::exchanged<mesh, floats>>() == "all_to_all");
    CHECK(made_of<app::sums_at_root<mesh, floats>>() == "reduce");
    CHECK(made_of<app::root_and_back<mesh, floats>>() == "reduce broadcast");
    CHECK(made_of<app::sums<dv::mesh<app::hosts<2>, dv::axis<app::tp>>, floats>>() == "all_reduce");
    CHECK(made_of<app::sums<dv::mesh<app::hosts<2>, dv::axis<app::tp, 1>>, floats>>() == "all_reduce");
}

TEST_CASE("any number of hosts, and one") {
    CHECK(made_of<app::sums<dv::mesh<app::hosts<0>, dv::axis<app::tp, 4>>, floats>>() == "all_to_all* local_reduce all_reduce all_gather*");
    CHECK(made_of<app::sums<dv::mesh<app::hosts<1>, dv::axis<app::tp, 4>>, floats>>() == "all_to_all* local_reduce all_gather*");
    CHECK(made_of<app::all_rows<dv::mesh<dv::axis<app::tp, 4>, app::hosts<1>>, floats>>() == "all_gather*");
}

TEST_CASE("what a collective starts after is awaited by those of its nodes that take its argument") {
    const auto awaiting = [](const dv::ir::node& n) { return n.awaited > 0; };
    using by_host = app::behind_another<app::hosts_first<4>, floats>;
    using by_place = app::behind_another<app::hosts_last, floats>;
    CHECK(kinds_of(dv::plan::planned<by_host, app::copied<>>::graph, awaiting) == "all_gather all_to_all* all_to_all*");
    CHECK(kinds_of(dv::plan::planned<by_place, app::copied<>>::graph, awaiting) == "all_gather all_to_all*");
}

TEST_CASE("in two levels the values are those of NCCL alone") {
    values_are_equal_over<app::hosts_first<2>, floats>(4);
    values_are_equal_over<app::hosts_first<4>, integers>(8);
    values_are_equal_over<app::hosts_last, integers>(8);
    values_are_equal_over<app::hosts_between, floats>(8);
}

namespace {
// The result of the only local_reduce of a plan.
template <class G, class O = app::copied<>>
const dv::ir::buffer& made_by_reduction() {
    using planned = dv::plan::planned<G, O>;
    for (const dv::ir::task& v : planned::program.tasks)
        if (v.kind == dv::op_kind::local_reduce) {
            const dv::ir::participation& x = planned::program.participations[v.first_participation];
            return planned::program.buffers[planned::program.accesses[x.first_access + x.accesses - 1].buffer];
        }
    FAIL("nothing is reduced within a rank");
    return planned::program.buffers[0];
}
// Whether the output has its memory.
template <class G, class O = app::copied<>>
bool reduces_in_place() {
    const int owner = made_by_reduction<G, O>().alias;
    for (const dv::ir::buffer& b : dv::plan::planned<G, O>::program.buffers)
        if (b.output) return owner >= 0 && b.alias == owner;
    return false;
}
}  // namespace

TEST_CASE("blocks that arrive for an all_reduce, what is reduced of them and the result are one memory") {
    CHECK(reduces_in_place<app::summed>());
    CHECK(reduces_in_place<app::over<dv::mesh<app::hosts<1>, dv::axis<app::tp, 4>>, app::all_reduce<app::sum>(app::x)>>());
    CHECK(!reduces_in_place<app::to_root>());
    CHECK(!reduces_in_place<app::of_odd_rows>());
    CHECK(!reduces_in_place<app::sums<app::hosts_first<4>, floats>>());
    CHECK(!reduces_in_place<app::in_blocks, app::as_written>());  // y is made of the blocks
    CHECK(made_by_reduction<app::in_blocks, app::as_written>().bytes == app::wide_rows::bytes / 2 / 4);
    CHECK(dv::plan::planned<app::summed, app::copied<>>::plan.roles[0].arena_bytes == 256);  // 128 bytes, aligned
}

TEST_CASE("... along the first axis, several axes, and one of one rank") {
    using mesh = dv::mesh<dv::axis<app::dp, 2>, dv::axis<app::a, 1>, dv::axis<app::tp, 2>>;
    values_are_equal<app::over<mesh, app::all_reduce<app::sum, app::dp>(app::x), floats>>(4);
    values_are_equal<app::over<mesh, app::all_reduce<app::sum, app::a, app::tp>(app::x), integers>>(4);
    values_are_equal<app::over<mesh, app::all_reduce<app::average>(app::x), floats>>(4);
}

TEST_CASE("a rank that reduced to the place of another one would be refused") {
    using mesh = dv::mesh<dv::axis<app::dp, 2>, dv::axis<app::tp, 4>>;
    using planned = dv::plan::planned<app::over<mesh, app::all_reduce<app::sum, app::tp>(app::x)>, app::copied<>>;
    subject s{owned(planned::graph), owned(planned::program), owned(planned::plan), planned::options};
    REQUIRE(s.all().what == dv::plan::flaw::none);
    for (dv::ir::member& m : s.program.members)
        if (m.kind == dv::op_kind::local_reduce) m.communicator = -1;
    CHECK(s.all().what == dv::plan::flaw::wrong_communicator);
}

TEST_CASE("on the stream of a reduction are the copies of its result, else those of the blocks") {
    const auto stream_of = []<class Graph>(Graph*, dv::op_kind kind) {
        for (const dv::ir::task& v : dv::plan::planned<Graph, app::copied<>>::program.tasks)
            if (v.kind == kind) return v.stream;
        FAIL("no such operation");
        return dv::stream_kind::compute;
    };
    app::summed* const summed = nullptr;
    CHECK(stream_of(summed, dv::op_kind::all_to_all) == dv::stream_kind::copy);
    CHECK(stream_of(summed, dv::op_kind::local_reduce) == dv::stream_kind::communication);
    CHECK(stream_of(summed, dv::op_kind::all_gather) == dv::stream_kind::communication);
    app::scattered* const scattered = nullptr;
    CHECK(stream_of(scattered, dv::op_kind::all_to_all) == dv::stream_kind::communication);
    CHECK(stream_of(scattered, dv::op_kind::local_reduce) == dv::stream_kind::communication);
    app::to_root* const to_root = nullptr;
    CHECK(stream_of(to_root, dv::op_kind::all_to_all) == dv::stream_kind::copy);
    CHECK(stream_of(to_root, dv::op_kind::gather) == dv::stream_kind::communication);
    app::of_odd_rows* const of_odd_rows = nullptr;
    CHECK(stream_of(of_odd_rows, dv::op_kind::all_gather) == dv::stream_kind::copy);
    CHECK(stream_of(of_odd_rows, dv::op_kind::local_reduce) == dv::stream_kind::communication);
    app::gathered* const gathered = nullptr;
    CHECK(stream_of(gathered, dv::op_kind::all_gather) == dv::stream_kind::copy);
}

TEST_CASE("rewritten random graphs are proven, and compute what the written ones mean") {
    int changed = 0, between_hosts = 0;
    const how_many many{3000};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    for (long i = many.first(); i < many.last(); ++i) {
        knobs k;
        if (i % 5 == 4) k.nodes_low = 30, k.nodes_high = 60;
        if (i % 5 == 3) k.least_axes = 2, k.least_width = 2;
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
        const dv::plan::made made = make_plan(g, o);
        REQUIRE(!made.wrong);
        const dv::ir::program p = dv::ir::view(made.program);
        const dv::plan::plan plan = dv::ir::view(made.plan);
        CHECK(static_cast<bool>(prove_plan(rewritten, p, plan, o)));
        meaning written = interpret(g, s.runs, s.seed), m = interpret_as(rewritten, written);
        const parts_between_hosts parts{g, rewritten};
        between_hosts += parts.count;
        if (!parts.rounds) CHECK(outputs_differ(g, written, m) == "");
        simulation how;
        how.seed = s.seed;
        how.in_flight = o.in_flight;
        CHECK_NOTHROW(simulate(rewritten, p, plan, m, how));
    }
    MESSAGE(changed << " graphs with other values, " << between_hosts << " collectives of which NCCL keeps a part");
    if (many.only >= 0 || many.count < 3000) return;
    CHECK(changed > 300);
    CHECK(between_hosts > 30);
}
