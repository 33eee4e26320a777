// Host loops of softmax and its gradient, over pointers to row-major [rows, columns].
#pragma once

#include "../functions.hpp"
#include "convert.hpp"

namespace dovetail::loops {

// The softmax of a row is exp(x - largest - log_sum): with the largest element subtracted, no exponential overflows.
template <class R>
struct softmax_shift {
    R largest;
    R log_sum;  // logarithm of the sum of exp(x - largest)
};

template <class T>
auto softmax_shift_of(std::int64_t columns, const T* x) {
    using R = ops_detail::arithmetic_t<T>;
    R largest = widen(x[0]), sum{};
    for (std::int64_t j = 1; j < columns; ++j) largest = widen(x[j]) > largest ? R(widen(x[j])) : largest;
    for (std::int64_t j = 0; j < columns; ++j) sum += ops_detail::exponential(widen(x[j]) - largest);
    return softmax_shift<R>{largest, ops_detail::logarithm(sum)};
}

// y may be the memory of x.
template <class T, class R>
void softmax_of_row(std::int64_t columns, const T* x, softmax_shift<R> shift, T* y) {
    for (std::int64_t j = 0; j < columns; ++j) y[j] = static_cast<T>(ops_detail::exponential(widen(x[j]) - shift.largest - shift.log_sum));
}

// y may be the memory of x.
template <class T>
void softmax(std::int64_t rows, std::int64_t columns, const T* x, T* y) {
    for (std::int64_t i = 0; i < rows; ++i, x += columns, y += columns) softmax_of_row(columns, x, softmax_shift_of(columns, x), y);
}

// dx = y (dy - sum of dy y over the row); dx may be the memory of dy.
template <class T>
void softmax_gradient(std::int64_t rows, std::int64_t columns, const T* dy, const T* y, T* dx) {
    for (std::int64_t i = 0; i < rows; ++i, dy += columns, y += columns, dx += columns) {
        ops_detail::arithmetic_t<T> sum{};
        for (std::int64_t j = 0; j < columns; ++j) sum += widen(dy[j]) * widen(y[j]);
        for (std::int64_t j = 0; j < columns; ++j) dx[j] = static_cast<T>(widen(y[j]) * (widen(dy[j]) - sum));
    }
}

}  // namespace dovetail::loops
