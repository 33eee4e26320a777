// The laws on random graphs with memory limits: for every limit between the bytes of the order of least memory and those of the plan
// without a limit, there is a proven plan that keeps within it and computes the same values; a larger limit does not make it slower; and
// booked plans are correct within each budget.
#include "support/how_many.hpp"
#include "support/laws.hpp"
#include "support/planner.hpp"
#include "support/random_graph.hpp"
#include "support/reference.hpp"
#include "support/schedule_of.hpp"
#include "support/shown.hpp"
#include "support/simulator.hpp"
#include "support/written.hpp"

#include <dovetail/plan/make.hpp>
#include <dovetail/plan/prove.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace support;

namespace {

// Bytes of the largest role on one stream, in the order for little memory.
std::int64_t min_memory_bytes(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan_options& s) {
    const dv::vec<dv::ir::edge> edges = dv::pass::edges(p);
    const dv::vec<dv::task_cost> costs = dv::cost_model::costs(g, p, s);
    const dv::pass::schedule c = support::schedule_of(dv::candidate::min_memory, p, edges.view(), costs.view(), s);
    return dv::ir::largest_bytes(dv::plan::emit(p, c, c.length, 0).roles.view());
}

// The laws for one plan. `in_all`: the costly ones too.
void check_plan(const sketch& s, const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, const dv::plan_options& o,
                bool in_all) {
    INFO(shown(g, p, plan, o));
    if (in_all) CHECK(broken_order(p, plan) == "");
    CHECK(broken_sizes(p, plan) == "");
    CHECK(static_cast<bool>(prove_plan(g, p, plan, o)));
    meaning m = read_sketch(s, g, s.runs);
    simulation how;
    how.seed = s.seed;
    how.in_flight = o.in_flight;
    CHECK_NOTHROW(simulate(g, p, plan, m, how));
}

// The waits of a plan within its runs.
int waits_in_run(const dv::plan::plan& plan) {
    int count = 0;
    for (const dv::ir::wait& w : plan.waits) count += w.distance == 0 ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("on random graphs: plans booked within each budget are proven and simulated") {
    constexpr int budgets = static_cast<int>(dv::candidate::booked_800) - static_cast<int>(dv::candidate::booked_100) + 1;
    int added = 0, smaller = 0, overlapped = 0;
    const how_many many{500};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    for (long i = many.first(); i < many.last(); ++i) {
        knobs k;
        if (i % 5 == 4) k.nodes_low = 30, k.nodes_high = 60;
        const sketch s = random_graph(mix(many.of(i) + 77), k);
        const dv::ir::graph_data data = emit(s);
        const dv::ir::graph g = dv::ir::view(data);
        dv::plan_options o = s.plan_options;
        o.overlap = true;
        o.forced = dv::candidate::listed;
        const dv::plan::made listed = make_plan(g, o);
        CAPTURE(i);
        REQUIRE(!listed.wrong);
        o.forced = static_cast<dv::candidate>(static_cast<int>(dv::candidate::booked_100) + static_cast<int>(i % budgets));
        const dv::plan::made made = make_plan(g, o);
        CAPTURE(name_of(o.forced));
        const dv::plan::plan plan = dv::ir::view(made.plan);
        check_plan(s, g, dv::ir::view(made.program), plan, o, i % 5 != 4);
        overlapped += plan.overlapped ? 1 : 0;
        smaller += dv::ir::largest_bytes(plan.roles) < dv::ir::largest_bytes(listed.plan.roles.view()) ? 1 : 0;
        added += waits_in_run(plan) > waits_in_run(dv::ir::view(listed.plan)) ? 1 : 0;
    }
    MESSAGE(overlapped << " booked plans: " << smaller << " smaller than by list scheduling, " << added << " with more waits");
    if (many.only < 0 && many.count >= 500) CHECK(smaller > 50);
    if (many.only < 0 && many.count >= 500) CHECK(added > 20);
}

TEST_CASE("on random graphs: a memory limit that an order for little memory keeps is kept, proven and simulated") {
    int limited = 0, overlapped = 0, in_written_order = 0;
    const how_many many{500};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    for (long i = many.first(); i < many.last(); ++i) {
        knobs k;
        if (i % 5 == 4) k.nodes_low = 30, k.nodes_high = 60;
        const sketch s = random_graph(mix(many.of(i)), k);
        const dv::ir::graph_data data = emit(s);
        const dv::ir::graph g = dv::ir::view(data);
        if (s.plan_options.objective != dv::objective_kind::makespan) continue;  // the law is about the time of a run
        const dv::plan::made free = make_plan(g, s.plan_options);
        CAPTURE(i);
        REQUIRE(!free.wrong);
        const dv::ir::program p = dv::ir::view(free.program);
        const std::int64_t taken = dv::ir::largest_bytes(free.plan.roles.view()), needed = min_memory_bytes(g, p, s.plan_options);
        if (needed >= taken) continue;
        chooser r{mix(static_cast<word>(i))};
        dv::plan_options plan_options = s.plan_options;
        // The need itself, and anything below what is taken.
        plan_options.memory_limit = r.chance(30) ? needed : needed + r.below(static_cast<int>(taken - needed));
        CAPTURE(plan_options.memory_limit);
        const dv::plan::made made = make_plan(g, plan_options);
        REQUIRE(made.fits);
        const dv::plan::plan plan = dv::ir::view(made.plan);
        CHECK(dv::ir::largest_bytes(plan.roles) <= plan_options.memory_limit);
        check_plan(s, g, dv::ir::view(made.program), plan, plan_options, i % 5 != 4);
        dv::plan_options one_stream = plan_options;
        one_stream.forced = dv::candidate::sequential;
        const dv::plan::made alone = make_plan(g, one_stream);
        if (alone.fits) CHECK(plan.predicted <= alone.plan.predicted);
        // A larger limit; a plan as fast as the one without a limit ends the search.
        plan_options.memory_limit += r.below(static_cast<int>(taken - plan_options.memory_limit));
        CHECK(make_plan(g, plan_options).plan.predicted <= std::max(plan.predicted, free.plan.predicted));
        ++limited;
        overlapped += plan.overlapped ? 1 : 0;
        const dv::vec<dv::ir::edge> edges = dv::pass::edges(p);
        const dv::vec<int> written = dv::pass::written_order(p.tasks.size(), edges.view());
        bool as_written = true;
        for (int v = 0; v < written.size(); ++v) as_written = as_written && written[v] == plan.order[v];
        in_written_order += as_written ? 1 : 0;
    }
    MESSAGE(limited << " plans under a limit below what the plan without takes: " << overlapped << " overlapped, " << in_written_order
                    << " in the written order");
    if (many.only < 0 && many.count >= 500) CHECK(limited > 100);
}
