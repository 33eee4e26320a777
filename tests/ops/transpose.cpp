// transpose against its definition, for every element and for sides below, of and above a block; it is its own gradient and inverse.
#include <doctest/doctest.h>

#include <dovetail/ops/transpose.hpp>

#include "support/numbers.hpp"

using namespace dovetail;
using support::filled;

namespace {

template <class T, std::int64_t M, std::int64_t N>
void transposed() {
    using X = tensor<T, M, N>;
    using Y = tensor<T, N, M>;
    static_assert(ops::transpose::result(X::type) == Y::type && ops::transpose::result(Y::type) == X::type);
    filled<X> x{1}, again;
    for (std::size_t i = 0; i < x.elements.size(); ++i) x.elements[i] = static_cast<T>(static_cast<float>(i % 251 % 127));
    filled<Y> y{2};
    ops::transpose::launch(host::stream{}, x.in(), y.out());
    for (std::int64_t i = 0; i < M; ++i)
        for (std::int64_t j = 0; j < N; ++j) REQUIRE(y[j * M + i] == x[i * N + j]);
    ops::transpose::launch(host::stream{}, y.in(), again.out());
    CHECK(again.elements == x.elements);
}

}  // namespace

TEST_CASE_TEMPLATE("rows become columns", T, half, bfloat16, float, double, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
    transposed<T, 1, 1>();
    transposed<T, 3, 5>();
    transposed<T, 32, 64>();
    transposed<T, 33, 95>();
    transposed<T, 1, 100>();
    transposed<T, 0, 7>();
}

TEST_CASE("the gradient is the transpose of the gradient") {
    using X = tensor<double, 3, 4>;
    using Y = tensor<double, 4, 3>;
    filled<X> x{3}, dx;
    filled<Y> y;
    const filled<Y> dy{4};
    ops::transpose::launch(host::stream{}, dy.in(), dx.out());
    const auto value = [&] {
        ops::transpose::launch(host::stream{}, x.in(), y.out());
        return support::product(y, dy);
    };
    CHECK(support::differs_from_slope(dx, x, value) < 1e-6);
}

TEST_CASE("the shape rule refuses what is no matrix") {
    static_assert(!ops::transpose::result(tensor<float, 3>::type).valid() && !ops::transpose::result(tensor<float, 2, 3, 4>::type).valid());
    static_assert(!ops::transpose::result(scalar<float>::type).valid() && !ops::transpose::result({}).valid());
    static_assert(ops::transpose::cost(tensor<half, 3, 4>::type).bytes == 2 * 3 * 4 * 2);
    static_assert(ops::transpose::cost(tensor<half, 3, 4>::type).flops == 0);
}
