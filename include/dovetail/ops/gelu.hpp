// The Gaussian error linear unit, element by element: gelu(x) = x P(x) with P the normal distribution function, computed by erf and not by
// its approximation with tanh. gelu_gradient(dy, x) -> dx = dy (P(x) + x p(x)), with p the normal density and x the argument of gelu.
#pragma once

#include "elementwise.hpp"
#include "functions.hpp"

namespace dovetail::ops_detail {

template <class R>
DOVETAIL_HOST_DEVICE R normal_distribution(R x) {
    return (R(1) + error_function(x * R(0.70710678118654752440))) / R(2);
}

struct gaussian_unit {
    template <class R>
    DOVETAIL_HOST_DEVICE R operator()(R x) const {
        return x * normal_distribution(x);
    }
};
struct gaussian_unit_gradient {
    template <class R>
    DOVETAIL_HOST_DEVICE R operator()(R gradient, R x) const {
        const R density = exponential(-x * x / R(2)) * R(0.39894228040143267794);
        return gradient * (normal_distribution(x) + x * density);
    }
};

}  // namespace dovetail::ops_detail

namespace dovetail::ops {

struct gelu : map<ops_detail::gaussian_unit> {
    static constexpr tensor_type result(tensor_type x) { return is_floating(x.type) ? x : tensor_type{}; }
};

struct gelu_gradient : zip_with<ops_detail::gaussian_unit_gradient> {
    static constexpr tensor_type result(tensor_type dy, tensor_type x) { return dy == x && is_floating(x.type) ? x : tensor_type{}; }
};

}  // namespace dovetail::ops
