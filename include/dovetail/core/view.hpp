// Typed views that an operation's `launch` receives: a pointer with static extents. `in` is read, `out` is wholly
// overwritten, `inout` is both. X is a dovetail::tensor.
#pragma once

#include "tensor.hpp"

#if defined(__CUDACC__)
#include <cuda/std/mdspan>
#endif

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

#if defined(__CUDACC__)
    template <std::int64_t... E>
    static constexpr cuda::std::extents<std::int64_t, static_cast<std::size_t>(E)...> extents_of(dovetail::tensor<typename X::element_type, E...>*);
    // The same memory as an mdspan with static extents.
    DOVETAIL_HOST_DEVICE constexpr auto mdspan() const {
        return cuda::std::mdspan<T, decltype(extents_of(static_cast<X*>(nullptr)))>{pointer};
    }
    template <class Extents>
    DOVETAIL_HOST_DEVICE constexpr operator cuda::std::mdspan<T, Extents>() const { return mdspan(); }
#endif
};
}  // namespace detail

template <class X>
struct in : detail::view<X, const typename X::element_type> {};
template <class X>
struct out : detail::view<X, typename X::element_type> {};
template <class X>
struct inout : detail::view<X, typename X::element_type> {};

}  // namespace dovetail
