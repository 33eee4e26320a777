// dv::tuned: whose turn it is, what ranks agree on, and executors on host threads: each run has the values of the sequential program while
// plans are compared and after, all ranks keep the plan that the report names, and the other engines are closed.
#include "support/expect.hpp"
#include "support/near_peers.hpp"
#include "support/samples.hpp"

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/launch/engine/observer.hpp>
#include <dovetail/launch/tuning/tuner.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>

namespace dv = dovetail;
using namespace dv::launch;
using namespace samples;
using support::message;
using support::near_peers;
using namespace std::chrono_literals;

namespace {
using wide = dv::tensor<float, 512, 512>;
struct wide_sum : dv::graph<dv::input<x, wide>, dv::mesh<dv::axis<dp, 2>>, dv::let<a, add(x, x)>, dv::let<y, all_reduce<sum, dp>(a)>,
                            dv::output<y>> {};
using searched = dv::options<near_peers, dv::rewritten_by<dv::rewrite::automatic>>;

// Of a rank, on its thread.
void check(bool right, const std::string& what) {
    const std::lock_guard lock{support::report()};
    CAPTURE(what);
    CHECK(right);
}

// Four sums, made before the first is used: as written all are held at once.
template <int> struct sum_of;
template <int I> using make_sum = dv::let<sum_of<I>, add(x, x)>;
struct made_first : dv::graph<dv::input<x, wide>, dv::repeat<make_sum, 4>,
                              dv::let<y, add(add(add(sum_of<0>, sum_of<1>), add(sum_of<2>, x)), add(add(sum_of<3>, x), add(x, x)))>,
                              dv::output<y>> {};

// Whose turn each run is, from the definition: rounds over the plans, a turn of so many runs.
struct turn {
    int plan, round, run;
};
std::vector<turn> turns_of(int plans, int runs_in_turn) {
    std::vector<turn> all;
    for (int round = 0; round < tuning_turns::rounds; ++round)
        for (int plan = 0; plan < plans; ++plan)
            for (int run = 0; run < runs_in_turn; ++run) all.push_back({plan, round, run});
    return all;
}

struct counting_observer final : dv::run_observer {
    std::atomic<int> made_engines = 0, issued_runs = 0, closed_engines = 0;
    void made(dv::engine&, const dv::plan_options&, const dv::ir::graph&) override { ++made_engines; }
    void issued(dv::engine&, const std::shared_ptr<dv::run_state>&) override { ++issued_runs; }
    void closed(dv::engine&) noexcept override { ++closed_engines; }
};

int compared(const dv::tuning_report& r) {
    return static_cast<int>(std::count_if(r.plans.begin(), r.plans.end(), [](const dv::tuning_plan& p) { return p.left_out.empty(); }));
}
}  // namespace

TEST_CASE("each plan has its turn in each round, and the first rounds do not count") {
    for (const int plans : {1, 2, 4})
        for (const int runs : {1, 3}) {
            tuning_turns t{runs};
            for (const turn& wanted : turns_of(plans, runs)) {
                CHECK_FALSE(t.over(plans));
                CHECK(t.plan(plans) == wanted.plan);
                CHECK(t.begins() == (wanted.run == 0));
                CHECK(t.ends() == (wanted.run == runs - 1));
                CHECK(t.counts(plans) == (wanted.round >= tuning_turns::uncounted_rounds));
                ++t.runs;
            }
            CHECK(t.over(plans));
        }
}

TEST_CASE("ranks agree on the largest of their times, and refuse those of other plans") {
    CHECK(median({5, 1, 9}) == 5);
    CHECK(median({7}) == 7);
    CHECK(slowest({text_of_times({5, 20}), text_of_times({7, 10})}, 2) == std::vector<std::int64_t>{7, 20});
    for (const char* wrong : {"", "5", "5 6 7", "5 x", "5 6 x", "99999999999999999999 1"})
        CHECK(message([&] { slowest({"5 6 ", wrong}, 2); }).find("a rank has other plans to compare") != std::string::npos);
}

TEST_CASE("every run has its values, and all ranks keep the fastest of the plans that they measured") {
    std::array<dv::tuning_report, 2> seen;
    dv::host::world{2}.run([&](auto& rank) {
        dv::executor<wide_sum, searched> step{rank, dv::tuned};
        const int plans = compared(step.tuning());
        check(plans >= 2, "several plans");
        const int trials = plans * tuning_turns::rounds;
        for (int run = 0; run < trials + 5; ++run) {
            check(step.tuning().decided() == (run >= trials), "decided when all turns are over");
            step.bind(dv::name<x>, std::vector<float>(wide::size, static_cast<float>(run + rank.index())));
            const auto ticket = step.run();
            check(ticket.read(dv::name<y>).host() == std::vector<float>(wide::size, static_cast<float>(4 * run + 2)), "the sum");
        }
        seen[static_cast<std::size_t>(rank.index())] = step.tuning();
    });
    CHECK(seen[0].taken == seen[1].taken);
    CHECK(seen[0].text() == seen[1].text());
    std::int64_t least = INT64_MAX;
    for (const dv::tuning_plan& p : seen[0].plans)
        if (p.left_out.empty()) {
            CHECK(p.measured_ns > 0);
            CHECK(p.predicted_ns > 0);
            least = std::min(least, p.measured_ns);
        }
    CHECK(seen[0].plans[static_cast<std::size_t>(seen[0].taken)].measured_ns == least);
    CHECK(seen[0].text().find("; kept\n") != std::string::npos);
}

TEST_CASE("plans share their states, also with several runs in flight") {
    using overlapped = dv::options<dv::in_flight<3>, dv::force_candidate<dv::candidate::listed>>;
    dv::host::world{4}.run([](auto& rank) {
        dv::executor<descent, overlapped> tuned{rank, dv::tuned}, plain{rank};
        for (int run = 0; run < 150; ++run) {
            for (auto* step : {&tuned, &plain}) {
                step->bind(dv::name<x>, std::vector<float>(8, static_cast<float>(run % 3 + rank.index()))).bind(dv::name<rate>, 0.25f);
                step->run();
            }
            if (run % 10 == 9) check(tuned.read_state(dv::name<weight>) == plain.read_state(dv::name<weight>), "states");
        }
        check(tuned.tuning().decided() && compared(tuned.tuning()) >= 2, "decided between several");
    });
}

TEST_CASE("of a graph with one plan nothing is measured") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<counter> step{rank, dv::tuned};
        CHECK(step.tuning().decided());
        CHECK(step.tuning().taken == 0);
        for (int run = 1; run < 4; ++run) {
            step.bind(dv::name<x>, 1.0f);
            CHECK(step.run().read(dv::name<y>)[0] == static_cast<float>(run));
        }
        CHECK(step.tuning().plans[0].measured_ns == 0);
    });
    dv::host::world{1}.run([](auto& rank) { CHECK(dv::executor<counter>{rank}.tuning().plans.empty()); });
}

TEST_CASE("plans whose arenas do not fit into the memory limit beside the others are left out") {
    constexpr std::int64_t limit = dv::peak_bytes<wide_sum, dv::unnamed_role, searched>;
    using limited = dv::options<near_peers, dv::rewritten_by<dv::rewrite::automatic>, dv::memory_limit<limit>>;
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<wide_sum, limited> step{rank, dv::tuned};
        check(compared(step.tuning()) == 1, "one is compared");
        check(step.tuning().text().find("does not fit into the memory limit") != std::string::npos, "the others are left out");
    });
}

TEST_CASE("a plan that exceeds the memory limit by itself is not compared, and the program compiles") {
    // Copy engines need staging for the blocks that arrive, and one stream the values that another order has used by then.
    using as_planned = dv::options<dv::memory_limit<dv::peak_bytes<wide_sum>>>;
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<wide_sum, as_planned> step{rank, dv::tuned};
        check(step.tuning().decided() && step.tuning().plans.size() == 1, "one plan");
    });
    using of_one_order = dv::options<dv::memory_limit<3 * wide::bytes>>;
    using in_written_order = dv::options<dv::force_candidate<dv::candidate::sequential>>;
    static_assert(dv::peak_bytes<made_first, dv::unnamed_role, in_written_order> == 4 * wide::bytes);
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<made_first, of_one_order> step{rank, dv::tuned};
        step.bind(dv::name<x>, std::vector<float>(wide::size, 1.0f));
        check(step.run().read(dv::name<y>)[0] == 12, "the sum");
    });
}

TEST_CASE("a rank that is late while plans are compared: the others wait, or call run again, and all keep the same plan") {
    std::array<std::string, 2> seen;
    dv::host::world{2}.run([&](auto& rank) {
        dv::executor<wide_sum, searched> step{rank, 1s, dv::tuned};
        step.bind(dv::name<x>, std::vector<float>(wide::size, 1.0f));
        const auto patiently = [&](auto call) {
            for (;;) try {
                    return call();
                } catch (const dv::timeout&) {}
        };
        const int trials = compared(step.tuning()) * tuning_turns::rounds;
        for (int run = 0; run < trials + 2; ++run) {
            if (rank.index() == 1 && run == 3) std::this_thread::sleep_for(1500ms);
            if (rank.index() == 1 && run == 6) std::this_thread::sleep_for(2500ms);
            const auto ticket = patiently([&] { return step.run(); });
            if (run % 2 == 0) patiently([&] { ticket.wait(); });
        }
        seen[static_cast<std::size_t>(rank.index())] = step.tuning().text();
    });
    CHECK(seen[0] == seen[1]);
    CHECK(seen[0].find("kept") != std::string::npos);
}

TEST_CASE("while plans are compared and after, no run writes a bound output that a reading holds, and what it wrote over is gone") {
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<wide_sum, searched> step{rank, dv::tuned};
        std::vector<float> mine(wide::size), more(wide::size);
        step.bind(dv::name<x>, std::vector<float>(wide::size, 1.0f)).bind_output(dv::name<y>, mine.data(), wide::size);
        const auto first = step.run();
        const auto values = [](float v) { return std::vector<float>(wide::size, v); };
        const int trials = compared(step.tuning()) * tuning_turns::rounds;
        check(trials > tuning_turns::rounds, "several plans");
        step.bind(dv::name<x>, values(2));
        {
            const auto held = first.read(dv::name<y>);
            check(message([&] { step.run(); }).find("whose result this thread still holds by a reading") != std::string::npos, "refused");
            check(held.host() == values(4), "what the first run wrote");
            step.bind_output(dv::name<y>, more.data(), wide::size).run().wait();
            check(held.host() == values(4) && more == values(8), "each where it was bound");
        }
        auto last = step.bind_output(dv::name<y>, mine.data(), wide::size).run();
        check(message([&] { first.read(dv::name<y>); }).find("the results of run 0 of `wide_sum` are gone") != std::string::npos, "gone");
        for (int run = 3; run < trials + 3; ++run) {
            const auto before = last;
            last = step.run();
            check(message([&] { before.read(dv::name<y>); }).find("are gone: ") != std::string::npos, "gone");
            check(last.read(dv::name<y>).host() == values(8), "the latest");
        }
        check(step.tuning().decided(), "decided");
    });
}

TEST_CASE("a reading that another thread destroys is waited for, also by a run of another plan") {
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<wide_sum, searched> step{rank, dv::tuned};
        std::vector<float> mine(wide::size);
        step.bind_output(dv::name<y>, mine.data(), wide::size);
        const auto bind = [&](int value) { step.bind(dv::name<x>, std::vector<float>(wide::size, static_cast<float>(value))); };
        for (int run = 0; run < 6; ++run) {
            bind(2 * run + 1);
            std::thread reader{[run, held = step.run().read(dv::name<y>).for_another_thread()]() mutable {
                std::this_thread::sleep_for(20ms);
                check(held[0] == static_cast<float>(4 * (2 * run + 1)), "what the run wrote");
                const auto destroyed = std::move(held);
            }};
            bind(2 * run + 2);
            check(message([&] { step.run(); }) == "nothing thrown", "waited");
            reader.join();
        }
    });
}

TEST_CASE("the names of steps are those of the latest run") {
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<wide_sum, searched> step{rank, dv::tuned};
        step.record_times(true);
        step.bind(dv::name<x>, std::vector<float>(wide::size, 1.0f));
        for (int run = 0; run < 6; ++run) {
            const auto ticket = step.run();
            std::string all;
            for (std::size_t i = 0; i < ticket.times().size(); ++i) all += step.step_name(static_cast<int>(i)) + "; ";
            check(all.find("operation `add` of `a`") != std::string::npos && all.find("of `y`") != std::string::npos, all);
        }
    });
}

TEST_CASE("the engines that are not kept are closed at the decision, the other one at the end") {
    counting_observer counts;
    dv::observing.store(&counts);
    dv::host::world{2}.run([&](auto& rank) {
        dv::executor<wide_sum, searched> step{rank, dv::tuned};
        const int plans = compared(step.tuning());
        step.bind(dv::name<x>, std::vector<float>(wide::size, 1.0f));
        for (int run = 0; run < plans * tuning_turns::rounds; ++run) step.run();
        check(counts.closed_engines >= plans - 1, "closed");
        step.run();
    });
    dv::observing.store(nullptr);
    CHECK(counts.made_engines > 2);
    CHECK(counts.closed_engines == counts.made_engines);
}

TEST_CASE("an executor that ends or moves while plans are compared") {
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<wide_sum, searched> first{rank, dv::tuned};
        first.bind(dv::name<x>, std::vector<float>(wide::size, 1.0f));
        for (int run = 0; run < 5; ++run) first.run();
        dv::executor<wide_sum, searched> second{std::move(first)};
        check(second.run().read(dv::name<y>)[0] == 4, "the sum");
        check(message([&] { first.run(); }).find("moved from") != std::string::npos, "an error");
    });
}
