// What threads of one process share as ranks of a world: exchanges, plans and the order of calls compared, the one abort, who is where.
#include "support/expect.hpp"

#include <dovetail/launch/world/local_peers.hpp>
#include <dovetail/launch/world/plan_fingerprint.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

namespace dv = dovetail;
using namespace dv::launch;
using namespace std::chrono_literals;
using support::message;

namespace {

// Calls play(rank) on a thread each; what they threw, by rank.
std::vector<std::string> on_ranks(int ranks, auto&& play) {
    std::vector<std::string> thrown(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r) threads.emplace_back([&, r] { thrown[static_cast<std::size_t>(r)] = message([&] { play(r); }); });
    for (std::thread& t : threads) t.join();
    return thrown;
}

}  // namespace

TEST_CASE("an exchange gives every rank everybody's text, time after time") {
    local_peers all{4};
    const auto thrown = on_ranks(4, [&](int rank) {
        for (int i = 0; i < 100; ++i) {
            const auto texts = all.exchange(rank, "place", std::to_string(rank * 1000 + i), 10s);
            std::vector<std::string> expected;
            for (int r = 0; r < 4; ++r) expected.push_back(std::to_string(r * 1000 + i));
            if (texts != expected) throw std::runtime_error{"other texts"};
        }
    });
    for (const auto& text : thrown) CHECK(text == "nothing thrown");
}

TEST_CASE("who does not come, has left, or has failed ends an exchange with its number") {
    local_peers late{4};
    const auto timed_out = on_ranks(2, [&](int rank) { late.exchange(rank, "the plan", "", 50ms); });
    CHECK(timed_out[0] == "dovetail: timeout: rank 0 waits for all ranks at the plan, and these have not come: rank 2, rank 3");

    local_peers left{2};
    left.leave(1);
    CHECK(left.gone(1));
    CHECK(message([&] { left.exchange(0, "the plan", "", 10s); }) ==
          "dovetail: rank 0 waits for all ranks at the plan, and rank 1 has left");

    local_peers failed{2};
    const auto thrown = on_ranks(2, [&](int rank) {
        if (rank == 1)
            failed.abort({1, "operation `f` failed", "f", "y", false});
        else
            failed.exchange(0, "the plan", "", 10s);
    });
    CHECK(thrown[0] == "dovetail: rank 0 stops, because operation `f` failed; rank 0 waits for all ranks at the plan");
}

TEST_CASE("ranks at different places of the program are told so, and a third when it comes there") {
    local_peers all{3};
    const auto thrown = on_ranks(3, [&](int rank) {
        if (rank == 2) std::this_thread::sleep_for(100ms);
        all.exchange(rank, rank == 1 ? "the first run of `a`" : "executor 1 (`b`)", "text", 10s);
    });
    for (const auto& text : thrown) {
        support::has(text, "executor 1 (`b`)");
        support::has(text, "the first run of `a`");
        support::has(text, "rank 1 is at ");
    }

    local_peers graphs{2};  // whose plans are compared
    for (const auto& text :
         on_ranks(2, [&](int rank) { graphs.exchange(rank, rank == 0 ? "executor 1 (`a`)" : "executor 1 (`b`)", "", 10s); }))
        CHECK(text == "nothing thrown");
}

TEST_CASE("the first abort counts, unless a rank that left says what made it leave") {
    local_peers all{2};
    CHECK(!all.aborted());
    all.abort({0, "first", {}, {}, false});
    all.abort({1, "second", {}, {}, false});
    CHECK(all.aborted());
    CHECK(all.why().text == "first");

    local_peers leaving{2};
    leaving.abort({1, "left", {}, {}, true});
    leaving.abort({1, "left with 7", {}, {}, true, std::make_exception_ptr(7)});
    CHECK(leaving.why().text == "left with 7");
}

TEST_CASE("the caller learns of an abort that no rank was told of") {
    local_peers all{2};
    all.raise_unreported(0);  // nothing is wrong
    all.abort({1, "first", {}, {}, false});
    CHECK(message([&] { all.raise_unreported(0); }) == "dovetail: first");
    all.report();
    CHECK(message([&] { all.raise_unreported(0); }) == "nothing thrown");
}

TEST_CASE("who attends is called when runs are aborted, before or after it came") {
    local_peers all{2};
    std::atomic<int> calls = 0;
    all.attend(0, [&] { ++calls; }, [] {});
    all.abort({1, "first", {}, {}, false});
    all.attend(1, [&] { ++calls; }, [] {});
    for (int i = 0; i < 1000 && calls < 2; ++i) std::this_thread::sleep_for(10ms);
    CHECK(calls == 2);
    all.unattend(0);
    all.unattend(1);
}

TEST_CASE("what each rank works on is said of all") {
    local_peers all{3};
    auto rank = std::make_shared<progress>();
    rank->graph = "`g`";
    rank->steps = {{"all_reduce", "z"}};
    rank->communication = {{0}};
    const std::uint32_t word = 0;
    rank->words = &word;
    rank->issued = 3;
    rank->ended = 2;
    all.watch(0, rank);
    all.leave(2);
    CHECK(all.describe() ==
          "rank 0 has not ended operation `all_reduce` of `z` (run 3 of `g`); rank 1 has issued nothing; rank 2 has left");
}

TEST_CASE("executors with different plans are refused on all ranks, with their numbers and names") {
    local_peers all{3};
    const auto thrown = on_ranks(3, [&](int rank) {
        compare_plans(all, rank, 0, "`f`", "1 `f`", {}, 10s);
        compare_plans(all, rank, 1, "`g`", rank == 2 ? "2 `g`, replayed" : "1 `g`", rank == 1 ? "roles" : "", 10s);
    });
    for (const auto& text : thrown)
        CHECK(text.starts_with("dovetail: the plans of executor 1 differ: rank 2 (`g`, replayed) against rank 0 (`g`). Ranks make"));
}

TEST_CASE("a conflict of roles that one rank finds is told to all") {
    local_peers all{3};
    for (const auto& text : on_ranks(3, [&](int rank) { compare_plans(all, rank, 0, "`f`", "1 `f`", rank == 1 ? "roles" : "", 10s); }))
        CHECK(text == "dovetail: roles");

    const std::string long_words(2000, 'w');  // of which communicators of the caller's move a thousand
    struct cut : local_peers {
        using local_peers::local_peers;
        std::vector<std::string> exchange(int rank, const std::string& what, const std::string& mine,
                                          std::chrono::nanoseconds limit) override {
            return local_peers::exchange(rank, what, mine.substr(0, 1023), limit);
        }
    } short_texts{3};
    for (const auto& text :
         on_ranks(3, [&](int rank) { compare_plans(short_texts, rank, 0, "`f`", "1 " + long_words, rank == 1 ? "a conflict" : "", 10s); }))
        CHECK(text == "dovetail: a conflict");
}

TEST_CASE("the first rank to issue a run says which executor's it is, also far into a job") {
    for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1} << 35}) {
        local_peers all{3};
        for (std::int64_t at = first; at < first + 5000; ++at)
            for (const int rank : {2, 0, 1}) CHECK(all.call_order_mismatch(rank, at, static_cast<int>(at % 3)).empty());
        CHECK(all.call_order_mismatch(1, first + 5000, 7).empty());
        CHECK(all.call_order_mismatch(2, first + 5000, 3) ==
              "executors are called in different order: run number " + std::to_string(first + 5000) +
                  " of rank 2 is executor 3, of rank 1 executor 7");
        CHECK(all.call_order_mismatch(0, first + 5000, 7).empty());
    }
}

TEST_CASE("whoever shares the ranks is notified of an abort and of a rank that leaves") {
    int calls = 0;
    local_peers all{2, [&] { ++calls; }};
    all.leave(1);
    CHECK(calls == 1);
    all.abort({0, "first", {}, {}, false});
    CHECK(calls == 2);
}
