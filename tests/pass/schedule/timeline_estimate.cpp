// The timeline estimate: figures computed by hand, and on random programs the rules that every timeline obeys.
#include <dovetail/pass/schedule/list_scheduling.hpp>
#include <dovetail/pass/schedule/timeline_estimate.hpp>

#include "support/build.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace dv = dovetail;
namespace pass = dovetail::pass;
using support::build;

namespace {

constexpr dv::plan_options with(std::int64_t edge, int communication, int copy) {
    dv::plan_options s;
    s.machine.edge_latency = edge;
    for (int limited_by = 0; limited_by < dv::work_class_count; ++limited_by) {
        s.machine.with_communication.of_compute[limited_by] = communication;
        s.machine.with_copy.of_compute[limited_by] = copy;
        s.machine.with_communication.of_other[limited_by] = s.machine.with_copy.of_other[limited_by] = 1000;
    }
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
    for (int i = at.occupants_of[v]; i < at.occupants_of[v + 1]; ++i)
        if (at.slot[i] / dv::stream_count == role) return i;
    return -1;
}

// The computation on the role of a task that fills the GPU at a time; -1: there is none.
int product_beside(const build& b, const pass::schedule& s, const pass::occupancy& at, int v, std::int64_t time) {
    for (int u = 0; u < b.costs.size(); ++u)
        if (s.stream[u] == 0 && b.costs[u].limited_by == dv::work_class::compute_bound && s.start[u] <= time && time < s.end[u] &&
            participation_on(at, u, at.slot[at.occupants_of[v]] / dv::stream_count) >= 0)
            return u;
    return -1;
}

// When each participation opens, from the ends of the tasks: behind the one before it on its stream and behind its edges.
dv::vec<std::int64_t> openings(const pass::schedule& s, const pass::occupancy& at, dv::span<const dv::ir::edge> edges,
                               std::int64_t latency) {
    dv::vec<std::int64_t> open(at.slot.size()), last(at.slots);
    const auto row = [&](int v, int i) { return at.slot[i] / dv::stream_count * dv::stream_count + s.stream[v]; };
    for (int v : s.order)
        for (int i = at.occupants_of[v]; i < at.occupants_of[v + 1]; ++i) {
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
    b.costs.back().by = dv::hardware::copy_engine;
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
    b.costs.back().by = dv::hardware::copy_engine;
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
        for (const dv::task_cost& c : b.costs) sum += c.time;
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
            for (int i = at.occupants_of[v]; i < at.occupants_of[v + 1]; ++i)
                if (open[i] > start) start = open[i];
            REQUIRE(s.start[v] == start);
            REQUIRE(s.end[v] == start + b.costs[v].time);
            if (s.end[v] > length) length = s.end[v];
        }
        CHECK(s.length == length);
    }
}

TEST_CASE("work that fills the GPU slows communication beside it, from where it starts to where it ends") {
    dv::plan_options s = with(0, 1000, 1000);
    s.machine.with_communication.of_other[0] = 2000;
    build b;
    const int x = b.compute(0, {}, 10);
    b.collect(0, x, 500);
    b.compute(0, {x}, 600);
    b.compute(0, {b.buffer(0)}, 100);
    // From 10 to 610 at half its pace, to 710 again, and the last 150 alone.
    CHECK(timeline(b, true, s).end[1] == 10 + 600 + 100 + 150);
    b.costs[2].limited_by = dv::work_class::memory_bound;
    CHECK(timeline(b, true, s).end[1] == 10 + 500);
    s.machine.with_communication.of_other[1] = 3000;
    CHECK(timeline(b, true, s).end[1] == 10 + 600 + 100 + 250);
    CHECK(timeline(b, true, s).end[3] == 710);
}

TEST_CASE("a slow-down of the task itself counts in place of that of its class") {
    dv::plan_options s = with(0, 1500, 1000);
    s.machine.with_communication.of_other[0] = 3000;
    build b = beside();
    b.costs[1].slowdown[0] = 1000;
    b.costs[2].slowdown[0] = 2000;
    // In 500 the computation does 250 of its work.
    CHECK(timeline(b, true, s).end[1] == 510);
    CHECK(timeline(b, true, s).end[2] == 510 + (1000 - 250));
    b.costs[1].slowdown[0] = 1250;
    b.costs[2].slowdown[0] = 1000;
    CHECK(timeline(b, true, s).end[1] == 10 + 625);
    CHECK(timeline(b, true, s).end[2] == 10 + 1000);
    // Beside a copy engine another one counts: in 500 the computation does 400 of its work.
    b.costs[1].by = dv::hardware::copy_engine;
    b.costs[1].slowdown[0] = 1000;
    b.costs[2].slowdown[0] = 2000;
    b.costs[2].slowdown[1] = 1250;
    CHECK(timeline(b, true, s).end[1] == 510);
    CHECK(timeline(b, true, s).end[2] == 510 + (1000 - 400));
}

TEST_CASE("what is measured beside copy engines counts once for all of them, and adds to what is measured beside kernels") {
    const dv::plan_options s = with(0, 1000, 1000);
    build b;
    const int x = b.compute(0, {}, 10);
    b.collect(0, x, 500);
    b.compute(0, {x}, 500);
    b.p.tasks.back().stream = dv::stream_kind::copy;
    b.costs[1].by = b.costs[2].by = dv::hardware::copy_engine;
    b.compute(0, {x}, 1000);
    b.costs[3].slowdown[0] = 2000;
    b.costs[3].slowdown[1] = 1250;
    CHECK(timeline(b, true, s).end[3] == 510 + (1000 - 400));
    b.costs[1].by = dv::hardware::multiprocessors;
    CHECK(timeline(b, true, s).end[3] == 510 + (1000 - 222));
}

TEST_CASE("the class of the work says how much what is beside it slows it") {
    dv::plan_options s = with(0, 1000, 1000);
    s.machine.with_communication.of_compute[0] = 1500;
    s.machine.with_communication.of_compute[1] = 1250;
    build b = beside();
    CHECK(timeline(b, true, s).end[2] == 10 + 500 + (1000 - 333));
    b.costs[2].limited_by = dv::work_class::memory_bound;
    CHECK(timeline(b, true, s).end[2] == 10 + 500 + (1000 - 400));
    b.costs[2].limited_by = dv::work_class::latency_bound;
    CHECK(timeline(b, true, s).end[2] == 10 + 1000);
}

TEST_CASE("copies between ranks on two streams have half of the link each, and slow what computes beside them once") {
    build b;
    const int x = b.buffer(0);
    b.collect(0, x, 300);
    b.collect(0, x, 100);
    b.compute(0, {}, 1000);
    b.p.tasks[1].stream = dv::stream_kind::copy;
    for (int v : {0, 1}) {
        b.p.tasks[v].moved_by = dv::transport::peer_copy;
        b.costs[v].by = dv::hardware::copy_engine;
    }
    const auto s = timeline(b, true, with(0, 1000, 1250));
    CHECK(s.end[1] == 200);
    CHECK(s.end[0] == 400);
    CHECK(s.end[2] == 1000 + 400 / 5);
    b.p.tasks[1].moved_by = dv::transport::nccl;  // to host memory, for example
    CHECK(timeline(b, true, with(0, 1000, 1250)).end[0] == 300);
}

TEST_CASE("a transfer takes the pace of the busier one of its ranks") {
    dv::plan_options s = with(0, 1000, 1000);
    s.machine.with_communication.of_other[0] = 1500;
    s.machine.with_communication.of_other[1] = 4000;
    build b{2};
    b.send(b.buffer(0), 1, 100);
    b.compute(0, {}, 90);
    b.compute(1, {}, 40);
    b.costs[2].limited_by = dv::work_class::memory_bound;
    // 10 of 100 in the first 40, 33 in the next 50, and the rest alone.
    CHECK(timeline(b, true, s).end[0] == 40 + 50 + (100 - 10 - 33));
}

namespace {

// What shares the GPUs with a task at a moment: whether kernels of communication and copy engines are beside it on its role, whether these
// take its link, and the classes of computations that run on its roles.
struct moment {
    bool communication = false, copy = false, link = false;
    bool computes[dv::work_class_count] = {};
    std::int64_t until;
};
moment moment_of(const build& b, const pass::schedule& s, const pass::occupancy& at, const dv::vec<std::int64_t>& open, int v,
                 std::int64_t t) {
    moment m;
    m.until = s.end[v];
    for (int i = at.occupants_of[v]; i < at.occupants_of[v + 1]; ++i)
        for (int u = 0; u < b.costs.size(); ++u) {
            const int there = u == v ? -1 : participation_on(at, u, at.slot[i] / dv::stream_count);
            if (there < 0) continue;
            const bool by_kernel = s.stream[u] != 0 && b.costs[u].by != dv::hardware::copy_engine;
            const std::int64_t from = by_kernel ? open[there] : s.start[u];
            if (from > t && from < m.until) m.until = from;
            if (s.end[u] > t && s.end[u] < m.until) m.until = s.end[u];
            if (from > t || t >= s.end[u]) continue;
            if (s.stream[u] == 0) m.computes[static_cast<int>(b.costs[u].limited_by)] = true;
            (by_kernel ? m.communication : m.copy) |= s.stream[u] != 0;
            m.link |= b.p.tasks[u].moved_by == dv::transport::peer_copy && b.p.tasks[v].moved_by == dv::transport::peer_copy;
        }
    return m;
}
int pace_at(const moment& m, const build& b, int stream, int v, const dv::machine_description& on) {
    const int limited_by = static_cast<int>(b.costs[v].limited_by);
    if (stream == 0)
        return 1000 + (m.communication ? on.with_communication.of_compute[limited_by] - 1000 : 0) +
               (m.copy ? on.with_copy.of_compute[limited_by] - 1000 : 0);
    int pace = 1000;
    for (int k = 0; k < dv::work_class_count; ++k)
        if (m.computes[k])
            pace = std::max(pace, (b.costs[v].by == dv::hardware::copy_engine ? on.with_copy : on.with_communication).of_other[k]);
    return m.link ? 2 * pace : pace;
}

}  // namespace

TEST_CASE("a sum of copied blocks waits for the product that runs, and comes before the next one") {
    dv::plan_options s = with(0, 1500, 1000);
    build b;
    const int x = b.compute(0, {}, 10);
    b.collect(0, b.compute(0, {x}, 100), 40);
    b.p.tasks.back().kind = dv::op_kind::local_reduce;
    b.collect(0, x, 20);
    b.p.tasks.back().kind = dv::op_kind::local_reduce;
    b.p.tasks.back().stream = dv::stream_kind::copy;
    b.compute(0, {x}, 300);
    auto t = timeline(b, true, s);
    CHECK(t.start[3] == 110);  // ready at 10, beside the product from 10 to 110
    CHECK(t.end[3] == 130);
    CHECK(t.start[4] == 110);
    CHECK(t.end[4] == 110 + 20 + (300 - 13));  // in 20 it does 13 of its work
    CHECK(t.start[2] == t.end[4]);             // ready at 110, behind the next product
    b.costs[1].limited_by = dv::work_class::memory_bound;
    CHECK(timeline(b, true, s).start[3] == 10);
    b.costs[1].limited_by = dv::work_class::compute_bound;
    b.costs[3].slowdown[0] = 3000;  // measured beside products: with the time that it waited
    CHECK(timeline(b, true, s).start[3] == 10);
    CHECK(timeline(b, true, s).end[3] == 70);
}

TEST_CASE("with interference every task gets the work it needs, at the pace of its moments") {
    dv::plan_options set = with(500, 1000, 1000);
    set.machine.with_communication = {.of_compute = {1300, 1040, 1000}, .of_other = {1500, 3000, 1000}};
    set.machine.with_copy = {.of_compute = {1100, 1020, 1000}, .of_other = {1200, 1700, 1050}};
    int sums_that_wait = 0;
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        build b = support::random_program(seed, 1 + static_cast<int>(seed % 5), 5 + static_cast<int>(seed % 120), seed % 3 == 0);
        for (int v = 0; v < b.costs.size(); ++v) {
            b.costs[v].time *= 1000;
            b.costs[v].limited_by = static_cast<dv::work_class>((seed + static_cast<std::uint32_t>(v) * 7) % dv::work_class_count);
        }
        for (int v = 0; v < b.costs.size(); ++v) {
            auto& x = b.p.tasks[v];
            if (x.kind != dv::op_kind::all_reduce || x.participations != 1) continue;
            if (x.first_participation % 8 == 1) x.kind = dv::op_kind::local_reduce;
            if (x.first_participation % 4 == 1) continue;
            if (x.first_participation % 2 == 0) x.stream = dv::stream_kind::copy;
            b.costs[v].by = dv::hardware::copy_engine;
            if (x.first_participation % 3 != 0) x.moved_by = dv::transport::peer_copy;
        }
        const auto edges = pass::edges(b.view());
        const auto s = timeline(b, true, set);
        REQUIRE(s.length >= 0);
        const auto at = pass::occupancy_of(b.view(), edges.view());
        auto open = openings(s, at, edges.view(), 500);
        for (int v = 0; v < b.costs.size(); ++v)
            if (b.p.tasks[v].kind == dv::op_kind::local_reduce) {
                std::int64_t& ready = open[at.occupants_of[v]];
                const int product = product_beside(b, s, at, v, ready);
                // Where both become ready at the same time, either may come first.
                if (product < 0 || (s.start[product] == ready && s.start[v] == ready)) continue;
                ready = s.end[product];
                ++sums_that_wait;
            }
        for (int v = 0; v < b.costs.size(); ++v) {
            std::int64_t latest = 0;
            for (int i = at.occupants_of[v]; i < at.occupants_of[v + 1]; ++i)
                if (open[i] > latest) latest = open[i];
            REQUIRE(s.start[v] == latest);
            double work = 0;
            int changes = 0;
            for (std::int64_t t = s.start[v]; t < s.end[v]; ++changes) {
                const moment m = moment_of(b, s, at, open, v, t);
                work += static_cast<double>(m.until - t) * 1000 / pace_at(m, b, s.stream[v], v, set.machine);
                t = m.until;
            }
            REQUIRE(work >= static_cast<double>(b.costs[v].time) - 1);
            REQUIRE(work <= static_cast<double>(b.costs[v].time) + 2 * changes + 1);
        }
    }
    CHECK(sums_that_wait > 50);
}
