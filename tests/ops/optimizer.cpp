// sgd and sgd_momentum against their formulas in double precision, over several steps.
#include <doctest/doctest.h>

#include <dovetail/ops/optimizer.hpp>

#include "support/tensors.hpp"

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
