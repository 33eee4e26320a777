// List scheduling and the candidates: orders respect all edges, known best orders are found, overlap is chosen where it gains.
#include <dovetail/plan/pipeline.hpp>

#include "support/build.hpp"
#include "support/schedule_of.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace dv = dovetail;
namespace pass = dovetail::pass;
using support::build;

namespace {

constexpr dv::plan_options plain() {
    dv::plan_options s;
    s.machine.edge_latency = 0;
    s.machine.with_communication = s.machine.with_copy = {};
    return s;
}

constexpr dv::vec<int> listed(const build& b, const dv::plan_options& s) {
    const auto p = b.view();
    const auto edges = pass::edges(p);
    const auto written = pass::written_order(p.tasks.size(), edges.view());
    const auto occupancy = pass::occupancy_of(p, edges.view());
    const auto priority = pass::priorities(p, occupancy, b.costs.view(), written.view(), s);
    return pass::list_order(p, occupancy, b.costs.view(), priority, s);
}

// A chain of two tasks and, written behind it, one task alone that is as long as both together.
TEST_CASE("what an output needs goes before all else, also before what is on the critical path") {
    build b;
    b.compute(0, {b.compute(0, {}, 100)}, 100);
    const int wanted = b.compute(0, {}, 150);
    b.p.buffers[wanted].symbol = 7;
    const auto p = b.view();
    const auto edges = pass::edges(p);
    const auto written = pass::written_order(p.tasks.size(), edges.view());
    const auto occupancy = pass::occupancy_of(p, edges.view());
    auto priority = pass::priorities(p, occupancy, b.costs.view(), written.view(), plain());
    CHECK(pass::list_order(p, occupancy, b.costs.view(), priority, plain())[0] == 0);
    pass::raise_ancestors(priority, p, occupancy, written.view(), 7);
    CHECK(pass::list_order(p, occupancy, b.costs.view(), priority, plain())[0] == 2);
    // The ancestors of the end of the chain are both of its tasks.
    build c;
    const int first = c.compute(0, {}, 10);
    const int last = c.compute(0, {c.compute(0, {first}, 10)}, 10);
    c.compute(0, {}, 500);
    c.p.buffers[last].symbol = 7;
    const auto all = pass::edges(c.view());
    const auto occupied = pass::occupancy_of(c.view(), all.view());
    const auto order = pass::written_order(4, all.view());
    auto raised = pass::priorities(c.view(), occupied, c.costs.view(), order.view(), plain());
    pass::raise_ancestors(raised, c.view(), occupied, order.view(), 7);
    const auto listed_first = pass::list_order(c.view(), occupied, c.costs.view(), raised, plain());
    for (int k = 0; k < 4; ++k) CHECK(listed_first[k] == k);
}

// What a plan takes where memory does not matter.
constexpr pass::schedule best(const build& b, const dv::plan_options& s) {
    const auto edges = pass::edges(b.view());
    pass::schedule tried[dv::plan::compared];
    dv::plan::findings found;
    for (int c = 0; c < dv::plan::compared; ++c) {
        tried[c] = support::schedule_of(static_cast<dv::candidate>(c), b.view(), edges.view(), b.costs.view(), s);
        found.length[c] = tried[c].length;
    }
    return tried[static_cast<int>(dv::plan::preferred(found, s).list[0])];
}

void check(const dv::vec<int>& order, std::initializer_list<int> expected) {
    REQUIRE(order.size() == static_cast<int>(expected.size()));
    for (int i = 0; i < order.size(); ++i) CHECK(order[i] == expected.begin()[i]);
}

// Three senders, one receiver that multiplies each block: the bound is the first transfer and three multiplications.
constexpr build three_senders(std::int64_t transfer, std::int64_t multiply) {
    build b{4};
    int block[3] = {};
    for (int i = 0; i < 3; ++i) block[i] = b.compute(i, {}, 0);
    for (int i = 0; i < 3; ++i) b.compute(3, {b.send(block[i], 3, transfer)}, multiply);
    return b;
}
static_assert(best(three_senders(59, 274), plain()).length == 59 + 3 * 274);

}  // namespace

TEST_CASE("the time of a schedule with three times the communication, on its streams") {
    build b;
    const int x = b.compute(0, {}, 10);
    b.collect(0, x, 500);
    b.compute(0, {x}, 1000);
    const auto edges = pass::edges(b.view());
    const auto r = pass::occupancy_of(b.view(), edges.view());
    const auto order = pass::written_order(b.costs.size(), edges.view());
    auto t = pass::estimate_timeline(b.view(), r, b.costs.view(), order.view(), plain());
    CHECK(t.length == 1010);
    CHECK(dv::plan::slowed_length(b.view(), r, b.costs.view(), t, plain()) == 10 + 1500);
    t.stream[1] = static_cast<unsigned char>(dv::stream_kind::compute);  // as where the streams of a role are joined
    CHECK(dv::plan::slowed_length(b.view(), r, b.costs.view(), t, plain()) == 10 + 1500 + 1000);
    b.costs[1].time = dv::cost_model::longest_duration;
    CHECK(dv::plan::slowed_length(b.view(), r, b.costs.view(), t, plain()) == 10 + dv::cost_model::longest_duration + 1000);
}

TEST_CASE("the order of the written candidate has small inputs first") {
    build b;
    b.collect(0, b.compute(0, {}, 1), 100);
    b.task(dv::op_kind::input, dv::stream_kind::copy, 1);
    b.participation(0);
    b.touch(b.buffer(0, 8), dv::access_mode::write);
    const auto edges = pass::edges(b.view());
    const auto r = pass::occupancy_of(b.view(), edges.view());
    const auto order = pass::overlapped_order(dv::candidate::written, b.view(), r, edges.view(), b.costs.view(), plain());
    CHECK(order.first[0] == 2);
}

TEST_CASE("copies of small inputs come first, those of large ones as written") {
    build b;
    for (const std::int64_t bytes : {std::int64_t{1} << 30, pass::small_input, pass::small_input + 1, std::int64_t{8}}) {
        b.compute(0, {}, 1);
        b.task(dv::op_kind::input, dv::stream_kind::copy, 1);
        b.participation(0);
        b.touch(b.buffer(0, bytes), dv::access_mode::write);
    }
    dv::vec<int> order(8, dv::unset{});
    for (int v = 0; v < 8; ++v) order[v] = v;
    pass::put_small_inputs_first(b.view(), order);
    check(order, {3, 7, 0, 1, 2, 4, 5, 6});
}

TEST_CASE("of each role small inputs of a mebibyte together come first") {
    build b{2};
    const int fitting = static_cast<int>(pass::small_inputs_of_role / pass::small_input), inputs = 2 * (fitting + 1);
    b.compute(0, {}, 1);
    for (int i = 0; i < inputs; ++i) {
        b.task(dv::op_kind::input, dv::stream_kind::copy, 1);
        b.participation(i % 2);
        b.touch(b.buffer(i % 2, pass::small_input), dv::access_mode::write);
    }
    dv::vec<int> order(1 + inputs, dv::unset{});
    for (int v = 0; v < 1 + inputs; ++v) order[v] = v;
    pass::put_small_inputs_first(b.view(), order);
    CHECK(order[0] == 1);
    CHECK(order[2 * fitting] == 0);
    CHECK(order[2 * fitting + 1] == inputs - 1);  // the last two, one of each role
    CHECK(order[2 * fitting + 2] == inputs);
}

TEST_CASE("written order keeps the declared order where it can") {
    const dv::ir::edge edges[] = {{3, 0, 0, 0, dv::ir::edge_kind::flow}, {4, 2, 0, 0, dv::ir::edge_kind::flow}};
    check(pass::written_order(5, {edges, 2}), {1, 3, 0, 4, 2});
    check(pass::written_order(3, {edges, 0}), {0, 1, 2});
    check(pass::written_order(0, {edges, 0}), {});
    const dv::ir::edge cycle[] = {{1, 2, 0, 0, dv::ir::edge_kind::flow}, {2, 1, 0, 0, dv::ir::edge_kind::flow}};
    check(pass::written_order(3, {cycle, 2}), {0});
}

TEST_CASE("the longer chain goes first") {
    build b;
    const int x = b.compute(0, {}, 1);
    b.compute(0, {x}, 5);                // 1
    const int y = b.compute(0, {x}, 1);  // 2
    b.collect(0, y, 50);                 // 3
    check(listed(b, plain()), {0, 2, 3, 1});
    CHECK(best(b, plain()).length == 52);
}

TEST_CASE("communication is issued before compute that starts with it") {
    build b;
    const int x = b.compute(0, {}, 10);
    b.compute(0, {x}, 100);
    b.collect(0, x, 10);
    check(listed(b, plain()), {0, 2, 1});
}

TEST_CASE("what takes no time does not queue behind what does") {
    build b;
    b.compute(0, {b.compute(0, {}, 100)}, 100);  // 0, 1
    b.collect(0, b.compute(0, {}, 0), 150);      // 2, 3
    check(listed(b, plain()), {2, 3, 0, 1});
    CHECK(best(b, plain()).length == 200);
}

TEST_CASE("a chain cannot be overlapped and stays sequential") {
    build b;
    int x = b.compute(0, {}, 10);
    for (int i = 0; i < 6; ++i) x = b.compute(0, {b.collect(0, x, 10)}, 10);
    const auto s = best(b, plain());
    CHECK_FALSE(s.overlapped);
    CHECK(s.length == 130);
}

TEST_CASE("a diamond hides its communication") {
    build b;
    const int x = b.compute(0, {}, 10);
    const int left = b.compute(0, {x}, 40), right = b.collect(0, x, 30);
    b.compute(0, {left, right}, 10);
    const auto s = best(b, plain());
    CHECK(s.overlapped);
    CHECK(s.length == 60);
    CHECK(s.start[2] == 10);
    CHECK(s.end[2] == 40);
}

TEST_CASE("three senders meet the bound") {
    for (const int transfer : {1, 59, 274}) {
        const auto s = best(three_senders(transfer, 274), plain());
        CHECK(s.overlapped);
        CHECK(s.length == (s.overlapped ? transfer + 3 * 274 : 3 * transfer + 3 * 274));
    }
}

TEST_CASE("a ring of three sends at once as far as its streams allow") {
    build b{3};
    int x[3] = {};
    for (int r = 0; r < 3; ++r) x[r] = b.compute(r, {}, 10);
    for (int r = 0; r < 3; ++r) b.compute((r + 1) % 3, {b.send(x[r], (r + 1) % 3, 20)}, 30);
    const auto edges = pass::edges(b.view());
    const auto order = listed(b, plain());
    CHECK(support::is_linear_extension(order.view(), 9, edges.view()));
    // Each rank takes part in two of the three transfers, so that they follow each other.
    CHECK(best(b, plain()).length == 100);
}

TEST_CASE("gradients are reduced while earlier layers are computed") {
    build b;
    int x = b.compute(0, {}, 10);
    for (int layer = 0; layer < 8; ++layer) {
        x = b.compute(0, {x}, 100);
        b.collect(0, x, 90);
    }
    CHECK(best(b, plain()).length == 10 + 8 * 100 + 90);
}

namespace {

// Pairs of compute and the communication after it, independent of each other.
build pairs_of(const std::vector<std::array<std::int64_t, 2>>& times) {
    build b;
    for (const auto& [compute, communication] : times) b.collect(0, b.compute(0, {}, compute), communication);
    return b;
}
std::int64_t length_of(dv::candidate c, const build& b) {
    return support::schedule_of(c, b.view(), pass::edges(b.view()).view(), b.costs.view(), plain()).length;
}
// The shortest time of two machines in sequence: over all orders of the pairs.
std::int64_t shortest(std::vector<std::array<std::int64_t, 2>> pairs) {
    std::int64_t best = INT64_MAX;
    std::sort(pairs.begin(), pairs.end());
    do {
        std::int64_t computed = 0, communicated = 0;
        for (const auto& [compute, communication] : pairs) {
            computed += compute;
            communicated = std::max(computed, communicated) + communication;
        }
        best = std::min(best, communicated);
    } while (std::next_permutation(pairs.begin(), pairs.end()));
    return best;
}

}  // namespace

TEST_CASE("what unlocks much communication after little compute comes first") {
    const build b = pairs_of({{10, 1}, {1, 10}});
    CHECK(length_of(dv::candidate::listed, b) == 21);
    CHECK(length_of(dv::candidate::johnson, b) == 12);
    // Through a second operation on the compute stream.
    build chain;
    chain.collect(0, chain.compute(0, {}, 10), 1);
    chain.collect(0, chain.compute(0, {chain.compute(0, {}, 1)}, 1), 9);
    CHECK(length_of(dv::candidate::listed, chain) == 21);
    CHECK(length_of(dv::candidate::johnson, chain) == 13);
}

TEST_CASE("of independent pairs Johnson's rule is nearly the shortest order, and nearer than the critical path") {
    std::int64_t listed = 0, johnson = 0, best = 0;
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        std::minstd_rand random{seed};
        std::vector<std::array<std::int64_t, 2>> times(2 + seed % 5);
        for (auto& [compute, communication] : times) compute = 1 + random() % 1000, communication = 1 + random() % 1000;
        const build b = pairs_of(times);
        listed += length_of(dv::candidate::listed, b);
        johnson += length_of(dv::candidate::johnson, b);
        best += shortest(times);
        CHECK(length_of(dv::candidate::johnson, b) >= shortest(times));
    }
    CHECK(johnson <= listed);
    CHECK(johnson <= best + best / 33);
    MESSAGE("shortest: ", best, ", Johnson's rule: ", johnson, ", critical path: ", listed);
}

TEST_CASE("overlap off, or a gain of less than a wait, gives one stream") {
    build b;
    const int x = b.compute(0, {}, 1000);
    b.compute(0, {x}, 30);
    b.collect(0, x, 30);
    dv::plan_options s = plain();
    s.machine.edge_latency = 14;  // 1000 + 14 + 30 of 1060: a gain of 16
    CHECK(best(b, s).overlapped);
    s.overlap = false;
    CHECK_FALSE(best(b, s).overlapped);
    s.overlap = true;
    s.machine.edge_latency = 15;  // a gain of 15
    CHECK_FALSE(best(b, s).overlapped);
}

TEST_CASE("no tasks, one task") {
    CHECK(best(build{}, plain()).length == 0);
    build b;
    b.compute(0, {}, 7);
    CHECK(best(b, plain()).length == 7);
}

TEST_CASE("improvement finds what priorities do not") {
    std::int64_t before = 0, after = 0;
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        const build b = support::random_program(seed, 3, 20);
        const auto edges = pass::edges(b.view());
        const auto occupancy = pass::occupancy_of(b.view(), edges.view());
        const auto order = pass::overlapped_order(dv::candidate::listed, b.view(), occupancy, edges.view(), b.costs.view(), plain());
        auto s = pass::estimate_timeline(b.view(), occupancy, b.costs.view(), order.view(), plain());
        before += s.length;
        pass::improve(s, b.view(), occupancy, edges.view(), b.costs.view(), plain());
        CHECK(support::is_linear_extension(s.order.view(), b.costs.size(), edges.view()));
        after += s.length;
    }
    CHECK(after < before);
    MESSAGE("list scheduling: ", before, ", improved: ", after);
}

TEST_CASE("every order of a random program is a linear extension, and the same again") {
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        const int roles = 1 + static_cast<int>(seed % 5);
        const build b = support::random_program(seed, roles, 5 + static_cast<int>(seed % 90), seed % 2 == 0);
        const auto p = b.view();
        const int n = p.tasks.size();
        const auto edges = pass::edges(p);
        const dv::plan_options s;
        CHECK(pass::find_cycle(n, edges.view()).empty());
        CHECK(support::is_linear_extension(pass::written_order(n, edges.view()).view(), n, edges.view()));
        const auto order = listed(b, s);
        CHECK(support::is_linear_extension(order.view(), n, edges.view()));
        const auto sequential = pass::sequential_schedule(p, edges.view(), b.costs.view());
        CHECK(pass::sequential_length(p, edges.view(), b.costs.view()) == sequential.length);
        const auto chosen = best(b, s), again = best(b, s);
        CHECK(support::is_linear_extension(chosen.order.view(), n, edges.view()));
        CHECK(chosen.length <= sequential.length);
        if (chosen.overlapped) CHECK(pass::gains(chosen.length, sequential.length, s));
        CHECK(chosen.length == again.length);
        for (int i = 0; i < n; ++i) REQUIRE(chosen.order[i] == again.order[i]);
    }
}
