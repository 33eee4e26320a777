// The host as a rank's memory: aligned, zeroed, and an error that says how much was wanted.
#include "support/expect.hpp"

#include <dovetail/launch/host/host_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dv = dovetail;

TEST_CASE("memory of any size is aligned and zero, also where it was used before") {
    dv::host::host_memory memory;
    for (int round = 0; round < 3; ++round)
        for (const std::int64_t bytes : {0, 1, 255, 256, 257, 100'000})
            for (const bool pinned : {false, true}) {
                auto* const p = static_cast<unsigned char*>(pinned ? memory.allocate_host(bytes) : memory.allocate(bytes));
                REQUIRE(p != nullptr);
                CHECK(reinterpret_cast<std::uintptr_t>(p) % dv::ir::alignment == 0);
                CHECK(std::all_of(p, p + bytes, [](unsigned char c) { return c == 0; }));
                std::fill(p, p + bytes, 255);
                pinned ? memory.release_host(p) : memory.release(p);
            }
    CHECK(memory.device() == -1);
    int here = 0;
    CHECK(!memory.on_device(&here));
}

TEST_CASE("copies move what they are told, nothing included") {
    dv::host::host_memory memory;
    std::vector<int> from{1, 2, 3}, to(3);
    memory.to_host(to.data(), from.data(), 8);
    CHECK(to == std::vector<int>{1, 2, 0});
    memory.from_host(to.data(), from.data(), 12);
    CHECK(to == from);
    memory.to_host(nullptr, nullptr, 0);
}

TEST_CASE("what there is no memory for is said") {
    dv::host::host_memory memory;
    const std::int64_t bytes = std::int64_t{1} << 62;
    CHECK(support::message([&] { memory.allocate(bytes); }) == "dovetail: out of host memory: 4611686018427387904 bytes wanted");
}
