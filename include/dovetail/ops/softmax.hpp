// Softmax of the rows of x [R,C], of any floating element; C > 0. Sums of halves are of float. The largest element of a row is subtracted
// from it first, so that no exponential overflows; elements of minus infinity become zeros, and a row of these alone NaN.
//
//     softmax(x)                -> y [R,C] = exp(x) / sum of exp(x) over the row
//     softmax_gradient(dy, y)   -> dx [R,C] = y (dy - sum of dy y over the row), y being the result of softmax
#pragma once

#include "cuda/softmax.hpp"
#include "host/softmax.hpp"

namespace dovetail::ops {

struct softmax {
    static constexpr tensor_type result(tensor_type x) { return ops_detail::are_rows(x) ? x : tensor_type{}; }
    static constexpr dovetail::cost cost(tensor_type x) { return {8 * x.size(), 2 * x.bytes(), ops_detail::arithmetic_of(x.type)}; }
    static constexpr int in_place = 0;
    static constexpr auto row_wise = by_rows(0);

    template <class X>
    static void launch(host::stream, in<X> x, out<X> y) {
        loops::softmax(X::template extent<0>, X::template extent<1>, x.data(), y.data());
    }
    template <class X>
    static void launch(cuda::stream s, in<X> x, out<X> y) {
        kernels::softmax(s, X::template extent<0>, X::template extent<1>, x.data(), y.data());
    }
};

struct softmax_gradient {
    static constexpr tensor_type result(tensor_type dy, tensor_type y) { return ops_detail::are_rows(y) && dy == y ? y : tensor_type{}; }
    static constexpr dovetail::cost cost(tensor_type dy, tensor_type y) {
        return {4 * y.size(), 2 * dy.bytes() + y.bytes(), ops_detail::arithmetic_of(y.type)};
    }
    static constexpr int in_place = 0;
    static constexpr auto row_wise = by_rows(0, 1);

    template <class X>
    static void launch(host::stream, in<X> dy, in<X> y, out<X> dx) {
        loops::softmax_gradient(X::template extent<0>, X::template extent<1>, dy.data(), y.data(), dx.data());
    }
    template <class X>
    static void launch(cuda::stream s, in<X> dy, in<X> y, out<X> dx) {
        kernels::softmax_gradient(s, X::template extent<0>, X::template extent<1>, dy.data(), y.data(), dx.data());
    }
};

}  // namespace dovetail::ops
