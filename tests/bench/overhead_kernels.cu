// The kernels of overhead.cpp: they do nothing.
#include <cuda_runtime.h>

namespace {
__global__ void empty(const float*, float*) {}
__global__ void empty_two(const float*, const float*, float*) {}
}  // namespace

void launch_empty(cudaStream_t s, const float* x, float* y) { empty<<<1, 32, 0, s>>>(x, y); }
void launch_empty_two(cudaStream_t s, const float* x, const float* y, float* z) { empty_two<<<1, 32, 0, s>>>(x, y, z); }
