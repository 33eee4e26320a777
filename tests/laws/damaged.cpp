// The plans of the samples, proven, simulated, and damaged in all the ways of damage.hpp and mutation.hpp.
#include "support/damage.hpp"
#include "support/laws.hpp"
#include "support/mutation.hpp"
#include "support/planned_samples.hpp"
#include "support/shown.hpp"
#include "support/simulator.hpp"

#include <doctest/doctest.h>

using namespace support;

namespace {

template <class Table>
auto owned(const Table& t) {
    dv::ir::rebound<Table, dv::owning> d{};
    zip(t, d, [](const auto& a, auto& b) {
        b.resize(a.size());
        dv::copy_elements(a, b);
    });
    return d;
}

// Two lanes where the width is open: any number does for the interpreter.
dv::ir::graph_data with_widths(const dv::ir::graph& g) {
    dv::ir::graph_data d = owned(g);
    for (dv::ir::mesh_axis& m : d.mesh)
        if (m.width == 0) m.width = 2;
    return d;
}

// What the simulator finds wrong in several orders of events; empty where nothing is.
std::string found_by_simulation(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, word seed, int times = 4) {
    const dv::ir::graph_data data = with_widths(g);
    const dv::ir::graph concrete = dv::ir::view(data);
    meaning m = interpret(concrete, 5, seed);
    for (int i = 0; i < times; ++i) {
        const bool one_queue = i == 1;
        try {
            simulate(concrete, p, plan, m, {mix(seed + static_cast<word>(i)), one_queue ? std::array<int, 3>{0, 0, 0} : std::array<int, 3>{0, 1, 2}, 4});
        } catch (const failure& f) {
            return f.what();
        }
    }
    return {};
}

subject subject_of(const planned_sample& x) { return {owned(x.written), owned(x.program), owned(x.plan)}; }

}  // namespace

TEST_CASE("every plan is proven, and does in the simulator what the graph means") {
    int overlapped = 0;
    for (const planned_sample& x : all_plans()) {
        CAPTURE(x.graph);
        CAPTURE(std::string(x.options));
        INFO(shown(x));
        CHECK(std::string(name_of(dv::plan::prove(x.written, x.program, x.plan).what)) == "none");
        CHECK(found_by_simulation(x.written, x.program, x.plan, 1) == "");
        overlapped += x.plan.overlapped;
    }
    MESSAGE(overlapped << " overlapped");
    CHECK(overlapped >= 10);
}

TEST_CASE("a damaged plan is refused, or the damage does no harm") {
    int refused = 0, harmless = 0;
    for (const planned_sample& x : all_plans()) {
        const subject whole = subject_of(x);
        const listing program = listed(x.program), plan = listed(x.plan);
        for (const damage& d : damages)
            for (int site = 0;; ++site) {
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
                CHECK(found_by_simulation(dv::ir::view(s.graph), p, hurt, static_cast<word>(site) + 7) == "");
            }
        chooser r{mix(static_cast<word>(&x - all_plans().data()))};
        for (int i = 0; i < 100; ++i) {
            subject s = whole;
            const mutation kind = static_cast<mutation>(i % mutations);
            if (!mutate(kind, x.program, s.plan, r)) continue;
            const dv::plan::plan hurt = dv::ir::view(s.plan);
            if (!dv::plan::prove(x.written, x.program, hurt)) {
                ++refused;
                // Brute force must have noticed as well.
                if (kind == mutation::wait_removed || kind == mutation::lag_changed) CHECK(broken_order(x.program, hurt) != "");
                continue;
            }
            ++harmless;
            CAPTURE(x.graph);
            CAPTURE(std::string(x.options));
            INFO(shown(x));
            CAPTURE(std::string(name_of(kind)));
            CHECK(found_by_simulation(x.written, x.program, hurt, static_cast<word>(i)) == "");
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
