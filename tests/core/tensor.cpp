// tensor_type and tensor: sizes, overflow, equality, and the conversion from a value to a type.
#include <dovetail/core/tensor.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using dovetail::element;
using dovetail::tensor;
using dovetail::tensor_type;

namespace {
constexpr tensor_type of(element e) { return {e, 0, {}}; }
constexpr std::int64_t largest = INT64_MAX;
}  // namespace

TEST_CASE("elements and bytes") {
    static_assert(tensor<float, 64, 128>::size == 64 * 128 && tensor<float, 64, 128>::bytes == 64 * 128 * 4);
    static_assert(tensor<dovetail::half, 10000, 10000>::bytes == 200'000'000);
    static_assert(dovetail::scalar<double>::rank == 0 && dovetail::scalar<double>::size == 1 && dovetail::scalar<double>::bytes == 8);
    static_assert(tensor<std::int8_t, 3, 0, 5>::size == 0 && tensor<std::int8_t, 3, 0, 5>::bytes == 0);
    static_assert(tensor<float, 3, 5>::extent<0> == 3 && tensor<float, 3, 5>::extent<1> == 5);
    static_assert(tensor<std::uint8_t, 1, 2, 3, 4, 5, 6>::size == 720);
    static_assert(tensor<float, 50'000, 50'000>::bytes == 10'000'000'000);  // more than 32 bits hold
}

TEST_CASE("a size that does not fit is -1, not something wrong") {
    CHECK(of(element::int8).with_extents(largest).size() == largest);
    CHECK(of(element::int8).with_extents(largest).bytes() == -1);
    CHECK(of(element::int8).with_extents(dovetail::most_bytes).bytes() == dovetail::most_bytes);
    CHECK(of(element::int8).with_extents(dovetail::most_bytes + 1).bytes() == -1);
    CHECK(of(element::float16).with_extents(largest).size() == largest);
    CHECK(of(element::float16).with_extents(largest).bytes() == -1);
    CHECK(of(element::float64).with_extents(dovetail::most_bytes / 8).bytes() == dovetail::most_bytes);
    CHECK(of(element::float64).with_extents(dovetail::most_bytes / 8 + 1).bytes() == -1);
    CHECK(of(element::int8).with_extents(largest, 2).size() == -1);
    CHECK(of(element::int8).with_extents(2, largest).size() == -1);
    CHECK(of(element::int8).with_extents(std::int64_t{1} << 32, std::int64_t{1} << 31).size() == -1);
    CHECK(of(element::int8).with_extents((std::int64_t{1} << 32) - 1, std::int64_t{1} << 31).size() ==
          ((std::int64_t{1} << 32) - 1) * (std::int64_t{1} << 31));
    CHECK(of(element::int8).with_extents(1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30).size() == -1);
    CHECK(of(element::float32).with_extents(-1).size() == -1);
    // Nothing at all is nothing, however far the other extents reach.
    CHECK(of(element::float32).with_extents(largest, largest, 0).bytes() == 0);
    static_assert(of(element::float64).with_extents(largest, largest).bytes() == -1);
}

TEST_CASE("equality looks at element, rank and extents, and at nothing else") {
    constexpr tensor_type a = tensor<float, 2, 3>::type;
    tensor_type b = a;
    b.extent[4] = 99;  // beyond the rank
    CHECK(a == b);
    CHECK(a != a.with_element(element::float16));
    CHECK(a != a.with_extents(3, 2));
    CHECK(a != a.with_extents(2, 3, 1));
    CHECK(a.with_element(element::int32).with_extents(7) == tensor<std::int32_t, 7>::type);
    CHECK_FALSE(tensor_type{}.valid());
    CHECK(a.valid());
}

TEST_CASE("a value becomes a type again") {
    static_assert(std::is_same_v<dovetail::tensor_from<element::float16, 2, 4, 5, 0, 0, 0, 0>, tensor<dovetail::half, 4, 5>>);
    static_assert(std::is_same_v<dovetail::tensor_from<element::float64, 0, 0, 0, 0, 0, 0, 0>, dovetail::scalar<double>>);
    static_assert(std::is_same_v<dovetail::tensor_from<element::uint8, 6, 1, 2, 3, 4, 5, 6>, tensor<std::uint8_t, 1, 2, 3, 4, 5, 6>>);
    static_assert(dovetail::detail::is_tensor<tensor<float>> && !dovetail::detail::is_tensor<float>);
}
