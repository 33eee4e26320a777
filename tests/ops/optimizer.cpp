// sgd and sgd_momentum against their formulas in double precision, over several steps; adam_w against Optax's values
// (transformer_values.py); clipping by the global norm.
#include <doctest/doctest.h>

#include <dovetail/ops/optimizer.hpp>

#include "ops/transformer_values.hpp"
#include "support/numbers.hpp"

#include <cmath>

using namespace dovetail;
using support::filled;

TEST_CASE_TEMPLATE("sgd", T, float, double, half, bfloat16) {
    using X = tensor<T, 3, 7>;
    filled<X> w{1};
    const filled<X> before{1}, g{2};
    filled<scalar<float>> rate;
    rate.elements[0] = 0.25f;
    ops::sgd::launch(host::stream{}, w.inout(), g.in(), rate.in());
    for (int i = 0; i < X::size; ++i) CHECK(std::abs(w[i] - (before[i] - 0.25 * g[i])) <= support::tolerance<T>(before[i]));
}

TEST_CASE("sgd_momentum with its velocity in float beside half weights") {
    using W = tensor<half, 5>;
    using V = tensor<float, 5>;
    filled<W> w{1};
    filled<V> v;
    const filled<W> g{2};
    filled<scalar<double>> rate;
    rate.elements[0] = 0.125;
    std::vector<double> exact_w, exact_v(5, 0.0);
    for (int i = 0; i < 5; ++i) exact_w.push_back(w[i]);
    for (int step = 0; step < 4; ++step) {
        ops::sgd_momentum<1, 2>::launch(host::stream{}, w.inout(), v.inout(), g.in(), rate.in());
        for (int i = 0; i < 5; ++i) {
            exact_v[i] = exact_v[i] / 2 + g[i];
            exact_w[i] -= exact_v[i] / 8;
            CHECK(v[i] == exact_v[i]);
            CHECK(std::abs(w[i] - exact_w[i]) <= 4 * support::tolerance<half>(exact_w[i]));
        }
    }
}

TEST_CASE_TEMPLATE("adam_w", T, float, double) {
    using W = tensor<T, 4>;
    using update = ops::adam_w<1, 4, 900, 950>;
    filled<W> w = support::eighth_of<W>(1), m, v;
    filled<scalar<float>> rate;
    rate.elements[0] = 0.125f;
    filled<scalar<std::int32_t>> step;
    for (int i = 0; i < 3; ++i) {
        step.elements[0] = i + 1;
        const filled<W> g = support::eighth_of<W>(10 + static_cast<unsigned>(i));
        update::launch(host::stream{}, w.inout(), m.inout(), v.inout(), g.in(), rate.in(), step.in());
        for (int k = 0; k < 4; ++k) {
            const double exact = expected::adam_w::weights[4 * i + k];
            CHECK(std::abs(w[k] - exact) <= 4 * support::tolerance<T>(exact));
        }
    }
}

TEST_CASE("adam_w of half weights with moments in float, and the gradient times a factor") {
    using W = tensor<half, 4>;
    using M = tensor<float, 4>;
    filled<W> scaled = support::eighth_of<W>(1), w = scaled, half_of_g;
    filled<M> m, v, other_m, other_v;
    const filled<W> g = support::eighth_of<W>(2);
    for (std::size_t i = 0; i < 4; ++i) half_of_g.elements[i] = static_cast<half>(static_cast<float>(g.elements[i]) / 2);
    filled<scalar<float>> rate, factor;
    rate.elements[0] = 0.125f;
    factor.elements[0] = 0.5f;
    filled<scalar<std::int32_t>> step;
    step.elements[0] = 7;
    ops::adam_w<>::launch(host::stream{}, scaled.inout(), m.inout(), v.inout(), g.in(), rate.in(), step.in(), factor.in());
    ops::adam_w<>::launch(host::stream{}, w.inout(), other_m.inout(), other_v.inout(), half_of_g.in(), rate.in(), step.in());
    for (int i = 0; i < 4; ++i) {
        CHECK(scaled[i] == w[i]);
        CHECK(m[i] == other_m[i]);
        CHECK(v[i] == other_v[i]);
    }
}

TEST_CASE("the squares of several tensors, and the factor that their norm needs") {
    filled<tensor<float, 2, 3>> a;
    filled<tensor<half, 2>> b;
    filled<scalar<float>> squares, limit, factor;
    a.elements = {1, 2, -3, 0, 0, 1};
    b.elements = {half{-3.0f}, half{1.0f}};
    ops::sum_of_squares::launch(host::stream{}, a.in(), b.in(), squares.out());
    CHECK(squares[0] == 25);
    limit.elements[0] = 2;
    ops::clip_factor::launch(host::stream{}, squares.in(), limit.in(), factor.out());
    CHECK(factor.elements[0] == 0.4f);
    limit.elements[0] = 5;
    ops::clip_factor::launch(host::stream{}, squares.in(), limit.in(), factor.out());
    CHECK(factor[0] == 1);
}

TEST_CASE("steps of adam_w are counted from 1") {
    using X = tensor<float, 2>;
    support::filled<X> w{1}, m, v, g{2};
    support::filled<scalar<float>> rate;
    support::filled<scalar<std::int32_t>> step;
    const support::filled<X> before = w;
    CHECK_THROWS_WITH(ops::adam_w<>::launch(host::stream{}, w.inout(), m.inout(), v.inout(), g.in(), rate.in(), step.in()),
                      "adam_w: step 0; the first step is 1");
    CHECK(w.elements == before.elements);
}

TEST_CASE("shape rules of adam_w and clipping refuse what does not fit") {
    constexpr auto w = tensor<half, 4>::type, m = tensor<float, 4>::type, rate = scalar<float>::type, step = scalar<int>::type;
    using update = ops::adam_w<>;
    static_assert(update::result(w, m, m, w, rate, step).count == 3 && update::result(w, m, m, w, rate, step).list[1] == m);
    static_assert(update::result(w, m, m, w, rate, step, rate).count == 3);
    static_assert(!update::result(w, m, m, w, rate, step, step).list[0].valid());
    static_assert(!update::result(w, m, m, w, rate, rate).list[0].valid());
    static_assert(!update::result(w, m, tensor<float, 5>::type, w, rate, step).list[0].valid());
    static_assert(!update::result(w, tensor<int, 4>::type, m, w, rate, step).list[0].valid());
    static_assert(ops::sum_of_squares::result(w) == rate && ops::sum_of_squares::result(w, m) == rate);
    static_assert(!ops::sum_of_squares::result(w, tensor<double, 4>::type).valid() && !ops::sum_of_squares::result(step).valid());
    static_assert(ops::sum_of_squares::workspace(w, m) == 2 * 256 * 4);
    static_assert(ops::clip_factor::result(rate, rate) == rate);
    static_assert(!ops::clip_factor::result(rate, scalar<half>::type).valid() && !ops::clip_factor::result(m, m).valid());
}

TEST_CASE("shape rules refuse what does not fit") {
    constexpr auto w = tensor<half, 4>::type, g = tensor<float, 4>::type, rate = scalar<float>::type;
    static_assert(ops::sgd::result(w, g, rate) == w);
    static_assert(!ops::sgd::result(w, tensor<float, 5>::type, rate).valid());
    static_assert(!ops::sgd::result(w, g, tensor<float, 1>::type).valid());
    static_assert(!ops::sgd::result(w, g, scalar<int>::type).valid());
    static_assert(!ops::sgd::result({}, {}, {}).valid());
    static_assert(ops::sgd_momentum<9, 10>::result(w, g, g, rate).count == 2);
    static_assert(ops::sgd_momentum<9, 10>::result(w, g, g, rate).list[1] == g);
    static_assert(!ops::sgd_momentum<9, 10>::result(w, tensor<int, 4>::type, g, rate).list[0].valid());
    static_assert(!ops::sgd_momentum<9, 10>::result(w, tensor<float, 2, 2>::type, g, rate).list[0].valid());
}
