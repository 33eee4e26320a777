// The laws of every plan: of all samples, planned by the compiler with several options (units in laws/). laws/random.cpp has those of
// random graphs, planned at run time. With --write it writes golden/plans.txt, with which the plans of all compilers must agree.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "support/laws.hpp"
#include "support/planned_samples.hpp"
#include "support/planner.hpp"
#include "support/shown.hpp"

#include <dovetail/plan/make.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

using namespace support;

const planned_samples& support::all_plans() {
    static const planned_samples made = [] {
        planned_samples list;
        for (auto* group : {&plans_of_pairs, &plans_of_roles, &plans_of_pipelines, &plans_of_meshes})
            for (planned_sample& x : group()) list.push_back(std::move(x));
        return list;
    }();
    return made;
}

namespace {

std::string golden_text() {
    std::string text =
        "# The plans of the samples: hashes of graph expansion and of plan, steps, waits, bytes of all arenas, picoseconds. Made by `laws --write`.\n";
    for (const planned_sample& x : all_plans()) {
        std::int64_t bytes = 0;
        for (const auto& r : x.plan.roles) bytes += r.arena_bytes + r.host_arena_bytes + r.state_bytes;
        char hashes[64];
        std::snprintf(hashes, sizeof hashes, "%016llx %016llx", static_cast<unsigned long long>(listed(x.program).hash()),
                      static_cast<unsigned long long>(listed(x.plan).hash()));
        text += x.graph + ", " + x.options + ": " + hashes + ", " + std::to_string(x.plan.steps.size()) + " steps, " +
                std::to_string(x.plan.waits.size()) + " waits, " + std::to_string(bytes) + " bytes, " + std::to_string(x.plan.predicted) +
                "\n";
    }
    return text;
}

std::filesystem::path golden_path() { return std::filesystem::path(__FILE__).parent_path() / "golden" / "plans.txt"; }

}  // namespace

TEST_CASE("the plan made while compiling is the one made at run time, every time") {
    for (const planned_sample& x : all_plans()) {
        CAPTURE(x.graph);
        CAPTURE(std::string(x.options));
        INFO(shown(x));
        for (int i = 0; i < 2; ++i) {
            const dv::plan::made made = make_plan(x.written, x.s);
            REQUIRE(!made.wrong);
            REQUIRE(made.fits);
            CHECK(difference(listed(dv::ir::view(made.program)), listed(x.program)) == "");
            CHECK(difference(listed(dv::ir::view(made.plan)), listed(x.plan)) == "");
        }
    }
    MESSAGE(all_plans().size() << " plans");
}

TEST_CASE("each dependency is kept, each wait needed, live bytes are never shared") {
    for (const planned_sample& x : all_plans()) {
        CAPTURE(x.graph);
        CAPTURE(std::string(x.options));
        INFO(shown(x));
        CHECK(broken_order(x.program, x.plan) == "");
    }
}

TEST_CASE("sizes and predictions are what the plan says") {
    std::map<std::string, std::int64_t> sequential;
    for (const planned_sample& x : all_plans()) {
        CAPTURE(x.graph);
        CAPTURE(std::string(x.options));
        INFO(shown(x));
        CHECK(broken_sizes(x.program, x.plan) == "");
        CHECK(broken_offsets(x.program, x.plan) == "");
        if (x.peak_bytes >= 0) CHECK(x.peak_bytes == x.plan.roles[0].arena_bytes + x.plan.roles[0].state_bytes);
        CHECK(x.predicted == x.plan.predicted);
        CHECK(x.plan.predicted <= x.plan.predicted_sequential);
        const bool single_rank = x.written.single_rank;
        std::int64_t& alone = sequential[x.graph + (single_rank ? " single_rank" : "")];
        if (!x.s.overlap) {
            CHECK(!x.plan.overlapped);
            CHECK(x.plan.predicted == x.plan.predicted_sequential);
            alone = x.plan.predicted;
        } else {
            CHECK(x.plan.predicted <= alone);
        }
    }
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

int main(int count_of_arguments, char** arguments) {
    if (count_of_arguments == 2 && std::string_view(arguments[1]) == "--write") {
        std::ofstream(golden_path()) << golden_text();
        return 0;
    }
    return doctest::Context(count_of_arguments, arguments).run();
}
