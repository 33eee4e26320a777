// Tensors made from a value: fill<X>(value) is an X whose elements all are the scalar `value`; copy(x) is x in new memory; cast<T>(x) is x
// with elements of type T. An integer made of a floating-point number has no fraction and is the nearest of its type; of NaN it is zero.
#pragma once

#include "cuda/elementwise.hpp"
#include "host/elementwise.hpp"

#include <limits>
#include <type_traits>

namespace dovetail::ops_detail {
// Not in the functions that use them: nvcc calls no function of <limits> in code for the device.
template <class R>
inline constexpr R least_of = std::numeric_limits<R>::min();
template <class R>
inline constexpr R most_of = std::numeric_limits<R>::max();

// Converts a value to the arithmetic type of T.
template <class T>
struct converted {
    template <class V>
    DOVETAIL_HOST_DEVICE constexpr arithmetic_t<T> operator()(V value) const {
        using R = arithmetic_t<T>;
        if constexpr (std::is_integral_v<R> && std::is_floating_point_v<V>) {  // else undefined on the host, and other than on a GPU
            if (!(value == value)) return R{0};
            if (value <= static_cast<V>(least_of<R>)) return least_of<R>;
            if (value >= static_cast<V>(most_of<R>)) return most_of<R>;
        }
        return static_cast<R>(value);
    }
};
}  // namespace dovetail::ops_detail

namespace dovetail::ops {

template <class X>
struct fill {
    static constexpr tensor_type made = [] {
        if constexpr (dovetail::detail::is_tensor<X>)
            return X::type;
        else
            return tensor_type{};  // which `result` refuses
    }();
    // The value is a scalar of X's element, or any floating scalar if X is floating.
    static constexpr tensor_type result(tensor_type value) {
        const bool fits = value.type == made.type || (is_floating(value.type) && is_floating(made.type));
        return ops_detail::is_scalar(value) && fits ? made : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type) { return bytes_moved(made.bytes()); }

    template <class V>
    static void launch(host::stream, in<V> value, out<X> y) {
        using T = typename X::element_type;
        loops::fill(X::size, static_cast<T>(loops::widen(*value.data())), y.data());
    }
    template <class V>
    static void launch(cuda::stream s, in<V> value, out<X> y) {
        kernels::transform<ops_detail::converted<typename X::element_type>>(s, X::size, y.data(),
                                                                            kernels::operand<typename V::element_type, true>{value.data()});
    }
};

struct copy {
    static constexpr tensor_type result(tensor_type x) { return x; }
    static constexpr dovetail::cost cost(tensor_type x) { return bytes_moved(2 * x.bytes()); }
    static constexpr auto row_wise = elementwise();

    template <class X>
    static void launch(host::stream, in<X> x, out<X> y) {
        loops::copy(X::size, x.data(), y.data());
    }
    template <class X>
    static void launch(cuda::stream s, in<X> x, out<X> y) {
        kernels::copy(s, X::size, x.data(), y.data());
    }
};

template <class T>
struct cast {
    static constexpr tensor_type result(tensor_type x) { return x.valid() ? x.with_element(element_of<T>) : x; }
    static constexpr dovetail::cost cost(tensor_type x) { return bytes_moved(x.bytes() + result(x).bytes()); }
    static constexpr auto row_wise = elementwise();

    template <class X, class Y>
    static void launch(host::stream, in<X> x, out<Y> y) {
        loops::transform<ops_detail::converted<T>>(X::size, y.data(), loops::operand<typename X::element_type, false>{x.data()});
    }
    template <class X, class Y>
    static void launch(cuda::stream s, in<X> x, out<Y> y) {
        kernels::transform<ops_detail::converted<T>>(s, X::size, y.data(), kernels::operand<typename X::element_type, false>{x.data()});
    }
};

}  // namespace dovetail::ops
