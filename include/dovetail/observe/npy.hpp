// Values as NumPy files (.npy, format 1.0): element type, extents, the elements in row-major order. bfloat16 is written as float, since
// NumPy does not have it.
#pragma once

#include "../core/tensor.hpp"

#include <string>

namespace dovetail::observe {

constexpr const char* npy_type(element e) {
    switch (e) {
        case element::float16: return "<f2";
        case element::bfloat16:
        case element::float32: return "<f4";
        case element::float64: return "<f8";
        case element::int8: return "|i1";
        case element::uint8: return "|u1";
        case element::int32: return "<i4";
        case element::uint32: return "<u4";
        case element::int64: return "<i8";
        case element::uint64: return "<u8";
        case element::none: return "|V1";
    }
    return "|V1";
}

// A value in host memory as the contents of a file.
inline std::string npy(const tensor_type& type, const void* data) {
    std::string header = std::string{"{'descr': '"} + npy_type(type.type) + "', 'fortran_order': False, 'shape': (";
    for (int i = 0; i < type.rank; ++i) header += std::to_string(type.extent[i]) + (i + 1 < type.rank ? ", " : type.rank == 1 ? "," : "");
    header += "), }";
    constexpr std::size_t before = 10, alignment = 64;  // magic, version and length precede the header, which is padded to a multiple of 64
    while ((before + header.size() + 1) % alignment != 0) header += ' ';
    header += '\n';
    std::string file{"\x93NUMPY\x01\x00", 8};
    file += static_cast<char>(header.size() & 0xff);
    file += static_cast<char>(header.size() >> 8);
    file += header;
    if (type.type != element::bfloat16) return file.append(static_cast<const char*>(data), static_cast<std::size_t>(type.bytes()));
    for (std::int64_t i = 0; i < type.size(); ++i) {
        const float x = static_cast<const bfloat16*>(data)[i];
        file.append(reinterpret_cast<const char*>(&x), sizeof x);
    }
    return file;
}

}  // namespace dovetail::observe
