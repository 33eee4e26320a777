// Random graphs with all rewrites, asked for by statements, by the list and found by the search, on the host backend's threads with several
// runs in flight: the outputs are those that the sequential interpreter computes of the graph as written. A failing graph is printed.
#include "support/how_many.hpp"
#include "support/print_graph.hpp"
#include "support/random_roles.hpp"
#include "support/rewrites_seen.hpp"
#include "support/rows_on_threads.hpp"
#include "support/simulated.hpp"

#include <doctest/doctest.h>

namespace {

using namespace support;

constexpr long usual_count = 5000;  // of which sanitizers see 500

// So slow that the search rewrites graphs as small as these.
constexpr dv::machine_description slow{.name = "slow",
                                       .half_flops = 1'000'000,
                                       .float_flops = 1'000'000,
                                       .double_flops = 1'000'000,
                                       .memory_bandwidth = 1'000'000,
                                       .launch_latency = 1'000,
                                       .edge_latency = 1'000,
                                       .link_latency = 1'000,
                                       .link_bandwidth = 1'000'000,
                                       .peer_latency = 1'000,
                                       .peer_bandwidth = 1'000'000,
                                       .bus_bandwidth = 1'000'000,
                                       .network_latency = 1'000,
                                       .network_bandwidth = 500'000};

dv::plan_options drawn_options(word seed, long i) {
    chooser r{mix(seed + 3)};
    dv::plan_options o;
    o.machine = slow;
    o.in_flight = r.between(1, 3);
    o.overlap = r.chance(85);
    if (r.chance(25)) o.forced = dv::candidate::booked_100;
    o.rewrites = drawn_rewrites(i);
    if (r.chance(25)) {
        o.rewrites = {};
        o.rewrites.automatic = true;
    }
    if (r.chance(40)) {
        if (r.chance(50)) o.rewrites = {};  // with no collective in a bucket, which NCCL keeps
        o.rewrites.copied_from = r.chance(50) ? 0 : 1 << r.between(3, 9);
    }
    return o;
}

// How many graphs each rewrite changed, and what of their plans orders threads.
struct counts {
    int split = 0, exchanged = 0, decomposed = 0, kept = 0, bucketed = 0, copied = 0, within_hosts = 0, searched = 0;
    int overlapped = 0, booked = 0, waits = 0, wraps = 0;

    void see(const dv::ir::graph& written, const rows_on_threads& run) {
        const rewrites_seen by{written, run.rewritten()};
        split += by.split, decomposed += by.decomposed, kept += by.kept, bucketed += by.bucketed, copied += by.copied;
        within_hosts += by.within_hosts;
        for (const dv::ir::node& n : run.rewritten().nodes)
            if (n.kind == dv::op_kind::all_to_all && n.blocks > 0) {
                ++exchanged;
                break;
            }
        searched += run.planned().rewrites.count > 1;
        booked += run.planned().plan.choice.taken == dv::candidate::booked_100;
        overlapped += run.planned().plan.overlapped;
        for (const dv::ir::wait& w : run.planned().plan.waits) ++(w.distance > 0 ? wraps : waits);
    }
};

}  // namespace

TEST_CASE("random graphs with all rewrites have the written graph's values on threads") {
    const how_many many{usual_count};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    counts seen;
    for (long i = many.first(); i < many.last(); ++i) {
        const random_rows drawn = rows_to_rewrite(many.of(i) + 17, i);
        const dv::ir::graph written = dv::ir::view(drawn.graph);
        REQUIRE(!written.wrong);
        rows_on_threads run{written, drawn_options(many.of(i), i), many.of(i), 5};
        const std::string fault = run.fault();
        seen.see(written, run);
        if (fault.empty()) continue;
        CAPTURE(i);
        CHECK(fault == "");
        MESSAGE(print_graph(written) << "rewritten:\n" << print_graph(run.rewritten()));
    }
    MESSAGE(seen.split << " split, of which " << seen.exchanged << " with an all_to_all, " << seen.decomposed << " decomposed, "
                       << seen.kept << " kept, " << seen.bucketed << " bucketed, "
                       << seen.copied << " by copy engines, " << seen.within_hosts << " in part within hosts, " << seen.searched
                       << " by the search; " << seen.overlapped << " overlapped, " << seen.booked << " booked, "
                       << seen.waits << " waits within runs, " << seen.wraps << " across runs");
    if (many.only >= 0 || many.count < usual_count) return;
    CHECK(seen.split > 1000);
    CHECK(seen.exchanged > 100);
    CHECK(seen.decomposed > 1400);
    CHECK(seen.kept > 15);
    CHECK(seen.bucketed > 500);
    CHECK(seen.copied > 500);
    CHECK(seen.within_hosts > 50);
    CHECK(seen.searched > 500);
    CHECK(seen.booked > 300);
}

TEST_CASE("random graphs of several roles with rewrites have the written graph's values, and are proven") {
    const how_many many{usual_count / 5};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    long split = 0, over_roles = 0;
    for (long i = many.first(); i < many.last(); ++i) {
        const random_roles drawn{many.of(i) + 31, i % 4 == 0 ? 0 : 2 << (i % 2)};
        const dv::ir::graph written = dv::ir::view(drawn.graph);
        REQUIRE(!written.wrong);
        dv::plan_options o;
        o.machine = slow;
        o.in_flight = 1 + static_cast<int>(i % 2);
        if (i % 3 == 0) o.rewrites = drawn_rewrites(i);
        if (i % 4 == 0) o.rewrites.automatic = true;
        const dv::plan::made made = make_plan(written, o);
        CAPTURE(i);
        CAPTURE(print_graph(written));
        if (made.wrong) {  // what the library refuses to split
            CHECK(static_cast<bool>(dv::pass::check_regions(written)));
            continue;
        }
        const dv::rewrite_list list = dv::pass::rewrites_of(written, made.options.rewrites, made.options.axes);
        const dv::ir::graph_data rewritten = dv::pass::detail::rewritten(written, list);
        const dv::ir::graph g = dv::ir::view(rewritten);
        CHECK(difference_of_outputs(written, g) == "");
        CHECK(static_cast<bool>(prove_plan(g, dv::ir::view(made.program), dv::ir::view(made.plan), made.options)));
        CHECK(simulated_graph{g, made.options}.fault_of(dv::ir::view(made.program), dv::ir::view(made.plan), many.of(i)) == "");
        for (const dv::ir::node& n : g.nodes) {
            if (n.blocks == 0) continue;
            ++split;
            over_roles += n.role < 0;
        }
    }
    MESSAGE(split << " operations in blocks, of which " << over_roles << " collectives over roles");
    if (many.only >= 0 || many.count < usual_count / 5) return;
    CHECK(over_roles > 500);
}
