// CUDA kernels of the element-wise operations, copies, initialisers and row operations (bias_add, bias_gradient). Pointers are device
// pointers; y may be the memory of x.
#pragma once

#include "launch.hpp"

namespace dovetail::kernels {

// A source of operands: element i of a tensor, or the same scalar for every i.
template <class T, bool Spread>
struct operand {
    using element_type = T;
    static constexpr bool spread = Spread;
    const T* pointer;
};

// y[i] = F(x[i], ...). F is an empty function object whose call is marked __host__ __device__.
template <class F, class T, class... X>
[[gnu::used]] void transform(cuda::stream s, std::int64_t n, T* y, X... x);

// y[i] = g(i), g a small function object.
template <class T, class G>
[[gnu::used]] void generate(cuda::stream s, std::int64_t n, T* y, G g);

template <class T>
[[gnu::used]] void copy(cuda::stream s, std::int64_t n, const T* x, T* y);

// y[i][j] = x[i][j] + b[j]
template <class T>
[[gnu::used]] void add_to_rows(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, const T* b, T* y);

// y[j] = the sum of x[i][j] over i, in one fixed order.
template <class T>
[[gnu::used]] void sum_of_rows(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, T* y);

#if defined(__CUDACC__)

namespace detail {

template <class T, int N>
struct widened {
    ops_detail::arithmetic_t<T> at[N];
};

// An operand as a kernel reads it: a scalar is loaded once.
template <class Operand>
struct opened {
    using T = typename Operand::element_type;
    const T* pointer;
    __device__ explicit opened(Operand x) : pointer{x.pointer} {}
    template <int N>
    __device__ widened<T, N> load(std::int64_t i) const {
        const auto p = pack<T, N>::load(pointer + i);
        widened<T, N> w;
#pragma unroll
        for (int k = 0; k < N; ++k) w.at[k] = widen(p.at[k]);
        return w;
    }
};
template <class T>
struct opened<operand<T, true>> {
    ops_detail::arithmetic_t<T> value;
    __device__ explicit opened(operand<T, true> x) : value{widen(*x.pointer)} {}
    template <int N>
    __device__ widened<T, N> load(std::int64_t) const {
        widened<T, N> w;
#pragma unroll
        for (int k = 0; k < N; ++k) w.at[k] = value;
        return w;
    }
};

template <class F, class T, int N, class... W>
__device__ void combine(T* y, const W&... x) {
    pack<T, N> p;
#pragma unroll
    for (int k = 0; k < N; ++k) p.at[k] = narrow<T>(F{}(x.at[k]...));
    p.store(y);
}

template <class F, int N, class T, class... X>
__device__ void transform_all(std::int64_t n, T* y, X... x) {
    const std::int64_t packs = n / N;
    for (std::int64_t i = first_unit(); i < packs; i += unit_stride()) combine<F, T, N>(y + i * N, x.template load<N>(i * N)...);
    if constexpr (N > 1)
        for (std::int64_t i = packs * N + first_unit(); i < n; i += unit_stride()) combine<F, T, 1>(y + i, x.template load<1>(i)...);
}
template <class F, int N, class T, class... X>
__global__ void __launch_bounds__(threads) transform_kernel(std::int64_t n, T* y, X... x) {
    transform_all<F, N>(n, y, opened<X>{x}...);
}

template <int N, class T, class G>
__global__ void __launch_bounds__(threads) generate_kernel(std::int64_t n, T* y, G g) {
    const std::int64_t packs = n / N;
    for (std::int64_t i = first_unit(); i < packs; i += unit_stride()) {
        pack<T, N> p;
#pragma unroll
        for (int k = 0; k < N; ++k) p.at[k] = narrow<T>(g(i * N + k));
        p.store(y + i * N);
    }
    if constexpr (N > 1)
        for (std::int64_t i = packs * N + first_unit(); i < n; i += unit_stride()) y[i] = narrow<T>(g(i));
}

// Launch shape of a row operation: each block covers `width` packs of columns and threads / width rows.
struct rectangle {
    dim3 blocks, threads;
    rectangle(cuda::stream s, std::int64_t rows, std::int64_t packs, int most_width, int of_block) {
        const int width = power_of_two(packs, most_width);
        threads = dim3{static_cast<unsigned>(width), static_cast<unsigned>(of_block / width)};
        const unsigned across = blocks_for(s, packs, width);
        const unsigned down = blocks_for(s, rows, static_cast<int>(threads.y));
        const unsigned most = (8192 + across - 1) / across;
        blocks = dim3{across, down < most ? down : most};
    }
};
__device__ inline std::int64_t first_row() { return static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y; }
__device__ inline std::int64_t row_stride() { return static_cast<std::int64_t>(gridDim.y) * blockDim.y; }

template <int N, class T>
__global__ void __launch_bounds__(threads) add_to_rows_kernel(std::int64_t rows, std::int64_t columns, const T* x, const T* b, T* y) {
    for (std::int64_t j = first_unit() * N; j < columns; j += unit_stride() * N) {
        const auto more = pack<T, N>::load(b + j);
        for (std::int64_t i = first_row(); i < rows; i += row_stride()) {
            auto p = pack<T, N>::load(x + i * columns + j);
#pragma unroll
            for (int k = 0; k < N; ++k) p.at[k] = narrow<T>(widen(p.at[k]) + widen(more.at[k]));
            p.store(y + i * columns + j);
        }
    }
}

inline constexpr int summing_threads = 512;

// Each block sums its own columns, and each thread adds every blockDim.y-th row; a tree then adds up the threads of a column.
template <int N, class T>
__global__ void __launch_bounds__(summing_threads)
    sum_of_rows_kernel(std::int64_t rows, std::int64_t columns, const T* __restrict__ x, T* __restrict__ y) {
    using R = ops_detail::arithmetic_t<T>;
    __shared__ R sums[N][summing_threads];
    const int me = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    const std::int64_t step = unit_stride() * N;
    for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x * N; first < columns; first += step) {
        const std::int64_t j = first + static_cast<std::int64_t>(threadIdx.x) * N;
        R sum[N] = {};
        if (j < columns) {
#pragma unroll 4
            for (std::int64_t i = threadIdx.y; i < rows; i += blockDim.y) {
                const auto p = pack<T, N>::load(x + i * columns + j);
#pragma unroll
                for (int k = 0; k < N; ++k) sum[k] += widen(p.at[k]);
            }
        }
#pragma unroll
        for (int k = 0; k < N; ++k) sums[k][me] = sum[k];
        for (int half_of = static_cast<int>(blockDim.y) / 2; half_of > 0; half_of /= 2) {
            __syncthreads();
            if (static_cast<int>(threadIdx.y) < half_of) {
#pragma unroll
                for (int k = 0; k < N; ++k) sums[k][me] += sums[k][me + half_of * static_cast<int>(blockDim.x)];
            }
        }
        if (threadIdx.y == 0 && j < columns) {
#pragma unroll
            for (int k = 0; k < N; ++k) y[j + k] = narrow<T>(sums[k][me]);
        }
        __syncthreads();
    }
}

}  // namespace detail

template <class F, class T, class... X>
void transform(cuda::stream s, std::int64_t n, T* y, X... x) {
    if (n == 0) return;
    constexpr int N = pack_of<T, typename X::element_type...>;
    if (fits_packs<N>(y) && ((X::spread || fits_packs<N>(x.pointer)) && ...))
        detail::transform_kernel<F, N><<<blocks_for(s, (n + N - 1) / N), threads, 0, on(s)>>>(n, y, x...);
    else
        detail::transform_kernel<F, 1><<<blocks_for(s, n), threads, 0, on(s)>>>(n, y, x...);
    s.services->launched("kernel transform");
}

template <class T, class G>
void generate(cuda::stream s, std::int64_t n, T* y, G g) {
    if (n == 0) return;
    constexpr int N = pack_of<T>;
    if (fits_packs<N>(y))
        detail::generate_kernel<N><<<blocks_for(s, (n + N - 1) / N), threads, 0, on(s)>>>(n, y, g);
    else
        detail::generate_kernel<1><<<blocks_for(s, n), threads, 0, on(s)>>>(n, y, g);
    s.services->launched("kernel generate");
}

template <class T>
void copy(cuda::stream s, std::int64_t n, const T* x, T* y) {
    if (n == 0 || x == y) return;
    s.services->copy(s, x, y, n * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void add_to_rows(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, const T* b, T* y) {
    if (rows == 0 || columns == 0) return;
    constexpr int N = pack_of<T>;
    if (columns % N == 0 && fits_packs<N>(x, b, y)) {
        const detail::rectangle r{s, rows, columns / N, threads, threads};
        detail::add_to_rows_kernel<N><<<r.blocks, r.threads, 0, on(s)>>>(rows, columns, x, b, y);
    } else {
        const detail::rectangle r{s, rows, columns, threads, threads};
        detail::add_to_rows_kernel<1><<<r.blocks, r.threads, 0, on(s)>>>(rows, columns, x, b, y);
    }
    s.services->launched("kernel add_to_rows");
}

template <class T>
void sum_of_rows(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, T* y) {
    if (columns == 0) return;
    constexpr int N = pack_of<T>;
    if (columns % N == 0 && fits_packs<N>(x)) {
        const detail::rectangle r{s, 1, columns / N, 4, detail::summing_threads};  // narrow: only columns are distributed over blocks
        detail::sum_of_rows_kernel<N><<<r.blocks, r.threads, 0, on(s)>>>(rows, columns, x, y);
    } else {
        const detail::rectangle r{s, 1, columns, 32, detail::summing_threads};
        detail::sum_of_rows_kernel<1><<<r.blocks, r.threads, 0, on(s)>>>(rows, columns, x, y);
    }
    s.services->launched("kernel sum_of_rows");
}

#endif

}  // namespace dovetail::kernels
