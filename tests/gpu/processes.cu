// One rank of four processes, started by a launcher (tests/gpu/launchers): `processes MODE`. It finds out who it is from the
// environment, and prints one line that begins with its rank. Modes: compare (with the host backend), twice (two runs of one
// world), differ (rank 2 brings another graph), order (executors in different order), throw (rank 1 throws in a run), kill
// (rank 3, or with a second argument another, kills itself in a run), stall (rank 2 stays away).
#include "gpu/graphs.hpp"
#include "support/exercise.hpp"
#include "support/samples.hpp"

#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/host/world.hpp>

#include <csignal>
#include <cstdio>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace {

int me = -1;
void say(const std::string& text) {
    std::printf("%s\n", ("rank " + std::to_string(me) + ": " + text).c_str());
    std::fflush(stdout);
}

template <class G, class O>
bool same(dv::cuda::world& world, int ahead) {
    constexpr int runs = 5;
    const int ranks = world.size();
    std::vector<support::outputs> wanted(static_cast<std::size_t>(ranks));
    dv::host::world{ranks}.run([&](auto& rank) { wanted[static_cast<std::size_t>(rank.index())] = support::exercise<G, O>(rank, runs, ahead); });
    support::outputs streams, replayed;
    world.run([&](auto& rank) {
        streams = support::exercise<G, O>(rank, runs, ahead);
        replayed = support::exercise<G, O>(rank, runs, ahead, dv::replay);
    });
    return streams == wanted[static_cast<std::size_t>(me)] && replayed == wanted[static_cast<std::size_t>(me)];
}

struct plain : dv::graph<
    dv::input<gpu::x, dv::tensor<float, 6>>,
    dv::mesh<dv::axis<gpu::dp>>,
    dv::let<gpu::y, gpu::all_reduce<gpu::sum, gpu::dp>(gpu::x)>,
    dv::output<gpu::y>> {};
struct other : dv::graph<
    dv::input<gpu::x, dv::tensor<float, 7>>,
    dv::mesh<dv::axis<gpu::dp>>,
    dv::let<gpu::y, gpu::all_reduce<gpu::sum, gpu::dp>(gpu::x)>,
    dv::output<gpu::y>> {};

template <class Act>
void loop(dv::cuda::world& world, const Act& act) {
    world.run([&](auto& rank) {
        for (const auto how : {dv::replay_mode::never}) {
            dv::executor<plain> step{rank, 60s, how};
            step.bind(dv::name<gpu::x>, std::vector<float>(6, 1.0f));
            for (int k = 0; k < 2000; ++k) {
                act(k);
                const auto y = step.run().read(dv::name<gpu::y>).host();
                if (y != std::vector<float>(6, static_cast<float>(world.size()))) throw std::runtime_error{"wrong sum"};
            }
        }
    });
}

}  // namespace

int main(int count, char** words) {
    const std::string mode = count > 1 ? words[1] : "compare";
    const int victim = count > 2 ? std::atoi(words[2]) : 3;
    auto last = std::chrono::steady_clock::now();
    try {
        const dv::cuda::place found = dv::cuda::find_place();
        me = found.rank;
        dv::cuda::world world = dv::cuda::world::from_environment();
        if (mode == "compare") {
            say(found.describe());
            bool all = same<samples::sums, samples::overlapped>(world, 1);
            all = same<samples::roles_and_lanes, samples::several>(world, 3) && all;
            all = same<samples::descent, samples::overlapped>(world, 1) && all;
            say(all ? "equal" : "DIFFERENT");
            return all ? 0 : 1;
        }
        if (mode == "twice") {
            for (int i = 0; i < 2; ++i) loop(world, [](int) {});
            say("done");
        }
        if (mode == "differ")
            world.run([&](auto& rank) {
                if (me == 2) dv::executor<other> step{rank, 20s};
                else dv::executor<plain> step{rank, 20s};
                say("agreed");
            });
        if (mode == "order")
            world.run([&](auto& rank) {
                dv::executor<plain> a{rank, 20s};
                dv::executor<other> b{rank, 20s};
                a.bind(dv::name<gpu::x>, std::vector<float>(6, 1.0f));
                b.bind(dv::name<gpu::x>, std::vector<float>(7, 1.0f));
                a.run().wait();
                last = std::chrono::steady_clock::now();
                if (me == 1) b.run().wait();
                a.run().wait();
                b.run().wait();
                if (me != 1) b.run().wait();
                say("ran");
            });
        if (mode == "throw")
            loop(world, [&](int k) {
                last = std::chrono::steady_clock::now();
                if (k == 100 && me == 1) throw std::runtime_error{"on purpose"};
            });
        if (mode == "kill")
            loop(world, [&](int k) {
                last = std::chrono::steady_clock::now();
                if (k == 100 && me == victim) ::kill(::getpid(), SIGKILL);
            });
        if (mode == "stall")
            world.run([&](auto& rank) {
                dv::executor<plain> step{rank, 2s};
                step.bind(dv::name<gpu::x>, std::vector<float>(6, 1.0f));
                step.run().wait();
                last = std::chrono::steady_clock::now();
                if (me == 2) std::this_thread::sleep_for(4s);
                step.run().wait();
            });
        return 0;
    } catch (const std::exception& e) {
        const auto after = std::chrono::duration<double>(std::chrono::steady_clock::now() - last).count();
        say("after " + std::to_string(after).substr(0, 5) + " s: " + e.what());
        return 3;
    }
}
