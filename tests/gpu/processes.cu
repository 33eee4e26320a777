// One rank of several processes, started by a launcher (tests/gpu/launchers): `processes MODE`. It finds out who it is from the
// environment, and prints one line that begins with its rank. Modes: cases (cases.hpp, against the host backend, on four), cases_apart
// (those that need no copy engines between nodes), copies (ten thousand runs whose channels are peer copies, on four), twice (two runs of
// one world), differ (the last rank brings another graph), order (executors in different order), throw (rank 1 throws in a run), kill (the
// last rank, or with a second argument another, kills itself in a run), kill_own (the same while the others synchronise streams of their
// own), kill_copy (the same between peer copies), kill_sum (the same at a random moment of sums by copy engines, on two or four), stall
// (the last rank stays away), stall_own, nodes (over two nodes: sums by NCCL and in two levels, a channel by the second plan since copy
// engines do not reach, and the error where they are asked for). Behind the rank, `replayed`: as a CUDA graph. And threads: the cases with
// all ranks as threads of this process, which then needs no launcher.
#include "gpu/cases.hpp"
#include "gpu/graphs.hpp"
#include "gpu/in_flight.hpp"

#include <dovetail/launch/control/environment.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/host/world.hpp>

#include <csignal>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace {

int me = -1;
void say(const std::string& text) {
    std::printf("%s\n", ("rank " + std::to_string(me) + ": " + text).c_str());
    std::fflush(stdout);
}

// The cases on GPUs and on the host: replayed, then on streams. Gives what differs on the ranks of this process. `apart`: only cases whose
// ranks may be on several hosts.
std::string compared(dv::cuda::world& world, bool apart = false) {
    std::vector<std::vector<support::outputs>> wanted(cases::ranks);  // by rank and case
    const auto each = [apart](auto play) {
        cases::all([&](const char* name, auto one) {
            if (!apart || !one.one_host) play(name, one);
        });
    };
    dv::host::world{cases::ranks}.run([&](auto& rank) {
        each([&](const char*, auto one) { wanted[static_cast<std::size_t>(rank.index())].push_back(one.play(rank)); });
    });
    std::string different;
    std::mutex guard;
    world.run([&](auto& rank) {
        std::size_t number = 0;
        each([&](const char* name, auto one) {
            const auto replayed = one.play(rank, dv::replay), streams = one.play(rank);
            const auto& host = wanted[static_cast<std::size_t>(rank.index())][number++];
            const std::lock_guard lock{guard};
            if (host.empty() || streams != host || replayed != host)
                different += std::string{" "} + name + " on rank " + std::to_string(rank.index()) + (streams != host ? " (streams)" : "") +
                             (replayed != host ? " (replayed)" : "");
        });
    });
    return different;
}

using ring = cases::with_fourth<samples::ring_of_three>;
struct copied {
    int wrong = 0;
    double each_us = 0;  // a run, without what is made before the first
};
template <class Act>
copied copy_ten_thousand_times(dv::cuda::world& world, dv::replay_mode how, const Act& act) {
    copied all;
    world.run([&](auto& rank) {
        dv::executor<ring, samples::several_copied> step{rank, 60s, how};
        const auto bind = [&](int k) {
            act(k);
            step.bind(dv::name<samples::x>, std::vector<float>(8, static_cast<float>(k % 1000)));
        };
        const auto read = [&](const dv::ticket<ring>& ticket, int run) {
            ticket.wait();
            if (me != 0) return;
            const std::vector<float> wanted(8, static_cast<float>(5 * (run % 1000)));
            all.wrong += ticket.read(dv::name<samples::d>).host() == wanted ? 0 : 1;
        };
        const auto start = std::chrono::steady_clock::now();
        gpu::run_in_flight(step, 10000, bind, read);
        all.each_us = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() * 100;
    });
    return all;
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

// A sum over two nodes of so many ranks each: copy engines move the part within a node, NCCL the part between them.
using numbers = dv::tensor<float, 4096>;
template <int Inner>
struct in_two_levels : dv::graph<
    dv::input<gpu::x, numbers>,
    dv::mesh<dv::axis<gpu::node, 2, dv::link::network>, dv::axis<gpu::dp, Inner>>,
    dv::let<gpu::y, gpu::all_reduce<gpu::sum, gpu::node, gpu::dp>(gpu::x)>,
    dv::output<gpu::y>> {};
// The same, of ranks that do not say that they are on two nodes.
template <int Ranks>
struct in_one_level : dv::graph<
    dv::input<gpu::x, numbers>,
    dv::mesh<dv::axis<gpu::dp, Ranks>>,
    dv::let<gpu::y, gpu::all_reduce<gpu::sum, gpu::dp>(gpu::x)>,
    dv::output<gpu::y>> {};

// From each rank of a node to one of the other: by copy engines, where they reach.
using many_numbers = dv::tensor<float, 1 << 21>;
template <int Ranks>
struct sent : dv::graph<
    dv::input<gpu::x, many_numbers>,
    dv::mesh<dv::axis<gpu::dp, Ranks / 2>>,
    dv::on<gpu::left, dv::let<gpu::a, gpu::add(gpu::x, gpu::x)>>,
    dv::on<gpu::right, dv::let<gpu::b, gpu::copy(gpu::a)>>,
    dv::output<gpu::b>> {};

// Sums by copy engines. act(k) stands before run k.
template <int Ranks, class Act>
void add_by_copies(dv::cuda::world& world, dv::replay_mode how, const Act& act) {
    using graph = in_one_level<Ranks>;
    world.run([&](auto& rank) {
        dv::executor<graph, dv::options<dv::collective_transport<dv::transport::peer_copy>, dv::in_flight<3>>> step{rank, 60s, how};
        const auto bind = [&](int k) {
            act(k);
            step.bind(dv::name<gpu::x>, std::vector<float>(4096, static_cast<float>(k)));
        };
        const auto read = [](const dv::ticket<graph>& ticket, int run) {
            const std::vector<float> wanted(4096, static_cast<float>(Ranks * run));
            if (ticket.read(dv::name<gpu::y>).host() != wanted) throw std::runtime_error{"wrong sum"};
        };
        gpu::run_in_flight(step, 10000, bind, read);
    });
}
// Within a few runs, whatever the threads of this process do at that moment.
void die_at_random() {
    const std::chrono::microseconds later{std::random_device{}() % 2000};
    say("kills itself " + std::to_string(later.count()) + " us later");
    std::thread{[later] {
        std::this_thread::sleep_for(later);
        ::kill(::getpid(), SIGKILL);
    }}.detach();
}

std::string of_plan(const dv::basic_executor& step, dv::replay_mode how) {
    const std::string second = step.transport_fallback_reason();
    return (how == dv::replay_mode::always ? std::string{", replayed"} : "") + (second.empty() ? "" : "; second plan: " + second);
}
// Says whether a hundred sums are right, in run k of the numbers k + r of each rank r.
template <class G, class Options>
void add_over_nodes(dv::cuda::world& world, const char* what) {
    world.run([&](auto& rank) {
        const int ranks = world.size();
        for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
            dv::executor<G, Options> step{rank, 60s, how};
            int wrong = 0;
            for (int k = 0; k < 100; ++k) {
                step.bind(dv::name<gpu::x>, std::vector<float>(4096, static_cast<float>(k + rank.index())));
                const std::vector<float> sums(4096, static_cast<float>(ranks * k + ranks * (ranks - 1) / 2));
                wrong += step.run().read(dv::name<gpu::y>).host() == sums ? 0 : 1;
            }
            say(std::string{what} + (wrong == 0 ? ": equal" : ": DIFFERENT") + of_plan(step, how));
        }
    });
}
template <int Ranks>
void send_over_nodes(dv::cuda::world& world) {
    world.run([&](auto& rank) {
        for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
            dv::executor<sent<Ranks>> step{rank, 60s, how};
            int wrong = 0;
            for (int k = 0; k < 10; ++k) {
                step.bind(dv::name<gpu::x>, std::vector<float>(1 << 21, static_cast<float>(k)));
                const auto ticket = step.run();
                ticket.wait();
                if (!rank.is(dv::name<gpu::right>)) continue;
                wrong += ticket.read(dv::name<gpu::b>).host() == std::vector<float>(1 << 21, static_cast<float>(2 * k)) ? 0 : 1;
            }
            say(std::string{"a channel"} + (wrong == 0 ? ": equal" : ": DIFFERENT") + of_plan(step, how));
        }
    });
}
template <int Ranks>
void communicate_over_nodes(dv::cuda::world& world) {
    using by_nccl = dv::options<dv::collective_transport<dv::transport::nccl>>;
    using by_copies = dv::options<dv::collective_transport<dv::transport::peer_copy>>;
    add_over_nodes<in_one_level<Ranks>, by_nccl>(world, "by NCCL");
    add_over_nodes<in_two_levels<Ranks / 2>, by_copies>(world, "two levels");  // of two ranks each is alone on its node: by NCCL as well
    send_over_nodes<Ranks>(world);
    try {
        add_over_nodes<in_one_level<Ranks>, by_copies>(world, "by copy engines");
    } catch (const std::exception& e) {
        say(std::string{"refused: "} + e.what());
    }
}

template <class Act>
void loop(dv::cuda::world& world, const Act& act, dv::replay_mode how = dv::replay_mode::never) {
    world.run([&](auto& rank) {
        dv::executor<plain> step{rank, 60s, how};
        step.bind(dv::name<gpu::x>, std::vector<float>(6, 1.0f));
        for (int k = 0; k < 2000; ++k) {
            act(k);
            const auto y = step.run().read(dv::name<gpu::y>).host();
            if (y != std::vector<float>(6, static_cast<float>(world.size()))) throw std::runtime_error{"wrong sum"};
        }
    });
}
// The same, but the thread knows nothing of the library while it waits: it synchronises a stream of its own.
template <class Act>
void loop_on_own_stream(dv::cuda::world& world, const Act& act, dv::replay_mode how, std::chrono::nanoseconds limit) {
    world.run([&](auto& rank) {
        dv::executor<plain> step{rank, limit, how};
        step.bind(dv::name<gpu::x>, std::vector<float>(6, 1.0f));
        cudaStream_t mine{};
        cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
        for (int k = 0; k < 2000; ++k) {
            act(k);
            const auto t = step.enqueue(mine);
            if (k % 10 != 9) continue;
            cudaStreamSynchronize(mine);
            t.wait();
        }
    });
}

}  // namespace

int main(int count, char** words) {
    const std::string mode = count > 1 ? words[1] : "cases";
    auto last = std::chrono::steady_clock::now();
    try {
        if (mode == "threads") {
            auto world = dv::cuda::world::local(cases::ranks);
            const std::string different = compared(world);
            std::printf("%s\n", different.empty() ? "all ranks: equal" : ("DIFFERENT:" + different).c_str());
            return different.empty() ? 0 : 1;
        }
        const dv::control::resolved_identity found = dv::control::resolve_identity();
        me = found.rank;
        dv::cuda::world world = dv::cuda::world::from_environment();
        const int last_rank = world.size() - 1, victim = count > 2 ? std::atoi(words[2]) : last_rank;
        if (mode == "cases" || mode == "cases_apart") {
            say(found.describe());
            const std::string different = compared(world, mode == "cases_apart");
            say(different.empty() ? "equal" : "DIFFERENT:" + different);
            return different.empty() ? 0 : 1;
        }
        if (mode == "copies") {
            const copied streams = copy_ten_thousand_times(world, dv::replay_mode::never, [](int) {});
            const copied replayed = copy_ten_thousand_times(world, dv::replay_mode::always, [](int) {});
            say((streams.wrong + replayed.wrong == 0 ? "all equal, us a run: " : "DIFFERENT: ") +
                std::to_string(streams.each_us).substr(0, 5) + ", replayed " + std::to_string(replayed.each_us).substr(0, 5));
        }
        if (mode == "kill_copy")
            copy_ten_thousand_times(world, dv::replay_mode::never, [&](int k) {
                last = std::chrono::steady_clock::now();
                if (k == 100 && me == victim) ::kill(::getpid(), SIGKILL);
            });
        if (mode == "twice") {
            say(found.describe());
            for (int i = 0; i < 2; ++i) loop(world, [](int) {});
            say("done");
        }
        if (mode == "nodes") {
            if (world.size() == 4) communicate_over_nodes<4>(world);
            else if (world.size() == 2) communicate_over_nodes<2>(world);
            else say("not run: two nodes are emulated with two ranks or four");
        }
        if (mode == "differ")
            world.run([&](auto& rank) {
                if (me == last_rank) dv::executor<other> step{rank, 20s};
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
        const auto how = count > 3 && std::string{words[3]} == "replayed" ? dv::replay_mode::always : dv::replay_mode::never;
        const auto die = [&](int k) {
            last = std::chrono::steady_clock::now();
            if (k == 105 && me == victim) ::kill(::getpid(), SIGKILL);
        };
        if (mode == "kill") loop(world, die, how);
        const auto die_soon = [&](int k) {
            last = std::chrono::steady_clock::now();
            if (k == 100 && me == victim) die_at_random();
        };
        if (mode == "kill_sum" && world.size() == 4) add_by_copies<4>(world, how, die_soon);
        if (mode == "kill_sum" && world.size() == 2) add_by_copies<2>(world, how, die_soon);
        if (mode == "kill_own") loop_on_own_stream(world, die, how, 60s);
        if (mode == "stall_own")
            loop_on_own_stream(world, [&](int k) {
                last = std::chrono::steady_clock::now();
                if (k == 105 && me == victim) std::this_thread::sleep_for(6s);
            }, how, 2s);
        if (mode == "stall")
            world.run([&](auto& rank) {
                dv::executor<plain> step{rank, 2s};
                step.bind(dv::name<gpu::x>, std::vector<float>(6, 1.0f));
                step.run().wait();
                last = std::chrono::steady_clock::now();
                if (me == last_rank) std::this_thread::sleep_for(4s);
                step.run().wait();
            });
        return 0;
    } catch (const std::exception& e) {
        const auto after = std::chrono::duration<double>(std::chrono::steady_clock::now() - last).count();
        say("after " + std::to_string(after).substr(0, 5) + " s: " + e.what());
        return 3;
    }
}
