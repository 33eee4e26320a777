// Layer normalisation of the rows of x [B,N], with gain [N] and bias [N] of x's element: each row has its mean subtracted and is divided
// by its deviation, sqrt(variance + 1e-5). The gradients compute mean and deviation of each row again.
//
//     layer_norm(x, gain, bias)                 -> y [B,N] = normalised(x) gain + bias
//     layer_norm_gradient(dy, x, gain)          -> dx [B,N]
//     layer_norm_parameter_gradients(dy, x)     -> gradients of gain [N] and bias [N]
#pragma once

#include "cuda/layer_norm.hpp"
#include "host/layer_norm.hpp"

namespace dovetail::ops_detail {
// Sums over many rows are those of bands of rows, added up: so many of them, whichever GPU it is, so that results are the same on all.
constexpr std::int64_t bands_of(std::int64_t rows) {
    constexpr std::int64_t rows_of_band = 256, most = 64;
    const std::int64_t bands = (rows + rows_of_band - 1) / rows_of_band;
    return bands < most ? bands : most;
}
}  // namespace dovetail::ops_detail

namespace dovetail::ops {

struct layer_norm {
    static constexpr tensor_type result(tensor_type x, tensor_type gain, tensor_type bias) {
        return ops_detail::are_rows(x) && gain == x.with_extents(x.extent[1]) && bias == gain ? x : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type x, tensor_type gain, tensor_type bias) {
        return {8 * x.size(), 2 * x.bytes() + gain.bytes() + bias.bytes(), ops_detail::arithmetic_of(x.type)};
    }
    static constexpr int in_place = 0;
    static constexpr auto row_wise = by_rows(0);

    template <class X, class P>
    static void launch(host::stream, in<X> x, in<P> gain, in<P> bias, out<X> y) {
        loops::layer_norm(X::template extent<0>, X::template extent<1>, x.data(), gain.data(), bias.data(), y.data());
    }
    template <class X, class P>
    static void launch(cuda::stream s, in<X> x, in<P> gain, in<P> bias, out<X> y) {
        kernels::layer_norm(s, X::template extent<0>, X::template extent<1>, x.data(), gain.data(), bias.data(), y.data());
    }
};

struct layer_norm_gradient {
    static constexpr tensor_type result(tensor_type dy, tensor_type x, tensor_type gain) {
        return ops_detail::are_rows(x) && dy == x && gain == x.with_extents(x.extent[1]) ? x : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type dy, tensor_type x, tensor_type gain) {
        return {16 * x.size(), 2 * dy.bytes() + x.bytes() + gain.bytes(), ops_detail::arithmetic_of(x.type)};
    }
    static constexpr int in_place = 0;
    static constexpr auto row_wise = by_rows(0, 1);

    template <class X, class P>
    static void launch(host::stream, in<X> dy, in<X> x, in<P> gain, out<X> dx) {
        loops::layer_norm_gradient(X::template extent<0>, X::template extent<1>, dy.data(), x.data(), gain.data(), dx.data());
    }
    template <class X, class P>
    static void launch(cuda::stream s, in<X> dy, in<X> x, in<P> gain, out<X> dx) {
        kernels::layer_norm_gradient(s, X::template extent<0>, X::template extent<1>, dy.data(), x.data(), gain.data(), dx.data());
    }
};

struct layer_norm_parameter_gradients {
    static constexpr results result(tensor_type dy, tensor_type x) {
        if (!ops_detail::are_rows(x) || dy != x) return tensor_type{};
        const tensor_type parameters = x.with_extents(x.extent[1]);
        return {parameters, parameters};
    }
    static constexpr dovetail::cost cost(tensor_type dy, tensor_type x) {
        return {10 * x.size(), dy.bytes() + 2 * x.bytes(), ops_detail::arithmetic_of(x.type)};
    }
    // Mean and reciprocal deviation of each row, and both sums of each band.
    static constexpr std::int64_t workspace(tensor_type, tensor_type x) {
        const tensor_type numbers = x.with_element(ops_detail::arithmetic_of(x.type));
        const std::int64_t rows = x.extent[0];
        return 2 * numbers.with_extents(rows).bytes() + 2 * numbers.with_extents(ops_detail::bands_of(rows), x.extent[1]).bytes();
    }

    template <class X, class P>
    static void launch(host::stream s, in<X> dy, in<X> x, out<P> gain_gradient, out<P> bias_gradient) {
        using R = ops_detail::arithmetic_t<typename X::element_type>;
        loops::layer_norm_parameter_gradients(X::template extent<0>, X::template extent<1>, dy.data(), x.data(),
                                              static_cast<loops::moments<R>*>(s.workspace), gain_gradient.data(), bias_gradient.data());
    }
    template <class X, class P>
    static void launch(cuda::stream s, in<X> dy, in<X> x, out<P> gain_gradient, out<P> bias_gradient) {
        using R = ops_detail::arithmetic_t<typename X::element_type>;
        constexpr std::int64_t rows = X::template extent<0>;
        kernels::layer_norm_parameter_gradients(s, rows, X::template extent<1>, ops_detail::bands_of(rows), dy.data(), x.data(),
                                                static_cast<R*>(s.workspace), gain_gradient.data(), bias_gradient.data());
    }
};

}  // namespace dovetail::ops
