// CUDA kernels of the embedding and its gradient. A token outside the vocabulary makes its row NaN, since a kernel cannot throw.
#pragma once

#include "rows.hpp"

namespace dovetail::kernels {

// y[i] = table[tokens[i]]
template <class T>
[[gnu::used]] void embedding(cuda::stream s, std::int64_t rows, std::int64_t columns, std::int64_t vocabulary, const std::int32_t* tokens,
                             const T* table, T* y);

// Row v of the gradient is the sum of dy over the rows whose token is v, in a fixed order: every block looks at all tokens.
template <class T>
[[gnu::used]] void embedding_gradient(cuda::stream s, std::int64_t rows, std::int64_t columns, std::int64_t vocabulary, const T* dy,
                                      const std::int32_t* tokens, T* gradient);

#if defined(__CUDACC__)

namespace detail {

template <int N, class T>
__global__ void __launch_bounds__(threads)
    embedding_kernel(std::int64_t rows, std::int64_t columns, std::int64_t vocabulary, const std::int32_t* tokens, const T* table, T* y) {
    using R = ops_detail::arithmetic_t<T>;
    pack<T, N> nothing;
#pragma unroll
    for (int k = 0; k < N; ++k) nothing.at[k] = narrow<T>(not_a_number<R>);
    for (std::int64_t j = first_unit() * N; j < columns; j += unit_stride() * N)
        for (std::int64_t i = first_row(); i < rows; i += row_stride()) {
            const std::int64_t token = tokens[i];
            const bool known = token >= 0 && token < vocabulary;
            (known ? pack<T, N>::load(table + token * columns + j) : nothing).store(y + i * columns + j);
        }
}

template <class T>
__global__ void __launch_bounds__(summed_columns* summing_slices)
    embedding_gradient_kernel(std::int64_t rows, std::int64_t columns, std::int64_t vocabulary, const T* dy, const std::int32_t* tokens,
                              T* gradient) {
    using R = ops_detail::arithmetic_t<T>;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * summed_columns;
    for (std::int64_t v = blockIdx.y; v < vocabulary; v += gridDim.y)
        for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * summed_columns; first < columns; first += step) {
            const std::int64_t j = first + threadIdx.x;
            R sum{};
            for (std::int64_t i = threadIdx.y; j < columns && i < rows; i += summing_slices)
                if (tokens[i] == v) sum += widen(dy[i * columns + j]);
            sum = over_slices(sum);
            if (threadIdx.y == 0 && j < columns) gradient[v * columns + j] = narrow<T>(sum);
        }
}

}  // namespace detail

template <class T>
void embedding(cuda::stream s, std::int64_t rows, std::int64_t columns, std::int64_t vocabulary, const std::int32_t* tokens, const T* table,
               T* y) {
    if (rows == 0 || columns == 0) return;
    constexpr int N = pack_of<T>;
    if (columns % N == 0 && fits_packs<N>(table, y)) {
        const detail::rectangle r{s, rows, columns / N, threads, threads};
        detail::embedding_kernel<N><<<r.blocks, r.threads, 0, on(s)>>>(rows, columns, vocabulary, tokens, table, y);
    } else {
        const detail::rectangle r{s, rows, columns, threads, threads};
        detail::embedding_kernel<1><<<r.blocks, r.threads, 0, on(s)>>>(rows, columns, vocabulary, tokens, table, y);
    }
    s.services->launched("kernel embedding");
}

template <class T>
void embedding_gradient(cuda::stream s, std::int64_t rows, std::int64_t columns, std::int64_t vocabulary, const T* dy,
                        const std::int32_t* tokens, T* gradient) {
    if (vocabulary == 0 || columns == 0) return;
    const dim3 blocks{blocks_for(s, columns, detail::summed_columns), blocks_for(s, vocabulary, 1)};
    const dim3 of_block{detail::summed_columns, detail::summing_slices};
    detail::embedding_gradient_kernel<<<blocks, of_block, 0, on(s)>>>(rows, columns, vocabulary, dy, tokens, gradient);
    s.services->launched("kernel embedding_gradient");
}

#endif

}  // namespace dovetail::kernels
