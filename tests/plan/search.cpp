// The search over candidates, step by step: its requests and its choice.
#include <dovetail/plan/search.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace dv = dovetail;
namespace plan = dovetail::plan;

namespace {

using kind = plan::request::kind;

bool asks(const plan::findings& f, const dv::plan_options& s, kind what, dv::candidate of, int operations = 10) {
    const plan::request next = plan::next_request(f, s, operations);
    return next.what == what && next.of == of;
}

// A gain of one picosecond counts.
dv::plan_options exact() {
    dv::plan_options s;
    s.machine.edge_latency = 0;
    return s;
}

plan::findings lengths(std::int64_t sequential, std::int64_t written, std::int64_t listed, std::int64_t johnson) {
    plan::findings f;
    f.length_of(dv::candidate::sequential) = sequential;
    f.length_of(dv::candidate::written) = written;
    f.length_of(dv::candidate::listed) = listed;
    f.length_of(dv::candidate::johnson) = johnson;
    for (int c = 1; c < plan::compared; ++c) f.slowed[c] = f.length[c];
    return f;
}

}  // namespace

TEST_CASE("the search asks for the times that it compares, one after the other, and takes the shortest") {
    plan::findings f;
    const dv::plan_options s = exact();
    CHECK(asks(f, s, kind::time, dv::candidate::sequential));
    f.length_of(dv::candidate::sequential) = 100;
    CHECK(asks(f, s, kind::time, dv::candidate::written));
    f.length_of(dv::candidate::written) = 80;
    CHECK(asks(f, s, kind::time, dv::candidate::listed));
    f.length_of(dv::candidate::listed) = 80;
    CHECK(asks(f, s, kind::time, dv::candidate::johnson));
    CHECK(asks(f, s, kind::time, dv::candidate::johnson, plan::most_tried_by_johnson));
    CHECK(asks(f, s, kind::taken, dv::candidate::written, plan::most_tried_by_johnson + 1));
    f.length_of(dv::candidate::johnson) = 80;
    CHECK(asks(f, s, kind::slowed, dv::candidate::written));
    CHECK(asks(lengths(100, 80, 80, 80), s, kind::taken, dv::candidate::written));
    CHECK(asks(lengths(100, 80, 79, 80), s, kind::taken, dv::candidate::listed));
    CHECK(asks(lengths(100, 80, 79, 78), s, kind::taken, dv::candidate::johnson));
    CHECK(asks(lengths(100, 80, 79, 79), s, kind::taken, dv::candidate::listed));
    CHECK(asks(lengths(100, 100, 120, 110), s, kind::taken, dv::candidate::sequential));
    CHECK(asks(lengths(100, -1, -1, -1), s, kind::taken, dv::candidate::sequential));  // orders that are none
    dv::plan_options slow_edges = s;
    slow_edges.machine.edge_latency = 20;
    CHECK(asks(lengths(100, 80, 79, 80), slow_edges, kind::taken, dv::candidate::listed));
    slow_edges.machine.edge_latency = 21;
    CHECK(asks(lengths(100, 80, 79, 80), slow_edges, kind::taken, dv::candidate::sequential));
}

TEST_CASE("of candidates that are about as fast, the one is taken that is the fastest with slow communication") {
    const dv::plan_options s = exact();
    using c = dv::candidate;
    plan::findings f = lengths(20000, 6500, 6400, 6490);
    for (std::int64_t& time : f.slowed) time = plan::not_tried;
    CHECK(asks(f, s, kind::slowed, c::listed));  // the fastest first
    f.slowed_of(c::listed) = 9000;
    CHECK(asks(f, s, kind::slowed, c::johnson));
    f.slowed_of(c::johnson) = 8000;
    CHECK(asks(f, s, kind::slowed, c::written));
    f.slowed_of(c::written) = 7000;
    CHECK(asks(f, s, kind::taken, c::written));
    f.length_of(c::written) = 6501;  // by more than a part in 64 slower
    CHECK(asks(f, s, kind::taken, c::johnson));
    f.length_of(c::written) = 6500;
    CHECK(asks(f, s, kind::taken, c::written, plan::most_tried_by_johnson));
    f.slowed_of(c::written) = f.slowed_of(c::listed) = f.slowed_of(c::johnson) = 9000;
    CHECK(asks(f, s, kind::taken, c::listed));
    for (std::int64_t& time : f.slowed) time = plan::not_tried;
    CHECK(asks(f, s, kind::taken, c::listed, plan::most_tried_by_johnson + 1));
    dv::plan_options of_runs = s;
    of_runs.objective = dv::objective_kind::interval;
    CHECK(asks(f, of_runs, kind::taken, c::listed));
}

TEST_CASE("without overlap the time of one candidate is asked for, for the search over rewrites") {
    dv::plan_options s = exact();
    s.overlap = false;
    plan::findings f;
    CHECK(asks(f, s, kind::time, dv::candidate::sequential));
    f.length_of(dv::candidate::sequential) = 100;
    CHECK(asks(f, s, kind::taken, dv::candidate::sequential));
}

TEST_CASE("a forced candidate is taken, whatever the other options say; its time and bytes are known then") {
    for (int c = 0; c < dv::candidates; ++c) {
        dv::plan_options s = exact();
        s.forced = static_cast<dv::candidate>(c);
        s.overlap = c % 2 == 0;
        plan::findings f;
        CHECK(asks(f, s, kind::time, s.forced));
        f.length_of(s.forced) = 100;
        CHECK(asks(f, s, kind::taken, s.forced));
        s.memory_limit = 1;
        CHECK(asks(f, s, kind::bytes, s.forced));
        f.bytes_of(s.forced) = 2;
        CHECK(asks(f, s, kind::taken, s.forced));
    }
}

TEST_CASE("under a memory limit overlapped plans are made, the fastest first; if that fits, it is taken") {
    dv::plan_options s = exact();
    s.memory_limit = 1000;
    plan::findings f = lengths(100, 90, 80, 85);
    CHECK(asks(f, s, kind::bytes, dv::candidate::listed));
    f.bytes_of(dv::candidate::listed) = 1000;
    CHECK(asks(f, s, kind::taken, dv::candidate::listed));
    f.bytes_of(dv::candidate::listed) = 3000;
    CHECK(asks(f, s, kind::bytes, dv::candidate::johnson));
    f.bytes_of(dv::candidate::johnson) = 3000;
    CHECK(asks(f, s, kind::bytes, dv::candidate::written));
}

TEST_CASE("if it does not fit, the others are planned; budgets from the smallest on, until two in a row do not fit or one is as fast") {
    dv::plan_options s = exact();
    s.memory_limit = 1000;
    plan::findings f = lengths(100, 90, 80, 85);
    using c = dv::candidate;
    const auto planned = [&](c of, std::int64_t bytes, std::int64_t length) {
        CHECK(asks(f, s, kind::bytes, of));
        f.bytes_of(of) = bytes;
        f.length_of(of) = length;
    };
    planned(c::listed, 3000, 80);
    planned(c::johnson, 900, 85);
    planned(c::written, 1100, 90);
    planned(c::booked_100, 800, 95);
    planned(c::booked_112, 1100, 90);
    planned(c::booked_125, 1000, 82);
    plan::findings fast = f;
    fast.length_of(c::booked_125) = 80;
    CHECK(asks(fast, s, kind::bytes, c::sequential));
    planned(c::booked_150, 1200, 81);
    planned(c::booked_175, 1300, 80);
    planned(c::sequential, 700, 100);
    planned(c::min_memory, 600, 100);
    planned(c::listed_serial, 2000, 70);
    CHECK(asks(f, s, kind::taken, c::booked_125));
    f.length_of(c::johnson) = 81;
    CHECK(asks(f, s, kind::taken, c::johnson));
    f.length_of(c::min_memory) = 79;
    CHECK(asks(f, s, kind::taken, c::min_memory));
    s.memory_limit = 599;
    CHECK(plan::best_within(f, s) == c::min_memory);  // none fits: the error says that it needs 600
}

TEST_CASE("where no overlapped plan gains, one stream is planned in other orders if the written one does not fit") {
    dv::plan_options s = exact();
    s.memory_limit = 1000;
    plan::findings f = lengths(100, 100, 110, 100);
    using c = dv::candidate;
    CHECK(asks(f, s, kind::bytes, c::sequential));
    f.bytes_of(c::sequential) = 1000;
    CHECK(asks(f, s, kind::taken, c::sequential));
    f.bytes_of(c::sequential) = 1200;
    for (const c next : {c::min_memory, c::listed_serial}) {
        CHECK(asks(f, s, kind::bytes, next));
        f.bytes_of(next) = next == c::min_memory ? 950 : 1200;
        f.length_of(next) = 100;
    }
    CHECK(asks(f, s, kind::taken, c::min_memory));
}

TEST_CASE("a graph of many operations is booked with fewer budgets, and one of more with none") {
    dv::plan_options s = exact();
    s.memory_limit = 1000;
    using c = dv::candidate;
    const auto budgets = [&](int operations) {
        plan::findings f = lengths(100, 90, 80, 85);
        for (const c one : {c::johnson, c::written, c::sequential, c::min_memory, c::listed_serial}) f.bytes_of(one) = 1000;
        f.bytes_of(c::listed) = 3000;
        std::vector<c> asked;
        for (;;) {
            const plan::request next = plan::next_request(f, s, operations);
            if (next.what == kind::taken) return asked;
            asked.push_back(next.of);
            f.bytes_of(next.of) = 1000;
            f.length_of(next.of) = 99;
        }
    };
    CHECK(budgets(plan::most_booked_finely).size() == 11);
    CHECK(budgets(plan::most_booked_finely + 1) ==
          std::vector{c::booked_100, c::booked_112, c::booked_150, c::booked_200, c::booked_300, c::booked_400, c::booked_800});
    CHECK(budgets(plan::most_booked + 1).empty());
}

TEST_CASE("a plan tells what is predicted of each candidate, and of which nothing is") {
    plan::plan made;
    made.overlapped = true;
    made.predicted = 70;
    made.predicted_sequential = 100;
    plan::findings f;
    f.length_of(dv::candidate::written) = 80;
    f.slowed_of(dv::candidate::written) = 95;
    const plan::choice told = plan::choice_of(f, dv::candidate::booked_125, made, dv::objective_kind::makespan);
    CHECK(told.taken == dv::candidate::booked_125);
    const std::int64_t expected[] = {100, 80, -1, -1, -1, -1, 70, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    for (int c = 0; c < dv::candidates; ++c) {
        CHECK(told.predicted[c] == expected[c]);
        CHECK(told.slowed[c] == (c == static_cast<int>(dv::candidate::written) ? 95 : -1));
    }
    // Of another objective it is what was compared, and not the time of a run.
    f.length_of(dv::candidate::booked_125) = 20;
    const plan::choice other = plan::choice_of(f, dv::candidate::booked_125, made, dv::objective_kind::finish);
    CHECK(other.predicted[static_cast<int>(dv::candidate::sequential)] == -1);
    CHECK(other.predicted[static_cast<int>(dv::candidate::booked_125)] == 20);
}
