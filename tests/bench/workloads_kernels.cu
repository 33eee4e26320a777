// The kernels of workloads.cpp and workloads_beside.cpp: those of their graphs, and of what is written by hand.
#include <dovetail/launch/cuda/commands/local_reduction.hpp>
#include <dovetail/launch/cuda/progress/progress_word.hpp>
#include <dovetail/ops/cuda/instances.hpp>

#include "bench/sum_by_hand.hpp"

template struct dovetail::kernels_for<dovetail::half, float>;

namespace {
// The sum of n blocks of `part` floats, four at once.
__global__ void sum_floats_kernel(float* out, const float* blocks, std::size_t part, int n) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < part / 4; i += std::size_t{gridDim.x} * blockDim.x) {
        float4 sum = {};
        for (int j = 0; j < n; ++j) {
            const float4 v = reinterpret_cast<const float4*>(blocks + j * part)[i];
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
        reinterpret_cast<float4*>(out)[i] = sum;
    }
}
// What is negative becomes zero, eight halves at once.
__global__ void clear_negatives_kernel(__half* x, std::size_t count) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count / 8; i += std::size_t{gridDim.x} * blockDim.x) {
        uint4 v = reinterpret_cast<uint4*>(x)[i];
        __half2* const h = reinterpret_cast<__half2*>(&v);
        for (int k = 0; k < 4; ++k) h[k] = __hmax2(h[k], __float2half2_rn(0.0f));
        reinterpret_cast<uint4*>(x)[i] = v;
    }
}
}  // namespace

void sum_blocks(dovetail::half* out, const dovetail::half* blocks, std::int64_t part, int n, cudaStream_t on) {
    bench::sum_by_hand<<<264, 512, 0, on>>>(reinterpret_cast<__half*>(out), reinterpret_cast<const __half*>(blocks),
                                            static_cast<std::size_t>(part), n);
}
void sum_blocks(float* out, const float* blocks, std::int64_t part, int n, cudaStream_t on) {
    sum_floats_kernel<<<264, 512, 0, on>>>(out, blocks, static_cast<std::size_t>(part), n);
}
void clear_negatives(dovetail::half* x, std::int64_t count, cudaStream_t on) {
    clear_negatives_kernel<<<1056, 256, 0, on>>>(reinterpret_cast<__half*>(x), static_cast<std::size_t>(count));
}
