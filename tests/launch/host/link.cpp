// How long a link takes: its latency and its bytes, and no time at all where nothing was said of it.
#include <doctest/doctest.h>

#include <dovetail/launch/host/link.hpp>

using dovetail::host::link;
using namespace std::chrono_literals;

TEST_CASE("a link takes its latency, and its bytes at its bandwidth") {
    CHECK(!link{}.timed());
    CHECK(link{}.time_of(1'000'000) == 0ns);
    CHECK(link{2ms, 0}.timed());
    CHECK(link{2ms, 0}.time_of(1'000'000) == 2ms);
    CHECK(link{0ns, 1e9}.timed());
    CHECK(link{0ns, 1e9}.time_of(1000) == 1us);
    CHECK(link{2ms, 1e6}.time_of(3000) == 5ms);
    CHECK(link{2ms, 1e6}.time_of(0) == 2ms);
}
