// layer_norm and its gradients against PyTorch's values (transformer_values.py) in all floating elements, and against finite differences.
#include <doctest/doctest.h>

#include <dovetail/ops/layer_norm.hpp>

#include "ops/transformer_values.hpp"
#include "support/numbers.hpp"

using namespace dovetail;
using support::differs;
using support::eighth_of;
using support::filled;

namespace {

template <class T>
constexpr double allowed = sizeof(T) == 2 ? 4 : 10;

template <class X, class P>
void gradients(const filled<X>& dy, const filled<X>& x, filled<P>& of_gain, filled<P>& of_bias) {
    double memory[2 * X::template extent<0>];
    ops::layer_norm_parameter_gradients::launch(support::with_workspace(memory), dy.in(), x.in(), of_gain.out(), of_bias.out());
}

}  // namespace

TEST_CASE_TEMPLATE("values and gradients", T, float, double, half, bfloat16) {
    using X = tensor<T, 3, 5>;
    using P = tensor<T, 5>;
    const filled<X> x = eighth_of<X>(1), dy = eighth_of<X>(4);
    const filled<P> gain = eighth_of<P>(2), bias = eighth_of<P>(3);
    filled<X> y, dx;
    ops::layer_norm::launch(host::stream{}, x.in(), gain.in(), bias.in(), y.out());
    ops::layer_norm_gradient::launch(host::stream{}, dy.in(), x.in(), gain.in(), dx.out());
    CHECK(differs(y, expected::layer_norm::y) <= allowed<T>);
    CHECK(differs(dx, expected::layer_norm::dx) <= allowed<T>);
    filled<P> of_gain, of_bias;
    gradients(dy, x, of_gain, of_bias);
    CHECK(differs(of_gain, expected::layer_norm::gain_gradient) <= allowed<T>);
    CHECK(differs(of_bias, expected::layer_norm::bias_gradient) <= allowed<T>);
    // In place
    filled<X> same = x, gradient = dy;
    ops::layer_norm::launch(host::stream{}, same.in(), gain.in(), bias.in(), same.out());
    ops::layer_norm_gradient::launch(host::stream{}, gradient.in(), x.in(), gain.in(), gradient.out());
    CHECK(differs(same, expected::layer_norm::y) <= allowed<T>);
    CHECK(differs(gradient, expected::layer_norm::dx) <= allowed<T>);
}

TEST_CASE("the gradients are derivatives") {
    using X = tensor<double, 4, 7>;
    using P = tensor<double, 7>;
    filled<X> x{5}, dy{6}, y, dx;
    filled<P> gain{7}, bias{8}, of_gain, of_bias;
    const auto value = [&] {
        ops::layer_norm::launch(host::stream{}, x.in(), gain.in(), bias.in(), y.out());
        return support::product(y, dy);
    };
    ops::layer_norm_gradient::launch(host::stream{}, dy.in(), x.in(), gain.in(), dx.out());
    gradients(dy, x, of_gain, of_bias);
    CHECK(support::differs_from_slope(dx, x, value) < 1e-6);
    CHECK(support::differs_from_slope(of_gain, gain, value) < 1e-6);
    CHECK(support::differs_from_slope(of_bias, bias, value) < 1e-6);
}

TEST_CASE("a row of equal elements is normalised to zeros") {
    filled<tensor<float, 1, 4>> x, y{1};
    filled<tensor<float, 4>> gain{1}, bias;
    for (float& e : x.elements) e = 3;
    ops::layer_norm::launch(host::stream{}, x.in(), gain.in(), bias.in(), y.out());
    for (int i = 0; i < 4; ++i) CHECK(y[i] == 0);
}

TEST_CASE("shape rules refuse what does not fit") {
    constexpr auto x = tensor<float, 4, 6>::type, row = tensor<float, 6>::type;
    static_assert(ops::layer_norm::result(x, row, row) == x);
    static_assert(!ops::layer_norm::result(x, row, tensor<float, 5>::type).valid());
    static_assert(!ops::layer_norm::result(x, tensor<half, 6>::type, row).valid());
    static_assert(!ops::layer_norm::result(tensor<float, 4, 0>::type, row, row).valid());
    static_assert(!ops::layer_norm::result(tensor<int, 4, 6>::type, tensor<int, 6>::type, tensor<int, 6>::type).valid());
    static_assert(!ops::layer_norm::result({}, {}, {}).valid());
    static_assert(ops::layer_norm_gradient::result(x, x, row) == x && !ops::layer_norm_gradient::result(x, row, row).valid());
    static_assert(ops::layer_norm_parameter_gradients::result(x, x).count == 2);
    static_assert(ops::layer_norm_parameter_gradients::result(x, x).list[1] == row);
    static_assert(!ops::layer_norm_parameter_gradients::result(x, row).list[0].valid());
    static_assert(ops_detail::bands_of(0) == 0 && ops_detail::bands_of(256) == 1 && ops_detail::bands_of(257) == 2);
    static_assert(ops_detail::bands_of(std::int64_t{1} << 40) == 64);
    static_assert(ops::layer_norm_parameter_gradients::workspace(x, x) == 4 * 2 * (4 + 6));
}
