// Every call of the table made to fail, once each: an exception, no hang, nothing left behind, and the process goes on.
#include "support/compare.hpp"
#include "support/expect.hpp"
#include "support/near_peers.hpp"
#include "support/processes.hpp"
#include "support/samples.hpp"
#include "support/says.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/launch/cuda/peer_copy/peer_copies.hpp>

#include <doctest/doctest.h>

#include <barrier>

namespace dv = dovetail;
using namespace std::chrono_literals;
using support::expect;
using support::near_peers;
using dv::cuda::api;

namespace {
using near = dv::options<near_peers>;
using wide = dv::tensor<float, 512, 512>;
using namespace dv::ops;
struct wide_sum : dv::graph<
    dv::input<samples::x, wide>, dv::mesh<dv::axis<samples::dp, 2>>, dv::let<samples::a, add(samples::x, samples::x)>,
    dv::let<samples::y, all_reduce<sum, samples::dp>(samples::a)>, dv::output<samples::y>> {};
// Device 1 has no access to device 2.
cudaError_t only_others(int* can, int device, int peer) {
    *can = device == 1 && peer == 2 ? 0 : 1;
    return cudaSuccess;
}
const std::string no_access = "the peer copies of `ring_of_three` cannot be made: rank 1: the memory of rank 2 cannot be reached: "
                              "device 1 has no peer access to device 2";
// How often an entry may be called before one call fails; -1: never.
int countdown[128];
int made[128];
template <class Result>
Result refusal() {
    if constexpr (std::is_same_v<Result, cudaError_t>) return cudaErrorUnknown;
    else if constexpr (std::is_same_v<Result, ncclResult_t>) return ncclSystemError;
    else return CUBLAS_STATUS_EXECUTION_FAILED;
}
std::mutex counting;
template <int I, auto Entry, class F>
struct counted;
template <int I, auto Entry, class Result, class... Arguments>
struct counted<I, Entry, Result (*)(Arguments...)> {
    static inline Result (*real)(Arguments...) = nullptr;
    static Result call(Arguments... arguments) {
        {
            const std::lock_guard lock{counting};
            ++made[I];
            if (countdown[I] >= 0 && countdown[I]-- == 0) return refusal<Result>();
        }
        return real(arguments...);
    }
};
template <int I, auto Entry>
void wrap(api& t) {
    using one = counted<I, Entry, std::remove_reference_t<decltype(t.*Entry)>>;
    one::real = t.*Entry;
    t.*Entry = &one::call;
}
template <auto... Entry>
struct entries {
    static constexpr int count = sizeof...(Entry);
    // Whether an entry is among these.
    template <auto One, auto Other>
    static constexpr bool same() {
        if constexpr (std::is_same_v<decltype(One), decltype(Other)>) return One == Other;
        else return false;
    }
    template <auto One>
    static constexpr bool has() { return count > 0 && (same<One, Entry>() || ...); }
    template <class Some>
    static bool at_is_of(int at) {
        const bool found[] = {Some::template has<Entry>()...};
        return at < count && found[at];
    }
    template <int... I>
    static void wrap_all(api& t, std::integer_sequence<int, I...>) { (wrap<I, Entry>(t), ...); }
    static void wrap_all(api& t) { wrap_all(t, std::make_integer_sequence<int, count>{}); }
};
// Destruction and queries about the past are left out: they report to nobody.
using all = entries<&api::get_device_count, &api::device_bus_id, &api::set_device, &api::malloc, &api::malloc_host, &api::memcpy,
                    &api::memcpy_async, &api::memset, &api::memset_async, &api::stream_priority_range, &api::stream_create,
                    &api::stream_synchronize, &api::stream_wait_event, &api::event_create, &api::event_record,
                    &api::event_record_with_flags, &api::event_query, &api::event_elapsed_time, &api::find_batch_mem_op,
                    &api::stream_begin_capture, &api::stream_end_capture, &api::stream_is_capturing,
                    &api::graph_get_edges, &api::graph_remove_dependencies, &api::graph_instantiate, &api::graph_upload,
                    &api::graph_launch, &api::get_version, &api::get_unique_id, &api::comm_init_rank, &api::comm_split,
                    &api::comm_register, &api::comm_get_async_error, &api::comm_count, &api::comm_user_rank, &api::comm_device,
                    &api::group_start, &api::group_end, &api::send, &api::recv, &api::all_reduce, &api::reduce, &api::broadcast,
                    &api::all_gather, &api::reduce_scatter, &api::blas_create, &api::blas_set_stream, &api::blas_set_workspace,
                    &api::blas_gemm, &api::blas_set_sm_count, &api::stream_query, &api::can_access_peer, &api::enable_peer_access,
                    &api::ipc_get_handle, &api::ipc_open_handle, &api::host_register, &api::host_device_pointer>;
// Before anybody is a rank, or a rank alone can fail.
using of_the_world = entries<&api::get_device_count, &api::get_version, &api::get_unique_id, &api::comm_init_rank, &api::comm_count,
                             &api::comm_user_rank, &api::comm_device>;
// Asked again and again, also by those who only end; said to a thread that is about to end.
using polled = entries<&api::event_query, &api::stream_query, &api::comm_get_async_error, &api::set_device>;
// Called for an operation, always.
using of_operations = entries<&api::memcpy_async, &api::memset_async, &api::send, &api::recv, &api::all_reduce, &api::reduce,
                              &api::broadcast, &api::reduce_scatter, &api::blas_gemm, &api::blas_set_sm_count>;
// The driver's function, which the table only finds: numbered behind its entries.
constexpr int batch_mem_op = all::count, ways = all::count + 1;
struct found {
    static inline dv::cuda::detail::batch_mem_op_function real = nullptr;
    static CUresult call(CUstream s, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) {
        {
            const std::lock_guard lock{counting};
            ++made[batch_mem_op];
            if (countdown[batch_mem_op] >= 0 && countdown[batch_mem_op]-- == 0) return CUDA_ERROR_UNKNOWN;
        }
        return real(s, count, operations, flags);
    }
};

struct table {
    table() {
        dv::cuda::calls = simulated::table();
        dv::cuda::local_reduction_kernel = &simulated::reduce_here;
        auto& t = dv::cuda::calls;
        t.find_batch_mem_op(&found::real);
        t.find_batch_mem_op = [](dv::cuda::detail::batch_mem_op_function* f) { *f = &found::call; return cudaSuccess; };
        all::wrap_all(t);
        for (int i = 0; i < 128; ++i) {
            countdown[i] = -1;
            made[i] = 0;
        }
    }
    ~table() { dv::cuda::calls = api{}; }
};

// A product on some of the multiprocessors.
struct on_sixteen : dv::ops::matmul {
    static constexpr int sms = 16;
};
struct product : dv::graph<
    dv::input<samples::x, dv::tensor<float, 4, 4>>,
    dv::let<samples::y, on_sixteen(samples::x, samples::x)>,
    dv::output<samples::y>> {};

// Channels, collectives over overlapping roles, replayed and not, recorded; channels by peer copy between threads and processes.
void program() {
    simulated::run(3, [](auto& rank) {
        support::exercise<samples::overlapping_collectives, samples::overlapped>(rank, 3, 1);
        support::exercise<samples::overlapping_collectives, samples::overlapped>(rank, 3, 1, dv::replay);  // has implied edges
        support::exercise<samples::ring_of_three, samples::overlapped>(rank, 3, 1);
        support::exercise<samples::ring_of_three, samples::overlapped>(rank, 3, 1, dv::replay, dv::record_times);
        support::exercise<samples::ring_of_three, samples::copied>(rank, 3, 1);
    });
    simulated::run_apart(3, [](auto& rank) {
        support::exercise<samples::ring_of_three, samples::several_copied>(rank, 3, 3);
        support::exercise<samples::ring_of_three, samples::copied>(rank, 3, 1, dv::replay);
    });
    simulated::run(4, [](auto& rank) { support::exercise<samples::sums, samples::overlapped>(rank, 1, 1); });
    simulated::run(2, [](auto& rank) { support::exercise<samples::along_an_axis, samples::overlapped>(rank, 1, 1); });
    dv::cuda::world::from_environment({.rank = 0, .size = 1, .rendezvous = "127.0.0.1:" + std::to_string(support::free_port())},
                                      {.limit = 10s})
        .run([](dv::cuda::rank& rank) { support::exercise<product, samples::overlapped>(rank, 1, 1); });
    struct own {
        ncclComm_t comm = nullptr;
        own() {
            ncclUniqueId id{};
            dv::cuda::check(dv::cuda::calls.get_unique_id(&id), "ncclGetUniqueId");
            dv::cuda::check(dv::cuda::calls.comm_init_rank(&comm, 1, id, 0, nullptr), "ncclCommInitRankConfig");
        }
        ~own() { dv::cuda::calls.comm_destroy(comm); }
    } mine;
    dv::cuda::world::adopt(mine.comm, 0).run([](dv::cuda::rank& on) {
        simulated::rank rank{on};
        support::exercise<samples::descent, samples::overlapped>(rank, 1, 1);
    });
}
}  // namespace

TEST_CASE("every call fails once, at its first, second and last use: an exception, with the rank, and the operation where it is one's") {
    int uses[128];
    {
        const table t;
        program();
        std::copy(std::begin(made), std::end(made), std::begin(uses));
    }
    for (int i = 0; i < ways; ++i) {
        CAPTURE(i);
        CHECK(uses[i] > 0);
        for (const int at : std::set<int>{0, 1, uses[i] / 2, uses[i] - 1}) {
            CAPTURE(at);
            if (at < 0 || at >= uses[i]) continue;
            std::size_t memory = 0;
            {
                const std::lock_guard lock{simulated::here().mutex};
                memory = simulated::here().memory.size() + simulated::here().pinned.size();
            }
            const table t;
            countdown[i] = at;
            const auto start = std::chrono::steady_clock::now();
            std::string what, operation;
            try {
                program();
            } catch (const dv::operation_error& e) {
                what = e.what();
                operation = e.operation;
            } catch (const dv::failure& e) {
                what = e.what();
            }
            CHECK(std::chrono::steady_clock::now() - start < 30s);
            CAPTURE(what);
            if (countdown[i] < 0) {  // how often clocks and polls ask differs
                CHECK((!what.empty() || all::at_is_of<polled>(i)));
                CHECK((what.empty() || what.rfind("dovetail: ", 0) == 0));
                CHECK((what.empty() || support::says(what, "rank ") || support::says(what, "the ranks of the world cannot be joined") ||
                       all::at_is_of<of_the_world>(i)));
                // Where a capture fails, a rank that was told so may end the work first; its text has the operation.
                CHECK((!operation.empty() || support::says(what, "operation `") ||
                       !(all::at_is_of<of_operations>(i) || i == batch_mem_op)));
            }
            const std::lock_guard lock{simulated::here().mutex};
            CHECK(simulated::here().memory.size() + simulated::here().pinned.size() == memory);
        }
    }
    const table t;
    program();  // the process goes on
}

TEST_CASE("a rank that does not come is named, and the others end") {
    const table t;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        std::string what;
        try {
            simulated::run(2, [&](auto& rank) {
                dv::executor<samples::descent> step{rank, 20s, how};
                step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f)).bind(dv::name<samples::rate>, 0.5f);
                step.run().wait();
                if (rank.index() == 1) std::this_thread::sleep_for(1s);
                else step.run().wait_for(200ms);
            });
        } catch (const dv::timeout& e) {
            what = e.what();
        }
        CAPTURE(what);
        CHECK(what.find("rank 0 has not ended operation `all_reduce") != std::string::npos);
        CHECK(what.find("rank 1 has nothing to do") != std::string::npos);
    }
}

TEST_CASE("ranks that cannot reach each other's memory are told so, and what to do") {
    const auto message = [](auto run, auto spoil) -> std::string {
        const table t;
        spoil(dv::cuda::calls);
        try {
            run(3, [](auto& rank) { dv::executor<samples::ring_of_three, samples::copied> step{rank, 20s}; });
        } catch (const dv::world_error& e) {
            return e.what();
        }
        return "nothing thrown";
    };
    const auto threads = [](int n, auto body) { simulated::run(n, body); };
    const auto processes = [](int n, auto body) { simulated::run_apart(n, body); };
    const std::string advice = ". NCCL moves these values with transport::nccl in the options channel_transport, collective_transport and "
                               "axis_transport, and in the statements moved_by";
    CHECK(message(threads, [](api& t) { t.can_access_peer = only_others; }) == "dovetail: " + no_access + advice);
    const std::string refused = message(
        processes, [](api& t) { t.ipc_open_handle = [](void**, cudaIpcMemHandle_t, unsigned) { return cudaErrorMapBufferObjectFailed; }; });
    CAPTURE(refused);
    CHECK(
        refused.rfind(
            "dovetail: the peer copies of `ring_of_three` cannot be made: rank 0: the memory of rank 1 cannot be reached: cudaIpcOpenMemHandle: ",
            0) == 0);
    CHECK(refused.find("; rank 1: the memory of rank 2 cannot") != std::string::npos);
    CHECK(refused.find(advice) != std::string::npos);
    const auto hosts = [](int n, auto body) { simulated::run_apart(n, body, 2); };
    const std::string far = message(hosts, [](api&) {});
    CAPTURE(far);
    CHECK(far.find("rank 1: the memory of rank 2 is on host abroad, not on " + dv::cuda::detail::host_name()) != std::string::npos);
    CHECK(far.find(advice) != std::string::npos);
    const std::string none = message(threads, [](api& t) {
        t.find_batch_mem_op = [](dv::cuda::detail::batch_mem_op_function* f) {
            *f = nullptr;
            return cudaSuccess;
        };
    });
    CAPTURE(none);
    CHECK(none.find("rank 2: the driver has no stream memory operations") != std::string::npos);
}

template <class Expression>
struct exchanged : dv::graph<
    dv::mesh<dv::axis<samples::dp, 3>>,
    dv::input<samples::x, dv::tensor<float, 3, 4>>,
    dv::let<samples::y, Expression>,
    dv::output<samples::y>> {};

// How many calls for words the runs of three ranks make, each time.
template <class Expression>
std::vector<int> calls_of_runs() {
    const table t;
    std::barrier<> meet{3};
    std::vector<int> calls;
    simulated::run(3, [&](auto& rank) {
        dv::executor<exchanged<Expression>, samples::copied> step{rank, 20s};
        step.bind(dv::name<samples::x>, std::vector<float>(12, 1.0f));
        for (int run = 0; run < 2; ++run) {
            const int before = made[batch_mem_op];
            meet.arrive_and_wait();
            step.run().wait();
            meet.arrive_and_wait();
            if (rank.index() == 0) calls.push_back(made[batch_mem_op] - before);
            meet.arrive_and_wait();
        }
    });
    return calls;
}

// Each call takes the GPU microseconds. One before the first put, one between two puts, one behind the last for all that arrives, and for
// what the step reports; the wait for the copy of the own block divides the last one, and what is reduced has none.
TEST_CASE("the words between two copies are written and waited for in one call") {
    using samples::dp, samples::x;
    CHECK(calls_of_runs<all_to_all<dp>(x)>() == std::vector<int>(2, 3 * 4));
    CHECK(calls_of_runs<reduce_scatter<sum, dp>(x)>() == std::vector<int>(2, 3 * 3));
}

// As between hosts, where NCCL's sockets close before the connection says which rank has ended. NCCL says so when it is asked, or to the
// next call.
TEST_CASE("what NCCL notices of a rank that fails is not taken for the cause") {
    static std::atomic<bool> failing{false};
    const auto said_by_the_other = [](auto spoil) {
        const table t;
        failing = false;
        spoil(dv::cuda::calls);
        std::string said;
        const auto body = [&](auto& rank) {
            dv::executor<samples::descent> step{rank, 20s};
            step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f)).bind(dv::name<samples::rate>, 0.0f);
            step.run().wait();
            if (rank.index() == 1) {
                failing = true;
                std::this_thread::sleep_for(200ms);
                throw std::runtime_error{"on purpose"};
            }
            try {
                while (!failing) std::this_thread::sleep_for(1ms);
                step.run().wait();
            } catch (const std::exception& e) {
                said = e.what();
                throw;
            }
        };
        CHECK_THROWS_AS(simulated::run(2, body), std::runtime_error);
        return said;
    };
    const auto asked = [](api& t) {
        t.comm_get_async_error = [](ncclComm_t, ncclResult_t* found) {
            *found = failing ? ncclRemoteError : ncclSuccess;
            return ncclSuccess;
        };
    };
    const auto called = [](api& t) {
        static decltype(t.all_reduce) real;
        real = t.all_reduce;
        t.all_reduce = [](const void* from, void* to, std::size_t n, ncclDataType_t type, ncclRedOp_t by, ncclComm_t c, cudaStream_t s) {
            return failing ? ncclRemoteError : real(from, to, n, type, by, c, s);
        };
    };
    for (const std::string& said : {said_by_the_other(asked), said_by_the_other(called)}) {
        CAPTURE(said);
        CHECK(said.find("rank 1 left with an exception: on purpose") != std::string::npos);
        CHECK(said.find("NCCL") == std::string::npos);
        CHECK(said.find("nccl") == std::string::npos);
    }
}

TEST_CASE("where copy engines do not reach, all ranks execute the second plan, and say why") {
    const auto reasons = [](auto run, auto spoil) {
        const table t;
        spoil(dv::cuda::calls);
        std::vector<std::string> said(3);
        run(3, [&](auto& rank) {
            dv::executor<samples::ring_of_three, near> step{rank, 20s};
            said[static_cast<std::size_t>(rank.index())] = step.transport_fallback_reason();
            step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f));
            const auto ticket = step.run();
            ticket.wait();
            if (rank.is(dv::name<samples::left>)) expect(ticket.read(dv::name<samples::d>).host(), std::vector<float>(8, 2.5f), "d", 0, 0);
        });
        CHECK(said == std::vector<std::string>(3, said[0]));
        return said[0];
    };
    const auto threads = [](int n, auto body) { simulated::run(n, body); };
    const auto processes = [](int n, auto body) { simulated::run_apart(n, body); };
    const auto hosts = [](int n, auto body) { simulated::run_apart(n, body, 2); };
    CHECK(reasons(threads, [](api&) {}) == "");
    CHECK(reasons(threads, [](api& t) { t.can_access_peer = only_others; }) == no_access);
    const std::string refused = reasons(processes, [](api& t) {
        t.ipc_open_handle = [](void**, cudaIpcMemHandle_t, unsigned) { return cudaErrorMapBufferObjectFailed; };
    });
    CHECK(refused.find("; rank 1: the memory of rank 2 cannot be reached: cudaIpcOpenMemHandle") != std::string::npos);
    CHECK(reasons(hosts, [](api&) {}).find("rank 1: the memory of rank 2 is on host abroad") != std::string::npos);
}

TEST_CASE("dv::tuned leaves out the plans that copy engines cannot execute, and says so") {
    const table t;
    dv::cuda::calls.can_access_peer = only_others;
    std::vector<std::string> said(3), kept(3);
    simulated::run(3, [&](auto& rank) {
        dv::executor<samples::ring_of_three, near> step{rank, 20s, dv::tuned};
        step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f));
        for (int run = 0; run < 40; ++run) {
            const auto ticket = step.run();
            if (!rank.is(dv::name<samples::left>)) continue;
            expect(ticket.read(dv::name<samples::d>).host(), std::vector<float>(8, 2.5f), "d", 0, run);
        }
        said[static_cast<std::size_t>(rank.index())] = step.transport_fallback_reason();
        kept[static_cast<std::size_t>(rank.index())] = step.tuning().text();
    });
    CAPTURE(kept[0]);
    CHECK(said == std::vector<std::string>(3, no_access));
    CHECK(kept == std::vector<std::string>(3, kept[0]));
    CHECK(kept[0].find("the planner's choice: left out, " + no_access) != std::string::npos);
    CHECK(kept[0].find("the other transport: left out") == std::string::npos);
    CHECK(kept[0].find("kept") != std::string::npos);
}

TEST_CASE("a device that fails before an executor is made: the rank and the graph") {
    const table t;
    static thread_local bool failing = false;
    static const auto set_device = dv::cuda::calls.set_device;
    dv::cuda::calls.set_device = [](int d) { return failing ? cudaErrorUnknown : set_device(d); };
    const std::string said = support::message([] {
        simulated::run(2, [](auto& rank) {
            failing = rank.index() == 1;
            dv::executor<samples::crossing_pair, samples::overlapped> step{rank, 20s};
        });
    });
    support::has(said, "rank 1 cannot make an executor of `crossing_pair`: cudaSetDevice: ");
}

TEST_CASE("dv::tuned leaves out the plans for which one rank has no memory") {
    const table t;
    static thread_local int device = 0;
    static const auto set_device = dv::cuda::calls.set_device;
    dv::cuda::calls.set_device = [](int d) {
        device = d;
        return set_device(d);
    };
    dv::cuda::calls.mem_get_info = [](std::size_t* free, std::size_t* total) {
        *total = std::size_t{1} << 30;
        *free = device == 1 ? 64 : *total;
        return cudaSuccess;
    };
    std::vector<std::string> kept(3);
    simulated::run(3, [&](auto& rank) {
        dv::executor<samples::ring_of_three, near> step{rank, 20s, dv::tuned};
        kept[static_cast<std::size_t>(rank.index())] = step.tuning().text();
        step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f));
        const auto ticket = step.run();
        if (rank.is(dv::name<samples::left>)) expect(ticket.read(dv::name<samples::d>).host(), std::vector<float>(8, 2.5f), "d", 0, 0);
    });
    CAPTURE(kept[0]);
    CHECK(kept == std::vector<std::string>(3, kept[0]));
    CHECK(kept[0].find("left out, a rank has too little free memory for its arena") != std::string::npos);
    CHECK(kept[0].find("the planner's choice: not measured") != std::string::npos);
}

TEST_CASE("without the kernel that reduces what copy engines bring, the second plan is executed") {
    const table t;
    dv::cuda::local_reduction_kernel = nullptr;
    using searched = dv::options<near_peers, dv::rewritten_by<dv::rewrite::automatic>>;
    static_assert(dv::plan::has_fallback<wide_sum, searched>);
    std::vector<std::string> said(2);
    simulated::run(2, [&](auto& rank) {
        dv::executor<wide_sum, searched> step{rank, 20s};
        said[static_cast<std::size_t>(rank.index())] = step.transport_fallback_reason();
        step.bind(dv::name<samples::x>, std::vector<float>(wide::size, 2.0f));
        expect(step.run().read(dv::name<samples::y>).host(), std::vector<float>(wide::size, 8.0f), "y", rank.index(), 0);
    });
    CHECK(said[0].find("rank 0: a reduction within a GPU") != std::string::npos);
    CHECK(said == std::vector<std::string>(2, said[0]));
}

TEST_CASE("the second plan makes the values of the first, replayed and with several runs in flight") {
    const table t;
    dv::cuda::calls.can_access_peer = [](int* can, int, int) {
        *can = 0;
        return cudaSuccess;
    };
    const auto run = [](int n, auto body) { simulated::run(n, body); };
    support::compare<samples::ring_of_three, near>(3, 1, "ring_of_three", run);
    support::compare<samples::there_and_back, dv::options<near_peers, dv::in_flight<3>>>(3, 3, "there_and_back", run);
}

TEST_CASE("a peer copy whose partner does not come is ended, and its operation named") {
    const table t;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        for (const int late : {0, 2}) {
            std::string what;
            const auto start = std::chrono::steady_clock::now();
            try {
                simulated::run(3, [&](auto& rank) {
                    dv::executor<samples::ring_of_three, samples::copied> step{rank, 20s, how};
                    step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f));
                    step.run().wait();
                    if (rank.index() == late) std::this_thread::sleep_for(1s);
                    else step.run().wait_for(200ms);
                });
            } catch (const dv::timeout& e) {
                what = e.what();
            }
            CAPTURE(what);
            CHECK(what.find("has not ended operation `transfer") != std::string::npos);
            CHECK(what.find("rank " + std::to_string(late) + " has nothing to do") != std::string::npos);
            CHECK(std::chrono::steady_clock::now() - start < 15s);
        }
}

TEST_CASE("worlds that do not fit this machine") {
    const auto message = [](auto f) -> std::string {
        try {
            f();
        } catch (const dv::world_error& e) {
            return e.what();
        }
        return "nothing thrown";
    };
    const table t;
    CHECK(message([] { dv::cuda::world::local(5); }) == "dovetail: rank 4 is to use device 4, and this machine has 4 devices");
    CHECK(message([] { dv::cuda::world::local(2, {1, 1}); }) == "dovetail: ranks 0 and 1 are both to use device 1");
    CHECK(message([] { dv::cuda::world::local(0); }) == "dovetail: a world has at least one rank, not 0");
    dv::cuda::calls.get_device_count = [](int*) { return cudaErrorNoDevice; };
    CHECK(message([] { dv::cuda::world::local(1); }) == "dovetail: no CUDA device on this machine");
    dv::cuda::calls.get_device_count = [](int*) { return cudaErrorInsufficientDriver; };
    CHECK(message([] { dv::cuda::world::local(1); }).rfind("dovetail: no CUDA driver that fits this program", 0) == 0);
    dv::cuda::calls.get_version = [](int* v) { *v = 22005; return ncclSuccess; };
    CHECK(message([] {
              dv::cuda::world::local(1);
          }).rfind("dovetail: the NCCL library found at run time is version 2.20.5, older than the headers", 0) == 0);
}
