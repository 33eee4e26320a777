// The overlap report on timelines made by hand, whose figures can be checked on paper; and the text of a plan.
#include <doctest/doctest.h>

#include <dovetail/observe/html.hpp>
#include <dovetail/observe/measured.hpp>
#include <dovetail/observe/report.hpp>

#include "../support/samples.hpp"
#include "../support/three_senders.hpp"

#include <sstream>

namespace {

using namespace samples;
namespace observe = dv::observe;

constexpr std::int64_t us = 1'000'000;

// Two products, of which one depends on what is sent.
struct two_sums : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::let<a, all_reduce<sum, dp>(x)>,
    dv::let<b, add(x, x)>,
    dv::let<c, add(a, b)>,
    dv::output<c>> {};

struct columns;
struct rows_and_columns : dv::graph<dv::mesh<dv::axis<dp, 4>, dv::axis<columns, 2>>, dv::input<x, vector>,
                                    dv::let<a, all_reduce<sum, columns>(x)>, dv::let<b, all_reduce<sum, dp>(a)>, dv::output<b>> {};

int task_of(const observe::plan_view& of, const std::string& label) {
    for (int v = 0; v < of.program.tasks.size(); ++v)
        if (of.label(v) == label) return v;
    return -1;
}

observe::slice& slice_of(const observe::plan_view& of, observe::row& r, const std::string& label) {
    for (observe::slice& s : r.slices)
        if (of.label(s.task) == label) return s;
    FAIL("no such slice");
    return r.slices[0];
}

}  // namespace

TEST_CASE("three definitions of hidden, and what could have covered the rest") {
    const observe::plan_view of{observe::tables_of<two_sums, overlapped>()};
    REQUIRE(of.plan.overlapped);
    observe::timeline before = observe::sequential(of), t = observe::predicted(of);
    observe::row& was = before.rows[0];
    slice_of(of, was, "all_reduce a").start = 0;
    slice_of(of, was, "all_reduce a").end = 10 * us;
    slice_of(of, was, "add b").start = 10 * us;
    slice_of(of, was, "add b").end = 14 * us;
    slice_of(of, was, "add c").start = 14 * us;
    slice_of(of, was, "add c").end = 20 * us;
    before.length = 20 * us;
    observe::row& now = t.rows[0];
    slice_of(of, now, "all_reduce a").start = 0;
    slice_of(of, now, "all_reduce a").end = 11 * us;
    slice_of(of, now, "add b").start = 1 * us;
    slice_of(of, now, "add b").end = 5 * us;
    slice_of(of, now, "add c").start = 11 * us;
    slice_of(of, now, "add c").end = 17 * us;
    t.length = 17 * us;

    const auto report = observe::overlap(of, t, before);
    const observe::rank_overlap& x = report.ranks[0];
    CHECK(x.compute == 10 * us);
    CHECK(x.communication == 11 * us);
    CHECK(x.both == 4 * us);
    CHECK(x.exposed == 7 * us);
    CHECK(x.moving == 11 * us);
    CHECK(x.exposed_moving == 7 * us);
    CHECK(x.by_intersection() == doctest::Approx(4.0 / 11));
    CHECK(x.by_exposed() == doctest::Approx(1 - 7.0 / 10));
    CHECK(x.by_gain() == doctest::Approx(3.0 / 10));
    CHECK(x.speed_up() == doctest::Approx(20.0 / 17));
    CHECK(x.bound() == doctest::Approx(2.0));
    REQUIRE(x.exposures.size() == 1);
    CHECK(x.exposures[0].time == 7 * us);
    REQUIRE(x.exposures[0].candidates.size() == 1);
    CHECK(of.label(x.exposures[0].candidates[0].task) == "add c");
    CHECK(x.exposures[0].candidates[0].why == observe::obstacle::dependency);

    CHECK(observe::report_text(of, report).find("1 (6.000) dependency") != std::string::npos);

    // Behind the reduction instead of beside it: nothing forbade it.
    slice_of(of, now, "add b").start = 11 * us;
    slice_of(of, now, "add b").end = 12 * us;
    slice_of(of, now, "add c").start = 12 * us;
    const auto worse = observe::overlap(of, t, before);
    CHECK(worse.total.both == 0);
    CHECK(worse.ranks[0].exposures[0].count[static_cast<int>(observe::obstacle::interference)] == 1);
    CHECK(observe::report_text(of, worse).find("add b 1.000: interference") != std::string::npos);
}

TEST_CASE("a communication waits for the ranks of its own communicator only") {
    const observe::plan_view of{observe::tables_of<rows_and_columns, overlapped>()};
    const dv::geometry where{of.graph, 8, {}};
    observe::measured_run run;
    for (int rank = 0; rank < 8; ++rank) {
        run.ranks.push_back({rank, 0});
        for (const dv::ir::step& s : of.steps(0)) {
            const bool late = rank >= 6 && of.label(s.task) == "all_reduce a";
            const std::int64_t start = of.label(s.task) == "all_reduce b" ? 20'000 : late ? 8'000 : 0;
            run.ranks.back().times.push_back({start, start + 10'000});
        }
    }
    const observe::timeline t = observe::measured(of, run, &where);
    const auto arrived = observe::detail::arrivals(of, t);
    for (std::size_t rank = 0; rank < 8; ++rank)
        for (std::size_t i = 0; i < t.rows[rank].slices.size(); ++i) CHECK(arrived[rank][i] == t.rows[rank].slices[i].start);
    for (const observe::rank_overlap& x : observe::overlap(of, t, observe::sequential(of)).ranks) CHECK(x.waiting == 0);
}

TEST_CASE("why a computation did not run beside an exposed communication") {
    // On the receiver three values come one after the other; each product belongs to one of them.
    const observe::plan_view of{observe::tables_of<senders::three_senders>()};
    const auto report = observe::overlap(of, observe::predicted(of), observe::sequential(of));
    const auto& receiver = report.ranks.back();
    const auto why = [&](const std::string& communication, const std::string& computation) -> int {
        for (const observe::exposure& e : receiver.exposures)
            for (const observe::cover& c : e.candidates)
                if (of.label(e.task) == communication && of.label(c.task) == computation) return static_cast<int>(c.why);
        return -1;
    };
    const auto place = [&](const std::string& name) {
        for (int b = 0; b < of.program.buffers.size(); ++b)
            if (of.buffer_name(b) == name && of.role_name(of.program.buffers[b].role) == "receiver") return of.plan.placements[b].offset;
        return std::int64_t{-1};
    };
    CHECK(why("peer_copy block<0>", "matmul product<0>") == static_cast<int>(observe::obstacle::dependency));
    CHECK(place("product<1>") == place("block<0>"));
    CHECK(why("peer_copy block<0>", "matmul product<1>") == static_cast<int>(observe::obstacle::memory));
    CHECK(why("peer_copy block<0>", "matmul product<2>") == static_cast<int>(observe::obstacle::queue));
}

TEST_CASE("the critical path is a chain without gaps but latencies, to the end of the run") {
    const auto check = [](const observe::plan_view& of) {
        observe::timeline t = observe::predicted(of);
        const auto path = observe::mark_critical(of, t);
        REQUIRE(!path.empty());
        std::int64_t end = 0;
        for (const observe::place& p : path) {
            const observe::slice& s = t.rows[static_cast<std::size_t>(p.row)].slices[static_cast<std::size_t>(p.slice)];
            CHECK(s.critical);
            CHECK(s.start >= end);
            CHECK(s.start - end <= of.s.machine.edge_latency);
            end = s.end;
        }
        CHECK(end == of.plan.predicted);
    };
    check(observe::plan_view{observe::tables_of<there_and_back, overlapped>()});
    check(observe::plan_view{observe::tables_of<overlapping_collectives, overlapped>()});
    check(observe::plan_view{observe::tables_of<overlapping_collectives, sequential>()});
    check(observe::plan_view{observe::tables_of<two_sums, overlapped>()});
}

TEST_CASE("the text says what the facts say") {
    std::ostringstream text;
    dv::explain<two_sums, overlapped>(text);
    CHECK(text.str().find(observe::microseconds(dv::predicted_time<two_sums, overlapped>) + " us") != std::string::npos);
    CHECK(text.str().find(observe::with_separators(dv::peak_bytes<two_sums, dv::unnamed_role, overlapped>)) != std::string::npos);
    const observe::plan_view of{observe::tables_of<two_sums, overlapped>()};
    CHECK(of.wait_count(0) == dv::wait_count<two_sums, dv::unnamed_role, overlapped>);
    const std::string line = observe::compact(of);
    CHECK(line.find("comm all_reduce a") != std::string::npos);
    CHECK(task_of(of, "add c") >= 0);
}

TEST_CASE("a page is one file: no address, no script from elsewhere") {
    const observe::plan_view of{observe::tables_of<there_and_back, overlapped>()};
    observe::measured_run run{7, {}};
    for (int role = 0; role < of.roles(); ++role) {
        run.ranks.push_back({role, role, {}});
        for (const dv::ir::step& s : of.steps(role)) run.ranks.back().times.push_back({s.start / 1000, s.end / 1000});
    }
    const std::string page = observe::html(of, {observe::measured(of, run)});
    CHECK(page.find("http") == std::string::npos);
    CHECK(page.find("src=") == std::string::npos);
    CHECK(page.find("run 7, measured") != std::string::npos);
    CHECK(page.find("prefers-color-scheme") != std::string::npos);
}

TEST_CASE("waiting is not known where a rank that communicates is in another process") {
    const observe::plan_view of{observe::tables_of<two_sums, overlapped>()};
    const dv::geometry where{of.graph, 2, {}};
    const auto reported = [&](int ranks) {
        observe::measured_run run{0, {}};
        for (int rank = 0; rank < ranks; ++rank) {
            run.ranks.push_back({rank, 0});
            for (int i = 0; i < of.steps(0).size(); ++i) run.ranks.back().times.push_back({1000 * i, 1000 * i + 1000});
        }
        const observe::timeline t = observe::measured(of, run, &where);
        return observe::report_text(of, observe::overlap(of, t, observe::sequential(of)));
    };
    const auto words_of = [](const std::string& text) {  // of the line of the first rank
        std::istringstream line{text.substr(text.find("\n  rank 0") + 1)};
        std::vector<std::string> words;
        std::string word;
        std::getline(line, word);
        for (std::istringstream in{word}; in >> word;) words.push_back(word);
        return words;
    };
    const std::string note = "waiting and 2 are not known: other ranks are in other processes\n", one = reported(1), both = reported(2);
    CAPTURE(one);
    CAPTURE(both);
    CHECK(one.find(note) != std::string::npos);
    CHECK(both.find(note) == std::string::npos);
    const auto dashes = [&](const std::string& text) {
        const auto words = words_of(text);
        return std::count(words.begin(), words.end(), "-");
    };
    CHECK(dashes(one) == 2);
    CHECK(dashes(both) == 0);
}
