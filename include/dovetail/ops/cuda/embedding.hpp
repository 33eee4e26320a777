// CUDA kernels of the embedding and its gradient. A token outside the vocabulary makes its row NaN, since a kernel cannot throw.
#pragma once

#include "rows.hpp"

namespace dovetail::kernels {

// y[i] = table[tokens[i]]
template <class T>
[[gnu::used]] void embedding(cuda::stream s, std::int64_t rows, std::int64_t columns, std::int64_t vocabulary, const std::int32_t* tokens,
                             const T* table, T* y);

// Row v of the gradient is the sum of dy over the rows whose token is v, in their order. `lists` is memory for the lists of rows:
// vocabulary + rows numbers.
template <class T>
[[gnu::used]] void embedding_gradient(cuda::stream s, std::int64_t rows, std::int64_t columns, std::int64_t vocabulary, const T* dy,
                                      const std::int32_t* tokens, std::int32_t* lists, T* gradient);

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

// loops::list_rows by one warp, from the last 32 rows to the first.
template <class Token>
__global__ void __launch_bounds__(32)
    list_rows_kernel(std::int64_t rows, std::int64_t vocabulary, const Token* tokens, std::int32_t* first, std::int32_t* next) {
    const unsigned lane = threadIdx.x;
    for (std::int64_t v = lane; v < vocabulary; v += 32) first[v] = -1;
    for (std::int64_t start = (rows - 1) / 32 * 32; start >= 0; start -= 32) {
        const std::int64_t i = start + lane;
        const Token token = i < rows ? tokens[i] : -1;
        const bool known = token >= 0 && token < vocabulary;
        const unsigned same = __match_any_sync(0xffffffffu, token);
        const unsigned before = same & ((1u << lane) - 1), after = same & ~((2u << lane) - 1);
        __syncwarp();  // first[token] is that of the later rows
        if (known) next[i] = after != 0 ? static_cast<std::int32_t>(start) + __ffs(static_cast<int>(after)) - 1 : first[token];
        __syncwarp();  // and has been read
        if (known && before == 0) first[token] = static_cast<std::int32_t>(i);
    }
}

template <class T>
__global__ void __launch_bounds__(threads) embedding_gradient_kernel(std::int64_t columns, std::int64_t vocabulary, const T* dy,
                                                                     const std::int32_t* first, const std::int32_t* next, T* gradient) {
    for (std::int64_t j = first_unit(); j < columns; j += unit_stride())
        for (std::int64_t v = first_row(); v < vocabulary; v += row_stride()) {
            ops_detail::arithmetic_t<T> sum{};
            for (std::int64_t i = first[v]; i >= 0; i = next[i]) sum += widen(dy[i * columns + j]);
            gradient[v * columns + j] = narrow<T>(sum);
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
                        const std::int32_t* tokens, std::int32_t* lists, T* gradient) {
    if (vocabulary == 0 || columns == 0) return;
    const auto bytes = (vocabulary + rows) * static_cast<std::int64_t>(sizeof(std::int32_t));
    if (lists == nullptr || s.workspace_bytes < bytes) s.services->refuse("embedding_gradient needs the workspace that it declares");
    std::int32_t* const next = lists + vocabulary;
    detail::list_rows_kernel<<<1, 32, 0, on(s)>>>(rows, vocabulary, tokens, lists, next);
    s.services->launched("kernel list_rows");
    const detail::rectangle r{s, vocabulary, columns, threads, threads};
    detail::embedding_gradient_kernel<<<r.blocks, r.threads, 0, on(s)>>>(columns, vocabulary, dy, static_cast<const std::int32_t*>(lists),
                                                                         static_cast<const std::int32_t*>(next), gradient);
    s.services->launched("kernel embedding_gradient");
}

#endif

}  // namespace dovetail::kernels
