// The translation unit for the host compiler: the graph, its plan and its executor on GPUs. The kernels are in kernels.cu. Exits with 77
// if there is no GPU.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>

#include "kernels.hpp"

#include <array>
#include <cstdio>
#include <filesystem>

namespace dv = dovetail;

namespace app {
struct x;
struct doubled;
struct tripled;
struct both;
struct dp;
struct total;

using row = dv::tensor<float, 1000>;

template <int Factor>
struct times {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        launch_scale(static_cast<cudaStream_t>(s.handle), from.data(), to.data(), X::size, Factor);
    }
};
struct add {
    static constexpr dv::tensor_type result(dv::tensor_type a, dv::tensor_type b) { return a == b ? a : dv::tensor_type{}; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> a, dv::in<X> b, dv::out<X> c) {
        launch_sum(static_cast<cudaStream_t>(s.handle), a.data(), b.data(), c.data(), X::size);
    }
};

struct five_times : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, row>,
    dv::let<doubled, times<2>(x)>,
    dv::let<tripled, times<3>(x)>,
    dv::let<both, add(doubled, tripled)>,
    dv::let<total, dv::ops::all_reduce<dv::ops::sum, dp>(both)>,
    dv::output<total>> {};
static_assert(dv::valid<five_times>);
}  // namespace app

int main() {
    int gpus = 0;
    const cudaError_t status = cudaGetDeviceCount(&gpus);
    const bool none = status == cudaErrorNoDevice || (status == cudaErrorInsufficientDriver && !std::filesystem::exists("/dev/nvidia0"));
    if (!none && status != cudaSuccess) {
        std::printf("cudaGetDeviceCount: %s\n", cudaGetErrorString(status));
        return 1;
    }
    if (gpus == 0) {
        std::puts("not run: no GPU on this machine");
        return 77;
    }
    bool good = true;
    auto world = dv::cuda::world::local(1);
    world.run([&](auto& rank) {
        dv::executor<app::five_times> step{rank};
        std::array<float, 1000> values;
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
        step.bind(dv::name<app::x>, values);
        const auto ticket = step.run();
        ticket.wait();
        const auto result = ticket.read(dv::name<app::total>);
        for (std::size_t i = 0; i < values.size(); ++i) good = good && result[i] == 5 * values[i];
    });
    std::puts(good ? "five times everything" : "wrong values");
    return good ? 0 : 1;
}
