// A graph with a kernel of the user that runs on all GPUs of the machine.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>

#include <cstdio>
#include <vector>

namespace dv = dovetail;

namespace app {
__global__ void square(const float* x, float* y, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) y[i] = x[i] * x[i];
}

struct squared {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
    template <class X> static void launch(dv::cuda::stream s, dv::in<X> x, dv::out<X> y) {
        square<<<(X::size + 127) / 128, 128, 0, static_cast<cudaStream_t>(s.handle)>>>(x.data(), y.data(), X::size);
    }
};

struct x;
struct y;
using vector = dv::tensor<float, 1000>;
struct model : dv::graph<dv::input<x, vector>, dv::let<y, squared(x)>, dv::output<y>> {};
static_assert(dv::valid<model>);
}  // namespace app

int main() {
    bool good = true;
    auto world = dv::cuda::world::local(1);
    world.run([&](auto& rank) {
        dv::executor<app::model> step{rank};
        const std::vector<float> values(app::vector::size, 3.0f);
        step.bind(dv::name<app::x>, values);
        for (const float value : step.run().read(dv::name<app::y>).host()) good = good && value == 9.0f;
    });
    std::printf("%s\n", good ? "every square is 9" : "WRONG");
    return good ? 0 : 1;
}
