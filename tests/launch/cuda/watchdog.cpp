// Ranks whose own threads sit in calls that know no limit, on the simulated GPU: what goes wrong on another rank, in this process or
// in another, ends their communication all the same, within a limit and with operation and rank. And what keeps a world of
// processes from being made, or further runs from being started.
#include "support/processes.hpp"
#include "support/samples.hpp"
#include "support/says.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/launch/cuda/api/devices.hpp>
#include <dovetail/launch/cuda/communicators/init_communicator.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/world/local_peers.hpp>

#include <doctest/doctest.h>

#include <optional>

namespace dv = dovetail;
using namespace std::chrono_literals;
using support::says;

namespace {

const dv::replay_mode ways[] = {dv::replay_mode::never, dv::replay_mode::always};

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class F>
std::string message(F f) {
    try {
        f();
    } catch (const dv::timeout& e) {
        return std::string{"timeout: "} + e.what();
    } catch (const dv::peer_error& e) {
        return e.what() + (" (" + e.operation) + " of " + e.statement + ", rank " + std::to_string(e.rank) + ")";
    } catch (const std::exception& e) {
        return e.what();
    }
    return "nothing thrown";
}
template <class Rank, class... Extra>
struct descending {
    dv::executor<samples::descent> step;
    explicit descending(Rank& rank, Extra... extra) : step{rank, extra...} {
        step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f)).bind(dv::name<samples::rate>, 0.5f);
    }
};

// One rank of two processes. The GPUs of two processes know nothing of each other here: the first communication is lost, that of
// the warm-up or more, and what follows never ends.
int lost = 1;
void set_table(int rank) {
    dv::cuda::calls = simulated::table();
    static const auto real = dv::cuda::calls.all_reduce;
    dv::cuda::calls.all_reduce = [](const void* from, void* to, std::size_t n, ncclDataType_t d, ncclRedOp_t op, ncclComm_t c,
                                    cudaStream_t s) { return lost-- > 0 ? ncclSuccess : real(from, to, n, d, op, c, s); };
    static int mine = 0;
    mine = rank;
    dv::cuda::calls.comm_split = [](ncclComm_t c, int, int, ncclComm_t* made, ncclConfig_t*) {
        *made = reinterpret_cast<ncclComm_t>(
            simulated::keep(new simulated::communicator{std::make_shared<simulated::room>(simulated::of(c)->in->size), mine, 0}));
        return ncclSuccess;
    };
    dv::cuda::calls.device_bus_id = [](char* to, int, int) {
        std::snprintf(to, 8, "bus %d", mine);
        return cudaSuccess;
    };
}
dv::cuda::world joined(int rank, int port, std::chrono::milliseconds period = 50ms) {
    return dv::cuda::world::from_environment({.rank = rank, .size = 2, .rendezvous = "127.0.0.1:" + std::to_string(port)},
                                             {.limit = 10s, .timing = {.period = period, .silence = 10s, .linger = 300ms}});
}
template <class Body>
std::vector<std::string> in_two_processes(const Body& body) {
    support::processes all;
    const int port = support::free_port();
    for (int r = 0; r < 2; ++r)
        all.start([=] {
            set_table(r);
            return message([&] { body(r, port); });
        });
    return all.ends(20s);
}

// Two graphs that number their roles differently.
template <class First, class Second>
struct apart : dv::graph<dv::input<samples::x, samples::vector>, dv::on<First, dv::let<samples::a, dv::ops::add(samples::x, samples::x)>>,
                         dv::on<Second, dv::let<samples::b, dv::ops::add(samples::x, samples::x)>>, dv::output<samples::a, samples::b>> {};
struct left_first : apart<samples::left, samples::right> {};
struct right_first : apart<samples::right, samples::left> {};

}  // namespace

TEST_CASE("a rank whose device fails keeps nobody waiting in the making of the communicators") {
    const auto said = in_two_processes([](int rank, int port) {
        dv::cuda::world world = joined(rank, port);
        if (rank == 1)
            dv::cuda::calls.set_device = [](int) { return cudaErrorDevicesUnavailable; };
        else
            dv::cuda::calls.comm_init_rank = [](ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*) {  // as NCCL waits for who never comes
                std::this_thread::sleep_for(60s);
                return ncclSystemError;
            };
        world.run([](dv::cuda::rank&) {});
    });
    CHECK(says(said[0], "rank 1"));
    CHECK(says(said[0], "cudaSetDevice"));
    CHECK(says(said[1], "rank 1 cannot join the world: cudaSetDevice"));
}

TEST_CASE("a rank that waits for its own stream is freed when another throws") {
    const simulated::scope simulation;
    for (const auto how : ways) {
        const auto start = std::chrono::steady_clock::now();
        double freed = -1;
        std::string refused, again;
        const std::string text = message([&] {
            simulated::run(2, [&](auto& rank) {
                descending d{rank, 30s, how};
                d.step.run().wait();
                if (rank.index() == 1) {
                    std::this_thread::sleep_for(100ms);
                    throw std::runtime_error{"on purpose"};
                }
                simulated::own_stream mine;
                const auto t = d.step.enqueue(mine.s);
                dv::cuda::calls.stream_synchronize(mine.s);
                freed = seconds_since(start);
                refused = message([&] { t.wait(); });
                again = message([&] { d.step.run(); });
            });
        });
        CHECK(text == "on purpose");
        CHECK(freed > 0);
        CHECK(freed < 5);
        CHECK(says(refused, "rank 0 stops, because rank 1 left with an exception: on purpose"));
        CHECK(says(again, "rank 0 stops, because rank 1 left with an exception: on purpose"));
    }
}

TEST_CASE("a partner that stays away is noticed while the rank waits for its own stream") {
    const simulated::scope simulation;
    for (const auto how : ways) {
        const auto start = std::chrono::steady_clock::now();
        double freed = -1;
        std::string why;
        static_cast<void>(message([&] {
            simulated::run(2, [&](auto& rank) {
                descending d{rank, 500ms, how};
                d.step.run().wait();
                if (rank.index() == 1) return std::this_thread::sleep_for(2500ms);
                simulated::own_stream mine;
                const auto t = d.step.enqueue(mine.s);
                dv::cuda::calls.stream_synchronize(mine.s);
                freed = seconds_since(start);
                why = message([&] { t.wait(); });
            });
        }));
        CHECK(freed > 0.5);
        CHECK(freed < 2.4);
        INFO(why);
        CHECK(says(why, "timeout: the communication of rank 0 has stood still for 0.50"));
        CHECK(says(why, "rank 0 has not ended operation `all_reduce` of `b` (run 1 of `"));
        CHECK(says(why, "rank 1 has nothing to do in `"));
    }
}

TEST_CASE("a killed process is named to one that waits for its own stream, or in the connections") {
    for (const auto how : ways) {
        const auto said = in_two_processes([how](int r, int port) {
            joined(r, port).run([&](dv::cuda::rank& on) {
                simulated::rank rank{on};
                descending d{rank, 30s, how};
                simulated::own_stream mine;
                const auto t = d.step.enqueue(mine.s);
                if (r == 1) {
                    std::this_thread::sleep_for(200ms);
                    ::kill(::getpid(), SIGKILL);
                }
                const auto start = std::chrono::steady_clock::now();
                dv::cuda::calls.stream_synchronize(mine.s);
                if (seconds_since(start) > 3) throw std::runtime_error{"late"};
                t.wait();
            });
        });
        INFO(said[0]);
        CHECK(says(said[0], "rank 0 stops, because rank 1 (process "));
        CHECK(says(
            said[0],
            "is gone: its connection closed without notice; its last report: it has not ended operation `all_reduce` of `b` (run 0 of `"));
        CHECK(says(said[0], "; rank 0 has not ended operation `all_reduce` of `b` (run 0 of `"));
        CHECK(says(said[0], "(all_reduce of b, rank 1)"));
    }
    const auto said = in_two_processes([](int r, int port) {
        lost = 0;
        joined(r, port).run([&](dv::cuda::rank& on) {
            simulated::rank rank{on};
            if (r == 1)
                std::thread{[] {
                    std::this_thread::sleep_for(300ms);
                    ::kill(::getpid(), SIGKILL);
                }}.detach();
            descending d{rank, 30s};
        });
    });
    INFO(said[0]);
    CHECK(says(said[0], "is gone: its connection closed without notice"));
    CHECK(says(said[0], "; rank 0 was not ready: the connections of `"));
}

TEST_CASE("a killed process of which nothing was heard yet: the operation is what the others wait for") {
    const auto said = in_two_processes([](int r, int port) {
        lost = 2;
        joined(r, port, 10s).run([&](dv::cuda::rank& on) {
            simulated::rank rank{on};
            descending d{rank, 30s};
            d.step.run().wait();
            const auto t = d.step.run();
            if (r == 1) ::kill(::getpid(), SIGKILL);
            t.wait();
        });
    });
    INFO(said[0]);
    CHECK(says(said[0], "is gone: its connection closed without notice"));  // a slow rank may have reported before
    CHECK(says(said[0], "; rank 0 has not ended operation `all_reduce` of `b` (run 1 of `"));
    CHECK(says(said[0], "(all_reduce of b, rank 1)"));
}

TEST_CASE("a process that stays away is named with its operation") {
    const auto said = in_two_processes([](int r, int port) {
        lost = 2;
        joined(r, port).run([&](dv::cuda::rank& on) {
            simulated::rank rank{on};
            descending d{rank, 500ms};
            d.step.run().wait();
            if (r == 1) return std::this_thread::sleep_for(2500ms);
            simulated::own_stream mine;
            const auto t = d.step.enqueue(mine.s);
            dv::cuda::calls.stream_synchronize(mine.s);
            t.wait();
        });
    });
    INFO(said[0]);
    CHECK(says(said[0], "the communication of rank 0 has stood still for 0.50"));
    CHECK(says(said[0], "has not ended operation `all_reduce` of `b` (run 1 of `"));
}

TEST_CASE("a process that is killed while NCCL joins the ranks is named to those that NCCL keeps waiting") {
    const auto start = std::chrono::steady_clock::now();
    const auto said = in_two_processes([](int r, int port) {
        dv::cuda::calls.comm_init_rank = [](ncclComm_t*, int, ncclUniqueId, int rank, ncclConfig_t*) {
            if (rank == 1) ::kill(::getpid(), SIGKILL);
            std::this_thread::sleep_for(20s);
            return ncclSystemError;
        };
        joined(r, port).run([](dv::cuda::rank&) {});
    });
    CHECK(seconds_since(start) < 15);
    INFO(said[0]);
    CHECK(says(said[0], "rank 0 stops, because rank 1 (process "));
    CHECK(says(said[0], "is gone: its connection closed without notice"));
    CHECK(says(said[0], "rank 0 waits for all ranks in ncclCommInitRankConfig"));
}

TEST_CASE("joining ends at its limit, with NCCL's error, or with a communicator, which is aborted if it comes too late") {
    static std::atomic<int> aborted;
    static std::atomic<bool> returns;
    static ncclResult_t result;
    dv::cuda::calls = simulated::table();
    dv::cuda::calls.comm_init_rank = [](ncclComm_t* to, int, ncclUniqueId, int, ncclConfig_t*) {
        while (!returns) std::this_thread::sleep_for(1ms);
        *to = reinterpret_cast<ncclComm_t>(8);
        return result;
    };
    dv::cuda::calls.comm_abort = [](ncclComm_t) { ++aborted; return ncclSuccess; };
    const dv::launch::local_peers among{2};
    const auto join = [&](auto limit) { return dv::cuda::detail::init_communicator(among, 1, 2, 0, {}, {}, limit); };
    aborted = 0;
    returns = false;
    result = ncclSuccess;
    CHECK(message([&] { join(100ms); }) ==
          "timeout: dovetail: timeout after 0.10 s: rank 1 waits for all ranks in ncclCommInitRankConfig");
    returns = true;
    for (int i = 0; i < 5000 && aborted == 0; ++i) std::this_thread::sleep_for(1ms);
    CHECK(aborted == 1);
    CHECK(join(10s) == reinterpret_cast<ncclComm_t>(8));
    CHECK(aborted == 1);
    result = ncclSystemError;
    CHECK(says(message([&] { join(10s); }), "ncclCommInitRankConfig"));
}

TEST_CASE("processes with different NCCL libraries, or different options, do not run together") {
    for (const auto& text : in_two_processes([](int r, int port) {
             if (r == 1)
                 dv::cuda::calls.get_version = [](int* v) {
                     *v = NCCL_VERSION_CODE + 100;
                     return ncclSuccess;
                 };
             joined(r, port);
         })) {
        CHECK(says(text, "the version of NCCL differs: rank 1 ("));
        CHECK(says(text, "against rank 0 (" + dv::cuda::detail::nccl_version_text(NCCL_VERSION_CODE) + ")"));
    }
    for (const auto& text : in_two_processes([](int r, int port) {
             joined(r, port).with(dv::cuda::nccl_options{.max_ctas = r == 1 ? 8 : 0}).run([](dv::cuda::rank&) {});
         }))
        CHECK(says(text, "what the program says of NCCL's CTAs differs: rank 1 (at least NCCL's default, at most 8) against rank 0 "
                         "(at least NCCL's default, at most NCCL's default)"));
    for (const auto& text : in_two_processes([](int r, int port) {
             joined(r, port).run([&](dv::cuda::rank& on) {
                 simulated::rank rank{on};
                 if (r == 0)
                     descending d{rank, 30s};
                 else
                     descending d{rank, 30s, dv::replay, dv::width<samples::dp>(2)};
             });
         })) {
        INFO(text);
        CHECK(says(text, "descent`, width 2 of dp, replayed) against rank 0 (`"));
    }
    // Only one of the two keeps the first executor; both are told.
    for (const auto& text : in_two_processes([](int r, int port) {
             joined(r, port).run([&](dv::cuda::rank& on) {
                 simulated::rank rank{on};
                 std::optional<dv::executor<left_first>> first{std::in_place, rank};
                 if (r == 0) first.reset();
                 dv::executor<right_first>{rank};
             });
         })) {
        INFO(text);
        CHECK(says(text, "role `right` is on rank 1 in `left_first` and on rank 0 in `right_first`, of which executors are made on "
                         "rank 1: list"));
    }
}

TEST_CASE("after an error that stays, runs are refused with the reason") {
    const simulated::scope simulation;
    static std::atomic<bool> broken;
    broken = false;
    dv::cuda::calls.get_last_error = [] { return broken.load() ? cudaErrorIllegalAddress : cudaSuccess; };
    std::string first, second, third;
    static_cast<void>(message([&] {
        simulated::run(1, [&](auto& rank) {
            descending d{rank, 30s};
            d.step.run().wait();
            broken = true;
            first = message([&] { d.step.run().wait(); });
            second = message([&] { d.step.run(); });
            third = message([&] { descending other{rank, 30s}; });
        });
    }));
    CHECK(says(first, "failed on rank 0"));
    CHECK(says(first, "illegal memory access"));
    CHECK(second == first);
    CHECK(third == first);
}

// Kernels report nothing until something else is called: the call that says so is no fault of its operation.
TEST_CASE("work that fails behind its launch is not blamed on the operation issued last") {
    static std::atomic<bool> broken;
    for (const auto how : ways) {
        const simulated::scope simulation;
        broken = false;
        dv::cuda::calls.event_query = [](cudaEvent_t e) {
            const std::lock_guard lock{simulated::of(e)->mutex};
            return broken.load()                                             ? cudaErrorIllegalAddress
                   : simulated::of(e)->reached >= simulated::of(e)->recorded ? cudaSuccess
                                                                             : cudaErrorNotReady;
        };
        std::string found, operation = "?";
        static_cast<void>(message([&] {
            simulated::run(1, [&](auto& rank) {
                descending d{rank, 30s, how};
                for (int k = 0; k < 3; ++k) d.step.run().wait();
                const auto t = d.step.run();
                broken = true;
                try {
                    t.wait();
                } catch (const dv::operation_error& e) {
                    found = e.what();
                    operation = e.operation;
                }
            });
        }));
        INFO(found);
        CHECK(says(found, "descent`, or what was issued before it, failed on rank 0, run 3: cudaEventQuery: "));
        CHECK(says(found, "illegal memory access"));
        CHECK(says(found, "; rank 0 has ended its communication, but not a later operation (run 3 of `"));
        CHECK(operation.empty());
    }
    const simulated::scope simulation;
    broken = false;
    dv::cuda::calls.get_last_error = [] { return broken.load() ? cudaErrorIllegalAddress : cudaSuccess; };
    const std::string text = message([&] {
        simulated::run(1, [&](auto& rank) {
            descending d{rank, 30s};
            d.step.run().wait();
            broken = true;
            d.step.run();
        });
    });
    INFO(text);
    CHECK(says(text, "operation `multiply` of `a`, or an operation before it, failed on rank 0, run 1: the launch: "));
    CHECK(says(text, "illegal memory access"));
}

TEST_CASE("what is said of NCCL's CTAs reaches its communicators") {
    const simulated::scope simulation;
    const auto registered = simulated::here().registered.size();
    static int least, most, splits;
    least = most = splits = 0;
    static const auto init = dv::cuda::calls.comm_init_rank;
    static const auto split = dv::cuda::calls.comm_split;
    dv::cuda::calls.comm_init_rank = [](ncclComm_t* c, int n, ncclUniqueId id, int r, ncclConfig_t* how) {
        least = how->minCTAs;
        most = how->maxCTAs;
        return init(c, n, id, r, how);
    };
    dv::cuda::calls.comm_split = [](ncclComm_t c, int color, int key, ncclComm_t* made, ncclConfig_t* how) {
        splits += how != nullptr && how->maxCTAs == 8;
        return split(c, color, key, made, how);
    };
    dv::cuda::world::local(3).with({.min_ctas = 2, .max_ctas = 8}).run([](dv::cuda::rank& on) {
        simulated::rank rank{on};
        dv::executor<samples::overlapping_collectives> step{rank, 30s};
    });
    CHECK(least == 2);
    CHECK(most == 8);
    CHECK(splits >= 3);
    CHECK(says(message([] { dv::cuda::world::local(2).with({.min_ctas = 9, .max_ctas = 8}); }),
               "NCCL cannot use at least 9 and at most 8 CTAs"));
    CHECK(simulated::here().registered.size() == registered);
}

TEST_CASE("a communicator that NCCL does not end does not keep the others") {
    const simulated::scope simulation;
    static std::atomic<int> begun;
    static std::atomic<bool> hangs;
    begun = 0;
    hangs = true;
    dv::cuda::calls.comm_abort = [](ncclComm_t) {
        if (begun++ == 0)
            while (hangs) std::this_thread::sleep_for(1ms);
        return ncclSuccess;
    };
    ncclUniqueId id{};
    ncclComm_t all = nullptr;
    dv::cuda::check(dv::cuda::calls.get_unique_id(&id), "ncclGetUniqueId");
    dv::cuda::check(dv::cuda::calls.comm_init_rank(&all, 1, id, 0, nullptr), "ncclCommInitRank");
    dv::cuda::communicators those{all, 0, 0, {}};
    for (const int key : {1, 2}) CHECK(those.of({{0}, {key}}, false) != nullptr);

    std::thread end{[&] { those.abort([] {}); }};
    const auto start = std::chrono::steady_clock::now();
    while (begun < 3 && seconds_since(start) < 5) std::this_thread::sleep_for(1ms);
    CHECK(begun == 3);
    hangs = false;
    end.join();
}
