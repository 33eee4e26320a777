// CUDA kernels of caches of keys and values. At a position outside the cache nothing is written, and the result of the attention is NaN,
// since a kernel cannot throw.
#pragma once

#include "../attention_shape.hpp"
#include "rows.hpp"

namespace dovetail::kernels {

template <class T>
[[gnu::used]] void write_to_cache(cuda::stream s, std::int64_t sequences, std::int64_t length, std::int64_t columns, const T* rows,
                                  const std::int32_t* positions, T* cache);

// `scores` is memory for sequences * heads * length numbers.
template <class T, class R>
[[gnu::used]] void cached_attention(cuda::stream s, ops_detail::attention_shape a, const T* q, const T* keys, const T* values,
                                    const std::int32_t* positions, R* scores, T* y);

#if defined(__CUDACC__)

namespace detail {

template <class T>
__global__ void __launch_bounds__(threads) write_to_cache_kernel(std::int64_t sequences, std::int64_t length, std::int64_t columns,
                                                                 const T* rows, const std::int32_t* positions, T* cache) {
    for (std::int64_t i = first_unit(); i < sequences * columns; i += unit_stride()) {
        const std::int64_t sequence = i / columns, position = positions[sequence];
        if (position >= 0 && position < length) cache[(sequence * length + position) * columns + i % columns] = rows[i];
    }
}

// A block computes a head of a sequence: each thread some of the scores, then some of the elements of the result.
template <class T, class R>
__global__ void __launch_bounds__(threads)
    cached_attention_kernel(ops_detail::attention_shape a, const T* q, const T* keys, const T* values, const std::int32_t* positions,
                            R* all_scores, T* y, R scale) {
    for (std::int64_t i = blockIdx.x; i < a.sequences * a.heads; i += gridDim.x) {
        const std::int64_t sequence = i / a.heads, of_query = i * a.head_size;
        const std::int64_t of_cache = sequence * a.length * a.row() + i % a.heads * a.head_size;
        const std::int64_t position = positions[sequence];
        const bool known = position >= 0 && position < a.length;
        const std::int64_t count = known ? position + 1 : 0;
        R* const scores = all_scores + i * a.length;
        R largest = minus_infinity<R>, sum{};
        for (std::int64_t j = threadIdx.x; j < count; j += threads) {
            R score{};
            for (std::int64_t c = 0; c < a.head_size; ++c) score += R(widen(q[of_query + c])) * R(widen(keys[of_cache + j * a.row() + c]));
            scores[j] = score * scale;
            largest = scores[j] > largest ? scores[j] : largest;
        }
        largest = over_group<threads>(largest, [](R x, R z) { return x > z ? x : z; });
        for (std::int64_t j = threadIdx.x; j < count; j += threads) sum += scores[j] = std::exp(scores[j] - largest);
        sum = over_group<threads>(sum, [](R x, R z) { return x + z; });  // its barrier also makes the scores of all threads visible
        for (std::int64_t c = threadIdx.x; c < a.head_size; c += threads) {
            R total{};
            for (std::int64_t j = 0; j < count; ++j) total += scores[j] * R(widen(values[of_cache + j * a.row() + c]));
            y[of_query + c] = narrow<T>(known ? total / sum : not_a_number<R>);
        }
    }
}

}  // namespace detail

template <class T>
void write_to_cache(cuda::stream s, std::int64_t sequences, std::int64_t length, std::int64_t columns, const T* rows,
                    const std::int32_t* positions, T* cache) {
    if (sequences * columns == 0) return;
    detail::write_to_cache_kernel<<<blocks_for(s, sequences * columns), threads, 0, on(s)>>>(sequences, length, columns, rows, positions,
                                                                                             cache);
    s.services->launched("kernel write_to_cache");
}

template <class T, class R>
void cached_attention(cuda::stream s, ops_detail::attention_shape a, const T* q, const T* keys, const T* values,
                      const std::int32_t* positions, R* scores, T* y) {
    const std::int64_t heads = a.sequences * a.heads;
    if (heads == 0) return;
    if (scores == nullptr || s.workspace_bytes < heads * a.length * static_cast<std::int64_t>(sizeof(R)))
        s.services->refuse("cached_attention needs the workspace that it declares");
    const R scale = static_cast<R>(1 / std::sqrt(static_cast<double>(a.head_size)));
    detail::cached_attention_kernel<<<blocks_for(s, heads, 1), threads, 0, on(s)>>>(a, q, keys, values, positions, scores, y, scale);
    s.services->launched("kernel cached_attention");
}

#endif

}  // namespace dovetail::kernels
