// Helpers of kernels over row-major [rows, columns]: one warp for each row, or one block where rows are long; sums of columns in a fixed
// order.
#pragma once

#include "elementwise.hpp"

#if defined(__CUDACC__)

#include <cmath>
#include <limits>

namespace dovetail::kernels::detail {

inline constexpr std::int64_t long_row = 4096;
template <class R>
inline constexpr R not_a_number = std::numeric_limits<R>::quiet_NaN();
template <class R>
inline constexpr R minus_infinity = -std::numeric_limits<R>::infinity();

// A group of Threads threads computes a row; a block holds threads / Threads groups.
template <int Threads>
__device__ std::int64_t first_row_of_group() {
    return (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) / Threads;
}
template <int Threads>
__device__ std::int64_t groups() {
    return static_cast<std::int64_t>(gridDim.x) * (threads / Threads);
}

// Calls f for this thread's elements of a row, with each element as R and its index.
template <int Threads, int N, class R, class T, class F>
__device__ void for_share(std::int64_t classes, const T* x, F f) {
    for (std::int64_t j = threadIdx.x % Threads * N; j < classes; j += Threads * N) {
        const auto p = pack<T, N>::load(x + j);
#pragma unroll
        for (int k = 0; k < N; ++k) f(static_cast<R>(widen(p.at[k])), j + k);
    }
}

// A block that sums columns: threadIdx.x is a column, threadIdx.y a slice of the rows.
inline constexpr int summed_columns = 32;
inline constexpr int summing_slices = 16;

// The sum of `value` over the slices of this thread's column, in a fixed order; valid where threadIdx.y is 0.
template <class R>
__device__ R over_slices(R value) {
    __shared__ R sums[summing_slices][summed_columns];
    const int slice = static_cast<int>(threadIdx.y), column = static_cast<int>(threadIdx.x);
    __syncthreads();  // all earlier reads of the shared memory are complete
    sums[slice][column] = value;
    for (int half_of = summing_slices / 2; half_of > 0; half_of /= 2) {
        __syncthreads();
        if (slice < half_of) sums[slice][column] += sums[slice + half_of][column];
    }
    return sums[slice][column];
}

}  // namespace dovetail::kernels::detail

#endif
