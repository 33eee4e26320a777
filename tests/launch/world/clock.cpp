// One clock for all ranks: of one process it is the moment when the world was made, of several hosts what their exchanges bound.
#include "support/expect.hpp"

#include <dovetail/launch/world/clock.hpp>
#include <dovetail/launch/world/local_peers.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using namespace dovetail::launch;
using namespace std::chrono_literals;

TEST_CASE("threads of a process count from when their world was made") {
    local_peers all{2};
    const world_clock clock = synchronise_clocks(all, 1, 1s);  // without rank 0: nothing is exchanged
    CHECK(clock.origin == all.made);
    CHECK(clock.error == 0ns);
    CHECK(clock.since_origin(all.made + 1500us) == 1'500'000);
}

TEST_CASE("a time that a rank brings is a number that differences of two do not overflow") {
    CHECK(clock_detail::time_in("0") == 0);
    CHECK(clock_detail::time_in(std::to_string(INT64_MAX / 8)) == INT64_MAX / 8);
    for (const std::string text : {"", "-1", "x", "1x", " 1", "1 ", "1.5", "9223372036854775807", "99999999999999999999"})
        CHECK(support::message([&] { clock_detail::time_in(text); }) == "dovetail: a rank sent `" + text + "` as the time of its clock");
}

TEST_CASE("bounds are narrowed by what is tighter, also where clocks drift apart in between") {
    clock_detail::clock_bounds bounds;
    bounds.narrow(-100, 300);
    CHECK(bounds.middle() == 100);
    CHECK(bounds.error() == 201);
    bounds.narrow(-500, 100);
    bounds.narrow(20, 1000);
    CHECK(bounds.least == 20);
    CHECK(bounds.most == 100);
    CHECK(bounds.middle() == 60);
    bounds.narrow(110, 400);
    CHECK(bounds.middle() == 105);
    CHECK(bounds.error() == 6);
}
