// The operations fill, copy and cast.
#include <doctest/doctest.h>

#include <dovetail/ops/fill.hpp>

#include "support/tensors.hpp"

#include <limits>

using namespace dovetail;
using support::filled;

namespace {

template <class V, class X>
void fills(float value) {
    static_assert(ops::fill<X>::result(scalar<V>::type) == X::type);
    filled<scalar<V>> v;
    v.elements[0] = static_cast<V>(value);
    filled<X> y{1};
    ops::fill<X>::launch(host::stream{}, v.in(), y.out());
    for (int i = 0; i < X::size; ++i) CHECK(y[i] == value);
}

template <class A, class B>
void casts() {
    using X = tensor<A, 3, 5>;
    using Y = tensor<B, 3, 5>;
    static_assert(ops::cast<B>::result(X::type) == Y::type);
    const filled<X> x{7};
    filled<Y> y;
    ops::cast<B>::launch(host::stream{}, x.in(), y.out());
    for (int i = 0; i < X::size; ++i) CHECK(y[i] == static_cast<double>(static_cast<B>(static_cast<float>(x[i]))));
}

}  // namespace

TEST_CASE("fill takes a scalar of its element, or a floating one for a floating tensor") {
    fills<float, tensor<float, 3, 5>>(2.5f);
    fills<float, tensor<half, 3, 5>>(2.5f);
    fills<half, tensor<double, 7>>(0.5f);
    fills<int, tensor<int, 7>>(-3);
    fills<bfloat16, tensor<bfloat16, 0, 7>>(1);
    fills<std::uint8_t, scalar<std::uint8_t>>(9);
    static_assert(!ops::fill<tensor<int, 7>>::result(scalar<float>::type).valid());
    static_assert(!ops::fill<tensor<float, 7>>::result(scalar<int>::type).valid());
    static_assert(!ops::fill<tensor<float, 7>>::result(tensor<float, 1>::type).valid());
    static_assert(!ops::fill<tensor<float, 7>>::result(tensor_type{}).valid());
}

TEST_CASE("copy copies, itself onto itself included") {
    using X = tensor<std::int64_t, 5, 3>;
    filled<X> x{1}, y;
    ops::copy::launch(host::stream{}, x.in(), y.out());
    CHECK(x.elements == y.elements);
    ops::copy::launch(host::stream{}, x.in(), x.out());
    CHECK(x.elements == y.elements);
    ops::copy::launch(host::stream{}, in<tensor<half, 0>>{}, out<tensor<half, 0>>{});
    static_assert(ops::copy::cost(X::type).bytes == 240);
}

TEST_CASE("cast converts every element") {
    casts<float, half>();
    casts<half, float>();
    casts<bfloat16, half>();
    casts<std::int32_t, float>();
    casts<half, std::int32_t>();
    casts<double, bfloat16>();
    casts<std::uint8_t, half>();
    static_assert(!ops::cast<half>::result(tensor_type{}).valid());
}

TEST_CASE("cast to integers gives the nearest one, and zero for what is not a number") {
    const auto cast = []<class T>(T, float value) {
        using X = scalar<float>;
        filled<X> x{1};
        filled<scalar<T>> y;
        x.elements[0] = value;
        ops::cast<T>::launch(host::stream{}, x.in(), y.out());
        return y.elements[0];
    };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    CHECK(cast(std::int32_t{}, std::numeric_limits<float>::quiet_NaN()) == 0);
    CHECK(cast(std::int32_t{}, 3e9f) == std::numeric_limits<std::int32_t>::max());
    CHECK(cast(std::int32_t{}, -infinity) == std::numeric_limits<std::int32_t>::min());
    CHECK(cast(std::int64_t{}, 1e20f) == std::numeric_limits<std::int64_t>::max());
    CHECK(cast(std::uint64_t{}, infinity) == std::numeric_limits<std::uint64_t>::max());
    CHECK(cast(std::uint8_t{}, -0.5f) == 0);
    CHECK(cast(std::int8_t{}, -128.9f) == -128);
    CHECK(cast(std::int8_t{}, 126.9f) == 126);
}
