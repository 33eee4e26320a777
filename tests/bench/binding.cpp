// What it costs to bind host memory to an input, from 4 KiB to 256 MiB: the copy that bind makes, and memory that is borrowed, beside
// the same copies by hand. Microseconds from the binding to the end of the run; all in turn in one process, medians.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>

#include "bench/measure.hpp"

#include <doctest/doctest.h>

#include <cstring>

namespace dv = dovetail;

namespace {
namespace app {
struct x;
struct y;
template <std::int64_t Bytes>
using values = dv::tensor<float, Bytes / 4>;

// Reads its argument, as far as the plan knows, and launches nothing: what is measured is the way to the GPU.
struct look_at {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t.with_extents(); }
    template <class X, class Y>
    static void launch(dv::cuda::stream, dv::in<X>, dv::out<Y>) {}
};
template <std::int64_t Bytes>
struct input_only : dv::graph<dv::input<x, values<Bytes>>, dv::let<y, look_at(x)>, dv::output<y>> {};
}  // namespace app

template <class Call>
double microseconds(Call call) {
    const auto start = bench::clock::now();
    call();
    return std::chrono::duration<double, std::micro>(bench::clock::now() - start).count();
}

template <std::int64_t Bytes, class Rank>
void measure(Rank& rank) {
    constexpr std::size_t count = Bytes / 4;
    std::vector<float> pageable(count, 1.0f);
    float *pinned = nullptr, *staging = nullptr, *device = nullptr;
    cudaStream_t stream{};
    bench::must(cudaMallocHost(reinterpret_cast<void**>(&pinned), Bytes));
    bench::must(cudaMallocHost(reinterpret_cast<void**>(&staging), Bytes));
    bench::must(cudaMalloc(reinterpret_cast<void**>(&device), Bytes));
    bench::must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    std::fill_n(pinned, count, 1.0f);
    std::fill_n(staging, count, 1.0f);
    {
        dv::executor<app::input_only<Bytes>> copying{rank}, borrowing{rank}, direct{rank};
        const auto run = [](auto& step) { step.run().wait(); };
        enum { call, bound, by_hand_staged, borrowed_pageable, borrowed_pinned, by_hand_pinned, kinds };
        std::vector<double> times[kinds];
        const int repeats = Bytes > (1 << 24) ? 9 : 41;
        for (int k = -2; k < repeats; ++k) {
            double t[kinds] = {};
            t[call] = microseconds([&] { copying.bind(dv::name<app::x>, pageable); });
            copying.run().wait();
            t[bound] = microseconds([&] { run(copying.bind(dv::name<app::x>, pageable)); });
            t[by_hand_staged] = microseconds([&] {
                std::memcpy(staging, pageable.data(), Bytes);
                bench::must(cudaMemcpyAsync(device, staging, Bytes, cudaMemcpyHostToDevice, stream));
                bench::must(cudaStreamSynchronize(stream));
            });
            t[borrowed_pageable] = microseconds([&] { run(borrowing.bind(dv::name<app::x>, dv::borrowed(pageable))); });
            t[borrowed_pinned] =
                microseconds([&] { run(direct.bind(dv::name<app::x>, dv::borrowed(pinned, static_cast<std::int64_t>(count)))); });
            t[by_hand_pinned] = microseconds([&] {
                bench::must(cudaMemcpyAsync(device, pinned, Bytes, cudaMemcpyHostToDevice, stream));
                bench::must(cudaStreamSynchronize(stream));
            });
            for (int i = 0; k >= 0 && i < kinds; ++i) times[i].push_back(t[i]);
        }
        double m[kinds];
        for (int i = 0; i < kinds; ++i) m[i] = bench::median(times[i]);
        std::printf(
            "%7lld KiB: bind alone %9.1f; bind and run %9.1f, by hand %9.1f (%.2f); borrowed pageable %9.1f (%.2f); borrowed pinned %9.1f, by hand %9.1f (%.2f)\n",
            static_cast<long long>(Bytes / 1024), m[call], m[bound], m[by_hand_staged], m[bound] / m[by_hand_staged], m[borrowed_pageable],
            m[borrowed_pageable] / m[by_hand_staged], m[borrowed_pinned], m[by_hand_pinned], m[borrowed_pinned] / m[by_hand_pinned]);
    }
    cudaStreamDestroy(stream);
    cudaFree(device);
    cudaFreeHost(staging);
    cudaFreeHost(pinned);
}
}  // namespace

TEST_CASE("binding") {
    std::printf(
        "us; by hand: a copy into pinned memory that is kept, cudaMemcpyAsync and cudaStreamSynchronize, or the last two from pinned memory; in brackets dovetail to that\n");
    dv::cuda::world::local(1).run([](auto& rank) {
        measure<(4 << 10)>(rank);
        measure<(64 << 10)>(rank);
        measure<(1 << 20)>(rank);
        measure<(16 << 20)>(rank);
        measure<(64 << 20)>(rank);
        measure<(256 << 20)>(rank);
    });
}
