// A layer on four GPUs, with a kernel of one's own; compiled by nvcc alone.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdio>

namespace dv = dovetail;

namespace gpus {
using namespace dv::ops;

__global__ void clip(std::int64_t n, const float* x, float* y, float most) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] < most ? x[i] : most;
}

struct clipped {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
    static constexpr dv::cost cost(dv::tensor_type x) { return dv::bytes_moved(2 * x.bytes()); }
    static constexpr int in_place = 0;
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> x, dv::out<X> y) {
        clip<<<(X::size + 255) / 256, 256, 0, static_cast<cudaStream_t>(s.handle)>>>(X::size, x.data(), y.data(), 6.0f);
    }
};

struct tp;
struct tokens;
struct weight;
struct partial;
struct summed;
struct hidden;
struct mixed;
struct result;
struct first;

using batch = dv::tensor<float, 64, 256>;

struct layer : dv::graph<
    dv::mesh<dv::axis<tp, 4>>,
    dv::input<tokens, batch, dv::replicated<tp>>,
    dv::state<weight, dv::tensor<float, 256, 256>, normal_init<1, 1, 16>>,
    dv::let<partial, matmul(tokens, weight)>,
    dv::let<summed, all_reduce<sum, tp>(partial)>,
    dv::let<hidden, clipped(summed)>,
    dv::let<mixed, add(hidden, tokens)>,
    dv::let<result, relu(mixed)>,
    dv::let<first, argmax(result)>,
    dv::output<result, first>> {};

using plan = dv::options<dv::machine::h200_nvlink>;
}  // namespace gpus

int main() {
    dv::cuda::world world = dv::cuda::world::local(4);
    world.run([](auto& rank) {
        using namespace gpus;
        dv::executor<layer, plan> step{rank, dv::replay_or_streams};
        step.bind(dv::name<tokens>, std::vector<float>(batch::size, 1.0f));
        for (int i = 0; i < 3; ++i) {
            const auto ticket = step.run();
            ticket.wait_for(std::chrono::seconds{10});
            std::printf("%d: %g\n", ticket.read(dv::name<first>)[0], double{ticket.read(dv::name<result>)[0]});
        }
    });
}
