// The reduction of the blocks that copy engines have brought (launch/cuda/commands/local_reduction.hpp) against the same written by hand
// for halves, on one GPU: medians, and the bytes that it reads and writes a second.
#include <dovetail/launch/cuda/commands/local_reduction.hpp>

#include "bench/sum_by_hand.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

namespace dv = dovetail;

namespace {

double median_us(cudaStream_t s, const std::function<void()>& issue) {
    cudaEvent_t from{}, to{};
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    std::vector<double> times;
    for (int r = 0; r < 25; ++r) {
        cudaEventRecord(from, s);
        for (int k = 0; k < 20; ++k) issue();
        cudaEventRecord(to, s);
        cudaEventSynchronize(to);
        float ms = 0;
        cudaEventElapsedTime(&ms, from, to);
        if (r >= 5) times.push_back(ms * 1000 / 20);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

}  // namespace

int main() {
    cudaDeviceProp p{};
    cudaGetDeviceProperties(&p, 0);
    std::printf("%s, CUDA %d\n", p.name, CUDART_VERSION);
    int low = 0, high = 0;
    cudaDeviceGetStreamPriorityRange(&low, &high);
    cudaStream_t s{};
    cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, high);
    constexpr std::size_t all = std::size_t{256} << 20;
    __half *blocks = nullptr, *out = nullptr;
    cudaMalloc(&blocks, all);
    cudaMalloc(&out, all);
    cudaMemset(blocks, 0, all);
    std::printf("%-34s %12s %12s %8s %10s\n", "blocks x MiB of each, halves", "by hand us", "library us", "ratio", "TB/s");
    for (const std::size_t mib : {1, 4, 16, 32})
        for (const int n : {2, 4, 8}) {
            const std::size_t part = (mib << 20) / sizeof(__half);
            if (n * part * sizeof(__half) > all) continue;
            dv::cuda::local_sources from;
            for (from.count = 0; from.count < n; ++from.count) from.at[from.count] = blocks + from.count * part;
            const double hand = median_us(s, [&] { bench::sum_by_hand<<<264, 512, 0, s>>>(out, blocks, part, n); });
            const double ours = median_us(s, [&] {
                dv::cuda::local_reduction_kernel(s, dv::element::float16, dv::reduction::sum, from, out, static_cast<std::int64_t>(part));
            });
            std::printf("%-2d x %-29zu %12.2f %12.2f %8.3f %10.2f\n", n, mib, hand, ours, ours / hand,
                        static_cast<double>((n + 1) * part * sizeof(__half)) / ours / 1e6);
        }
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) std::printf("%s\n", cudaGetErrorString(status));
    return status == cudaSuccess ? 0 : 1;
}
