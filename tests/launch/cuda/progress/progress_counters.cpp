// How far a GPU has come, on the simulated one: of two communications the second is the one that is named where only that is open.
#include "support/expect.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
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
