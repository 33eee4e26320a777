// What must hold of every plan: on all samples, planned by the compiler under several options, and on random graphs, planned
// at run time. A program of its own: with --write it writes golden/plans.txt, which all compilers must agree with.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "support/damage.hpp"
#include "support/laws.hpp"
#include "support/mutation.hpp"
#include "support/planned_samples.hpp"
#include "support/random_graph.hpp"
#include "support/simulator.hpp"

#include <dovetail/plan/make.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

using namespace support;

namespace {

const planned_samples& all() {
    static const planned_samples made = [] {
        planned_samples list;
        for (auto* group : {&plans_of_pairs, &plans_of_roles, &plans_of_pipelines, &plans_of_lanes})
            for (planned_sample& x : group()) list.push_back(std::move(x));
        return list;
    }();
    return made;
}

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

std::string golden_text() {
    std::string text = "# The plans of the samples: hashes of graph expansion and of plan, steps, waits, bytes of all arenas, picoseconds. Made by `laws --write`.\n";
    for (const planned_sample& x : all()) {
        std::int64_t bytes = 0;
        for (const auto& r : x.plan.roles) bytes += r.arena_bytes + r.host_arena_bytes + r.state_bytes;
        char hashes[64];
        std::snprintf(hashes, sizeof hashes, "%016llx %016llx", static_cast<unsigned long long>(listed(x.program).hash()), static_cast<unsigned long long>(listed(x.plan).hash()));
        text += x.graph + ", " + x.options + ": " + hashes + ", " + std::to_string(x.plan.steps.size()) + " steps, " + std::to_string(x.plan.waits.size()) + " waits, " +
                std::to_string(bytes) + " bytes, " + std::to_string(x.plan.predicted) + "\n";
    }
    return text;
}

std::filesystem::path golden_path() { return std::filesystem::path(__FILE__).parent_path() / "golden" / "plans.txt"; }

}  // namespace

TEST_CASE("the plan made while compiling is the one made at run time, every time") {
    for (const planned_sample& x : all()) {
        CAPTURE(x.graph);
        CAPTURE(std::string(x.options));
        for (int i = 0; i < 2; ++i) {
            const dv::plan::made made = dv::plan::make(x.written, x.s);
            REQUIRE(!made.wrong);
            REQUIRE(made.fits);
            CHECK(difference(listed(dv::ir::view(made.program)), listed(x.program)) == "");
            CHECK(difference(listed(dv::ir::view(made.plan)), listed(x.plan)) == "");
        }
    }
    MESSAGE(all().size() << " plans");
}

TEST_CASE("every plan is proven, and does in the simulator what the graph means") {
    int overlapped = 0;
    for (const planned_sample& x : all()) {
        CAPTURE(x.graph);
        CAPTURE(std::string(x.options));
        CHECK(std::string(name_of(dv::plan::prove(x.written, x.program, x.plan).what)) == "none");
        CHECK(found_by_simulation(x.written, x.program, x.plan, 1) == "");
        overlapped += x.plan.overlapped;
    }
    MESSAGE(overlapped << " overlapped");
    CHECK(overlapped >= 10);
}

TEST_CASE("each dependency is kept, each wait needed, live bytes are never shared") {
    for (const planned_sample& x : all()) {
        CAPTURE(x.graph);
        CAPTURE(std::string(x.options));
        CHECK(broken_order(x.program, x.plan) == "");
    }
}

TEST_CASE("sizes and predictions are what the plan says") {
    std::map<std::string, std::int64_t> sequential;
    for (const planned_sample& x : all()) {
        CAPTURE(x.graph);
        CAPTURE(std::string(x.options));
        CHECK(broken_sizes(x.program, x.plan) == "");
        if (x.peak_bytes >= 0) CHECK(x.peak_bytes == x.plan.roles[0].arena_bytes + x.plan.roles[0].state_bytes);
        CHECK(x.predicted == x.plan.predicted);
        CHECK(x.plan.predicted <= x.plan.predicted_sequential);
        const bool folded = x.written.folded;
        std::int64_t& alone = sequential[x.graph + (folded ? " folded" : "")];
        if (!x.s.overlap) {
            CHECK(!x.plan.overlapped);
            CHECK(x.plan.predicted == x.plan.predicted_sequential);
            alone = x.plan.predicted;
        } else {
            CHECK(x.plan.predicted <= alone);
        }
    }
}

TEST_CASE("a damaged plan is refused, or the damage does no harm") {
    int refused = 0, harmless = 0;
    for (const planned_sample& x : all()) {
        const subject whole = subject_of(x);
        const listing program = listed(x.program), plan = listed(x.plan);
        for (const damage& d : damages)
            for (int site = 0;; ++site) {
                subject s = whole;
                if (!d.apply(s, site)) break;
                if (!s.all()) {
                    ++refused;
                    continue;
                }
                const dv::ir::program p = dv::ir::view(s.program);
                const dv::plan::plan hurt = dv::ir::view(s.plan);
                if (difference(listed(p), program).empty() && difference(listed(hurt), plan).empty()) continue;
                ++harmless;
                CAPTURE(x.graph);
                CAPTURE(std::string(x.options));
                CAPTURE(std::string(d.name));
                CAPTURE(site);
                CHECK(found_by_simulation(dv::ir::view(s.graph), p, hurt, static_cast<word>(site) + 7) == "");
            }
        chooser r{mix(static_cast<word>(&x - all().data()))};
        for (int i = 0; i < 100; ++i) {
            subject s = whole;
            const mutation kind = static_cast<mutation>(i % mutations);
            if (!mutate(kind, x.program, s.plan, r)) continue;
            const dv::plan::plan hurt = dv::ir::view(s.plan);
            if (!dv::plan::prove(x.written, x.program, hurt)) {
                ++refused;
                continue;
            }
            ++harmless;
            CAPTURE(x.graph);
            CAPTURE(std::string(x.options));
            CAPTURE(std::string(name_of(kind)));
            CHECK(found_by_simulation(x.written, x.program, hurt, static_cast<word>(i)) == "");
        }
    }
    MESSAGE(refused << " refused, " << harmless << " harmless");
    CHECK(refused > 20 * harmless);
}

TEST_CASE("no wait can be dropped") {
    int waits = 0;
    for (const planned_sample& x : all()) {
        const subject whole = subject_of(x);
        for (int site = 0;; ++site, ++waits) {
            subject s = whole;
            if (!drop_wait(s, site)) break;
            CAPTURE(x.graph);
            CAPTURE(std::string(x.options));
            CAPTURE(site);
            CHECK(!s.all());
        }
    }
    MESSAGE(waits << " waits");
    CHECK(waits > 100);
}

TEST_CASE("all compilers make the same plans") {
    std::ifstream file(golden_path());
    REQUIRE_MESSAGE(file.good(), golden_path().string() << " is missing");
    std::string line, made = golden_text();
    std::size_t at = 0;
    while (std::getline(file, line)) {
        const std::size_t end = made.find('\n', at);
        REQUIRE(end != std::string::npos);
        CHECK(made.substr(at, end - at) == line);
        at = end + 1;
    }
    CHECK(at == made.size());
}

TEST_CASE("on random graphs: the same laws, and how near the arenas are to what they must hold") {
    std::vector<double> small, large;
    for (int i = 0; i < 500; ++i) {
        knobs k;
        if (i % 5 == 4) k.nodes_low = 40, k.nodes_high = 90;
        const sketch s = random_graph(mix(2) + static_cast<word>(i), k);
        for (dv::operation& op : s.pool->operations) op.has_work = op.work != nullptr, op.has_workspace = op.workspace != nullptr;
        const dv::ir::graph_data data = emit(s);
        const dv::plan::made made = dv::plan::make(dv::ir::view(data), s.settings);
        CAPTURE(i);
        REQUIRE(!made.wrong);
        const dv::ir::program p = dv::ir::view(made.program);
        const dv::plan::plan plan = dv::ir::view(made.plan);
        if (i % 5 != 4) CHECK(broken_order(p, plan) == "");
        CHECK(broken_sizes(p, plan) == "");
        CHECK(plan.predicted <= plan.predicted_sequential);
        for (int role = 0; role < p.roles; ++role) {
            const double ratio = unrolled{p, plan, role, 1}.ratio();
            CHECK(ratio >= 1.0);
            (i % 5 == 4 ? large : small).push_back(ratio);
        }
    }
    for (std::vector<double>* r : {&small, &large}) {
        std::sort(r->begin(), r->end());
        const double median = (*r)[r->size() / 2], ninth = (*r)[r->size() * 9 / 10];
        MESSAGE((r == &small ? "small graphs: " : "large graphs: ") << r->size() << " arenas over the heaviest antichain: median " << median << ", 90th percentile " << ninth << ", largest "
                                                                    << r->back());
        CHECK(median <= 1.02);
        CHECK(ninth <= 1.10);
    }
}

int main(int count_of_arguments, char** arguments) {
    if (count_of_arguments == 2 && std::string_view(arguments[1]) == "--write") {
        std::ofstream(golden_path()) << golden_text();
        return 0;
    }
    return doctest::Context(count_of_arguments, arguments).run();
}
