// Widening gives the same bits as the conversions of the element types, for all values of half and bfloat16.
#include <doctest/doctest.h>

#include <dovetail/ops/host/convert.hpp>

#include <bit>

using namespace dovetail;

TEST_CASE_TEMPLATE("every value", T, half, bfloat16) {
    int wrong = 0;
    for (int bits = 0; bits < 65536; ++bits) {
        T x;
        x.bits = static_cast<std::uint16_t>(bits);
        wrong += std::bit_cast<std::uint32_t>(loops::widen(x)) == std::bit_cast<std::uint32_t>(float{x}) ? 0 : 1;
    }
    CHECK(wrong == 0);
}
