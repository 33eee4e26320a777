// CUDA kernels of softmax and its gradient over row-major [rows, columns]: one warp per row, or one block per row where rows are long.
#pragma once

#include "rows.hpp"

namespace dovetail::kernels {

// y may be the memory of x.
template <class T>
[[gnu::used]] void softmax(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, T* y);

// dx = y (dy - sum of dy y over the row); dx may be the memory of dy.
template <class T>
[[gnu::used]] void softmax_gradient(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* dy, const T* y, T* dx);

#if defined(__CUDACC__)

namespace detail {

// The softmax of a row is exp(x - largest - log_sum): with the largest element subtracted, no exponential overflows.
template <class R>
struct softmax_shift {
    R largest;
    R log_sum;  // logarithm of the sum of exp(x - largest)
};

template <int Threads, int N, class T>
__device__ auto softmax_shift_of(std::int64_t columns, const T* x) {
    using R = ops_detail::arithmetic_t<T>;
    R largest = widen(x[0]), sum{};
    for_share<Threads, N, R>(columns, x, [&](R value, std::int64_t) { largest = value > largest ? value : largest; });
    largest = over_group<Threads>(largest, [](R a, R b) { return a > b ? a : b; });
    for_share<Threads, N, R>(columns, x, [&](R value, std::int64_t) { sum += std::exp(value - largest); });
    sum = over_group<Threads>(sum, [](R a, R b) { return a + b; });
    return softmax_shift<R>{largest, std::log(sum)};
}

// y may be the memory of x.
template <int Threads, int N, class T, class R>
__device__ void softmax_of_row(std::int64_t columns, const T* x, softmax_shift<R> shift, T* y) {
    for (std::int64_t j = threadIdx.x % Threads * N; j < columns; j += Threads * N) {
        auto p = pack<T, N>::load(x + j);
#pragma unroll
        for (int k = 0; k < N; ++k) p.at[k] = narrow<T>(std::exp(R(widen(p.at[k])) - shift.largest - shift.log_sum));
        p.store(y + j);
    }
}

template <int Threads, int N, class T>
__global__ void __launch_bounds__(threads) softmax_kernel(std::int64_t rows, std::int64_t columns, const T* x, T* y) {
    for (std::int64_t i = first_row_of_group<Threads>(); i < rows; i += groups<Threads>()) {
        const T* const row = x + i * columns;
        softmax_of_row<Threads, N>(columns, row, softmax_shift_of<Threads, N>(columns, row), y + i * columns);
    }
}

template <int Threads, int N, class T>
__global__ void __launch_bounds__(threads)
    softmax_gradient_kernel(std::int64_t rows, std::int64_t columns, const T* dy, const T* y, T* dx) {
    using R = ops_detail::arithmetic_t<T>;
    for (std::int64_t i = first_row_of_group<Threads>(); i < rows; i += groups<Threads>()) {
        const std::int64_t first = i * columns;
        R sum{};
        for_share<Threads, N, R>(columns, y + first, [&](R value, std::int64_t j) { sum += R(widen(dy[first + j])) * value; });
        sum = over_group<Threads>(sum, [](R a, R b) { return a + b; });
        for_share<Threads, N, R>(columns, y + first,
                                 [&](R value, std::int64_t j) { dx[first + j] = narrow<T>(value * (R(widen(dy[first + j])) - sum)); });
    }
}

template <int N, class T>
void softmax_rows(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, T* y) {
    if (columns < long_row)
        softmax_kernel<32, N><<<blocks_for(s, rows, threads / 32), threads, 0, on(s)>>>(rows, columns, x, y);
    else
        softmax_kernel<threads, N><<<blocks_for(s, rows, 1), threads, 0, on(s)>>>(rows, columns, x, y);
}
template <int N, class T>
void softmax_gradient_rows(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* dy, const T* y, T* dx) {
    if (columns < long_row)
        softmax_gradient_kernel<32, N><<<blocks_for(s, rows, threads / 32), threads, 0, on(s)>>>(rows, columns, dy, y, dx);
    else
        softmax_gradient_kernel<threads, N><<<blocks_for(s, rows, 1), threads, 0, on(s)>>>(rows, columns, dy, y, dx);
}

}  // namespace detail

template <class T>
void softmax(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, T* y) {
    if (rows == 0) return;
    constexpr int N = pack_of<T>;
    if (columns % N == 0 && fits_packs<N>(x, y))
        detail::softmax_rows<N>(s, rows, columns, x, y);
    else
        detail::softmax_rows<1>(s, rows, columns, x, y);
    s.services->launched("kernel softmax");
}

template <class T>
void softmax_gradient(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* dy, const T* y, T* dx) {
    if (rows == 0) return;
    constexpr int N = pack_of<T>;
    if (columns % N == 0 && fits_packs<N>(y))
        detail::softmax_gradient_rows<N>(s, rows, columns, dy, y, dx);
    else
        detail::softmax_gradient_rows<1>(s, rows, columns, dy, y, dx);
    s.services->launched("kernel softmax_gradient");
}

#endif

}  // namespace dovetail::kernels
