// CUDA kernels of causal attention and its gradient: products by cuBLAS, a softmax and its gradient in place.
#pragma once

#include "../attention_shape.hpp"
#include "rows.hpp"

namespace dovetail::kernels {

// Scores and their gradients are numbers of arithmetic_t<T>, which is wider than a half. The workspace of the stream has room for
// scores_bytes(T, probabilities), and for the gradient for gradients_bytes(T, probabilities).
template <class T>
[[gnu::used]] void causal_attention(cuda::stream s, ops_detail::attention_shape a, const T* q, const T* k, const T* v, T* y, T* p);

template <class T>
[[gnu::used]] void causal_attention_gradient(cuda::stream s, ops_detail::attention_shape a, const T* dy, const T* q, const T* k, const T* v,
                                             const T* p, T* dq, T* dk, T* dv);

#if defined(__CUDACC__)

namespace detail {

// A matrix for each head of each sequence: [length, head_size] of queries, keys or values, or [length, length] of probabilities.
template <class T>
struct matrices {
    T* first;
    std::int64_t columns, row, next_head, next_sequence;
};
template <class T>
matrices<T> rows_of_heads(const ops_detail::attention_shape& a, T* x) {
    return {x, a.head_size, a.row(), a.head_size, a.length * a.row()};
}
template <class T>
matrices<T> probabilities_of_heads(const ops_detail::attention_shape& a, T* p) {
    return {p, a.length, a.probability_row(), a.length, a.length * a.probability_row()};
}

// c = factor op(a) op(b) for each head of each sequence. One call for all heads of a sequence, or for a head of all sequences, whichever
// needs fewer calls.
template <bool TransA, bool TransB, class T, class Result>
void multiply_heads(cuda::stream s, const ops_detail::attention_shape& of, double factor, matrices<const T> a, matrices<const T> b,
                    matrices<Result> c) {
    const bool by_sequence = of.sequences <= of.heads;
    const auto next = [&](const auto& m) { return by_sequence ? m.next_head : m.next_sequence; };
    const auto call_at = [&](const auto& m, std::int64_t i) { return m.first + i * (by_sequence ? m.next_sequence : m.next_head); };
    cuda::matrix_product batch{.elements = element_of<T>, .results = element_of<Result>, .trans_a = TransA, .trans_b = TransB};
    batch.m = of.length;
    batch.n = c.columns;
    batch.k = TransA ? of.length : a.columns;
    batch.factor = factor;
    batch.count = by_sequence ? of.heads : of.sequences;
    for (std::int64_t i = 0; i < (by_sequence ? of.sequences : of.heads); ++i)
        s.services->multiply_batch(s, batch, {call_at(a, i), a.row, next(a)}, {call_at(b, i), b.row, next(b)},
                                   {call_at(c, i), c.row, next(c)});
}

// Row r of p [rows, heads, length] is the softmax of that of the scores over the tokens up to that of the row, and zero for later ones.
// Both may be at one address.
template <int Threads, class R, class T>
__global__ void __launch_bounds__(threads) causal_softmax_kernel(ops_detail::attention_shape a, const R* scores, T* p) {
    for (std::int64_t r = first_row_of_group<Threads>(); r < a.rows() * a.heads; r += groups<Threads>()) {
        const R* const row = scores + r * a.length;
        T* const to = p + r * a.length;
        const std::int64_t seen = r / a.heads % a.length + 1;
        R largest = row[0], sum{};
        for_share<Threads, 1, R>(seen, row, [&](R value, std::int64_t) { largest = value > largest ? value : largest; });
        largest = over_group<Threads>(largest, [](R x, R y) { return x > y ? x : y; });
        for_share<Threads, 1, R>(seen, row, [&](R value, std::int64_t) { sum += std::exp(value - largest); });
        sum = over_group<Threads>(sum, [](R x, R y) { return x + y; });
        for_share<Threads, 1, R>(a.length, row,
                                 [&](R value, std::int64_t j) { to[j] = narrow<T>(j < seen ? std::exp(value - largest) / sum : R{}); });
    }
}

// Gradients of probabilities become gradients of scores. Both may be at one address.
template <int Threads, class R, class T>
__global__ void __launch_bounds__(threads)
    causal_softmax_gradient_kernel(ops_detail::attention_shape a, const T* p, const R* of_probabilities, T* of_scores) {
    for (std::int64_t r = first_row_of_group<Threads>(); r < a.rows() * a.heads; r += groups<Threads>()) {
        const T* const probabilities = p + r * a.length;
        const R* const row = of_probabilities + r * a.length;
        T* const to = of_scores + r * a.length;
        R sum{};
        const std::int64_t seen = r / a.heads % a.length + 1;
        for_share<Threads, 1, R>(seen, row, [&](R value, std::int64_t j) { sum += value * R(widen(probabilities[j])); });
        sum = over_group<Threads>(sum, [](R x, R y) { return x + y; });
        for_share<Threads, 1, R>(a.length, row, [&](R value, std::int64_t j) {
            to[j] = narrow<T>(j < seen ? R(widen(probabilities[j])) * (value - sum) : R{});
        });
    }
}

// The workspace, of which an operation has declared `bytes`.
template <class R>
R* declared_workspace(cuda::stream s, std::int64_t bytes, const char* refusal) {
    if (s.workspace == nullptr || s.workspace_bytes < bytes) s.services->refuse(refusal);
    return static_cast<R*>(s.workspace);
}

}  // namespace detail

template <class T>
void causal_attention(cuda::stream s, ops_detail::attention_shape a, const T* q, const T* k, const T* v, T* y, T* p) {
    if (a.rows() == 0) return;
    using R = ops_detail::arithmetic_t<T>;
    R* scores = nullptr;
    if constexpr (std::is_same_v<T, R>)
        scores = p;
    else
        scores = detail::declared_workspace<R>(s, ops_detail::scores_bytes(element_of<T>, a.probabilities()),
                                               "causal_attention needs the workspace that it declares");
    const auto of = [&](auto* x) { return detail::rows_of_heads(a, x); };
    const double scale = 1 / std::sqrt(static_cast<double>(a.head_size));
    detail::multiply_heads<false, true, T>(s, a, scale, of(q), of(k), detail::probabilities_of_heads(a, scores));
    if (a.length < detail::long_row)
        detail::causal_softmax_kernel<32>
            <<<blocks_for(s, a.rows() * a.heads, threads / 32), threads, 0, on(s)>>>(a, static_cast<const R*>(scores), p);
    else
        detail::causal_softmax_kernel<threads>
            <<<blocks_for(s, a.rows() * a.heads, 1), threads, 0, on(s)>>>(a, static_cast<const R*>(scores), p);
    s.services->launched("kernel causal_softmax");
    detail::multiply_heads<false, false, T>(s, a, 1, detail::probabilities_of_heads<const T>(a, p), of(v), of(y));
}

template <class T>
void causal_attention_gradient(cuda::stream s, ops_detail::attention_shape a, const T* dy, const T* q, const T* k, const T* v, const T* p,
                               T* dq, T* dk, T* dv) {
    if (a.rows() == 0) return;
    using R = ops_detail::arithmetic_t<T>;
    R* const of_probabilities = detail::declared_workspace<R>(s, ops_detail::gradients_bytes(element_of<T>, a.probabilities()),
                                                              "causal_attention_gradient needs the workspace that it declares");
    T* of_scores = nullptr;
    if constexpr (std::is_same_v<T, R>)
        of_scores = of_probabilities;
    else
        of_scores = reinterpret_cast<T*>(of_probabilities + a.probabilities());
    const auto of = [&](auto* x) { return detail::rows_of_heads(a, x); };
    const double scale = 1 / std::sqrt(static_cast<double>(a.head_size));
    detail::multiply_heads<true, false, T>(s, a, 1, detail::probabilities_of_heads(a, p), of(dy), of(dv));
    detail::multiply_heads<false, true, T>(s, a, 1, of(dy), of(v), detail::probabilities_of_heads(a, of_probabilities));
    if (a.length < detail::long_row)
        detail::causal_softmax_gradient_kernel<32><<<blocks_for(s, a.rows() * a.heads, threads / 32), threads, 0, on(s)>>>(
            a, p, static_cast<const R*>(of_probabilities), of_scores);
    else
        detail::causal_softmax_gradient_kernel<threads>
            <<<blocks_for(s, a.rows() * a.heads, 1), threads, 0, on(s)>>>(a, p, static_cast<const R*>(of_probabilities), of_scores);
    s.services->launched("kernel causal_softmax_gradient");
    const auto scores = detail::probabilities_of_heads<const T>(a, of_scores);
    detail::multiply_heads<false, false, T>(s, a, scale, scores, of(k), of(dq));
    detail::multiply_heads<true, false, T>(s, a, scale, scores, of(q), of(dk));
}

#endif

}  // namespace dovetail::kernels
