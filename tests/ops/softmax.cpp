// softmax and its gradient against PyTorch's values (transformer_values.py) in all floating elements, and against finite differences.
#include <doctest/doctest.h>

#include <dovetail/ops/softmax.hpp>

#include "ops/transformer_values.hpp"
#include "support/numbers.hpp"

#include <limits>

using namespace dovetail;
using support::differs;
using support::eighth_of;
using support::filled;

TEST_CASE_TEMPLATE("values and gradient", T, float, double, half, bfloat16) {
    using X = tensor<T, 3, 5>;
    const filled<X> x = eighth_of<X>(1, 8), dy = eighth_of<X>(2);
    filled<X> y, dx;
    ops::softmax::launch(host::stream{}, x.in(), y.out());
    ops::softmax_gradient::launch(host::stream{}, dy.in(), y.in(), dx.out());
    CHECK(differs(y, expected::softmax::y) <= 1);
    CHECK(differs(dx, expected::softmax::dx) <= 1);
    // In place
    filled<X> same = x, gradient = dy;
    ops::softmax::launch(host::stream{}, same.in(), same.out());
    ops::softmax_gradient::launch(host::stream{}, gradient.in(), y.in(), gradient.out());
    CHECK(same.elements == y.elements);
    CHECK(gradient.elements == dx.elements);
}

TEST_CASE("the gradient is the derivative") {
    using X = tensor<double, 4, 7>;
    filled<X> x{5}, dy{6}, y, dx;
    const auto value = [&] {
        ops::softmax::launch(host::stream{}, x.in(), y.out());
        return support::product(y, dy);
    };
    value();
    ops::softmax_gradient::launch(host::stream{}, dy.in(), y.in(), dx.out());
    CHECK(support::differs_from_slope(dx, x, value) < 1e-6);
}

TEST_CASE_TEMPLATE("large elements do not overflow, minus infinity has no probability, no rows have none", T, float, half) {
    constexpr T infinity = std::numeric_limits<float>::infinity();
    filled<tensor<T, 3, 2>> x, y;
    x.elements = {T{60000.0f}, T{60000.0f}, T{-60000.0f}, T{60000.0f}, T{-infinity}, T{-60000.0f}};
    ops::softmax::launch(host::stream{}, x.in(), y.out());
    const double exact[] = {0.5, 0.5, 0, 1, 0, 1};
    CHECK(differs(y, exact) <= 1);
    using none = tensor<T, 0, 3>;
    ops::softmax::launch(host::stream{}, in<none>{}, out<none>{});
    ops::softmax_gradient::launch(host::stream{}, in<none>{}, in<none>{}, out<none>{});
}

TEST_CASE("shape rules refuse what does not fit") {
    constexpr auto x = tensor<half, 4, 6>::type;
    static_assert(ops::softmax::result(x) == x && ops::softmax::result(tensor<double, 0, 6>::type).valid());
    static_assert(!ops::softmax::result(tensor<half, 6>::type).valid() && !ops::softmax::result(tensor<half, 2, 4, 6>::type).valid());
    static_assert(!ops::softmax::result(tensor<half, 4, 0>::type).valid() && !ops::softmax::result(tensor<int, 4, 6>::type).valid());
    static_assert(!ops::softmax::result({}).valid());
    static_assert(ops::softmax_gradient::result(x, x) == x && !ops::softmax_gradient::result({}, {}).valid());
    static_assert(!ops::softmax_gradient::result(x, tensor<half, 6, 4>::type).valid());
    static_assert(!ops::softmax_gradient::result(tensor<float, 4, 6>::type, x).valid());
    static_assert(ops::softmax::cost(x).bytes == 2 * 4 * 6 * 2 && ops::softmax_gradient::cost(x, x).bytes == 3 * 4 * 6 * 2);
}
