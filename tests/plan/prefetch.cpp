// Gathers of weights ahead of the layers that read them: no rewrite, but list scheduling, under a memory limit with booked memory.
#include "support/planner.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
struct dp;
template <int> struct w;
template <int> struct full;
template <int> struct h;

constexpr int layers = 8;
using batch = dv::tensor<dv::half, 4096, 4096>;
template <int L> using weight = dv::state<w<L>, dv::tensor<dv::half, 1024, 4096>, zeros>;
template <int L> using layer = dv::group<dv::let<full<L>, all_gather<dp>(w<L>)>, dv::let<h<L + 1>, matmul(h<L>, full<L>)>>;
struct sharded : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::input<h<0>, batch>, dv::repeat<weight, layers>, dv::repeat<layer, layers>,
                           dv::output<h<layers>>> {};
}  // namespace app

namespace {

const dv::ir::graph& graph = dv::plan::typed<app::sharded>::value;
constexpr std::int64_t gathered = std::int64_t{4096} * 4096 * 2;  // bytes of one layer's weights

dv::plan::made planned(std::int64_t limit, dv::candidate forced = dv::candidate::automatic) {
    dv::plan_options o;
    o.machine = dv::machine::h200_nvlink::description;
    o.memory_limit = limit;
    o.forced = forced;
    return support::make_plan(graph, o);
}
std::int64_t bytes_of(const dv::plan::made& made) { return dv::ir::bytes_of(made.plan.roles[0]); }

// By layer: the step of its gather, or of its product.
std::vector<dv::ir::step> steps_of(const dv::plan::made& made, dv::op_kind kind) {
    std::vector<dv::ir::step> found;
    for (int i = 0; i < graph.nodes.size(); ++i) {
        if (graph.nodes[i].kind != kind) continue;
        for (const dv::ir::step& s : made.plan.steps)
            if (made.program.members[made.program.participations[s.first_participation].member].node == i) found.push_back(s);
    }
    return found;
}
// The most layers that are not yet done when the gather of one behind them starts.
int layers_ahead(const dv::plan::made& made) {
    const std::vector<dv::ir::step> gathers = steps_of(made, dv::op_kind::all_gather), products = steps_of(made, dv::op_kind::compute);
    REQUIRE(gathers.size() == app::layers);
    REQUIRE(products.size() == app::layers);
    int most = 0;
    for (std::size_t l = 0; l < gathers.size(); ++l) {
        const auto still = [&](const dv::ir::step& s) { return s.end > gathers[l].start; };
        most = std::max(most, static_cast<int>(std::count_if(products.begin(), products.begin() + static_cast<long>(l), still)));
    }
    return most;
}

}  // namespace

TEST_CASE("weights are gathered ahead as far as a limit has bytes for, which hides all gathers but the first") {
    CHECK(layers_ahead(planned(0, dv::candidate::sequential)) == 0);
    const dv::plan::made free = planned(0), tight = planned(bytes_of(planned(0, dv::candidate::min_memory)));
    const std::int64_t least = bytes_of(tight);
    CHECK(layers_ahead(free) > 3);
    CHECK(layers_ahead(tight) <= 1);
    CHECK(tight.plan.predicted > free.plan.predicted / 100 * 110);
    for (int more = 1; more < 4; ++more) {
        const dv::plan::made made = planned(least + more * gathered);
        CAPTURE(more);
        REQUIRE(made.fits);
        CHECK(bytes_of(made) <= least + more * gathered);
        CHECK(layers_ahead(made) > layers_ahead(tight));
        CHECK(layers_ahead(made) <= layers_ahead(tight) + more);
        CHECK(made.plan.predicted == free.plan.predicted);
    }
}
