// Minimum and maximum in reductions: a number wins over NaN, minus zero is smaller than zero, and the order of operands does not matter.
#include <dovetail/core/extremes.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>

namespace dv = dovetail;

namespace {
template <class T>
bool same_bits(T a, T b) {
    return __builtin_memcmp(&a, &b, sizeof a) == 0;
}
}  // namespace

TEST_CASE_TEMPLATE("floating elements, in either order", T, dv::half, dv::bfloat16, float, double) {
    const T none = std::numeric_limits<float>::quiet_NaN(), large = std::numeric_limits<float>::infinity(), one = 1.0f, two = 2.0f,
            zero = 0.0f, minus = -0.0f;
    for (const T number : {one, two, zero, minus, large, T(-large)}) {
        CHECK(same_bits(dv::minimum_of(none, number), number));
        CHECK(same_bits(dv::minimum_of(number, none), number));
        CHECK(same_bits(dv::maximum_of(none, number), number));
        CHECK(same_bits(dv::maximum_of(number, none), number));
    }
    CHECK(dv::minimum_of(none, none) != dv::minimum_of(none, none));
    CHECK(dv::maximum_of(none, none) != dv::maximum_of(none, none));
    CHECK(same_bits(dv::minimum_of(zero, minus), minus));
    CHECK(same_bits(dv::minimum_of(minus, zero), minus));
    CHECK(same_bits(dv::maximum_of(zero, minus), zero));
    CHECK(same_bits(dv::maximum_of(minus, zero), zero));
    CHECK(dv::minimum_of(two, one) == one);
    CHECK(dv::maximum_of(one, two) == two);
    CHECK(dv::maximum_of(one, large) == large);
}

TEST_CASE_TEMPLATE("integers", T, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    static_assert(dv::minimum_of(least, most) == least && dv::minimum_of(most, least) == least);
    static_assert(dv::maximum_of(least, most) == most && dv::maximum_of(most, least) == most);
}
