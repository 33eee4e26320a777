// The cases of tests/gpu/cases.hpp on four simulated GPUs: ranks as threads, and ranks that act as separate processes.
#include "gpu/cases.hpp"
#include "support/expect.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/launch/host/world.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;

TEST_CASE("every case gives what the host gives, replayed and on streams") {
    const simulated::scope simulation;
    std::vector<std::vector<support::outputs>> wanted(cases::ranks);  // by rank and case
    dv::host::world{cases::ranks}.run([&](auto& rank) {
        cases::all([&](const char*, auto one) { wanted[static_cast<std::size_t>(rank.index())].push_back(one.play(rank)); });
    });
    const auto compare = [&](auto& rank) {
        std::size_t number = 0;
        cases::all([&](const char* name, auto one) {
            const auto replayed = one.play(rank, dv::replay), streams = one.play(rank);
            const auto& host = wanted[static_cast<std::size_t>(rank.index())][number++];
            const std::lock_guard lock{support::report()};
            const std::string graph = name;  // doctest shows a pointer where it gets one
            CAPTURE(graph);
            CAPTURE(rank.index());
            CHECK(!host.empty());
            CHECK(replayed == host);
            CHECK(streams == host);
        });
    };
    simulated::run(cases::ranks, compare);
    simulated::run_apart(cases::ranks, compare);
}
