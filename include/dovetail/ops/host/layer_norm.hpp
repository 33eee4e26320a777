// Host loops of layer_norm and its gradients, over pointers to row-major [rows, columns].
#pragma once

#include "../functions.hpp"
#include "convert.hpp"

namespace dovetail::loops {

// Mean and reciprocal standard deviation of a row.
template <class R>
struct moments {
    R mean;
    R reciprocal_deviation;
};

template <class T>
auto moments_of(std::int64_t columns, const T* x) {
    using R = ops_detail::arithmetic_t<T>;
    R sum{}, squares{};
    for (std::int64_t j = 0; j < columns; ++j) sum += widen(x[j]);
    const R mean = sum / static_cast<R>(columns);
    for (std::int64_t j = 0; j < columns; ++j) squares += (widen(x[j]) - mean) * (widen(x[j]) - mean);
    return moments<R>{mean, R(1) / ops_detail::square_root(squares / static_cast<R>(columns) + R(ops_detail::layer_norm_epsilon))};
}

// y may be the memory of x.
template <class T>
void layer_norm(std::int64_t rows, std::int64_t columns, const T* x, const T* gain, const T* bias, T* y) {
    for (std::int64_t i = 0; i < rows; ++i, x += columns, y += columns) {
        const auto row = moments_of(columns, x);
        for (std::int64_t j = 0; j < columns; ++j)
            y[j] = static_cast<T>((widen(x[j]) - row.mean) * row.reciprocal_deviation * widen(gain[j]) + widen(bias[j]));
    }
}

// With n the normalised x and g = dy gain: dx = (g - mean(g) - n mean(g n)) / deviation. dx may be the memory of dy.
template <class T>
void layer_norm_gradient(std::int64_t rows, std::int64_t columns, const T* dy, const T* x, const T* gain, T* dx) {
    using R = ops_detail::arithmetic_t<T>;
    for (std::int64_t i = 0; i < rows; ++i, dy += columns, x += columns, dx += columns) {
        const auto row = moments_of(columns, x);
        const auto normalised = [&](std::int64_t j) { return (widen(x[j]) - row.mean) * row.reciprocal_deviation; };
        R sum{}, sum_with_x{};
        for (std::int64_t j = 0; j < columns; ++j) {
            const R g = widen(dy[j]) * widen(gain[j]);
            sum += g;
            sum_with_x += g * normalised(j);
        }
        const R mean = sum / static_cast<R>(columns), mean_with_x = sum_with_x / static_cast<R>(columns);
        for (std::int64_t j = 0; j < columns; ++j)
            dx[j] = static_cast<T>((widen(dy[j]) * widen(gain[j]) - mean - normalised(j) * mean_with_x) * row.reciprocal_deviation);
    }
}

// Column sums of dy times the normalised x, and of dy. `of_rows` is memory for the moments of each row.
template <class T, class R>
void layer_norm_parameter_gradients(std::int64_t rows, std::int64_t columns, const T* dy, const T* x, moments<R>* of_rows, T* gain_gradient,
                                    T* bias_gradient) {
    for (std::int64_t i = 0; i < rows; ++i) of_rows[i] = moments_of(columns, x + i * columns);
    for (std::int64_t j = 0; j < columns; ++j) {
        R of_gain{}, of_bias{};
        for (std::int64_t i = 0; i < rows; ++i) {
            const R g = widen(dy[i * columns + j]);
            of_gain += g * (widen(x[i * columns + j]) - of_rows[i].mean) * of_rows[i].reciprocal_deviation;
            of_bias += g;
        }
        gain_gradient[j] = static_cast<T>(of_gain);
        bias_gradient[j] = static_cast<T>(of_bias);
    }
}

}  // namespace dovetail::loops
