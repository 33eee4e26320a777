// Causal self-attention as one kernel, which keeps a number for each row of scores where causal_attention keeps the probabilities. Queries,
// keys and values lie as in attention.hpp; B is a multiple of Length, C of HeadSize, H = C / HeadSize.
//
//     fused_causal_attention<Length, HeadSize>(q, k, v)                                    -> y [B,C], log_sums [B,H]
//     fused_causal_attention_gradient<Length, HeadSize, InOrder>(dy, q, k, v, y, log_sums) -> dq, dk, dv [B,C]
//
// log_sums has the logarithm of the sum of the exponentials of each row of scores, in float, or double for double: from it the gradient
// computes the probabilities again. Those of a sequence lie head by head, [H, Length].
//
// On a GPU this is cuDNN's attention: elements are half or bfloat16, a head has a multiple of 8 elements, up to 128, a sequence two tokens
// or more, and addresses are multiples of 16 bytes. A program that launches it on GPUs has one unit that includes cuda/cudnn_attention.hpp;
// without one the linker reports an undefined reference to a function of dovetail::kernels.
//
// Results have the same bits in every run. For that the gradient has a workspace for 16 bits of each score of all heads and sequences.
// With InOrder = false, which is true where it is left out, cuDNN adds up dq as its blocks end: bits differ from run to run, and the
// workspace is as large as dq in float.
#pragma once

#include "cuda/fused_attention.hpp"
#include "host/attention.hpp"

namespace dovetail::ops {

template <std::int64_t Length, std::int64_t HeadSize>
struct fused_causal_attention {
    static_assert(Length > 0 && HeadSize > 0, "dovetail: sequences and heads of an attention are not empty");

    static constexpr ops_detail::attention_shape shape(tensor_type q) { return ops_detail::attention_shape_of(q, Length, HeadSize); }

    static constexpr results result(tensor_type q, tensor_type k, tensor_type v) {
        if (shape(q).heads == 0 || q != k || q != v) return tensor_type{};
        return {q, q.with_extents(q.extent[0], shape(q).heads).with_element(ops_detail::arithmetic_of(q.type))};
    }
    // Half of the products are computed, the others are masked; the rest of a score takes as long as so many operations of a product.
    static constexpr dovetail::cost cost(tensor_type q, tensor_type, tensor_type) {
        return {2 * q.size() * Length + 96 * shape(q).probabilities(), 4 * q.bytes(), q.type};
    }
    // On the host, the scores of a row.
    static constexpr std::int64_t workspace(tensor_type q, tensor_type, tensor_type) {
        const std::int64_t of_row = q.with_extents(Length).with_element(ops_detail::arithmetic_of(q.type)).bytes();
        return of_row > ops_detail::fused_attention_bytes ? of_row : ops_detail::fused_attention_bytes;
    }
    static constexpr auto row_wise = by_rows(0, 1, 2).in_units_of(Length);

    template <class X, class S>
    static void launch(host::stream s, in<X> q, in<X> k, in<X> v, out<X> y, out<S> log_sums) {
        loops::fused_causal_attention(shape(X::type), q.data(), k.data(), v.data(), static_cast<typename S::element_type*>(s.workspace),
                                      y.data(), log_sums.data());
    }
    template <class X, class S>
    static void launch(cuda::stream s, in<X> q, in<X> k, in<X> v, out<X> y, out<S> log_sums) {
        ops_detail::require_cudnn_attention<X, Length, HeadSize>();
        kernels::fused_causal_attention(s, shape(X::type), q.data(), k.data(), v.data(), y.data(), log_sums.data());
    }
};

template <std::int64_t Length, std::int64_t HeadSize, bool InOrder = true>
struct fused_causal_attention_gradient {
    static constexpr ops_detail::attention_shape shape(tensor_type q) { return ops_detail::attention_shape_of(q, Length, HeadSize); }

    static constexpr results result(tensor_type dy, tensor_type q, tensor_type k, tensor_type v, tensor_type y, tensor_type log_sums) {
        const results forward = fused_causal_attention<Length, HeadSize>::result(q, k, v);
        if (!forward.list[0].valid() || dy != q || y != q || log_sums != forward.list[1]) return tensor_type{};
        return {q, q, q};
    }
    static constexpr dovetail::cost cost(tensor_type, tensor_type q, tensor_type, tensor_type, tensor_type, tensor_type) {
        return {5 * q.size() * Length + 600 * shape(q).probabilities(), 8 * q.bytes(), q.type};
    }
    // On the host, the probabilities of a head and the gradients of its scores; on a GPU, what cuDNN adds up in float.
    static constexpr std::int64_t workspace(tensor_type, tensor_type q, tensor_type, tensor_type, tensor_type, tensor_type) {
        const std::int64_t of_head = q.with_extents(2 * Length, Length).with_element(ops_detail::arithmetic_of(q.type)).bytes();
        const std::int64_t of_cudnn = ops_detail::fused_gradient_bytes(shape(q), InOrder);
        return of_head > of_cudnn ? of_head : of_cudnn;
    }
    static constexpr auto row_wise = by_rows(0, 1, 2, 3, 4, 5).in_units_of(Length);

    template <class X, class S>
    static void launch(host::stream s, in<X> dy, in<X> q, in<X> k, in<X> v, in<X> y, in<S> log_sums, out<X> dq, out<X> dk, out<X> dv) {
        loops::fused_causal_attention_gradient(shape(X::type), dy.data(), q.data(), k.data(), v.data(), y.data(), log_sums.data(),
                                               static_cast<typename S::element_type*>(s.workspace), dq.data(), dk.data(), dv.data());
    }
    template <class X, class S>
    static void launch(cuda::stream s, in<X> dy, in<X> q, in<X> k, in<X> v, in<X> y, in<S> log_sums, out<X> dq, out<X> dk, out<X> dv) {
        ops_detail::require_cudnn_attention<X, Length, HeadSize>();
        kernels::fused_causal_attention_gradient(s, shape(X::type), InOrder, dy.data(), q.data(), k.data(), v.data(), y.data(),
                                                 log_sums.data(), dq.data(), dk.data(), dv.data());
    }
};

}  // namespace dovetail::ops
