// The kernels of workloads.cpp and workloads_beside.cpp: those of their graphs, and the sum of blocks for what is written by hand.
#include <dovetail/launch/cuda/commands/local_reduction.hpp>
#include <dovetail/launch/cuda/progress/progress_word.hpp>
#include <dovetail/ops/cuda/instances.hpp>

#include "bench/sum_by_hand.hpp"

template struct dovetail::kernels_for<dovetail::half, float>;

void sum_blocks(dovetail::half* out, const dovetail::half* blocks, std::int64_t part, int n, cudaStream_t on) {
    bench::sum_by_hand<<<264, 512, 0, on>>>(reinterpret_cast<__half*>(out), reinterpret_cast<const __half*>(blocks),
                                            static_cast<std::size_t>(part), n);
}
