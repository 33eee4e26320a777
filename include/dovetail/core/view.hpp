// Typed views that an operation's `launch` receives: a pointer with static extents. `in` is read, `out` is wholly
// overwritten, `inout` is both. X is a dovetail::tensor.
//
// x[i] is checked: beyond the tensor, host code throws a view_error and a kernel traps. The compiler removes the check from a loop up
// to X::size; data() and iterators are not checked. Defining DOVETAIL_UNCHECKED_DEVICE_VIEWS lifts the check in device code.
#pragma once

#include "tensor.hpp"

#include <cstdio>
#include <exception>

namespace dovetail {

// An index outside a tensor. The exception that the executor throws names the operation that used it.
class view_error : public std::exception {
public:
    view_error(std::int64_t index, std::int64_t size) {
        std::snprintf(text_, sizeof text_, "element %lld of a view of %lld elements", static_cast<long long>(index),
                      static_cast<long long>(size));
    }
    const char* what() const noexcept override { return text_; }

private:
    char text_[96] = {};
};

namespace detail {

DOVETAIL_HOST_DEVICE constexpr void check_index([[maybe_unused]] std::int64_t i, [[maybe_unused]] std::int64_t size) {
#if !defined(__CUDA_ARCH__)
    if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size)) throw view_error{i, size};
#elif !defined(DOVETAIL_UNCHECKED_DEVICE_VIEWS)
    if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size)) __trap();
#endif
}

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
    DOVETAIL_HOST_DEVICE constexpr T& operator[](std::int64_t i) const {
        check_index(i, size);
        return pointer[i];
    }
    DOVETAIL_HOST_DEVICE constexpr T* begin() const { return pointer; }
    DOVETAIL_HOST_DEVICE constexpr T* end() const { return pointer + size; }

    // Conversion to cuda::std::mdspan or std::mdspan with static extents. Any mdspan is recognised by its members, because including its
    // header would cost every nvcc compilation three seconds.
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

// The tensor X, which an operation reads.
template <class X>
struct in : detail::view<X, const typename X::element_type> {};
// The tensor X, which an operation overwrites as a whole.
template <class X>
struct out : detail::view<X, typename X::element_type> {};
// The tensor X, which an operation reads and writes.
template <class X>
struct inout : detail::view<X, typename X::element_type> {};

}  // namespace dovetail
