// What an input is bound to: host memory of the caller, copied or borrowed, or device memory. What an output is bound to: memory of the
// caller that a run writes.
#pragma once

#include "external_tensor.hpp"

#include <cstdint>
#include <iterator>
#include <string_view>  // std::ranges::enable_borrowed_range too, which views specialise; <ranges> takes the compiler five times as long
#include <type_traits>
#include <utility>
#include <vector>

namespace dovetail {

enum class binding_source : unsigned char {
    none,
    copied,    // memory of the library, filled by `bind`: the caller may change its own memory at once
    borrowed,  // host memory of the caller, which a run copies when it executes
    in_place,  // device memory of the caller, which the operations of a run read
    written,   // of an output: memory of the caller, which the operations of a run write
    filled     // of an output: memory of the caller, to which it is copied at the end of a run
};

struct binding {
    const void* data = nullptr;
    std::int64_t count = 0;  // elements
    binding_source from = binding_source::none;
    // Of a copy: a number that identifies the contents within the executor; 0: contents may differ from run to run
    std::uint64_t contents = 0;

    // Whether the operations of a run use the memory itself.
    bool in_place() const { return from == binding_source::in_place || from == binding_source::written; }
    // Whether a run reads memory of the caller, who must not change it until then.
    bool of_caller() const { return from == binding_source::borrowed || from == binding_source::in_place; }
};

// Whether two ranges of memory have a byte in common.
inline bool ranges_overlap(const void* a, std::int64_t a_bytes, const void* b, std::int64_t b_bytes) {
    const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
    return a_bytes > 0 && b_bytes > 0 && x < y + static_cast<std::uintptr_t>(b_bytes) && y < x + static_cast<std::uintptr_t>(a_bytes);
}

// Memory of the caller to which a run writes an output.
struct bound_output {
    int symbol = -1;
    const void* data = nullptr;
    std::int64_t bytes = 0;
    bool read_there = false;  // if not, a reading reads the output in memory of the library
};

// Whether a later run writes where an earlier one has an output, of this symbol or of any (-1): that output; none: null.
inline const bound_output* overwritten(const std::vector<bound_output>& earlier, const std::vector<bound_output>& later, int symbol) {
    for (const bound_output& e : earlier)
        for (const bound_output& l : later)
            if (e.read_there && (symbol < 0 || e.symbol == symbol) && ranges_overlap(e.data, e.bytes, l.data, l.bytes)) return &e;
    return nullptr;
}

// Memory of a GPU is used in place; other memory is copied unless CUDA knows it as a GPU's.
inline binding binding_of(const external_tensor& t) {
    const bool in_place = t.place == external_place::gpu && t.type.size() > 0;
    return {t.data, t.type.size(), in_place ? binding_source::in_place : binding_source::copied};
}

// Device memory that an input uses in place. It must not change before ticket.inputs_released().
template <class T>
struct device_pointer {
    const T* data = nullptr;
    std::int64_t count = 0;
};
template <class T>
device_pointer(T*, std::int64_t) -> device_pointer<std::remove_const_t<T>>;

// Host memory that runs read in place; other host memory is copied by `bind`. It must not change before ticket.inputs_released() of the
// last run that reads it. Count: the number of elements if the type has one, else -1.
template <class T, std::int64_t Count = -1>
struct borrowed_memory {
    const T* data = nullptr;
    std::int64_t count = 0;
};

namespace detail {

// The number of elements if the type has one, else -1.
template <class V>
inline constexpr std::int64_t static_count = -1;
template <class T, std::size_t N>
inline constexpr std::int64_t static_count<T[N]> = static_cast<std::int64_t>(N);
template <template <class, std::size_t> class Array, class T, std::size_t N>
    requires(N != static_cast<std::size_t>(-1))  // a span of dynamic extent
inline constexpr std::int64_t static_count<Array<T, N>> = static_cast<std::int64_t>(N);

template <class V>
concept sequence = requires(const V& v) {
    std::data(v);
    std::size(v);
};
template <class V>
using element_in = std::remove_cvref_t<decltype(*std::data(std::declval<const V&>()))>;

template <class V>
inline constexpr bool is_borrowed = false;
template <class T, std::int64_t Count>
inline constexpr bool is_borrowed<borrowed_memory<T, Count>> = true;

}  // namespace detail

// A container or a span that runs read in place. A temporary container is rejected, since it is destroyed before a run reads it.
template <class V>
    requires(detail::sequence<std::remove_cvref_t<V>> &&
             (std::is_lvalue_reference_v<V> || std::ranges::enable_borrowed_range<std::remove_cvref_t<V>>))
borrowed_memory<detail::element_in<std::remove_cvref_t<V>>, detail::static_count<std::remove_cvref_t<V>>> borrowed(V&& values) {
    return {std::data(values), static_cast<std::int64_t>(std::size(values))};
}
template <class T>
borrowed_memory<T> borrowed(const T* data, std::int64_t count) {
    return {data, count};
}

}  // namespace dovetail
