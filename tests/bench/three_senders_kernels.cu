// The kernels of three_senders.cpp: those of its graph, and a fill and a check for what is written by hand.
#include <dovetail/ops/cuda/instances.hpp>

#include "bench/measure.hpp"

namespace dv = dovetail;

template struct dovetail::kernels_for<dv::half, float>;  // float: the values of the blocks

namespace {
__global__ void fill(uint4* to, std::int64_t count, uint4 value) {
    for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < count; i += std::int64_t{gridDim.x} * blockDim.x)
        to[i] = value;
}
__global__ void count_if_not(const dv::half* at, std::int64_t count, std::uint16_t bits, unsigned long long* others) {
    unsigned long long mine = 0;
    for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < count; i += std::int64_t{gridDim.x} * blockDim.x)
        mine += at[i].bits != bits ? 1 : 0;
    if (mine != 0) atomicAdd(others, mine);
}
}  // namespace

void fill_halves(cudaStream_t s, dv::half* to, std::int64_t count, float value) {
    const unsigned two = dv::half{value}.bits * 0x10001u;
    fill<<<8192, 256, 0, s>>>(reinterpret_cast<uint4*>(to), count / 8, {two, two, two, two});
    bench::must(cudaGetLastError());
}
std::int64_t count_others(const dv::half* at, std::int64_t count, float value) {
    unsigned long long* others = nullptr;
    unsigned long long found = 0;
    bench::must(cudaMalloc(reinterpret_cast<void**>(&others), sizeof found));
    bench::must(cudaMemset(others, 0, sizeof found));
    count_if_not<<<1024, 256>>>(at, count, dv::half{value}.bits, others);
    bench::must(cudaMemcpy(&found, others, sizeof found, cudaMemcpyDeviceToHost));
    bench::must(cudaFree(others));
    return static_cast<std::int64_t>(found);
}
