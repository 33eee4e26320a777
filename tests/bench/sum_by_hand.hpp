// The sum of blocks of halves as one writes it by hand.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>

namespace bench {

// out = the sum of n blocks of `part` halves, in float, eight halves at once; for any number of blocks of threads.
static __global__ void sum_by_hand(__half* out, const __half* blocks, std::size_t part, int n) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < part / 8; i += std::size_t{gridDim.x} * blockDim.x) {
        float sum[8] = {};
        for (int j = 0; j < n; ++j) {
            const uint4 v = reinterpret_cast<const uint4*>(blocks + j * part)[i];
            const __half2* const h = reinterpret_cast<const __half2*>(&v);
            for (int k = 0; k < 4; ++k) {
                const float2 f = __half22float2(h[k]);
                sum[2 * k] += f.x;
                sum[2 * k + 1] += f.y;
            }
        }
        uint4 r;
        __half2* const h = reinterpret_cast<__half2*>(&r);
        for (int k = 0; k < 4; ++k) h[k] = __floats2half2_rn(sum[2 * k], sum[2 * k + 1]);
        reinterpret_cast<uint4*>(out)[i] = r;
    }
}

}  // namespace bench
