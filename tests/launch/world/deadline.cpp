// Limits of time as callers may give them: beyond what can be counted, negative, and no number.
#include <doctest/doctest.h>

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cmath>
#include <limits>

namespace dv = dovetail;
using namespace std::chrono_literals;
using dovetail::launch::after;
using dovetail::launch::nanoseconds_of;

namespace {
namespace app {
using namespace dv::ops;
struct value;
struct filled;

struct fills : dv::graph<
    dv::input<value, dv::scalar<float>>,
    dv::let<filled, fill<dv::tensor<float, 4>>(value)>,
    dv::output<filled>> {};
}  // namespace app
}  // namespace

TEST_CASE("a limit in whatever a caller counts becomes nanoseconds, and the longest where it is longer") {
    CHECK(nanoseconds_of(10s) == 10s);
    CHECK(nanoseconds_of(std::chrono::duration<double>{0.25}) == 250ms);
    CHECK(nanoseconds_of(std::chrono::duration<double, std::ratio<60>>{0.5}) == 30s);
    CHECK(nanoseconds_of(-3ms) == -3ms);
    CHECK(nanoseconds_of(std::chrono::hours{100'000'000}) == std::chrono::nanoseconds::max());
    CHECK(nanoseconds_of(std::chrono::hours{-100'000'000}) == std::chrono::nanoseconds::min());
    CHECK(nanoseconds_of(std::chrono::duration<double>{std::numeric_limits<double>::infinity()}) == std::chrono::nanoseconds::max());
    CHECK(nanoseconds_of(std::chrono::duration<double>{-std::numeric_limits<double>::infinity()}) == std::chrono::nanoseconds::min());
    CHECK(after(std::chrono::nanoseconds::max()) == dovetail::deadline::max());
}

TEST_CASE("a limit that is no number is an error") {
    CHECK_THROWS_WITH_AS(nanoseconds_of(std::chrono::duration<double>{std::nan("")}), "dovetail: a time limit is not a number (NaN)",
                         dovetail::usage_error);
    CHECK_THROWS_AS(nanoseconds_of(std::chrono::duration<float, std::milli>{std::nanf("")}), dovetail::usage_error);
    CHECK_THROWS_AS(nanoseconds_of(std::chrono::duration<long double>{std::nanl("")}), dovetail::usage_error);
}

TEST_CASE("who waits for a time that is no number is told so, and may wait again") {
    dv::host::world world{1};
    world.run([](auto& rank) {
        dv::executor<app::fills> step{rank};
        step.bind(dv::name<app::value>, 2.0f);
        const auto ticket = step.run();
        CHECK_THROWS_AS(ticket.wait_for(std::chrono::duration<double>{std::nan("")}), dovetail::usage_error);
        ticket.wait_for(10s);
        CHECK(ticket.read(dv::name<app::filled>)[3] == 2.0f);
        CHECK_THROWS_AS((dv::executor<app::fills>{rank, std::chrono::duration<double>{std::nan("")}}), dovetail::usage_error);
    });
}
