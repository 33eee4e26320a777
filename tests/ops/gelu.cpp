// gelu and its gradient against PyTorch's values (transformer_values.py) in all floating elements, and against finite differences.
#include <doctest/doctest.h>

#include <dovetail/ops/gelu.hpp>

#include "ops/transformer_values.hpp"
#include "support/numbers.hpp"

using namespace dovetail;
using support::differs;
using support::eighth_of;
using support::filled;

TEST_CASE_TEMPLATE("values and gradient", T, float, double, half, bfloat16) {
    using X = tensor<T, 9>;
    const filled<X> x = eighth_of<X>(1, 8), dy = eighth_of<X>(2);
    filled<X> y, dx;
    ops::gelu::launch(host::stream{}, x.in(), y.out());
    ops::gelu_gradient::launch(host::stream{}, dy.in(), x.in(), dx.out());
    CHECK(differs(y, expected::gelu::y) <= 1);
    CHECK(differs(dx, expected::gelu::dx) <= 1);
}

TEST_CASE("the gradient is the derivative") {
    using X = tensor<double, 3, 5>;
    filled<X> x{3}, dy{4}, y, dx;
    ops::gelu_gradient::launch(host::stream{}, dy.in(), x.in(), dx.out());
    const auto value = [&] {
        ops::gelu::launch(host::stream{}, x.in(), y.out());
        return support::product(y, dy);
    };
    CHECK(support::differs_from_slope(dx, x, value) < 1e-6);
}

TEST_CASE("shape rules refuse what does not fit") {
    constexpr auto x = tensor<half, 2, 3>::type;
    static_assert(ops::gelu::result(x) == x && ops::gelu_gradient::result(x, x) == x);
    static_assert(!ops::gelu::result(tensor<int, 2>::type).valid() && !ops::gelu::result({}).valid());
    static_assert(!ops::gelu_gradient::result(x, tensor<half, 6>::type).valid());
    static_assert(!ops::gelu_gradient::result(x, tensor<float, 2, 3>::type).valid());
}
