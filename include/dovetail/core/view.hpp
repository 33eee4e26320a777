// Typed views that an operation's `launch` receives: a pointer with static extents. `in` is read, `out` is wholly
// overwritten, `inout` is both. X is a dovetail::tensor.
#pragma once

#include "tensor.hpp"

namespace dovetail {

namespace detail {
template <class X, class T>
struct view {
    using tensor = X;
    using element_type = T;
    static constexpr std::int64_t size = X::size;
    static constexpr int rank = X::rank;
    template <int I>
    static constexpr std::int64_t extent = X::template extent<I>;

    T* pointer = nullptr;

    DOVETAIL_HOST_DEVICE constexpr T* data() const { return pointer; }
    DOVETAIL_HOST_DEVICE constexpr T& operator[](std::int64_t i) const { return pointer[i]; }
    DOVETAIL_HOST_DEVICE constexpr T* begin() const { return pointer; }
    DOVETAIL_HOST_DEVICE constexpr T* end() const { return pointer + size; }

    // As cuda::std::mdspan, or std::mdspan, with static extents. By the members that any mdspan has: including the header here
    // would cost every nvcc compile three seconds.
    template <class Mdspan>
        requires requires {
            typename Mdspan::mapping_type;
            typename Mdspan::data_handle_type;
        }
    DOVETAIL_HOST_DEVICE constexpr operator Mdspan() const {
        return Mdspan{pointer};
    }
};
}  // namespace detail

template <class X>
struct in : detail::view<X, const typename X::element_type> {};
template <class X>
struct out : detail::view<X, typename X::element_type> {};
template <class X>
struct inout : detail::view<X, typename X::element_type> {};

}  // namespace dovetail
