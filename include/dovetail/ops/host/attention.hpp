// Host loops of causal attention and its gradient, over pointers; ops/attention.hpp says where the elements are.
#pragma once

#include "../attention_shape.hpp"
#include "../functions.hpp"
#include "convert.hpp"

namespace dovetail::loops {

template <class T>
auto dot_product(std::int64_t n, const T* a, const T* b) {
    ops_detail::arithmetic_t<T> sum{};
    for (std::int64_t c = 0; c < n; ++c) sum += widen(a[c]) * widen(b[c]);
    return sum;
}

// y[c] = the sum of weight[i * step] x[i][c] over i below `count`, rows of x being `row` elements apart.
template <class W, class T>
void weighted_sum(std::int64_t count, const W* weight, std::int64_t step, const T* x, std::int64_t row, std::int64_t columns, T* y) {
    constexpr int strip = 32;
    using R = ops_detail::arithmetic_t<T>;
    for (std::int64_t first = 0; first < columns; first += strip) {
        const int width = static_cast<int>(columns - first < strip ? columns - first : strip);
        R sum[strip] = {};
        for (std::int64_t i = 0; i < count; ++i)
            for (int c = 0; c < width; ++c) sum[c] += R(widen(weight[i * step])) * widen(x[i * row + first + c]);
        for (int c = 0; c < width; ++c) y[first + c] = static_cast<T>(sum[c]);
    }
}

// Softmax of the first `count` of `length` scores in `of_row`, which it changes and which may be where the probabilities are; the other
// probabilities are zero. Returns the logarithm of the sum of the scores' exponentials.
template <class R, class T>
R causal_softmax(std::int64_t count, std::int64_t length, R* of_row, T* p) {
    R largest = of_row[0], sum{};
    for (std::int64_t j = 1; j < count; ++j) largest = of_row[j] > largest ? of_row[j] : largest;
    for (std::int64_t j = 0; j < count; ++j) sum += of_row[j] = ops_detail::exponential(of_row[j] - largest);
    for (std::int64_t j = 0; j < count; ++j) p[j] = static_cast<T>(of_row[j] / sum);
    for (std::int64_t j = count; j < length; ++j) p[j] = static_cast<T>(R{});
    return largest + ops_detail::logarithm(sum);
}

// `scores` is memory for `length` numbers.
template <class T, class R>
void causal_attention(ops_detail::attention_shape a, const T* q, const T* k, const T* v, R* scores, T* y, T* p) {
    const R scale = R(1) / ops_detail::square_root(static_cast<R>(a.head_size));
    a.for_each_head([&](std::int64_t at, std::int64_t of_probabilities) {
        for (std::int64_t i = 0; i < a.length; ++i) {
            T* const row = p + of_probabilities + i * a.probability_row();
            for (std::int64_t j = 0; j <= i; ++j) scores[j] = scale * dot_product(a.head_size, q + at + i * a.row(), k + at + j * a.row());
            causal_softmax(i + 1, a.length, scores, row);
            weighted_sum(i + 1, row, 1, v + at, a.row(), a.head_size, y + at + i * a.row());
        }
    });
}

// With P the probabilities: dV = P^T dY, dP = dY V^T, dS = P (dP - sum of P dP over the row), dQ = scale dS K, dK = scale dS^T Q.
// `scores` is memory for length * length numbers.
template <class T, class R>
void causal_attention_gradient(ops_detail::attention_shape a, const T* dy, const T* q, const T* k, const T* v, const T* p, R* scores, T* dq,
                               T* dk, T* dv) {
    const R scale = R(1) / ops_detail::square_root(static_cast<R>(a.head_size));
    a.for_each_head([&](std::int64_t at, std::int64_t of_probabilities) {
        const T* const of_head = p + of_probabilities;
        for (std::int64_t i = 0; i < a.length; ++i) {
            R* const row = scores + i * a.length;
            R sum{};
            for (std::int64_t j = 0; j <= i; ++j) {
                row[j] = dot_product(a.head_size, dy + at + i * a.row(), v + at + j * a.row());
                sum += row[j] * widen(of_head[i * a.probability_row() + j]);
            }
            for (std::int64_t j = 0; j <= i; ++j) row[j] = scale * widen(of_head[i * a.probability_row() + j]) * (row[j] - sum);
            weighted_sum(i + 1, row, 1, k + at, a.row(), a.head_size, dq + at + i * a.row());
        }
        for (std::int64_t j = 0; j < a.length; ++j) {
            const std::int64_t count = a.length - j, from = at + j * a.row();  // rows j, j + 1, ... see row j
            weighted_sum(count, scores + j * a.length + j, a.length, q + from, a.row(), a.head_size, dk + from);
            weighted_sum(count, of_head + j * a.probability_row() + j, a.probability_row(), dy + from, a.row(), a.head_size, dv + from);
        }
    });
}

// Without probabilities: `log_sums` is the logarithm of the sum of a row's exponentials. `scores` is memory for `length` numbers.
template <class T, class R>
void fused_causal_attention(ops_detail::attention_shape a, const T* q, const T* k, const T* v, R* scores, T* y, R* log_sums) {
    const R scale = R(1) / ops_detail::square_root(static_cast<R>(a.head_size));
    a.for_each_head([&](std::int64_t at, std::int64_t) {
        for (std::int64_t i = 0; i < a.length; ++i, ++log_sums) {
            for (std::int64_t j = 0; j <= i; ++j) scores[j] = scale * dot_product(a.head_size, q + at + i * a.row(), k + at + j * a.row());
            *log_sums = causal_softmax(i + 1, i + 1, scores, scores);
            weighted_sum(i + 1, scores, 1, v + at, a.row(), a.head_size, y + at + i * a.row());
        }
    });
}

// As causal_attention_gradient, with P computed again, and the sum of P dP over a row as that of Y dY over it. `memory` is for two
// matrices of length * length numbers.
template <class T, class R>
void fused_causal_attention_gradient(ops_detail::attention_shape a, const T* dy, const T* q, const T* k, const T* v, const T* y,
                                     const R* log_sums, R* memory, T* dq, T* dk, T* dv) {
    const R scale = R(1) / ops_detail::square_root(static_cast<R>(a.head_size));
    R* const p = memory;
    R* const of_scores = memory + a.length * a.length;
    a.for_each_head([&](std::int64_t at, std::int64_t) {
        for (std::int64_t i = 0; i < a.length; ++i, ++log_sums) {
            const std::int64_t row = at + i * a.row(), first = i * a.length;
            const R sum = dot_product(a.head_size, y + row, dy + row);
            for (std::int64_t j = 0; j <= i; ++j) {
                const std::int64_t seen = at + j * a.row();
                p[first + j] = ops_detail::exponential(scale * dot_product(a.head_size, q + row, k + seen) - *log_sums);
                of_scores[first + j] = scale * p[first + j] * (dot_product(a.head_size, dy + row, v + seen) - sum);
            }
            weighted_sum(i + 1, of_scores + first, 1, k + at, a.row(), a.head_size, dq + row);
        }
        for (std::int64_t j = 0; j < a.length; ++j) {
            const std::int64_t from = at + j * a.row(), diagonal = j * a.length + j;  // rows j, j + 1, ... see row j
            weighted_sum(a.length - j, of_scores + diagonal, a.length, q + from, a.row(), a.head_size, dk + from);
            weighted_sum(a.length - j, p + diagonal, a.length, dy + from, a.row(), a.head_size, dv + from);
        }
    });
}

}  // namespace dovetail::loops
