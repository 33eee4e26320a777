// After the first runs, a run allocates nothing: on streams and replayed, with NCCL and with peer copies, and if the caller keeps tickets.
// Allocations of the simulation and of operations do not count.
#include "support/simulated_cuda.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

namespace {
thread_local bool counted = false;
std::atomic<int> allocations = 0;
}  // namespace

#if !defined(__CUDA_ARCH__)  // nvcc compiles these for the device as well
void* operator new(std::size_t bytes) {
    if (counted) ++allocations;
    if (void* const p = std::malloc(bytes > 0 ? bytes : 1)) return p;
    throw std::bad_alloc{};
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace dv = dovetail;
using namespace std::chrono_literals;
using dv::cuda::api;

namespace steady {

using namespace dv::ops;
struct x; struct y; struct z; struct dp; struct left; struct right;
using vector = dv::tensor<float, 8>;

struct uncounted {
    const bool before = std::exchange(counted, false);
    ~uncounted() { counted = before; }
};
template <auto Entry, class F>
struct entry;
template <auto Entry, class Result, class... Arguments>
struct entry<Entry, Result (*)(Arguments...)> {
    static inline Result (*real)(Arguments...) = nullptr;
    static Result call(Arguments... arguments) {
        const uncounted here;
        return real(arguments...);
    }
};
template <auto... Entry>
void leave_out() {
    ((entry<Entry, std::remove_reference_t<decltype(dv::cuda::calls.*Entry)>>::real = dv::cuda::calls.*Entry,
      dv::cuda::calls.*Entry = &entry<Entry, std::remove_reference_t<decltype(dv::cuda::calls.*Entry)>>::call),
     ...);
}
dv::cuda::detail::batch_mem_op_function batch_mem_op;

struct scene : simulated::scope {
    scene() {
        api& t = dv::cuda::calls;
        t.find_batch_mem_op(&batch_mem_op);
        t.find_batch_mem_op = [](dv::cuda::detail::batch_mem_op_function* f) {
            *f = [](CUstream s, unsigned count, CUstreamBatchMemOpParams* all, unsigned flags) {
                const uncounted here;
                return batch_mem_op(s, count, all, flags);
            };
            return cudaSuccess;
        };
        leave_out<&api::memcpy_async, &api::event_record, &api::stream_wait_event, &api::event_query, &api::graph_launch, &api::group_end,
                  &api::send, &api::recv, &api::all_reduce>();
    }
};

struct twice {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        const uncounted here;
        simulated::of(static_cast<cudaStream_t>(s.handle))->push([from, to] {
            for (std::int64_t i = 0; i < X::size; ++i) to[i] = 2 * from[i];
        });
    }
};
struct reduced : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp>>,
    dv::let<y, all_reduce<sum, dp>(twice(x))>,
    dv::let<z, twice(y)>,
    dv::output<z>> {};
struct handed_on : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<y, twice(x)>>,
    dv::on<right, dv::let<z, twice(y)>>,
    dv::output<z>> {};

// Allocations of a hundred runs on two ranks; `kept` tickets are alive beside the one being made.
template <class G, class Options>
int of_runs(dv::replay_mode how, std::size_t kept) {
    const scene simulation;
    allocations = 0;
    dv::cuda::world::local(2).run([&](auto& rank) {
        dv::executor<G, Options> step{rank, 30s, how};
        step.bind(dv::name<x>, std::vector<float>(8, 1.0f));
        std::vector<dv::ticket<G>> tickets(kept + 1);
        for (std::size_t k = 0; k < 150; ++k) {
            auto& last = tickets[k % tickets.size()];
            counted = k >= 50;
            if (kept == 0)
                step.run();
            else
                last = step.run();
            counted = false;
            if (k % 10 == 9) step.run().wait();
        }
    });
    return allocations;
}

}  // namespace steady

TEST_CASE("steady runs allocate nothing") {
    using namespace steady;
    using by_nccl = dv::options<dv::channel_transport<dv::transport::nccl>>;
    using copied = dv::options<dv::channel_transport<dv::transport::peer_copy>, dv::in_flight<3>>;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        for (const std::size_t kept : {0, 1, 2}) {
            CAPTURE(kept);
            CHECK(of_runs<reduced, by_nccl>(how, kept) == 0);
            CHECK(of_runs<handed_on, by_nccl>(how, kept) == 0);
            CHECK(of_runs<handed_on, copied>(how, kept) == 0);
        }
}

TEST_CASE("nor do those of the plan that tuning has kept") {
    using namespace steady;
    const scene simulation;
    allocations = 0;
    std::atomic<int> compared = 0;
    dv::cuda::world::local(2).run([&](auto& rank) {
        dv::executor<handed_on> step{rank, 30s, dv::tuned};
        step.bind(dv::name<x>, std::vector<float>(8, 1.0f));
        for (const dv::tuning_plan& p : step.tuning().plans) compared += p.left_out.empty() ? 1 : 0;
        while (!step.tuning().decided()) step.run();
        for (int k = 0; k < 100; ++k) {
            counted = k >= 50;
            step.run();
            counted = false;
            if (k % 10 == 9) step.run().wait();
        }
    });
    CHECK(compared >= 4);
    CHECK(allocations.load() == 0);
}

TEST_CASE("the counter counts") {
    allocations = 0;
    counted = true;
    ::operator delete(::operator new(8));
    counted = false;
    CHECK(allocations > 0);
}
