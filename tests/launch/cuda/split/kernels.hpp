// What the two halves share: plain functions of pointers and a stream, no graph and no kernel.
#pragma once

#include <cuda_runtime.h>

void launch_scale(cudaStream_t stream, const float* x, float* y, int count, float factor);
void launch_sum(cudaStream_t stream, const float* a, const float* b, float* c, int count);
