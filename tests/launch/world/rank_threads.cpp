// Ranks as threads, and the exceptions that they leave with: the first of a rank's own counts before what others saw of it.
#include "support/expect.hpp"

#include <dovetail/launch/world/local_peers.hpp>
#include <dovetail/launch/world/rank_threads.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace dv = dovetail;
using namespace dv::launch;

TEST_CASE("every rank is played once, and all have ended when the call returns") {
    std::vector<std::atomic<int>> played(20);
    on_threads(
        20, [&](int rank) { ++played[static_cast<std::size_t>(rank)]; },
        [](int, const std::exception_ptr&) { FAIL("a rank has no thread"); });
    for (const auto& times : played) CHECK(times == 1);
}

TEST_CASE("a rank's own exception counts before what other ranks saw of it, whichever came first") {
    const auto own = std::make_exception_ptr(std::runtime_error{"own"}), later = std::make_exception_ptr(std::runtime_error{"later"});
    const auto seen = std::make_exception_ptr(dv::peer_error{"seen", {}, {}, 0}),
               seen_later = std::make_exception_ptr(dv::peer_error{"seen later", {}, {}, 0});
    local_peers among{2};
    const auto rethrown = [&](const std::vector<std::exception_ptr>& all) {
        rank_exceptions exceptions;
        for (int r = 0; r < static_cast<int>(all.size()); ++r) exceptions.record(r, all[static_cast<std::size_t>(r)]);
        return support::message([&] { exceptions.rethrow(among); });
    };
    CHECK(rethrown({}) == "nothing thrown");
    CHECK(rethrown({own, later}) == "own");
    CHECK(rethrown({seen, own, later}) == "own");
    CHECK(rethrown({seen, seen_later}) == "dovetail: seen");
    among.abort({1, "an operation failed on rank 1", "op", "y", false, own});
    CHECK(rethrown({seen, seen_later}) == "dovetail: an operation failed on rank 1");  // its rank has not read it
    CHECK(rethrown({seen, later}) == "later");
    CHECK(rethrown({}) == "nothing thrown");
}

TEST_CASE("what a rank leaves with, made or played, is told to the others with its number") {
    rank_exceptions exceptions;
    std::vector<abort_reason> told;
    const auto abort = [&](const abort_reason& why) { told.push_back(why); };
    auto fine = [](int) {};
    auto fails = [](int) { throw std::runtime_error{"in the body"}; };
    exceptions.run_rank(0, [] { return 0; }, fine, abort);
    CHECK(told.empty());
    exceptions.run_rank(3, [] { return 3; }, fails, abort);
    exceptions.run_rank(4, []() -> int { throw dv::world_error{"no such device"}; }, fine, abort);
    REQUIRE(told.size() == 2);
    CHECK(told[0].rank == 3);
    CHECK(told[0].by_leaving);
    CHECK(told[0].text == "rank 3 left with an exception: in the body");
    CHECK(told[1].text == "rank 4 left with an exception: no such device");
    CHECK(support::message([&] { exceptions.rethrow(local_peers{5}); }) == "in the body");
}

TEST_CASE("a rank is still there while the others are told of its exception") {
    rank_exceptions exceptions;
    bool alive = false, alive_when_told = false;
    struct rank {
        bool& alive;
        ~rank() { alive = false; }
    };
    auto body = [&](rank& me) {
        me.alive = true;
        throw 1;
    };
    exceptions.run_rank(0, [&] { return rank{alive}; }, body, [&](const abort_reason&) { alive_when_told = alive; });
    CHECK(alive_when_told);
    CHECK(!alive);
}
