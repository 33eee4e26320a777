// Element types: those that NCCL moves, with half and bfloat16 usable on the host as well.
#pragma once

#include "config.hpp"

#include <cstdint>

namespace dovetail {

enum class element : unsigned char { none, float16, bfloat16, float32, float64, int8, uint8, int32, uint32, int64, uint64 };

// Size in bytes, indexed by element. Not a switch: in constant evaluation clang tries one case after the other.
inline constexpr unsigned char element_bytes[] = {0, 2, 2, 4, 8, 1, 1, 4, 4, 8, 8};
constexpr int bytes_of(element e) { return element_bytes[static_cast<int>(e)]; }

constexpr bool is_floating(element e) { return e >= element::float16 && e <= element::float64; }

constexpr const char* name_of(element e) {
    switch (e) {
        case element::float16: return "half";
        case element::bfloat16: return "bfloat16";
        case element::float32: return "float";
        case element::float64: return "double";
        case element::int8: return "int8";
        case element::uint8: return "uint8";
        case element::int32: return "int32";
        case element::uint32: return "uint32";
        case element::int64: return "int64";
        case element::uint64: return "uint64";
        case element::none: return "none";
    }
    return "none";
}

// The conversions use __builtin_bit_cast, which every supported compiler has and device code may call, unlike std::bit_cast. Kernels
// convert halves by the hardware's instructions, which give the same bits except for NaN: that is left to the code below.
// IEEE 754 binary16: storage, with arithmetic through float. Same bits as CUDA's __half.
struct half {
    std::uint16_t bits = 0;

    half() = default;
    DOVETAIL_HOST_DEVICE constexpr half(float value) : bits{from_float(value)} {}
    DOVETAIL_HOST_DEVICE constexpr operator float() const { return to_float(bits); }

private:
    DOVETAIL_HOST_DEVICE static constexpr std::uint16_t from_float(float value) {
#if defined(__CUDA_ARCH__)
        if (!__builtin_is_constant_evaluated() && value == value) {
            std::uint16_t rounded;
            asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
            return rounded;
        }
#endif
        const auto x = __builtin_bit_cast(std::uint32_t, value);
        const auto sign = static_cast<std::uint16_t>((x >> 16) & 0x8000u);
        const std::uint32_t magnitude = x & 0x7fffffffu;
        if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // not a number
        if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
        if (magnitude < 0x38800000u) {                                                    // below 2^-14: subnormal or zero
            const int shift = 126 - static_cast<int>(magnitude >> 23);
            if (shift > 24) return sign;
            const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
            const std::uint32_t kept = mantissa >> shift;
            const std::uint32_t rest = mantissa & ((1u << shift) - 1);
            const std::uint32_t tie = 1u << (shift - 1);
            return static_cast<std::uint16_t>(sign | (kept + (rest > tie || (rest == tie && (kept & 1u)) ? 1u : 0u)));
        }
        const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);  // to nearest, ties to even
        return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
    }
    DOVETAIL_HOST_DEVICE static constexpr float to_float(std::uint16_t b) {
#if defined(__CUDA_ARCH__)
        if (!__builtin_is_constant_evaluated() && (b & 0x7fffu) <= 0x7c00u) {
            float value;
            asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(b));
            return value;
        }
#endif
        const std::uint32_t sign = static_cast<std::uint32_t>(b & 0x8000u) << 16;
        const std::uint32_t exponent = (b >> 10) & 0x1fu;
        std::uint32_t mantissa = b & 0x3ffu;
        if (exponent == 0x1fu) return __builtin_bit_cast(float, sign | 0x7f800000u | (mantissa << 13));
        if (exponent == 0) {
            if (mantissa == 0) return __builtin_bit_cast(float, sign);
            std::uint32_t e = 113;
            while ((mantissa & 0x400u) == 0) {
                mantissa <<= 1;
                --e;
            }
            return __builtin_bit_cast(float, sign | (e << 23) | ((mantissa & 0x3ffu) << 13));
        }
        return __builtin_bit_cast(float, sign | ((exponent + 112) << 23) | (mantissa << 13));
    }
};

// The upper half of a float: storage, with arithmetic through float. Same bits as CUDA's __nv_bfloat16.
struct bfloat16 {
    std::uint16_t bits = 0;

    bfloat16() = default;
    DOVETAIL_HOST_DEVICE constexpr bfloat16(float value) : bits{from_float(value)} {}
    DOVETAIL_HOST_DEVICE constexpr operator float() const { return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16); }

private:
    DOVETAIL_HOST_DEVICE static constexpr std::uint16_t from_float(float value) {
        const auto x = __builtin_bit_cast(std::uint32_t, value);
        if ((x & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((x >> 16) | 0x40u);
        return static_cast<std::uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
    }
};

// The element of a C++ type, and the C++ type of an element.
template <class T>
inline constexpr element element_of = element::none;
template <> inline constexpr element element_of<half> = element::float16;
template <> inline constexpr element element_of<bfloat16> = element::bfloat16;
template <> inline constexpr element element_of<float> = element::float32;
template <> inline constexpr element element_of<double> = element::float64;
template <> inline constexpr element element_of<std::int8_t> = element::int8;
template <> inline constexpr element element_of<std::uint8_t> = element::uint8;
template <> inline constexpr element element_of<std::int32_t> = element::int32;
template <> inline constexpr element element_of<std::uint32_t> = element::uint32;
template <> inline constexpr element element_of<std::int64_t> = element::int64;
template <> inline constexpr element element_of<std::uint64_t> = element::uint64;

namespace detail {
template <element E> struct element_type;
template <> struct element_type<element::float16> {
    using type = half;
};
template <> struct element_type<element::bfloat16> {
    using type = bfloat16;
};
template <> struct element_type<element::float32> {
    using type = float;
};
template <> struct element_type<element::float64> {
    using type = double;
};
template <> struct element_type<element::int8> {
    using type = std::int8_t;
};
template <> struct element_type<element::uint8> {
    using type = std::uint8_t;
};
template <> struct element_type<element::int32> {
    using type = std::int32_t;
};
template <> struct element_type<element::uint32> {
    using type = std::uint32_t;
};
template <> struct element_type<element::int64> {
    using type = std::int64_t;
};
template <> struct element_type<element::uint64> {
    using type = std::uint64_t;
};
}  // namespace detail

template <element E>
using element_type = typename detail::element_type<E>::type;

}  // namespace dovetail
