// Minimum and maximum of two elements for reductions. They are the same on every backend and in NCCL (its reduce_kernel.h uses CUDA's fmin
// and fmax), and follow minNum and maxNum of IEEE 754-2008: a number wins over NaN in either position, and minus zero is less than zero.
// The result therefore does not depend on the order of the ranks.
#pragma once

#include "element.hpp"

#include <type_traits>

namespace dovetail {

namespace detail {

DOVETAIL_HOST_DEVICE constexpr bool is_negative(float x) { return __builtin_bit_cast(std::uint32_t, x) >> 31 != 0; }
DOVETAIL_HOST_DEVICE constexpr bool is_negative(double x) { return __builtin_bit_cast(std::uint64_t, x) >> 63 != 0; }

template <class T>
using compared_as = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float, T>;

template <class T>
DOVETAIL_HOST_DEVICE constexpr bool less(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return a < b || (a == b && is_negative(a) && !is_negative(b));
    else
        return a < b;
}

}  // namespace detail

template <class T>
DOVETAIL_HOST_DEVICE constexpr T minimum_of(T a, T b) {
    const detail::compared_as<T> x = a, y = b;
    return detail::less(y, x) || x != x ? b : a;
}
template <class T>
DOVETAIL_HOST_DEVICE constexpr T maximum_of(T a, T b) {
    const detail::compared_as<T> x = a, y = b;
    return detail::less(x, y) || x != x ? b : a;
}

}  // namespace dovetail
