// All rewrites in one graph, asked for by statements and by the list in several orders: random graphs mean the same afterwards, row by row,
// and their plans are proven.
#include "support/how_many.hpp"
#include "support/planner.hpp"
#include "support/random_rows.hpp"
#include "support/row_values.hpp"

#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

using namespace support;
using dv::rewrite;

namespace {

dv::ir::graph_data rewritten(const dv::ir::graph& g, const dv::rewrite_list& list) {
    return dv::pass::detail::rewritten(g, dv::pass::rewrites_of(g, list));
}
dv::rewrite_list without(const dv::rewrite_list& list, rewrite kind) {
    dv::rewrite_list rest = list;
    rest.count = 0;
    for (int i = 0; i < list.count; ++i)
        if (list.kind[i] != kind) rest.kind[rest.count++] = list.kind[i];
    return rest;
}
int groups(const dv::ir::graph_data& g) {
    int n = 0;
    for (const dv::ir::node& x : g.nodes) n += x.nccl_group_id >= 0 ? 1 : 0;
    return n;
}
bool in_blocks(const dv::ir::graph_data& g) {
    for (const dv::ir::node& n : g.nodes)
        if (n.blocks > 0) return true;
    return false;
}

// How many graphs each rewrite changed, in the presence of the others.
struct counts {
    int refused = 0, split = 0, decomposed = 0, kept = 0, bucketed = 0, all = 0;

    void see(const dv::ir::graph& g, const dv::rewrite_list& list, const dv::ir::graph_data& made) {
        const bool blocks = in_blocks(made), shards = rewritten(g, without(list, rewrite::decompose)).nodes.size() != made.nodes.size(),
                   fewer = rewritten(g, without(list, rewrite::keep)).nodes.size() != made.nodes.size(),
                   joined = groups(rewritten(g, without(list, rewrite::bucket))) != groups(made);
        split += blocks;
        decomposed += shards;
        kept += fewer;
        bucketed += joined;
        all += blocks && shards && joined;
    }
};

}  // namespace

TEST_CASE("random graphs mean the same under all rewrites, and their plans are proven") {
    const how_many many{10000};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    counts seen;
    for (long i = many.first(); i < many.last(); ++i) {
        CAPTURE(i);
        const random_rows drawn = rows_and_states_to_rewrite(many.of(i) + 11, i);
        seen.refused += drawn.graph.regions.empty() && !drawn_regions(i).empty();
        const dv::ir::graph g = dv::ir::view(drawn.graph);
        REQUIRE(!g.wrong);
        dv::plan_options o;
        o.machine = dv::machine::h200_nvlink::description;
        o.in_flight = 1 + static_cast<int>(i / 10 % 2);
        o.rewrites = drawn_rewrites(i);
        const dv::ir::graph_data made = rewritten(g, o.rewrites);
        seen.see(g, o.rewrites, made);
        REQUIRE(difference_of_outputs(g, dv::ir::view(made)) == "");
        if (i % 10 != 0) continue;
        const dv::plan::made planned = make_plan(g, o);
        REQUIRE(!planned.wrong);
        // The search may have taken another number of blocks where a statement leaves it to the search.
        const dv::ir::graph_data decided = rewritten(g, planned.options.rewrites);
        REQUIRE(difference_of_outputs(g, dv::ir::view(decided)) == "");
        CHECK(static_cast<bool>(
            prove_plan(dv::ir::view(decided), dv::ir::view(planned.program), dv::ir::view(planned.plan), planned.options)));
    }
    MESSAGE(seen.refused << " refused and drawn without statements, " << seen.split << " split, " << seen.decomposed << " decomposed, "
                         << seen.kept << " kept, " << seen.bucketed << " bucketed, " << seen.all << " split, decomposed and bucketed");
    if (many.only < 0 && many.count >= 10000) {
        CHECK(seen.split > 2000);
        CHECK(seen.decomposed > 3000);
        CHECK(seen.kept > 30);
        CHECK(seen.bucketed > 1000);
        CHECK(seen.all > 500);
    }
}
