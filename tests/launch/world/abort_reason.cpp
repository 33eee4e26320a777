// The reason for which runs were aborted, as the rank that failed, the others and the caller of world.run see it.
#include "support/expect.hpp"

#include <dovetail/launch/world/abort_reason.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

namespace dv = dovetail;
using dv::launch::abort_reason;

namespace {

// What is thrown, as the type that a program would catch.
template <class Exception>
Exception caught(auto&& f) {
    try {
        f();
    } catch (const Exception& e) {
        return e;
    }
    throw std::logic_error{"nothing thrown"};
}
bool throws_peer_error(auto&& f) {
    try {
        f();
    } catch (const dv::peer_error&) {
        return true;
    } catch (...) {
    }
    return false;
}

}  // namespace

TEST_CASE("the rank that failed gets its own error, every other rank that of a peer with the same names") {
    const auto what = std::make_exception_ptr(std::runtime_error{"why"});
    const abort_reason reason{1, "operation `f` of `y` failed on rank 1: why", "f", "y", false, what};

    const auto own = caught<dv::operation_error>([&] { reason.raise(1); });
    CHECK(!throws_peer_error([&] { reason.raise(1); }));
    CHECK(own.text() == reason.text);
    CHECK(throws_peer_error([&] { reason.raise(0); }));
    const auto of_peer = caught<dv::peer_error>([&] { reason.raise(0); });
    CHECK(of_peer.text() == "rank 0 stops, because operation `f` of `y` failed on rank 1: why");
    for (const dv::operation_error& e : {own, dv::operation_error{of_peer}}) {
        CHECK(e.operation == "f");
        CHECK(e.statement == "y");
        CHECK(e.rank == 1);
        CHECK(e.cause == what);
    }
}

TEST_CASE("a rank that has left is a peer also for itself") {
    abort_reason left{2, "rank 2 left", {}, {}, true};
    CHECK_THROWS_AS(left.raise(2), dv::peer_error);
    left.by_leaving = false;
    CHECK(support::message([&] { left.raise(2); }) == "dovetail: rank 2 left");
}

TEST_CASE("the caller of run sees a time-out as one") {
    abort_reason reason{3, "timeout: nobody came", {}, {}};
    CHECK_THROWS_AS(reason.raise(), dv::operation_error);
    reason.timed_out = true;
    CHECK(caught<dv::timeout>([&] { reason.raise(); }).rank == 3);
}

TEST_CASE("only what made the same rank leave replaces that it left") {
    const abort_reason left{1, "left", {}, {}, true};
    const auto what = std::make_exception_ptr(1);
    CHECK(left.is_replaced_by({1, "left with 1", {}, {}, true, what}));
    CHECK(!left.is_replaced_by({1, "left again", {}, {}, true}));
    CHECK(!left.is_replaced_by({2, "left with 1", {}, {}, true, what}));
    CHECK(!left.is_replaced_by({1, "failed", "f", "y", false, what}));
    CHECK(!abort_reason{1, "failed", "f", "y", false}.is_replaced_by({1, "left with 1", {}, {}, true, what}));
}

TEST_CASE("what the program learns from an exception is reported, once, and still thrown") {
    int reports = 0;
    const auto count = [&] { ++reports; };
    CHECK(dv::launch::reporting([] { return 7; }, count) == 7);
    CHECK_THROWS_AS(dv::launch::reporting([] { throw dv::usage_error{"not of a run"}; }, count), dv::usage_error);
    CHECK(reports == 0);
    CHECK_THROWS_AS(dv::launch::reporting([] { throw dv::peer_error{"text", "f", "y", 1}; }, count), dv::peer_error);
    CHECK(reports == 1);
}
