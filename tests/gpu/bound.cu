// Outputs bound to the caller's memory on GPUs, of runs that no stream of the caller orders: nothing overwrites what an earlier run has
// still to read or write, on streams and replayed, and one rank of two may bind where the other does not.
#include "gpu/compare.hpp"
#include "gpu/graphs.hpp"
#include "support/expect.hpp"

namespace dv = dovetail;
using namespace std::chrono_literals;
using floats = std::vector<float>;

namespace {
// A copy that begins two milliseconds late.
__global__ void late_copy(const float* from, float* to, std::int64_t n) {
    std::uint64_t start = 0, now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - start < 2'000'000);
    for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}
struct late {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        late_copy<<<1, 256, 0, static_cast<cudaStream_t>(s.handle)>>>(from.data(), to.data(), X::size);
    }
};
struct late_on_second {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        int device = 0;
        cudaGetDevice(&device);
        if (device == 1)
            late::launch(s, from, to);
        else
            cudaMemcpyAsync(to.data(), from.data(), X::bytes, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(s.handle));
    }
};

using gpu::a, gpu::b, gpu::h, gpu::x, gpu::y, gpu::z, gpu::dp;
constexpr std::int64_t n = 1 << 16;
using many = dv::tensor<float, n>;
// `y` is made on the compute stream, and late; `h` is copied from `z` beside it.
struct late_beside : dv::graph<dv::input<x, many>, dv::input<z, many>, dv::let<y, late(dv::ops::add(x, x))>,
                               dv::let<h, dv::ops::to_host(z)>, dv::output<y, h>> {};
// `b` is moved to all ranks beside `y`; `a` is what is moved.
struct gathered_late : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, many>, dv::let<a, late_on_second(dv::ops::add(x, x))>,
                                 dv::let<b, dv::ops::all_gather<dp>(a)>,
                                 dv::let<y, dv::ops::relu(dv::ops::relu(dv::ops::relu(x)))>, dv::output<a, b, y>> {};

// Memory on the current GPU.
struct target {
    explicit target(std::int64_t size) : count{size} { REQUIRE(cudaMalloc(&data, sizeof(float) * count) == cudaSuccess); }
    target(const target&) = delete;
    ~target() { cudaFree(data); }
    floats values() const {
        floats got(static_cast<std::size_t>(count));
        CHECK(cudaMemcpy(got.data(), data, sizeof(float) * count, cudaMemcpyDeviceToHost) == cudaSuccess);
        return got;
    }
    float* data = nullptr;
    std::int64_t count;
};
floats filled(float v) { return floats(static_cast<std::size_t>(n), v); }
constexpr dv::replay_mode ways[] = {dv::replay_mode::never, dv::replay_mode::always};

template <class Options>
void bind_on_one_rank(dv::replay_mode how) {
    int different = 0;
    dv::cuda::world::local(2).run([&](auto& rank) {
        cudaSetDevice(rank.index());
        dv::executor<gathered_late, Options> step{rank, how, 60s};
        const target first{2 * n}, second{2 * n}, read{n};
        for (int k = 0; k < 50; ++k) {
            const target& to = k % 2 == 0 ? first : second;
            if (rank.index() == 0) step.bind_output(dv::name<b>, to.data, 2 * n).bind_output(dv::name<a>, read.data, n);
            const float v = static_cast<float>(k + rank.index());
            const auto t = step.bind(dv::name<x>, filled(v)).run();
            t.wait();
            floats wanted = filled(static_cast<float>(2 * k));
            wanted.resize(2 * n, static_cast<float>(2 * k + 2));
            const bool equal = (rank.index() == 0 ? to.values() : t.read(dv::name<b>).host()) == wanted &&
                               (rank.index() != 0 || read.values() == filled(2 * v)) && t.read(dv::name<y>).host() == filled(v);
            const std::lock_guard lock{support::report()};
            different += equal ? 0 : 1;
        }
    });
    CHECK(different == 0);
}
}  // namespace

TEST_CASE("runs that write the same memory, or read what another executor writes, do so in turn") {
    if (!gpu::enough(1, "bound outputs")) return;
    for (const auto how : ways)
        dv::cuda::world::local(1).run([&](auto& rank) {
            cudaSetDevice(0);
            dv::executor<late_beside, samples::several> step{rank, how, 60s}, next{rank, how, 60s};
            const target made{n};
            step.bind(dv::name<z>, filled(0)).bind_output(dv::name<y>, made.data, n);
            next.bind(dv::name<x>, filled(0)).bind(dv::name<z>, dv::device_pointer{made.data, n});
            int different = 0, waited = 0;
            for (int k = 1; k <= 50; ++k) {
                const float v = static_cast<float>(k);
                step.bind(dv::name<x>, filled(v)).run();
                const auto seen = next.run();
                const auto again = step.bind(dv::name<x>, filled(10 * v)).run();
                waited += seen.ready() ? 0 : 1;
                different += seen.read(dv::name<h>).host() == filled(2 * v) ? 0 : 1;
                again.wait();
                different += made.values() == filled(20 * v) ? 0 : 1;
            }
            CHECK(different == 0);
            CHECK(waited > 0);  // or nothing was to be ordered
        });
}

TEST_CASE("what NCCL or copy engines move is bound on one rank and not on the other") {
    if (!gpu::enough(2, "bound outputs of two ranks")) return;
    for (const auto how : ways) {
        bind_on_one_rank<samples::several>(how);
        bind_on_one_rank<samples::several_copied>(how);
    }
}
