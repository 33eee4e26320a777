// For tests of operations with gradients: tensors of small numbers, distances from expected values, and from slopes by finite differences.
#pragma once

#include <dovetail/launch/stream.hpp>

#include "support/tensors.hpp"

#include <cmath>

namespace support {

template <class T, std::size_t N>
dovetail::host::stream with_workspace(T (&memory)[N]) {
    return {.workspace = memory, .workspace_bytes = sizeof memory};
}

// An eighth of filled<X>{seed}: multiples of 1/16 between -1/2 and 1/2, times `factor`.
template <class X>
filled<X> eighth_of(unsigned seed, float factor = 1) {
    using T = typename X::element_type;
    filled<X> x{seed};
    for (T& e : x.elements) e = static_cast<T>(static_cast<float>(e) / 8 * factor);
    return x;
}

// The largest difference from the exact values, as a multiple of what the element's rounding allows.
template <class X, std::size_t N>
double differs(const filled<X>& x, const double (&exact)[N]) {
    static_assert(X::size == N);
    double most = 0;
    for (std::int64_t i = 0; i < X::size; ++i) {
        const double d = std::abs(x[i] - exact[i]) / tolerance<typename X::element_type>(exact[i]);
        most = d > most || std::isnan(d) ? d : most;
    }
    return most;
}

template <class X>
double product(const filled<X>& a, const filled<X>& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < X::size; ++i) sum += a[i] * b[i];
    return sum;
}

// The largest difference between a gradient and the slope of value() along each element of x, in double precision.
template <class X, class Value>
double differs_from_slope(const filled<X>& gradient, filled<X>& x, Value value) {
    constexpr double step = 1e-5;
    double most = 0;
    for (std::size_t i = 0; i < x.elements.size(); ++i) {
        const double kept = x.elements[i];
        x.elements[i] = kept + step;
        const double above = value();
        x.elements[i] = kept - step;
        const double d = std::abs(gradient.elements[i] - (above - value()) / (2 * step));
        x.elements[i] = kept;
        most = d > most || std::isnan(d) ? d : most;
    }
    return most;
}

}  // namespace support
