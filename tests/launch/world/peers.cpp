// What threads of one process share as ranks of a world: exchanges, the one abort, who is where; and how far a rank's words say it has
// come.
#include "support/expect.hpp"

#include <dovetail/launch/world/peers.hpp>

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

// Two streams, on which steps 1 and 4, and step 2 communicate.
struct gpu_words {
    std::uint32_t words[2] = {};
    progress p;

    gpu_words() {
        p.graph = "`g`";
        for (int s = 0; s < 5; ++s) p.steps.push_back({"f" + std::to_string(s), "y"});
        p.communication = {{1, 4}, {2}};
        p.words = words;
    }
    static std::uint32_t word(std::int64_t run, int step) { return static_cast<std::uint32_t>(run % 32768 * 65536 + step + 1); }
    std::pair<std::int64_t, int> at() const { return {p.at().run, p.at().step}; }
};

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

TEST_CASE("words of the GPU say which communication is open") {
    gpu_words w;
    CHECK(w.at() == std::pair{std::int64_t{0}, -1});  // nothing was issued
    w.p.issued = 1;
    CHECK(w.at() == std::pair{std::int64_t{0}, 1});
    w.words[0] = w.word(0, 1);
    CHECK(w.at() == std::pair{std::int64_t{0}, 2});  // the first that is open, of both streams
    w.words[1] = w.word(0, 2);
    CHECK(w.at() == std::pair{std::int64_t{0}, 4});
    w.words[0] = w.word(0, 4);
    CHECK(w.at() == std::pair{std::int64_t{1}, 1});
    w.words[0] = w.word(1, 4);
    w.words[1] = w.word(1, 2);
    CHECK(w.at() == std::pair{std::int64_t{0}, -1});  // a later operation may be open in either run
    w.p.ended = 1;
    CHECK(w.p.text() == "has nothing to do in `g`: it has issued 2 runs");
}

TEST_CASE("numbers of runs in the words begin anew after 32,768, and old words do not count") {
    gpu_words w;
    w.p.issued = 32768 * 5 + 1;
    w.p.ended = 32768 * 5 - 1;
    for (auto& word : w.words) word = w.word(32768 * 5 - 1, 4);
    CHECK(w.at() == std::pair{std::int64_t{32768 * 5}, 1});
    w.words[0] = w.word(32768 * 5, 1);
    w.words[1] = w.word(32768 * 5 + 1, 2);
    CHECK(w.at() == std::pair{std::int64_t{32768 * 5}, 4});
}

TEST_CASE("words of a replayed graph have no run, and stand for the oldest that is open") {
    gpu_words w;
    w.p.issued = 7;
    w.p.ended = 6;
    w.p.replayed = true;
    CHECK(w.at() == std::pair{std::int64_t{7}, 1});
    for (auto& word : w.words) word = w.word(0, 1);
    CHECK(w.at() == std::pair{std::int64_t{7}, 2});
    w.words[1] = w.word(0, 2);
    CHECK(w.at() == std::pair{std::int64_t{7}, 4});
    w.words[0] = w.word(0, 4);
    CHECK(w.at() == std::pair{std::int64_t{7}, -1});
}
