// What statements and options say of transports: of collectives along an axis, and of values that another role takes. Exactly these are
// moved so, other rewrites and the search keep it, plans are proven, and the values are those of the plan without.
#include "support/exercise.hpp"
#include "support/how_many.hpp"
#include "support/interpreter.hpp"
#include "support/near_peers.hpp"
#include "support/planner.hpp"
#include "support/random_graph.hpp"
#include "support/simulator.hpp"
#include "support/written.hpp"

#include <dovetail/core/display.hpp>
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/observe/observe.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/plan/make.hpp>
#include <dovetail/plan/tuning.hpp>

#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>

using namespace support;

namespace app {
using namespace dv::ops;
using dv::transport;
struct x;
struct y;
struct z;
struct total;
struct dp;
struct tp;
struct node;
struct left;
struct right;
struct a;
struct b;
struct c;
template <int> struct sender;
template <int> struct block;
template <int> struct product;

using matrix = dv::tensor<float, 8, 64>;
using square = dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 2>>;
template <class... Statement> struct on_square : dv::graph<square, dv::input<x, matrix>, Statement..., dv::output<y, z>> {};

// Along one axis each, along both, and with a statement that says otherwise.
struct along_each : on_square<dv::let<y, all_gather<tp>(x)>, dv::let<z, all_gather<dp>(x)>> {};
struct along_both : on_square<dv::let<y, all_gather<tp>(x)>, dv::let<z, all_gather<dp, tp>(x)>> {};
struct with_a_statement : on_square<dv::moved_by<transport::nccl, dv::let<y, all_gather<tp>(x)>>, dv::let<z, all_gather<tp>(x)>> {};
struct left_to_options
    : on_square<dv::moved_by<transport::automatic, dv::let<y, all_gather<tp>(x)>>, dv::let<z, all_gather<dp>(x)>> {};
using wide = dv::tensor<float, 512, 512>;
struct wide_each : dv::graph<square, dv::input<x, wide>, dv::let<y, all_gather<tp>(x)>, dv::let<z, all_gather<dp>(x)>, dv::output<y, z>> {
};
struct two_sums : on_square<dv::let<y, all_reduce<sum, tp>(x)>, dv::let<z, all_reduce<sum, dp>(x)>> {};
struct of_shards
    : on_square<dv::decompose<dv::let<a, all_reduce<sum, tp>(x)>, dv::let<y, relu(a)>>, dv::let<z, all_gather<dp>(x)>> {};
struct alone : dv::graph<dv::mesh<dv::axis<dp, 1>, dv::axis<tp, 2>>, dv::input<x, matrix>, dv::let<y, all_gather<dp>(x)>, dv::output<y>> {};

// On shards the rows of a rank are too short for what copy engines move within hosts.
struct between_hosts : dv::graph<dv::mesh<dv::axis<node, 2, dv::link::network>, dv::axis<tp, 4>>, dv::input<x, dv::tensor<float, 8, 8>>,
                                 dv::let<y, all_reduce<sum, node, tp>(x)>, dv::output<y>> {};

template <transport By, class... Axis> using along = dv::axis_transport<By, Axis...>;
template <class... Option> using with = dv::options<near_peers, Option...>;
using copies_along_tp = with<along<transport::peer_copy, tp>>;

// Values from a role to another: by NCCL, by copy engines, and as the options say.
template <transport A, transport B> struct two_channels : dv::graph<
    dv::input<x, matrix>,
    dv::on<left, dv::moved_by<A, dv::let<a, add(x, x)>>, dv::moved_by<B, dv::let<b, add(a, x)>>, dv::let<c, add(b, x)>>,
    dv::on<right, dv::let<y, add(a, add(b, c))>>,
    dv::output<y>> {};
// Of a family.
template <int I> using make =
    dv::on<sender<I>, dv::moved_by<I == 1 ? transport::nccl : transport::automatic, dv::let<block<I>, add(x, x)>>>;
template <int I> using use = dv::let<product<I>, add(block<I>, x)>;
struct three_senders : dv::graph<dv::input<x, matrix>, dv::repeat<make, 3>, dv::on<right, dv::repeat<use, 3>>,
                                 dv::output<dv::all<3, product>>> {};
// Rows of a value, a value of parts and one of them, a value that is waited for only, and a collective's result.
struct rows_of_it : dv::graph<dv::input<x, matrix>, dv::on<left, dv::moved_by<transport::nccl, dv::let<a, add(x, x)>>>,
                              dv::on<right, dv::let<y, copy(rows<1, 2>(a))>>, dv::output<y>> {};
struct rows_where_taken : dv::graph<dv::input<x, matrix>, dv::on<left, dv::let<a, add(x, x)>>,
                                    dv::on<right, dv::moved_by<transport::nccl, dv::let<y, copy(rows<1, 2>(a))>>>, dv::output<y>> {};
struct of_parts : dv::graph<dv::input<x, matrix>,
                            dv::on<left, dv::moved_by<transport::nccl, dv::let<a, add(x, x)>>, dv::let<b, add(x, x)>,
                                   dv::let<c, concat<a, b>>>,
                            dv::on<right, dv::let<y, copy(a)>, dv::let<z, copy(c)>>, dv::output<y, z>> {};
struct waited_for : dv::graph<dv::input<x, matrix>, dv::on<left, dv::moved_by<transport::nccl, dv::let<a, add(x, x)>>>,
                              dv::on<right, dv::after<a, dv::let<y, copy(x)>>>, dv::output<y>> {};
struct gathered_and_sent
    : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, matrix>, dv::on<left, dv::moved_by<transport::nccl, dv::let<a, all_gather<tp>(x)>>>,
                dv::on<right, dv::let<y, copy(a)>>, dv::output<y>> {};
struct in_blocks : dv::graph<dv::input<x, matrix>, dv::split<2, dv::on<left, dv::moved_by<transport::nccl, dv::let<a, add(x, x)>>>,
                                                           dv::on<right, dv::let<y, add(a, x)>>>,
                             dv::output<y>> {};
}  // namespace app

namespace {

// Copy engines are never cheaper.
struct far_peers {
    static constexpr dv::machine_description description = [] {
        dv::machine_description m = dv::machine::h200_nvlink::description;
        m.name = "far_peers";
        m.peer_latency = 1'000'000'000'000;
        return m;
    }();
};

// The communications of a plan in the order of the program, those that copy engines move with a star.
template <class G, class O>
std::string moved() {
    const auto& p = dv::plan::planned<G, O>::program;
    std::string text;
    for (const dv::ir::task& v : p.tasks)
        if (dv::is_communication(v.kind) || v.kind == dv::op_kind::transfer)
            text += (text.empty() ? "" : " ") + std::string(dv::name_of(v.kind)) + (v.moved_by == dv::transport::peer_copy ? "*" : "");
    return text;
}
// The values that are sent, in the order of their names.
template <class G, class O>
std::string sent() {
    using planned = dv::plan::planned<G, O>;
    std::set<std::string> names;
    for (const dv::ir::task& v : planned::program.tasks)
        if (v.kind == dv::op_kind::transfer) {
            const std::string name = dv::display(*planned::graph.symbols[planned::program.members[v.first_member].symbol].name);
            names.insert(name.substr(name.rfind(':') + 1) + (v.moved_by == dv::transport::peer_copy ? "*" : ""));
        }
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
}

// The options of the plan with the other transport that dv::tuned compares; void: none.
template <class G, class O>
using other_transport = typename decltype([] {
    if constexpr (dv::plan::detail::may_use_nccl<G, O>())
        return std::type_identity<dv::plan::fallback_options<G, O>>{};
    else if constexpr (dv::plan::detail::may_copy<G, O>())
        return std::type_identity<dv::plan::detail::copied_options<O>>{};
    else
        return std::type_identity<void>{};
}())::type;

template <class G, class O>
std::string explained() {
    std::ostringstream text;
    dv::explain<G, O>(text);
    return text.str();
}

template <class G, class O, class Plain>
void values_are_equal(int ranks) {
    std::vector<outputs> stated(static_cast<std::size_t>(ranks)), plain = stated;
    dv::host::world{ranks}.run([&](auto& rank) {
        stated[static_cast<std::size_t>(rank.index())] = exercise<G, O>(rank, 3, 1);
        plain[static_cast<std::size_t>(rank.index())] = exercise<G, Plain>(rank, 3, 1);
    });
    CHECK(stated == plain);
}

using app::along;
using app::with;
using dv::transport;
constexpr transport automatic = transport::automatic, nccl = transport::nccl, peer_copy = transport::peer_copy;

}  // namespace

TEST_CASE("an option says of an axis what moves the collectives along it, and of no other") {
    CHECK(moved<app::along_each, with<>>() == "all_gather all_gather");
    CHECK(moved<app::along_each, app::copies_along_tp>() == "all_gather* all_gather");
    CHECK(moved<app::along_each, with<along<nccl, app::tp>, along<peer_copy, app::dp>>>() == "all_gather all_gather*");
    CHECK(moved<app::along_each, with<along<peer_copy, app::dp, app::tp>>>() == "all_gather* all_gather*");
    CHECK(moved<app::along_both, app::copies_along_tp>() == "all_gather* all_gather*");
    CHECK(moved<app::alone, with<along<peer_copy, app::dp>>>() == "all_gather");
}

TEST_CASE("... nor of those that a rewrite makes of shards") {
    CHECK(moved<app::of_shards, with<>>() == "reduce_scatter all_gather all_gather");
    CHECK(moved<app::of_shards, app::copies_along_tp>() == "all_to_all* all_gather* all_gather");
    CHECK(moved<app::of_shards, with<dv::collective_transport<peer_copy>, along<nccl, app::tp>>>() ==
          "reduce_scatter all_gather all_gather*");
}

TEST_CASE("an axis counts before collective_transport, a statement before an axis, and of two options for an axis the last") {
    using all = dv::collective_transport<peer_copy>;
    CHECK(moved<app::along_each, with<all, along<nccl, app::tp>>>() == "all_gather all_gather*");
    CHECK(moved<app::along_each, with<dv::collective_transport<nccl>, along<peer_copy, app::tp>>>() == "all_gather* all_gather");
    CHECK(moved<app::along_each, with<all, along<nccl, app::tp>, along<automatic, app::tp>>>() == "all_gather* all_gather*");
    CHECK(moved<app::with_a_statement, app::copies_along_tp>() == "all_gather all_gather*");
    CHECK(moved<app::left_to_options, app::copies_along_tp>() == "all_gather* all_gather");
}

TEST_CASE("a statement says of a value what moves it to other roles, whatever the options say") {
    using channels = app::two_channels<nccl, peer_copy>;
    CHECK(sent<channels, with<dv::channel_transport<nccl>>>() == "a b* c");
    CHECK(sent<channels, with<dv::channel_transport<peer_copy>>>() == "a b* c*");
    CHECK(sent<channels, with<>>() == "a b* c*");
    CHECK(sent<app::two_channels<automatic, nccl>, with<>>() == "a* b c*");
    CHECK(sent<app::three_senders, with<>>() == "block<0>* block<1> block<2>*");
    CHECK(moved<dv::single_rank<channels>, with<>>().find('*') == std::string::npos);
}

TEST_CASE("rows are sent as the value that they are of, parts as they themselves, blocks as the whole") {
    CHECK(moved<app::rows_of_it, with<>>() == "transfer");
    CHECK(dv::display(dv::tag_of<dv::plan::diagnose<app::rows_where_taken>>).find("nothing_to_move") == 0);
    CHECK(sent<app::of_parts, with<>>() == "a c*");
    CHECK(sent<app::waited_for, with<>>() == "a");
    CHECK(moved<app::gathered_and_sent, with<>>() == "all_gather transfer");
    CHECK(moved<app::in_blocks, with<>>() == "transfer transfer");
}

TEST_CASE("no rewrite and no search changes what is stated") {
    using dv::rewrite;
    using searched = dv::rewritten_by<rewrite::automatic>;
    using all_stated = with<along<nccl, app::tp>, along<peer_copy, app::dp>, searched>;
    using tp_copied = along<peer_copy, app::tp>;
    CHECK(moved<app::two_sums, with<tp_copied, dv::rewritten_by<rewrite::bucket>>>() == "all_to_all* all_gather* all_reduce");
    CHECK(moved<app::two_sums, all_stated>() == "all_reduce all_to_all* all_gather*");
    CHECK(moved<app::two_sums, with<tp_copied, dv::rewritten_by<rewrite::decompose>>>() ==
          "all_to_all* all_gather* reduce_scatter all_gather");
    CHECK(dv::plan::changes_of(dv::plan::typed<app::two_sums>::value, with<searched>::value).copied > 0);
    CHECK(dv::plan::changes_of(dv::plan::typed<app::two_sums>::value, all_stated::value).copied == 0);  // nothing is left to try
    using decided = dv::decided<dv::decided_rewrites<1, 0u, false, dv::all_kept>, dv::collective_transport<peer_copy, 0>>;
    CHECK(moved<app::along_each, with<along<nccl, app::tp>, decided>>() == "all_gather all_gather*");
}

TEST_CASE("the search takes no rewrite of what copy engines then cannot move, and to ask for one is an error") {
    using tp_copied = along<peer_copy, app::tp>;
    using searched = with<tp_copied, dv::rewritten_by<dv::rewrite::automatic>>;
    CHECK(moved<app::between_hosts, searched>() == "all_to_all* all_reduce all_gather*");
    const dv::plan::rewrite_trials trials = dv::plan::planned<app::between_hosts, searched>::rewrites;
    int decomposed = 0;
    for (int k = 0; k < trials.count; ++k) {
        CHECK(trials.of[k].as_stated != trials.of[k].list.has(dv::rewrite::decompose));
        CHECK(trials.of[k].within_limit);
        decomposed += trials.of[k].list.has(dv::rewrite::decompose) ? 1 : 0;
    }
    CHECK(decomposed > 0);
    const dv::plan::made made = make_plan(dv::plan::typed<app::between_hosts>::value, searched::value);
    CHECK(made.rewrites.count == trials.count);
    CHECK(made.rewrites.best == trials.best);
    using asked = with<tp_copied, dv::rewritten_by<dv::rewrite::decompose>>;
    using wrong = decltype(dv::plan::detail::plan_error<app::between_hosts, asked>())::type;
    CHECK(dv::display(dv::tag_of<wrong>).find("axis_not_by_copy_engines") == 0);
}

TEST_CASE("what is stated is kept in the second plan and in those that dv::tuned compares") {
    using channels = app::two_channels<nccl, automatic>;
    CHECK(sent<channels, with<>>() == "a b* c*");
    CHECK(dv::plan::has_fallback<channels, with<>>);
    CHECK(sent<channels, dv::plan::fallback_options<channels, with<>>>() == "a b c");
    CHECK_FALSE(dv::plan::has_fallback<app::two_channels<peer_copy, automatic>, with<>>);
    CHECK_FALSE(dv::plan::has_fallback<app::along_each, app::copies_along_tp>);
    CHECK(sent<channels, dv::plan::detail::copied_options<with<>>>() == "a b* c*");
    CHECK(sent<channels, other_transport<channels, with<>>>() == "a b c");
    CHECK(sent<channels, other_transport<channels, with<dv::collective_transport<nccl>>>>() == "a b c");
    using one_each = app::two_channels<peer_copy, nccl>;
    CHECK(sent<one_each, other_transport<one_each, with<>>>() == "a* b c");
    CHECK(sent<one_each, other_transport<one_each, dv::options<far_peers>>>() == "a* b c*");
    using all_stated = with<along<nccl, app::tp>, along<peer_copy, app::dp>>;
    CHECK(std::is_void_v<other_transport<app::wide_each, all_stated>>);
    CHECK(moved<app::wide_each, other_transport<app::wide_each, with<along<nccl, app::tp>>>>() == "all_gather all_gather*");
    CHECK(moved<app::wide_each, other_transport<app::wide_each, with<along<peer_copy, app::tp>>>>() == "all_gather* all_gather*");
}

TEST_CASE("a plan in which a value is sent otherwise is not proven") {
    using channels = app::two_channels<nccl, peer_copy>;
    using planned = dv::plan::planned<channels, with<>>;
    const auto holds = [](const dv::ir::program& p) {
        return static_cast<bool>(dv::plan::detail::check_conformance(planned::graph, p, planned::options));
    };
    CHECK(holds(planned::program));
    int changed = 0;
    for (int v = 0; v < planned::program.tasks.size(); ++v) {
        if (planned::program.tasks[v].kind != dv::op_kind::transfer) continue;
        dv::vec<dv::ir::task> tasks{planned::program.tasks};
        transport& by = tasks[v].moved_by;
        by = by == nccl ? peer_copy : nccl;
        dv::ir::program otherwise = planned::program;
        otherwise.tasks = tasks.view();
        const int symbol = planned::program.members[tasks[v].first_member].symbol;
        CHECK(holds(otherwise) == (planned::graph.symbols[symbol].sent_by == automatic));
        ++changed;
    }
    CHECK(changed == 3);
}

TEST_CASE("values are those of the plan without it") {
    values_are_equal<app::along_each, app::copies_along_tp, with<>>(4);
    values_are_equal<app::two_sums, with<along<peer_copy, app::dp>>, with<>>(4);
    values_are_equal<app::two_channels<nccl, peer_copy>, with<>, with<dv::channel_transport<nccl>>>(2);
    values_are_equal<app::three_senders, with<>, with<dv::channel_transport<nccl>>>(4);
    values_are_equal<app::of_parts, with<>, with<dv::channel_transport<nccl>>>(2);
}

TEST_CASE("dv::explain shows it") {
    const std::string axes = explained<app::along_each, app::copies_along_tp>();
    CAPTURE(axes);
    CHECK(axes.find("collectives along tp by copy engines") != std::string::npos);
    CHECK(axes.find("put all_gather") != std::string::npos);
    const std::string channels = explained<app::two_channels<nccl, peer_copy>, with<>>();
    CHECK(channels.find("nccl, 1 operations") != std::string::npos);
    CHECK(channels.find("peer_copy") != std::string::npos);
}

TEST_CASE("plans of random graphs in which values and axes have a transport are proven, and mean the same") {
    const how_many many{1000};
    int values = 0, copied = 0;
    for (long i = many.first(); i < many.last(); ++i) {
        knobs k;
        if (i % 2 == 0) k.least_axes = 2, k.least_width = 2;
        const sketch s = random_graph(mix(many.of(i) + 31), k);
        dv::ir::graph_data data = emit(s);
        chooser r{mix(many.of(i) + 5)};
        for (dv::ir::symbol& x : data.symbols)
            if (x.node >= 0 && data.nodes[x.node].op->view != dv::view_kind::rows && !x.in_host_memory)
                x.sent_by = static_cast<transport>(r.below(3));
        dv::plan_options o = s.plan_options;
        for (const dv::ir::axis& along : data.axes) o.axes.set(along.name, static_cast<transport>(r.below(3)));
        const dv::ir::graph g = dv::ir::view(data);
        CAPTURE(i);
        dv::plan::tables t{g, o};
        const dv::ir::graph rewritten = dv::ir::view(t.read<dv::plan::stage::rewrite>());
        const dv::plan::made made = make_plan(g, o);
        REQUIRE(!made.wrong);
        const dv::ir::program p = dv::ir::view(made.program);
        const dv::plan::plan plan = dv::ir::view(made.plan);
        CHECK(static_cast<bool>(prove_plan(rewritten, p, plan, o)));
        for (const dv::ir::task& v : p.tasks) {
            if (v.kind != dv::op_kind::transfer || g.single_rank) continue;
            const transport said = rewritten.symbols[p.members[v.first_member].symbol].sent_by;
            if (said == automatic) continue;
            ++values;
            CHECK(v.moved_by == said);
        }
        for (const dv::ir::node& n : rewritten.nodes) {
            if (n.stated == nccl) CHECK(n.moved_by == nccl);
            copied += n.stated == peer_copy && n.moved_by == peer_copy;
        }
        meaning m = interpret(rewritten, s.runs, s.seed);
        simulation how;
        how.seed = s.seed;
        how.in_flight = o.in_flight;
        CHECK_NOTHROW(simulate(rewritten, p, plan, m, how));
    }
    MESSAGE(values << " values and " << copied << " collectives of which it is said");
    if (many.only >= 0 || many.count < 1000) return;
    CHECK(values > 300);
    CHECK(copied > 100);
}
