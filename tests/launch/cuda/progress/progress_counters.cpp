// How far a GPU has come, on the simulated one: of two communications the second is the one that is named where only that is open.
#include "support/expect.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace progress_test {

using namespace dv::ops;
struct dp;
struct x; struct first; struct between; struct second;
using vector = dv::tensor<float, 8>;

// Does nothing, and is issued late where its rank is.
struct held {
    static inline thread_local bool late = false;
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream, dv::in<X>, dv::out<X>) {
        if (late) std::this_thread::sleep_for(2500ms);
    }
};
// The same in the work of the GPU, so that a replayed run does it as well.
struct held_on_gpu {
    static inline thread_local int rank = 0;
    static inline std::atomic<bool> late = false;
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X>, dv::out<X>) {
        simulated::of(static_cast<cudaStream_t>(s.handle))->push([here = rank] {
            if (late && here == 1) std::this_thread::sleep_for(2500ms);
        });
    }
};
template <class Held>
struct model : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp>>, dv::let<first, all_reduce<sum, dp>(x)>,
                         dv::let<between, Held(first)>, dv::let<second, all_reduce<sum, dp>(between)>, dv::output<second>> {};

// The collective on a stream of its own, and an operation on another that waits for it.
struct waited_for : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp>>, dv::let<first, all_reduce<sum, dp>(x)>,
                              dv::let<second, held_on_gpu(first)>, dv::output<second>> {};
using on_two_streams = dv::options<dv::machine::h200_nvlink, dv::force_candidate<dv::candidate::written>>;

// The calls for the stream of the last all_reduce, from that on: its event, and the words that the stream writes.
std::mutex mutex;
cudaStream_t reducing = nullptr;
std::string calls_behind;
dv::cuda::api real;
dv::cuda::detail::batch_mem_op_function real_words = nullptr;

void note(cudaStream_t on, char what) {
    const std::lock_guard lock{mutex};
    if (on == reducing) calls_behind += what;
}
void watch_calls() {
    real = dv::cuda::calls;
    real.find_batch_mem_op(&real_words);
    dv::cuda::calls.all_reduce = [](const void* from, void* to, std::size_t n, ncclDataType_t type, ncclRedOp_t how, ncclComm_t comm,
                                    cudaStream_t on) {
        {
            const std::lock_guard lock{mutex};
            reducing = on;
            calls_behind.clear();
        }
        return real.all_reduce(from, to, n, type, how, comm, on);
    };
    dv::cuda::calls.event_record = [](cudaEvent_t event, cudaStream_t on) { return note(on, 'e'), real.event_record(event, on); };
    dv::cuda::calls.find_batch_mem_op = [](dv::cuda::detail::batch_mem_op_function* found) {
        *found = [](CUstream on, unsigned count, CUstreamBatchMemOpParams* all, unsigned flags) {
            note(on, 'w');
            return real_words(on, count, all, flags);
        };
        return cudaSuccess;
    };
}

}  // namespace progress_test
using namespace progress_test;

TEST_CASE("a communication that has ended is not blamed for the next") {
    const simulated::scope simulation;
    std::string why;
    static_cast<void>(support::message([&] {
        dv::cuda::world::local(2).run([&](auto& rank) {
            dv::executor<model<held>> step{rank, 500ms};
            step.bind(dv::name<x>, std::vector<float>(8));
            step.run().wait();
            held::late = rank.index() == 1;
            const std::string text = support::message([&] { step.run().wait(); });
            if (rank.index() == 0) why = text;
        });
    }));
    support::has(why, "rank 0 has not ended operation `all_reduce` of `second` (run 1 of `");
    support::has(why, "rank 1 is issuing operation `held` of `between` (run 1 of `");
}

TEST_CASE("nor in a replayed run, whose words are written by a kernel, or by the streams where there is none") {
    for (const bool by_kernel : {true, false}) {
        const simulated::scope simulation;
        if (!by_kernel) dv::cuda::progress_word_kernel = nullptr;
        held_on_gpu::late = false;
        std::string why;
        static_cast<void>(support::message([&] {
            dv::cuda::world::local(2).run([&](auto& rank) {
                held_on_gpu::rank = rank.index();
                dv::executor<model<held_on_gpu>> step{rank, dv::replay, 500ms};
                step.bind(dv::name<x>, std::vector<float>(8));
                step.run().wait();
                held_on_gpu::late = true;
                const std::string text = support::message([&] { step.run().wait(); });
                if (rank.index() == 0) why = text;
            });
        }));
        support::has(why, "rank 0 has not ended operation `all_reduce` of `second` (run 1 of `");
    }
}

TEST_CASE("what waits for a collective of NCCL does not wait for the word of progress behind it") {
    const simulated::scope simulation;
    held_on_gpu::late = false;
    watch_calls();
    dv::cuda::world::local(2).run([&](auto& rank) {
        dv::executor<waited_for, on_two_streams> step{rank};
        step.bind(dv::name<x>, std::vector<float>(8)).run().wait();
    });
    CHECK(calls_behind.substr(0, 2) == "ew");
}
