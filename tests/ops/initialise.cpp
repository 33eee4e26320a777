// Initialisers: exact constants, known bits of the random generator, moments of the distributions.
#include <doctest/doctest.h>

#include <dovetail/ops/initialise.hpp>

#include "support/tensors.hpp"

#include <cmath>

using namespace dovetail;
using support::filled;

namespace {

template <class Init, class X>
filled<X> made() {
    filled<X> x{1};
    Init::launch(host::stream{}, x.out());
    return x;
}

struct moments {
    double mean = 0, variance = 0, largest = 0;
    template <class X>
    explicit moments(const filled<X>& x) {
        for (int i = 0; i < X::size; ++i) {
            mean += x[i] / X::size;
            largest = std::abs(x[i]) > largest ? std::abs(x[i]) : largest;
        }
        for (int i = 0; i < X::size; ++i) variance += (x[i] - mean) * (x[i] - mean) / X::size;
    }
};

}  // namespace

TEST_CASE("constants") {
    for (double x : {made<ops::zeros, tensor<half, 5>>()[4], made<ops::zeros, tensor<std::int64_t, 5>>()[0]}) CHECK(x == 0);
    CHECK(made<ops::constant<1, 4>, tensor<float, 3, 3>>()[8] == 0.25);
    CHECK(made<ops::constant<-7, 2>, tensor<bfloat16, 3>>()[2] == -3.5);
    CHECK(made<ops::constant<3>, tensor<std::int32_t, 3>>()[1] == 3);
    CHECK(made<ops::constant<300, 100>, tensor<std::int8_t, 3>>()[0] == 3);
    CHECK(made<ops::constant<512, 256>, tensor<std::uint8_t, 3>>()[0] == 2);
    CHECK(made<ops::constant<5'000'000'000, 1'000'000'000>, tensor<std::int32_t, 3>>()[0] == 5);
    CHECK(made<ops::constant<9007199254740993>, scalar<std::int64_t>>().elements[0] == 9007199254740993);
    CHECK(made<ops::zeros, tensor<float, 0>>().elements.empty());
}

TEST_CASE("the generator is splitmix64, in constant expressions too") {
    static_assert(ops_detail::mixed(0) == 0xe220a8397b1dcdafu);  // the published first output for seed 0
    static_assert(ops_detail::mixed(0x9e3779b97f4a7c15u) == 0x6e789e6aa1b965f4u);
    static_assert(ops_detail::normal_at(1, 0) == ops_detail::normal_at(1, 0));
    static_assert(ops_detail::normal_at(1, 0) != ops_detail::normal_at(2, 0));
    CHECK(made<ops::normal_init<5, 1, 2>, tensor<float, 9>>()[8] == 0.5 * ops_detail::normal_at(5, 8));
}

TEST_CASE("normal_init has mean 0 and the asked deviation") {
    const moments m{made<ops::normal_init<1, 3, 2>, tensor<float, 100000>>()};
    CHECK(std::abs(m.mean) < 0.02);
    CHECK(std::sqrt(m.variance) == doctest::Approx(1.5).epsilon(0.01));
    CHECK(m.largest > 5.0);
    CHECK(m.largest < 9.0);
    const auto a = made<ops::normal_init<1, 1, 1>, tensor<float, 50000>>(), b = made<ops::normal_init<2, 1, 1>, tensor<float, 50000>>();
    double seeds = 0, neighbours = 0;
    for (int i = 0; i + 1 < 50000; ++i) {
        seeds += a[i] * b[i] / 50000;
        neighbours += a[i] * a[i + 1] / 50000;
    }
    CHECK(std::abs(seeds) < 0.02);
    CHECK(std::abs(neighbours) < 0.02);
}

TEST_CASE("uniform_init fills its interval evenly") {
    const auto x = made<ops::uniform_init<3, 1, 4>, tensor<double, 100000>>();
    const moments m{x};
    CHECK(std::abs(m.mean) < 0.002);
    CHECK(m.variance == doctest::Approx(0.0625 / 3).epsilon(0.01));
    CHECK(m.largest <= 0.25);
    CHECK(m.largest > 0.2499);
}
