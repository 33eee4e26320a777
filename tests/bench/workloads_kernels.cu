// The kernels of workloads.cpp: those of its graphs, and the sum of blocks for what is written by hand.
#include <dovetail/launch/cuda/commands/local_reduction.hpp>
#include <dovetail/ops/cuda/instances.hpp>

#include <cuda_fp16.h>

template struct dovetail::kernels_for<dovetail::half, float>;

namespace {
// By 264 blocks of 512 threads, eight halves at once.
__global__ void sum(__half* out, const __half* blocks, std::int64_t part, int n) {
    for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < part / 8; i += std::int64_t{gridDim.x} * blockDim.x) {
        float total[8] = {};
        for (int j = 0; j < n; ++j) {
            const uint4 v = reinterpret_cast<const uint4*>(blocks + j * part)[i];
            const __half2* const h = reinterpret_cast<const __half2*>(&v);
            for (int k = 0; k < 4; ++k) {
                const float2 f = __half22float2(h[k]);
                total[2 * k] += f.x;
                total[2 * k + 1] += f.y;
            }
        }
        uint4 r;
        __half2* const h = reinterpret_cast<__half2*>(&r);
        for (int k = 0; k < 4; ++k) h[k] = __floats2half2_rn(total[2 * k], total[2 * k + 1]);
        reinterpret_cast<uint4*>(out)[i] = r;
    }
}
}  // namespace

void sum_blocks(dovetail::half* out, const dovetail::half* blocks, std::int64_t part, int n, cudaStream_t on) {
    sum<<<264, 512, 0, on>>>(reinterpret_cast<__half*>(out), reinterpret_cast<const __half*>(blocks), part, n);
}
