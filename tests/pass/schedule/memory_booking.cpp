// List scheduling within a budget, on random programs: the order keeps every edge, no moment has more live bytes than the budget, and a
// larger budget is used.
#include "support/booked_streams.hpp"

#include <doctest/doctest.h>

using namespace support;

namespace {

// When each buffer that can share bytes is alive under a booking: from the start of the first task that accesses it to the last end.
struct lifetime {
    std::int64_t begin = INT64_MAX, end = 0;
};
std::vector<lifetime> lifetimes_by_time(const dv::ir::program& p, const dv::pass::detail::held_bytes& h,
                                        const dv::pass::basic_booking<dv::ir::program>& booking) {
    std::vector<lifetime> all(static_cast<std::size_t>(p.buffers.size()));
    for (int v = 0; v < p.tasks.size(); ++v)
        for (int i = h.first[v]; i < h.first[v + 1]; ++i) {
            lifetime& x = all[static_cast<std::size_t>(h.buffer[i])];
            x.begin = std::min(x.begin, booking.start[v]);
            x.end = h.output[h.buffer[i]] ? INT64_MAX : std::max(x.end, booking.end[v]);
        }
    return all;
}

// The largest number of bytes of a role that are alive at one moment.
std::int64_t peak_by_time(const dv::ir::program& p, const dv::pass::detail::held_bytes& h,
                          const dv::pass::basic_booking<dv::ir::program>& booking) {
    const std::vector<lifetime> lives = lifetimes_by_time(p, h, booking);
    std::int64_t most = 0;
    for (int role = 0; role < p.roles; ++role)
        for (int v = 0; v < p.tasks.size(); ++v) {
            std::int64_t now = h.always[role];
            for (int b = 0; b < p.buffers.size(); ++b) {
                const lifetime& x = lives[static_cast<std::size_t>(b)];
                if (p.buffers[b].role == role && x.begin <= booking.start[v] && booking.start[v] < x.end) now += h.bytes[b];
            }
            most = std::max(most, now);
        }
    return most;
}

// The same where the tasks of an order are executed one after the other.
std::int64_t peak_in_turn(const dv::ir::program& p, const dv::pass::detail::held_bytes& h, const dv::vec<int>& order) {
    dv::pass::basic_booking<dv::ir::program> in_turn;
    in_turn.start = dv::vec<std::int64_t>(order.size());
    in_turn.end = dv::vec<std::int64_t>(order.size());
    for (int k = 0; k < order.size(); ++k) {
        in_turn.start[order[k]] = k;
        in_turn.end[order[k]] = k + 1;
    }
    return peak_by_time(p, h, in_turn);
}

dv::ir::program_data drawn(unsigned seed) {
    program_knobs k;
    k.tasks = 10 + static_cast<int>(seed % 40);
    k.roles = 1 + static_cast<int>(seed % 3);
    k.slots = 1 + static_cast<int>(seed / 3 % 2);
    return random_program(seed, k);
}

std::int64_t length_of(const booked& b) {
    std::int64_t end = 0;
    for (const std::int64_t e : b.booking.end) end = std::max(end, e);
    return end;
}

}  // namespace

TEST_CASE("a booked order keeps every edge, and its live bytes the budget") {
    int at_budget = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        const int percent = budgets[seed % 8];
        CAPTURE(seed);
        const booked b = book_streams(seed, drawn(seed), percent);
        const dv::ir::program p = b.plan.program();
        std::vector<int> place(static_cast<std::size_t>(p.tasks.size()), -1);
        for (int k = 0; k < b.booking.order.size(); ++k) place[static_cast<std::size_t>(b.booking.order[k])] = k;
        CHECK(std::count(place.begin(), place.end(), -1) == 0);
        for (const dv::ir::edge& e : b.plan.edges) {
            CHECK(place[static_cast<std::size_t>(e.from)] < place[static_cast<std::size_t>(e.to)]);
            CHECK(b.booking.end[e.from] <= b.booking.start[e.to]);
        }
        for (int v = 0; v < p.tasks.size(); ++v) CHECK(b.booking.end[v] - b.booking.start[v] == b.costs[v].time);

        const dv::pass::detail::held_bytes h = dv::pass::detail::held_by_tasks(p);
        const std::int64_t reference = peak_in_turn(p, h, b.reference);
        const std::int64_t peak = peak_by_time(p, h, b.booking);
        CHECK(peak <= reference / 100 * percent + reference % 100 * percent / 100);
        at_budget += percent == 100 && peak == reference ? 1 : 0;
    }
    CHECK(at_budget > 10);
}

TEST_CASE("the reference order needs no more than the written one or that of little memory") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const booked b = book_streams(seed, drawn(seed), 100);
        const dv::ir::program p = b.plan.program();
        const dv::pass::detail::held_bytes h = dv::pass::detail::held_by_tasks(p);
        const std::int64_t peak = peak_in_turn(p, h, b.reference);
        const auto written = dv::pass::written_order<dv::vec<int>>(p.tasks.size(), b.plan.edges.view());
        CHECK(peak <= peak_in_turn(p, h, written));
        CHECK(peak <= peak_in_turn(p, h, dv::pass::min_memory_order(p, b.plan.edges.view())));
        const auto occupancy = dv::pass::occupancy_of(p, b.plan.edges.view());
        CHECK(peak == dv::pass::detail::peak_of(p, occupancy, b.reference.view()));
    }
}

TEST_CASE("a larger budget mostly makes a shorter schedule, and three times the peak mostly the shortest") {
    double with_100 = 0, with_150 = 0, with_300 = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        with_100 += static_cast<double>(length_of(book_streams(seed, drawn(seed), 100)));
        with_150 += static_cast<double>(length_of(book_streams(seed, drawn(seed), 150)));
        with_300 += static_cast<double>(length_of(book_streams(seed, drawn(seed), 300)));
    }
    MESSAGE("lengths of 100 schedules: 100 % " << with_100 << ", 150 % " << with_150 << ", 300 % " << with_300);
    CHECK(with_150 < with_100);
    CHECK(with_300 < with_150);
}

// Loads that are used by computation: a budget of one load at a time, two, three.
TEST_CASE("loads are issued ahead of the computation as far as the budget allows") {
    program_builder b;
    const std::int64_t size = 1 << 20;
    for (int i = 0; i < 6; ++i) {
        const int loaded = b.buffer(0, size), made = b.buffer(0, 256);
        b.compute(0, {}, {loaded}, {}, dv::stream_kind::copy);
        b.compute(0, {loaded}, {made});
    }
    const dv::ir::program p = dv::ir::view(b.data);
    const auto conflicts = all_conflicts(p);
    const dv::span<const dv::ir::edge> edges = conflicts.view();
    const auto occupancy = dv::pass::occupancy_of(p, edges);
    const auto reference = dv::pass::reference_order(p, occupancy, edges);
    dv::plan_options s;
    s.machine.edge_latency = 0;
    dv::vec<dv::task_cost> costs;
    for (int v = 0; v < p.tasks.size(); ++v) costs.push({10});
    const auto length = [&](int percent) {
        const auto booked = dv::pass::booked_order(p, occupancy, edges, costs, reference.view(), percent, s);
        std::int64_t end = 0;
        for (const std::int64_t e : booked.end) end = std::max(end, e);
        return end;
    };
    CHECK(length(100) == 120);  // each load waits for the use of the one before
    CHECK(length(200) == 70);   // and hides behind it
    CHECK(length(300) == 70);
}
