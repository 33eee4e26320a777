// Recorded runs on a simulated GPU: on streams and replayed, one at a time and several in flight, each run has its own times on a common
// clock of all ranks; and the clock that ranks of several processes agree on.
#include <doctest/doctest.h>

#include <dovetail/launch/cuda/progress/step_clock.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/world/local_peers.hpp>
#include <dovetail/observe/measured.hpp>

#include "../support/samples.hpp"
#include "../support/simulated_cuda.hpp"

namespace {

namespace dv = dovetail;
namespace observe = dv::observe;
using dv::step_time;

struct times_of_runs {
    std::vector<std::vector<step_time>> runs;
    std::int64_t clock_error_ns = 0;
};

template <class G, class O>
std::vector<times_of_runs> play(int ranks, int runs, bool wait, dv::replay_mode how) {
    std::vector<times_of_runs> all(static_cast<std::size_t>(ranks));
    simulated::run(ranks, [&](auto& rank) {
        dv::executor<G, O> step{rank, how};
        step.bind(dv::name<samples::x>, std::vector<float>(8, 1.0f));
        step.run().wait();
        step.record_times(true);
        std::vector<dv::ticket<G>> tickets;
        for (int i = 0; i < runs; ++i) {
            tickets.push_back(step.run());
            if (wait) tickets.back().wait();
        }
        step.record_times(false);
        CHECK(step.run().times().empty());
        for (const auto& t : tickets) all[static_cast<std::size_t>(rank.index())].runs.push_back(t.times());
        all[static_cast<std::size_t>(rank.index())].clock_error_ns = step.at().clock_error_ns();
        CHECK(step.at().clock_error_ns() > 0);
    });
    return all;
}

}  // namespace

TEST_CASE("every recorded run has its own times, and no receive ends before its send has started") {
    const simulated::scope simulation;
    const observe::plan_view of{observe::tables_of<samples::there_and_back, samples::several>()};
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        for (const bool wait : {true, false}) {
            CAPTURE(static_cast<int>(how));
            CAPTURE(wait);
            constexpr int runs = 7;
            const auto all = play<samples::there_and_back, samples::several>(3, runs, wait, how);
            for (std::size_t role = 0; role < all.size(); ++role) {
                REQUIRE(all[role].runs.size() == runs);
                for (std::size_t k = 0; k < all[role].runs.size(); ++k) {
                    REQUIRE(static_cast<int>(all[role].runs[k].size()) == of.steps(static_cast<int>(role)).size());
                    for (const step_time& t : all[role].runs[k]) {
                        CHECK(t.start_ns > 0);
                        CHECK(t.end_ns >= t.start_ns);
                    }
                    // Each run behind the one before, as far as the anchors of both are exact.
                    if (k > 0) CHECK(all[role].runs[k][0].start_ns > all[role].runs[k - 1][0].start_ns - 2 * all[role].clock_error_ns);
                }
            }
            for (int k = 0; k < runs; ++k) {
                observe::measured_run run{k, {}};
                for (int r = 0; r < 3; ++r) {
                    const times_of_runs& of_rank = all[static_cast<std::size_t>(r)];
                    run.ranks.push_back({r, r, of_rank.runs[static_cast<std::size_t>(k)], of_rank.clock_error_ns});
                }
                const observe::timeline t = observe::measured(of, run);
                for (std::size_t a = 0; a < t.rows.size(); ++a)
                    for (std::size_t i = 0; i < t.rows[a].slices.size(); ++i) {
                        const auto& sent = t.rows[a].slices[i];
                        const dv::ir::step& step = of.steps(t.rows[a].role)[static_cast<int>(i)];
                        if (of.program.tasks[sent.task].kind != dv::op_kind::transfer ||
                            of.program.participations[step.first_participation].group_index != 0)
                            continue;
                        for (std::size_t b = 0; b < t.rows.size(); ++b) {
                            const int j = observe::places(of, t.rows[b])[static_cast<std::size_t>(sent.task)];
                            const std::int64_t error = t.rows[a].clock_error + t.rows[b].clock_error;
                            if (b != a && j >= 0) CHECK(t.rows[b].slices[static_cast<std::size_t>(j)].end + error > sent.start);
                        }
                    }
            }
        }
}

TEST_CASE("a clock found behind work that takes long is as exact as it says") {
    const simulated::scope simulation;
    const dv::launch::world_clock world{std::chrono::steady_clock::now(), {}};
    simulated::stream behind;
    const auto on = reinterpret_cast<cudaStream_t>(&behind);
    for (const int busy_ms : {0, 1, 40}) {
        CAPTURE(busy_ms);
        behind.push([&] { std::this_thread::sleep_for(std::chrono::milliseconds{busy_ms}); });
        dv::cuda::anchor clock{on, world};
        const dv::cuda::detail::timed_event e;
        const std::int64_t before = world.since_origin(std::chrono::steady_clock::now());
        REQUIRE(dv::cuda::calls.event_record(e, on) == cudaSuccess);
        while (dv::cuda::calls.event_query(e) != cudaSuccess) std::this_thread::yield();
        const std::int64_t after = world.since_origin(std::chrono::steady_clock::now());
        clock.find(on, world);
        CHECK(clock.time_of(e) > before - clock.error_ns());
        CHECK(clock.time_of(e) < after + clock.error_ns());
        CHECK(clock.error_ns() < (busy_ms + 1'000) * 1'000'000L);
    }
}

TEST_CASE("processes of one host see one clock; of several hosts, to what their exchanges take") {
    // Ranks whose hosts' clocks differ by a second a rank: seen by what they bring to an exchange.
    struct far_peers final : dv::launch::peers {
        explicit far_peers(int n) : local{n} {}
        dv::launch::local_peers local;
        bool apart = false;
        int size() const override { return local.size(); }
        std::vector<std::string> exchange(int rank, const std::string& what, const std::string& mine,
                                          std::chrono::nanoseconds limit) override {
            return local.exchange(rank, what,
                                  apart && mine.find('-') != std::string::npos
                                      ? "host" + std::to_string(rank) + " " + mine.substr(mine.rfind(' ') + 1)
                                      : mine,
                                  limit);
        }
        void abort(const dv::launch::abort_reason& why) override { local.abort(why); }
        bool aborted() const noexcept override { return local.aborted(); }
        dv::launch::abort_reason why() const override { return local.why(); }
        void leave(int rank) noexcept override { local.leave(rank); }
        bool gone(int rank) const noexcept override { return local.gone(rank); }
        void attend(int rank, std::function<void()> at_stop, std::function<void()> each_period) override {
            local.attend(rank, std::move(at_stop), std::move(each_period));
        }
        void unattend(int rank) noexcept override { local.unattend(rank); }
        void watch(int rank, std::shared_ptr<const dv::launch::progress> p) override { local.watch(rank, std::move(p)); }
        std::string describe() const override { return local.describe(); }
        std::string call_order_mismatch(int, std::int64_t, int) override { return {}; }
    };
    for (const bool apart : {false, true}) {
        CAPTURE(apart);
        far_peers with{3};
        with.apart = apart;
        std::vector<dv::launch::world_clock> clocks(3);
        std::vector<std::thread> threads;
        for (int r = 0; r < 3; ++r)
            threads.emplace_back(
                [&, r] { clocks[static_cast<std::size_t>(r)] = dv::launch::synchronise_clocks(with, r, std::chrono::seconds{20}); });
        for (auto& t : threads) t.join();
        for (const auto& c : clocks) {
            const auto off = c.origin - clocks[0].origin;
            CHECK(std::chrono::abs(off) <= c.error);
            CHECK((c.error.count() > 0) == (apart && &c != &clocks[0]));
            CHECK(c.error < std::chrono::milliseconds{500});
        }
    }
}
