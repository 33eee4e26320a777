// The cost of recording runs, on the host backend, on streams and replayed; and traces of runs on four GPUs for tests/observe/hta, in
// folders of $OUT: the README's graph, whose transfers are peer copies, and products whose results are reduced over all positions.
#include "support/three_senders.hpp"
#include "support/traced_runs.hpp"

#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/observe/observe.hpp>
#include <dovetail/observe/report.hpp>

#include "bench/measure.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace {
namespace dv = dovetail;
namespace observe = dv::observe;

namespace app {
using namespace dv::ops;
struct dp;
struct value;
template <int> struct link;
template <int> struct layer;
template <int> struct mean;

using small = dv::tensor<float, 8>;
template <int I> using next_link = dv::let<link<I + 1>, add(link<I>, link<I>)>;
template <int N>
struct chain : dv::graph<dv::input<link<0>, small>, dv::repeat<next_link, N>, dv::output<link<N>>> {};

using matrix = dv::tensor<dv::half, 4096, 4096>;
template <int I> using next_layer = dv::let<layer<I + 1>, matmul(layer<I>, layer<I>)>;
template <int I> using mean_of = dv::let<mean<I>, all_reduce<average, dp>(layer<I + 1>)>;
struct means : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<value, dv::scalar<float>>,
    dv::let<layer<0>, fill<matrix>(value)>,
    dv::repeat<next_layer, 8>,
    dv::repeat<mean_of, 8>,
    dv::output<dv::all<8, mean>>> {};
}  // namespace app

// Microseconds of a run, of `runs` that are issued one behind the other.
template <class Executor>
double microseconds(Executor& step, int runs) {
    const auto start = bench::clock::now();
    for (int i = 1; i < runs; ++i) step.run();
    step.run().wait();
    return std::chrono::duration<double, std::micro>(bench::clock::now() - start).count() / runs;
}

// Executors without an observer, with one that asks nothing of runs, and with recorded runs, in turn.
template <class G, class Rank, class Bind>
void cost(Rank& rank, bench::meeting& meet, const char* what, int runs, int operations, Bind bind,
          dv::replay_mode how = dv::replay_mode::never) {
    static observe::recorder nothing{observe::environment{}};
    const auto observed_by = [&](dv::run_observer* one) {  // of all ranks' executors from here on
        meet();
        dv::observing.store(one);
        meet();
    };
    dv::executor<G> off{rank, how};
    observed_by(&nothing);
    dv::executor<G> watched{rank, how};
    observed_by(nullptr);
    dv::executor<G> on{rank, how, dv::record_times};
    std::vector<double> times[3];
    for (auto* e : {&off, &watched, &on}) bind(*e);
    for (int repeat = -2; repeat < 21; ++repeat) {
        int k = 0;
        for (auto* e : {&off, &watched, &on}) {
            const double t = microseconds(*e, runs);
            if (repeat >= 0) times[k].push_back(t);
            ++k;
        }
    }
    if (rank.index() != 0) return;
    const double a = bench::median(times[0]), b = bench::median(times[1]), c = bench::median(times[2]);
    std::printf("%-44s a run %9.2f us; observed, not recorded: ratio %.3f; recorded: %9.2f us, ratio %.3f, %.2f us an operation\n", what, a,
                b / a, c, c / a, (c - a) / operations);
    std::fflush(stdout);
}

template <class G, class Bind>
void trace(const char* name, Bind bind, dv::replay_mode how) {
    constexpr int runs = 10;
    support::traced_runs all{runs};
    bench::meeting meet{4};  // before each run, so that none waits for the one before on another rank
    dv::cuda::world::local(4).run([&](auto& rank) {
        dv::executor<G> step{rank, how, dv::record_times};
        bind(step);
        for (int i = -2; i < runs; ++i) {
            meet();
            const auto ticket = step.run();
            if (i >= 0) all.add(i, rank.index(), step, ticket.times());
            else ticket.wait();
        }
    });
    const observe::plan_view of{observe::tables_of<G>()};
    const char* out = std::getenv("OUT");
    const std::string folder =
        std::string{out == nullptr ? "build/gpu" : out} + "/" + name + (how == dv::replay_mode::never ? "_streams" : "_replayed");
    std::filesystem::create_directories(folder);
    CHECK(all.write(of, folder));
    std::printf("%s\n", folder.c_str());
    std::fputs(observe::report_text(of, observe::overlap(of, all.timelines(of).back(), observe::sequential(of)), 2).c_str(), stdout);
    std::fflush(stdout);
}

const auto bind_link = [](auto& e) { e.bind(dv::name<app::link<0>>, std::vector<float>(8, 1.0f)); };
const auto bind_value = [](auto& e) { e.bind(dv::name<app::value>, 1.0f / 4096); };
const auto bind_sender = [](auto& e) { e.bind(dv::name<senders::value>, 0.5f); };
}  // namespace

TEST_CASE("what recording costs") {
    bench::meeting alone{1}, together{4};
    dv::host::world{1}.run(
        [&](auto& rank) { cost<app::chain<100>>(rank, alone, "100 small operations, host backend", 200, 100, bind_link); });
    if (bench::gpus() < 1) return static_cast<void>(std::printf("skipped: no GPU\n"));
    dv::cuda::world::local(1).run([&](auto& rank) {
        cost<app::chain<100>>(rank, alone, "100 small operations, streams", 20, 100, bind_link);
        cost<app::chain<100>>(rank, alone, "100 small operations, replayed", 20, 100, bind_link, dv::replay_mode::always);
    });
    if (bench::gpus() < 4) return static_cast<void>(std::printf("skipped: fewer than 4 GPUs\n"));
    dv::cuda::world::local(4).run([&](auto& rank) {
        cost<app::means>(rank, together, "8 products and means, 4 GPUs, streams", 5, 17, bind_value);
        cost<app::means>(rank, together, "8 products and means, 4 GPUs, replayed", 5, 17, bind_value, dv::replay_mode::always);
    });
}

TEST_CASE("traces of runs on GPUs") {
    if (bench::gpus() < 4) return static_cast<void>(std::printf("skipped: fewer than 4 GPUs\n"));
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        trace<senders::three_senders>("three_senders", bind_sender, how);
        trace<app::means>("means", bind_value, how);
    }
}
