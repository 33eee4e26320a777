// The timeline estimate: figures computed by hand, and on random programs the rules that every timeline obeys.
#include <dovetail/pass/schedule/list_scheduling.hpp>
#include <dovetail/pass/schedule/timeline_estimate.hpp>

#include "support/build.hpp"

#include <doctest/doctest.h>

namespace dv = dovetail;
namespace pass = dovetail::pass;
using support::build;

namespace {

constexpr dv::plan_options with(std::int64_t edge, int communication, int copy) {
    dv::plan_options s;
    s.machine.edge_latency = edge;
    s.machine.compute_slowdown_beside_communication = communication;
    s.machine.beside_copy = copy;
    return s;
}

constexpr pass::schedule timeline(const build& b, bool overlapped, const dv::plan_options& s) {
    const auto edges = pass::edges(b.view());
    const auto order = pass::written_order(b.costs.size(), edges.view());
    if (!overlapped) return pass::serial_schedule(b.view(), b.costs.view(), order.view());
    const auto occupancy = pass::occupancy_of(b.view(), edges.view());
    return pass::estimate_timeline(b.view(), occupancy, b.costs.view(), order.view(), s);
}

constexpr build beside() {
    build b;
    const int x = b.compute(0, {}, 10);
    b.collect(0, x, 500);
    b.compute(0, {x}, 1000);
    return b;
}
static_assert(timeline(beside(), true, with(0, 1000, 1000)).length == 1010);
static_assert(timeline(beside(), false, with(0, 1250, 1000)).length == 1510);

// The place of an edge's or participation's role in the slots of a task, or -1.
int participation_on(const pass::occupancy& at, int v, int role) {
    for (int i = at.participations_of[v]; i < at.participations_of[v + 1]; ++i)
        if (at.slot[i] / dv::stream_count == role) return i;
    return -1;
}

// When each participation opens, from the ends of the tasks: behind the one before it on its stream and behind its edges.
dv::vec<std::int64_t> openings(const pass::schedule& s, const pass::occupancy& at, dv::span<const dv::ir::edge> edges,
                               std::int64_t latency) {
    dv::vec<std::int64_t> open(at.slot.size()), last(at.slots);
    const auto row = [&](int v, int i) { return at.slot[i] / dv::stream_count * dv::stream_count + s.stream[v]; };
    for (int v : s.order)
        for (int i = at.participations_of[v]; i < at.participations_of[v + 1]; ++i) {
            open[i] = last[row(v, i)];
            last[row(v, i)] = s.end[v];
        }
    for (const auto& e : edges) {
        const int i = participation_on(at, e.to, e.role);
        REQUIRE(i >= 0);
        const std::int64_t t = s.end[e.from] + (s.stream[e.from] == s.stream[e.to] ? 0 : latency);
        if (t > open[i]) open[i] = t;
    }
    return open;
}

}  // namespace

TEST_CASE("communication slows what computes beside it, for as long as it runs") {
    const auto s = timeline(beside(), true, with(0, 1250, 1000));
    CHECK(s.end[1] == 510);
    CHECK(s.start[2] == 10);
    CHECK(s.end[2] == 10 + 500 + 600);  // 400 of 1000 done by the time the other ends
    CHECK(s.length == 1110);
}

TEST_CASE("communication that starts in the middle, and a copy beside both") {
    build b;
    const int x = b.compute(0, {}, 100);
    const int y = b.collect(0, x, 100);
    b.compute(0, {x}, 1000);
    b.collect(0, y, 300);
    b.task(dv::op_kind::to_host, dv::stream_kind::copy, 200);
    b.participation(0);
    b.touch(y, dv::access_mode::read);
    const auto s = timeline(b, true, with(0, 1200, 1300));
    // From 100 to 200 one beside, to 400 two, to 500 one, then none.
    CHECK(s.end[3] == 500);
    CHECK(s.end[4] == 400);
    const double done = 100 / 1.2 + 200 / 1.5 + 100 / 1.2;
    CHECK(s.end[2] >= 500 + 1000 - done - 1);
    CHECK(s.end[2] <= 500 + 1000 - done + 4);
}

TEST_CASE("a receive that waits for its sender slows its rank already") {
    build b{2};
    const int x = b.compute(0, {}, 1000);
    b.send(x, 1, 100);
    b.compute(1, {}, 1000);
    const auto s = timeline(b, true, with(0, 1500, 1000));
    CHECK(s.start[1] == 1000);
    CHECK(s.end[1] == 1100);
    CHECK(s.end[2] == 1100 + (1000 - 733));
}

TEST_CASE("a peer copy that waits for its sender slows nobody, one that runs does") {
    build b{2};
    const int x = b.compute(0, {}, 1000);
    b.send(x, 1, 100);
    b.p.tasks.back().stream = dv::stream_kind::copy;
    b.compute(1, {}, 1050);
    b.compute(0, {}, 200);
    const auto s = timeline(b, true, with(0, 1500, 1100));
    CHECK(s.start[1] == 1000);
    CHECK(s.end[1] == 1100);
    CHECK(s.end[2] == 1000 + 55);
    CHECK(s.end[3] == 1100 + (200 - 90));
}

TEST_CASE("an edge between streams costs its latency, one on a stream nothing") {
    build b;
    const int x = b.compute(0, {}, 10);
    b.compute(0, {b.compute(0, {b.collect(0, x, 10)}, 10)}, 10);
    CHECK(timeline(b, true, with(7, 1000, 1000)).length == 54);
    CHECK(timeline(b, false, with(7, 1000, 1000)).length == 40);
}

TEST_CASE("an order against the edges is told from one that ends") {
    build b;
    const int x = b.compute(0, {}, 10);
    b.compute(0, {x}, 10);
    const auto edges = pass::edges(b.view());
    const int order[] = {1, 0};
    const auto occupancy = pass::occupancy_of(b.view(), edges.view());
    CHECK(pass::estimate_timeline(b.view(), occupancy, b.costs.view(), {order, 2}, {}).length == -1);
}

TEST_CASE("one role on one stream takes the sum") {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        const build b = support::random_program(seed, 1, 10 + static_cast<int>(seed), seed % 2 == 0);
        std::int64_t sum = 0;
        for (std::int64_t c : b.costs) sum += c;
        CHECK(timeline(b, false, {}).length == sum);
    }
}

TEST_CASE("without interference every start is the latest of what it waits for") {
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        const build b = support::random_program(seed, 1 + static_cast<int>(seed % 5), 5 + static_cast<int>(seed % 120), seed % 3 == 0);
        const bool overlapped = seed % 2 == 0;
        const auto edges = pass::edges(b.view());
        const auto s = timeline(b, overlapped, with(5, 1000, 1000));
        const auto at = pass::occupancy_of(b.view(), edges.view());
        const auto open = openings(s, at, edges.view(), 5);
        std::int64_t length = 0;
        for (int v = 0; v < b.costs.size(); ++v) {
            std::int64_t start = 0;
            for (int i = at.participations_of[v]; i < at.participations_of[v + 1]; ++i)
                if (open[i] > start) start = open[i];
            REQUIRE(s.start[v] == start);
            REQUIRE(s.end[v] == start + b.costs[v]);
            if (s.end[v] > length) length = s.end[v];
        }
        CHECK(s.length == length);
    }
}

TEST_CASE("with interference every task gets the work it needs, at the pace of its moments") {
    const dv::plan_options set = with(500, 1300, 1100);
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        build b = support::random_program(seed, 1 + static_cast<int>(seed % 5), 5 + static_cast<int>(seed % 120), seed % 3 == 0);
        for (std::int64_t& c : b.costs) c *= 1000;
        for (auto& v : b.p.tasks)
            if (v.kind == dv::op_kind::all_reduce && v.participations == 1 && v.first_participation % 2 == 0)
                v.stream = dv::stream_kind::copy;
        const auto edges = pass::edges(b.view());
        const auto s = timeline(b, true, set);
        REQUIRE(s.length >= 0);
        const auto at = pass::occupancy_of(b.view(), edges.view());
        const auto open = openings(s, at, edges.view(), 500);
        for (int v = 0; v < b.costs.size(); ++v) {
            std::int64_t latest = 0;
            for (int i = at.participations_of[v]; i < at.participations_of[v + 1]; ++i)
                if (open[i] > latest) latest = open[i];
            REQUIRE(s.start[v] == latest);
            if (s.stream[v] != 0) {
                REQUIRE(s.end[v] == s.start[v] + b.costs[v]);
                continue;
            }
            // The work lost to each neighbour, moment by moment: boundaries are openings and ends of the role's other streams.
            const int role = at.slot[at.participations_of[v]] / dv::stream_count;
            double work = 0;
            std::int64_t t = s.start[v];
            int changes = 0;
            while (t < s.end[v]) {
                std::int64_t next = s.end[v];
                int pace = 1000;
                bool beside[dv::stream_count] = {};
                for (int u = 0; u < b.costs.size(); ++u) {
                    const int i = s.stream[u] != 0 ? participation_on(at, u, role) : -1;
                    if (i < 0) continue;
                    if (open[i] > t && open[i] < next) next = open[i];
                    if (s.end[u] > t && s.end[u] < next) next = s.end[u];
                    if (open[i] <= t && t < s.end[u]) beside[s.stream[u]] = true;
                }
                if (beside[1]) pace += 300;
                if (beside[2]) pace += 100;
                work += static_cast<double>(next - t) * 1000 / pace;
                t = next;
                ++changes;
            }
            REQUIRE(work >= static_cast<double>(b.costs[v]) - 1);
            REQUIRE(work <= static_cast<double>(b.costs[v]) + 2 * changes + 1);
        }
    }
}
