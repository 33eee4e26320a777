// Conversion of elements to their arithmetic type on the host, without branches, so that loops vectorise.
#pragma once

#include "../facts.hpp"

namespace dovetail::loops {

template <class T>
inline T widen(T value) {
    return value;
}

inline float widen(bfloat16 value) { return value; }

inline float widen(half value) {
    // A multiplication adjusts the exponent, which also normalises subnormals; infinities and NaN get their exponent back afterwards.
    const std::uint32_t magnitude = (value.bits & 0x7fffu) << 13;
    const std::uint32_t scaled = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) * 0x1p112f);
    const std::uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
    return __builtin_bit_cast(float, scaled | special | (static_cast<std::uint32_t>(value.bits & 0x8000u) << 16));
}

}  // namespace dovetail::loops
