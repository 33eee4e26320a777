// The translation unit for nvcc: kernels, and nothing of dovetail.
#include "kernels.hpp"

namespace {
__global__ void scale(const float* x, float* y, int count, float factor) {
    if (const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count) y[i] = factor * x[i];
}
__global__ void sum(const float* a, const float* b, float* c, int count) {
    if (const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count) c[i] = a[i] + b[i];
}
}  // namespace

void launch_scale(cudaStream_t stream, const float* x, float* y, int count, float factor) {
    scale<<<(count + 127) / 128, 128, 0, stream>>>(x, y, count, factor);
}
void launch_sum(cudaStream_t stream, const float* a, const float* b, float* c, int count) {
    sum<<<(count + 127) / 128, 128, 0, stream>>>(a, b, c, count);
}
