// The plans of the samples: proven, simulated, and damaged in all ways of damage.hpp and mutation.hpp.
#include "support/damage.hpp"
#include "support/laws.hpp"
#include "support/mutation.hpp"
#include "support/planned_samples.hpp"
#include "support/planner.hpp"
#include "support/shown.hpp"
#include "support/simulated.hpp"

#include <doctest/doctest.h>

using namespace support;

namespace {

subject subject_of(const planned_sample& x) { return {owned(x.rewritten), owned(x.program), owned(x.plan), x.s}; }

}  // namespace

TEST_CASE("every plan is proven, and does in the simulator what the graph means") {
    int overlapped = 0;
    for (const planned_sample& x : all_plans()) {
        CAPTURE(x.graph);
        CAPTURE(std::string(x.options));
        INFO(shown(x));
        CHECK(std::string(name_of(prove_plan(x.rewritten, x.program, x.plan, x.s).what)) == "none");
        CHECK(simulated_graph{x.rewritten, x.s}.fault_of(x.program, x.plan, 1) == "");
        overlapped += x.plan.overlapped;
    }
    MESSAGE(overlapped << " overlapped");
    CHECK(overlapped >= 10);
}

TEST_CASE("a damaged plan is refused, or the damage does no harm") {
    int refused = 0, harmless = 0;
    for (const planned_sample& x : all_plans()) {
        const subject whole = subject_of(x);
        simulated_graph simulated{x.rewritten, x.s};
        const listing program = listed(x.program), plan = listed(x.plan);
        for (const damage& d : damages)
            for (int site = 0; site < 30; ++site) {
                subject s = whole;
                if (!d.apply(s, site)) break;
                if (!s.all()) {
                    CHECK(!s.compiles());
                    ++refused;
                    continue;
                }
                const dv::ir::program p = dv::ir::view(s.program);
                const dv::plan::plan hurt = dv::ir::view(s.plan);
                if (difference(listed(p), program).empty() && difference(listed(hurt), plan).empty()) continue;
                ++harmless;
                CAPTURE(x.graph);
                CAPTURE(std::string(x.options));
                INFO(shown(x));
                CAPTURE(std::string(d.name));
                CAPTURE(site);
                CHECK(simulated.fault_of(p, hurt, static_cast<word>(site) + 7) == "");
            }
        chooser r{mix(static_cast<word>(&x - all_plans().data()))};
        for (int i = 0; i < 100; ++i) {
            subject s = whole;
            const mutation kind = static_cast<mutation>(i % mutations);
            if (!mutate(kind, x.program, s.plan, r)) continue;
            const dv::plan::plan hurt = dv::ir::view(s.plan);
            if (!prove_plan(x.rewritten, x.program, hurt, x.s)) {
                ++refused;
                // Brute force must have noticed as well.
                if (kind == mutation::wait_removed || kind == mutation::distance_changed) CHECK(broken_order(x.program, hurt) != "");
                continue;
            }
            ++harmless;
            CAPTURE(x.graph);
            CAPTURE(std::string(x.options));
            INFO(shown(x));
            CAPTURE(std::string(name_of(kind)));
            CHECK(simulated.fault_of(x.program, hurt, static_cast<word>(i)) == "");
        }
    }
    MESSAGE(refused << " refused, " << harmless << " harmless");
    CHECK(refused > 20 * harmless);
}

TEST_CASE("no wait can be dropped") {
    int waits = 0;
    for (const planned_sample& x : all_plans()) {
        const subject whole = subject_of(x);
        for (int site = 0;; ++site, ++waits) {
            subject s = whole;
            if (!drop_wait(s, site)) break;
            CAPTURE(x.graph);
            CAPTURE(std::string(x.options));
            INFO(shown(x));
            CAPTURE(site);
            CHECK(!s.all());
        }
    }
    MESSAGE(waits << " waits");
    CHECK(waits > 100);
}
