// half and bfloat16 against a reference that rounds with the floating-point unit: all values of half and bfloat16; for conversions to
// them, all representable values, all midpoints with both neighbours, and a sample of all floats.
#include <dovetail/core/element.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>

using dovetail::bfloat16;
using dovetail::element;
using dovetail::half;

namespace {

float float_of(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits;
}

half half_of(std::uint32_t bits) {
    half h;
    h.bits = static_cast<std::uint16_t>(bits);
    return h;
}

bfloat16 bfloat16_of(std::uint32_t bits) {
    bfloat16 b;
    b.bits = static_cast<std::uint16_t>(bits);
    return b;
}

// What a number with `mantissa` explicit bits and exponents from `lowest` to `highest` rounds to, ties to even.
double rounded(double value, int mantissa, int lowest, int highest) {
    if (std::isnan(value) || std::isinf(value) || value == 0) return value;
    int exponent = std::ilogb(value);
    if (exponent < lowest) exponent = lowest;
    const double unit = std::ldexp(1.0, exponent - mantissa);
    const double result = std::nearbyint(value / unit) * unit;
    return std::fabs(result) >= std::ldexp(1.0, highest + 1) ? std::copysign(std::numeric_limits<double>::infinity(), value) : result;
}

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)); }

bool half_rounds(float value) { return same(float(half{value}), rounded(value, 10, -14, 15)); }
bool bfloat16_rounds(float value) { return same(float(bfloat16{value}), rounded(value, 7, -126, 127)); }

// The value itself, and the floats around the midpoint between it and the next larger magnitude of the narrow type.
template <class Rounds>
bool rounds_around(Rounds rounds, float value, float next) {
    const float middle = static_cast<float>((double(value) + double(next)) / 2);
    const std::uint32_t bits = bits_of(middle);
    return rounds(value) && rounds(middle) && rounds(float_of(bits + 1)) && rounds(float_of(bits - 1));
}

}  // namespace

TEST_CASE("every half is the float it stands for, and comes back") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
        double expected = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
        if (exponent == 31) expected = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
        if (bits & 0x8000) expected = -expected;
        const float value = half_of(bits);
        wrong += !same(std::isnan(value) ? std::nan("") : double(value), std::isnan(expected) ? std::nan("") : expected);
        if (!std::isnan(value)) wrong += half{value}.bits != bits;
        else wrong += !std::isnan(float(half{value}));
    }
    CHECK(wrong == 0);
}

TEST_CASE("every bfloat16 is the float it stands for, and comes back") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const float value = bfloat16_of(bits);
        wrong += bits_of(value) != bits << 16;
        if (!std::isnan(value)) wrong += bfloat16{value}.bits != bits;
        else wrong += !std::isnan(float(bfloat16{value}));
    }
    CHECK(wrong == 0);
}

TEST_CASE("a float becomes the nearest half, ties to even") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
        // Beyond the largest half lies the power of two at which infinity begins to be nearer.
        const float next = bits == 0x7bff ? 65536.0f : float(half_of(bits + 1));
        wrong += !rounds_around(half_rounds, half_of(bits), next);
        wrong += !rounds_around(half_rounds, half_of(bits | 0x8000), -next);
    }
    CHECK(wrong == 0);
    CHECK(half{65519.996f}.bits == 0x7bff);
    CHECK(half{65520.0f}.bits == 0x7c00);
}

TEST_CASE("a float becomes the nearest bfloat16, ties to even") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 0x7f7f; ++bits) {
        wrong += !rounds_around(bfloat16_rounds, bfloat16_of(bits), bfloat16_of(bits + 1));
        wrong += !rounds_around(bfloat16_rounds, bfloat16_of(bits | 0x8000), bfloat16_of((bits + 1) | 0x8000));
    }
    CHECK(wrong == 0);
    CHECK(bfloat16{std::numeric_limits<float>::max()}.bits == 0x7f80);
}

TEST_CASE("floats from everywhere") {
    int wrong = 0;
    std::uint32_t bits = 0;
    for (int i = 0; i < 4'000'000; ++i, bits += 1073u)  // odd, so that the walk wraps to different floats
        wrong += !half_rounds(float_of(bits)) + !bfloat16_rounds(float_of(bits));
    CHECK(wrong == 0);
}

TEST_CASE("conversions are constants") {
    static_assert(half{1.0f}.bits == 0x3c00 && float(half{-2.5f}) == -2.5f);
    static_assert(half{5.9604645e-8f}.bits == 1 && half{2.9802322e-8f}.bits == 0 && half{1e-30f}.bits == 0);
    static_assert(bfloat16{1.0f}.bits == 0x3f80 && float(bfloat16{1.00390625f}) == 1.0f);
    static_assert(sizeof(half) == 2 && sizeof(bfloat16) == 2);
}

TEST_CASE("an element and its C++ type") {
    for (element e : {element::float16, element::bfloat16, element::float32, element::float64, element::int8, element::uint8,
                      element::int32, element::uint32, element::int64, element::uint64}) {
        CHECK(dovetail::bytes_of(e) > 0);
        CHECK(std::strcmp(dovetail::name_of(e), "none") != 0);
    }
    static_assert(dovetail::element_of<char*> == element::none && dovetail::bytes_of(element::none) == 0);
    static_assert(dovetail::element_of<dovetail::element_type<element::float16>> == element::float16);
    static_assert(sizeof(dovetail::element_type<element::int64>) == dovetail::bytes_of(element::int64));
    static_assert(dovetail::is_floating(element::bfloat16) && !dovetail::is_floating(element::int8));
}
