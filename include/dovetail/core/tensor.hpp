// `tensor_type`, an element type and extents as a value for loops, and `tensor<T, E...>`, the same as a type for names and
// launches. Static shapes, row-major; no extents at all is a scalar.
#pragma once

#include "element.hpp"

#include <utility>

namespace dovetail {

inline constexpr int max_rank = 6;

// The largest size of a tensor, chosen so that sums over a plan, and small multiples of such sums, fit in 63 bits.
inline constexpr std::int64_t most_bytes = std::int64_t{1} << 50;

// Bytes that blocks of rows of a tensor are multiples of: those that every buffer begins at a multiple of.
inline constexpr std::int64_t block_alignment = 256;

struct tensor_type {
    element type = element::none;
    int rank = 0;
    std::int64_t extent[max_rank] = {};

    // A shape rule refuses its arguments by returning tensor_type{}.
    constexpr bool valid() const { return type != element::none; }

    // Number of elements, or -1 where it does not fit in 63 bits.
    constexpr std::int64_t size() const {
        std::int64_t n = 1;
        for (int i = 0; i < rank; ++i) {
            const std::int64_t e = extent[i];
            if (e <= 0 || n > INT64_MAX / e) return odd_size();
            n *= e;
        }
        return n;
    }
    // Size in bytes, or -1 above most_bytes.
    constexpr std::int64_t bytes() const {
        std::int64_t n = bytes_of(type);
        for (int i = 0; i < rank; ++i) {
            if (extent[i] <= 0 || n > most_bytes / extent[i]) return odd_size();
            n *= extent[i];
        }
        return n;
    }
    // The same element with these extents.
    template <class... I>
    constexpr tensor_type with_extents(I... e) const {
        return {type, static_cast<int>(sizeof...(I)), {static_cast<std::int64_t>(e)...}};
    }
    // The same extents with this element.
    constexpr tensor_type with_element(element e) const {
        tensor_type t = *this;
        t.type = e;
        return t;
    }
    friend constexpr bool operator==(const tensor_type& a, const tensor_type& b) {
        if (a.type != b.type || a.rank != b.rank) return false;
        for (int i = 0; i < a.rank; ++i)
            if (a.extent[i] != b.extent[i]) return false;
        return true;
    }
    friend constexpr bool operator!=(const tensor_type& a, const tensor_type& b) { return !(a == b); }

private:
    // The size of a tensor type that has a non-positive extent or whose size overflows.
    constexpr std::int64_t odd_size() const {
        for (int i = 0; i < rank; ++i)
            if (extent[i] <= 0) return extent[i] < 0 ? -1 : 0;
        return -1;
    }
};

// A tensor of elements T with these extents, row-major; without extents, a scalar.
template <class T, std::int64_t... E>
struct tensor {
    static_assert(element_of<T> != element::none,
                  "dovetail: an element is one of the types NCCL moves: half, bfloat16, float, double, (u)int8, (u)int32, (u)int64; "
                  "those of <cstdint>: std::int64_t, which may be long, is not long long");
    static_assert(sizeof...(E) <= max_rank, "dovetail: a tensor has at most six extents");
    static_assert(((E >= 0) && ...), "dovetail: an extent is not negative");

    using element_type = T;
    static constexpr int rank = sizeof...(E);
    static constexpr tensor_type type = tensor_type{element_of<T>, 0, {}}.with_extents(E...);
    static constexpr std::int64_t size = type.size();
    static constexpr std::int64_t bytes = type.bytes();
    // Extent of dimension I.
    template <int I>
    static constexpr std::int64_t extent = type.extent[I];
};

template <class T>
using scalar = tensor<T>;

namespace detail {
template <class T>
inline constexpr bool is_tensor = false;
template <class T, std::int64_t... E>
inline constexpr bool is_tensor<tensor<T, E...>> = true;

template <element T, class Indices, std::int64_t... E>
struct first_extents;
template <element T, int... I, std::int64_t... E>
struct first_extents<T, std::integer_sequence<int, I...>, E...> {
    static constexpr std::int64_t list[sizeof...(E) + 1] = {E..., 0};
    using type = tensor<dovetail::element_type<T>, list[I]...>;
};
}  // namespace detail

// The tensor type whose element, rank and extents are template arguments: turns a shape that a loop has computed back into a type.
template <element T, int Rank, std::int64_t... E>
using tensor_from = typename detail::first_extents<T, std::make_integer_sequence<int, Rank>, E...>::type;

}  // namespace dovetail
