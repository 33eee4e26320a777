// Caches of keys and values for decoding token by token: states [B Length, C], with Length rows for each of B sequences. positions [B]
// int32 is where each sequence is, in [0,Length). C is a multiple of HeadSize, H = C / HeadSize.
//
//     update<cache, write_to_cache<Length>(cache, rows, positions)>            row positions[b] of sequence b becomes row b of rows [B,C]
//     cached_attention<Length, HeadSize>(q, keys, values, positions)           -> y [B,C]
//
// Query b, of q [B,C], attends to the rows 0 to positions[b] of its sequence, as that row in causal_attention does. For a position out of
// range the host throws position_error; on a GPU, where a kernel cannot throw, nothing is written and y is NaN.
#pragma once

#include "cuda/cache.hpp"
#include "host/cache.hpp"

namespace dovetail::ops_detail {
constexpr bool is_cache_of(const tensor_type& cache, const tensor_type& rows, const tensor_type& positions, std::int64_t length) {
    return is_matrix(rows) && are_labels(positions, rows) && cache == rows.with_extents(rows.extent[0] * length, rows.extent[1]);
}
}  // namespace dovetail::ops_detail

namespace dovetail::ops {

template <std::int64_t Length>
struct write_to_cache {
    static_assert(Length > 0, "dovetail: a cache is not empty");

    static constexpr tensor_type result(tensor_type cache, tensor_type rows, tensor_type positions) {
        return ops_detail::is_cache_of(cache, rows, positions, Length) ? cache : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type, tensor_type rows, tensor_type) { return bytes_moved(2 * rows.bytes()); }

    template <class C, class X, class I>
    static void launch(host::stream, inout<C> cache, in<X> rows, in<I> positions) {
        loops::write_to_cache(I::size, Length, X::template extent<1>, rows.data(), positions.data(), cache.data());
    }
    template <class C, class X, class I>
    static void launch(cuda::stream s, inout<C> cache, in<X> rows, in<I> positions) {
        kernels::write_to_cache(s, I::size, Length, X::template extent<1>, rows.data(), positions.data(), cache.data());
    }
};

template <std::int64_t Length, std::int64_t HeadSize>
struct cached_attention {
    static_assert(Length > 0 && HeadSize > 0, "dovetail: caches and heads of an attention are not empty");

    // That of the keys.
    static constexpr ops_detail::attention_shape shape(tensor_type keys) { return ops_detail::attention_shape_of(keys, Length, HeadSize); }

    static constexpr tensor_type result(tensor_type q, tensor_type keys, tensor_type values, tensor_type positions) {
        const bool fits = ops_detail::is_cache_of(keys, q, positions, Length) && values == keys && shape(keys).heads > 0;
        return fits ? q : tensor_type{};
    }
    // Of caches that are full.
    static constexpr dovetail::cost cost(tensor_type q, tensor_type keys, tensor_type values, tensor_type) {
        return {4 * keys.size(), 2 * q.bytes() + keys.bytes() + values.bytes(), ops_detail::arithmetic_of(q.type)};
    }
    // Scores of each head.
    static constexpr std::int64_t workspace(tensor_type q, tensor_type keys, tensor_type, tensor_type) {
        return q.with_extents(q.extent[0], shape(keys).probability_row()).with_element(ops_detail::arithmetic_of(q.type)).bytes();
    }

    template <class X, class C, class I>
    static void launch(host::stream s, in<X> q, in<C> keys, in<C> values, in<I> positions, out<X> y) {
        using R = ops_detail::arithmetic_t<typename X::element_type>;
        loops::cached_attention(shape(C::type), q.data(), keys.data(), values.data(), positions.data(), static_cast<R*>(s.workspace),
                                y.data());
    }
    template <class X, class C, class I>
    static void launch(cuda::stream s, in<X> q, in<C> keys, in<C> values, in<I> positions, out<X> y) {
        using R = ops_detail::arithmetic_t<typename X::element_type>;
        kernels::cached_attention(s, shape(C::type), q.data(), keys.data(), values.data(), positions.data(), static_cast<R*>(s.workspace),
                                  y.data());
    }
};

}  // namespace dovetail::ops
