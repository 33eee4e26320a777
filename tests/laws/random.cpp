// The laws on random graphs, planned at run time, and the size of their arenas relative to the lower bound.
#include "support/laws.hpp"
#include "support/planner.hpp"
#include "support/random_graph.hpp"
#include "support/shown.hpp"
#include "support/slots.hpp"
#include "support/written.hpp"

#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace support;

TEST_CASE("on random graphs: the same laws, and how near the arenas are to what they must hold") {
    std::vector<double> small, large;
    constexpr word seed = 2;  // the same graphs everywhere: how near the arenas are is a figure of these
    constexpr int count = 2000;
    MESSAGE("seed " << seed << ", " << count << " graphs");
    for (int i = 0; i < count; ++i) {
        knobs k;
        if (i % 5 == 4) k.nodes_low = 40, k.nodes_high = 90;
        const sketch s = random_graph(mix(seed) + static_cast<word>(i), k);
        const dv::ir::graph_data data = emit(s);
        const dv::plan::made made = make_plan(dv::ir::view(data), s.plan_options);
        CAPTURE(i);
        REQUIRE(!made.wrong);
        const dv::ir::program p = dv::ir::view(made.program);
        const dv::plan::plan plan = dv::ir::view(made.plan);
        INFO(shown(dv::ir::view(data), p, plan, s.plan_options));
        if (i % 5 != 4) CHECK(broken_order(p, plan) == "");
        CHECK(broken_sizes(p, plan) == "");
        CHECK(broken_offsets(p, plan) == "");
        CHECK(broken_slots(p, s.plan_options) == "");
        if (s.plan_options.objective == dv::objective_kind::makespan) CHECK(plan.predicted <= plan.predicted_sequential);
        for (int role = 0; role < p.roles; ++role) {
            const double ratio = arena_ratio(p, plan, role);
            CHECK(ratio >= 1.0);
            (i % 5 == 4 ? large : small).push_back(ratio);
        }
    }
    for (std::vector<double>* r : {&small, &large}) {
        std::sort(r->begin(), r->end());
        const double median = (*r)[r->size() / 2], ninth = (*r)[r->size() * 9 / 10];
        // The distribution as a whole: how many lie up to each bound, and the largest.
        std::string text;
        for (const double bound : {1.0, 1.02, 1.05, 1.10, 1.15, 1.20, 1.25}) {
            const auto up_to = std::upper_bound(r->begin(), r->end(), bound + 1e-9) - r->begin();
            text += std::to_string(up_to) + " up to " + std::to_string(static_cast<int>(bound * 100 + 0.5)) + " %, ";
        }
        const auto above = r->end() - std::upper_bound(r->begin(), r->end(), 1.10 + 1e-9);
        MESSAGE((r == &small ? "small graphs: " : "large graphs: ")
                << r->size() << " arenas over what they must hold: " << text << "largest " << r->back() * 100 << " %; " << above
                << " more than a tenth above; median " << median << ", 90th percentile " << ninth);
        CHECK(median <= 1.02);
        CHECK(ninth <= 1.10);
        CHECK(above * 100 <= static_cast<long>(r->size()));
    }
}
