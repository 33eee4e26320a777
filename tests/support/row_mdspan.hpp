// An mdspan of two dimensions with strides: what std::mdspan and cuda::std::mdspan have that the library asks for, for compilers and
// machines that have neither.
#pragma once

#include <cstddef>

namespace support {

template <class T, std::size_t Rows, std::size_t Columns>
struct row_mdspan {
    using element_type = T;
    using data_handle_type = T*;
    struct mapping_type {
        bool exhaustive = true;
        bool is_exhaustive() const { return exhaustive; }
    };
    static constexpr std::size_t rank() { return 2; }
    static constexpr std::size_t static_extent(std::size_t i) { return i == 0 ? Rows : Columns; }
    static constexpr bool is_always_strided() { return true; }

    T* first = nullptr;
    std::size_t extents[2] = {}, strides[2] = {};

    T* data_handle() const { return first; }
    std::size_t extent(std::size_t i) const { return extents[i]; }
    std::size_t stride(std::size_t i) const { return strides[i]; }
    mapping_type mapping() const { return {strides[1] == 1 && strides[0] == extents[1]}; }
};

}  // namespace support
