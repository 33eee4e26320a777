// Causal self-attention of sequences of Length tokens with heads of HeadSize elements. Queries, keys and values are [B,C]: the rows of a
// sequence lie one behind the other, and so do the elements of a head in a row. B is a multiple of Length, C of HeadSize, H = C / HeadSize.
//
//     causal_attention<Length, HeadSize>(q, k, v)                    -> y [B,C], probabilities [B, H Length]
//     causal_attention_gradient<Length, HeadSize>(dy, q, k, v, p)    -> dq, dk, dv [B,C]
//
// Row i of a sequence attends to its rows 0 to i: softmax(q k^T / sqrt(HeadSize)) v. Row i of the probabilities has Length of them for each
// head, those of later rows zero. On a GPU the products of all heads, or of all sequences if these are more, are one call of cuBLAS, of
// whole matrices: a value that is not finite then makes all rows of its sequence and head NaN, also those before it. Scores are computed in
// float or double; the workspace has room for all of them, where the host needs those of a row or of a head.
#pragma once

#include "cuda/attention.hpp"
#include "host/attention.hpp"

namespace dovetail::ops {

template <std::int64_t Length, std::int64_t HeadSize>
struct causal_attention {
    static_assert(Length > 0 && HeadSize > 0, "dovetail: sequences and heads of an attention are not empty");

    static constexpr ops_detail::attention_shape shape(tensor_type q) { return ops_detail::attention_shape_of(q, Length, HeadSize); }

    static constexpr results result(tensor_type q, tensor_type k, tensor_type v) {
        if (shape(q).heads == 0 || q != k || q != v) return tensor_type{};
        return {q, q.with_extents(q.extent[0], shape(q).probability_row())};
    }
    static constexpr dovetail::cost cost(tensor_type q, tensor_type, tensor_type) {
        const tensor_type p = q.with_extents(q.extent[0], shape(q).probability_row());
        return {4 * q.size() * Length + 6 * p.size(), 5 * q.bytes() + 4 * p.bytes(), q.type};
    }
    // Scores: of a row on the host; on a GPU all, where they do not fit in the probabilities.
    static constexpr std::int64_t workspace(tensor_type q, tensor_type, tensor_type) {
        const std::int64_t of_row = q.with_extents(Length).with_element(ops_detail::arithmetic_of(q.type)).bytes();
        const std::int64_t all = ops_detail::scores_bytes(q.type, shape(q).probabilities());
        return of_row > all ? of_row : all;
    }
    static constexpr auto row_wise = by_rows(0, 1, 2).in_units_of(Length);

    template <class X, class P>
    static void launch(host::stream s, in<X> q, in<X> k, in<X> v, out<X> y, out<P> p) {
        using R = ops_detail::arithmetic_t<typename X::element_type>;
        loops::causal_attention(shape(X::type), q.data(), k.data(), v.data(), static_cast<R*>(s.workspace), y.data(), p.data());
    }
    template <class X, class P>
    static void launch(cuda::stream s, in<X> q, in<X> k, in<X> v, out<X> y, out<P> p) {
        kernels::causal_attention(s, shape(X::type), q.data(), k.data(), v.data(), y.data(), p.data());
    }
};

template <std::int64_t Length, std::int64_t HeadSize>
struct causal_attention_gradient {
    static constexpr ops_detail::attention_shape shape(tensor_type q) { return ops_detail::attention_shape_of(q, Length, HeadSize); }

    static constexpr results result(tensor_type dy, tensor_type q, tensor_type k, tensor_type v, tensor_type p) {
        const results forward = causal_attention<Length, HeadSize>::result(q, k, v);
        if (!forward.list[0].valid() || dy != q || p != forward.list[1]) return tensor_type{};
        return {q, q, q};
    }
    static constexpr dovetail::cost cost(tensor_type, tensor_type q, tensor_type, tensor_type, tensor_type p) {
        return {8 * q.size() * Length + 4 * p.size(), 11 * q.bytes() + 6 * p.bytes(), q.type};
    }
    // Gradients of the probabilities and scores: all of them on a GPU, of one head on the host.
    static constexpr std::int64_t workspace(tensor_type, tensor_type q, tensor_type, tensor_type, tensor_type p) {
        const std::int64_t of_head = q.with_extents(Length, Length).with_element(ops_detail::arithmetic_of(q.type)).bytes();
        const std::int64_t all = ops_detail::gradients_bytes(q.type, p.size());
        return of_head > all ? of_head : all;
    }
    static constexpr auto row_wise = by_rows(0, 1, 2, 3, 4).in_units_of(Length);

    template <class X, class P>
    static void launch(host::stream s, in<X> dy, in<X> q, in<X> k, in<X> v, in<P> p, out<X> dq, out<X> dk, out<X> dv) {
        using R = ops_detail::arithmetic_t<typename X::element_type>;
        loops::causal_attention_gradient(shape(X::type), dy.data(), q.data(), k.data(), v.data(), p.data(), static_cast<R*>(s.workspace),
                                         dq.data(), dk.data(), dv.data());
    }
    template <class X, class P>
    static void launch(cuda::stream s, in<X> dy, in<X> q, in<X> k, in<X> v, in<P> p, out<X> dq, out<X> dk, out<X> dv) {
        kernels::causal_attention_gradient(s, shape(X::type), dy.data(), q.data(), k.data(), v.data(), p.data(), dq.data(), dk.data(),
                                           dv.data());
    }
};

}  // namespace dovetail::ops
