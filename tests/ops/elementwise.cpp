// Element-wise operations against loops in double precision.
#include <doctest/doctest.h>

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/elementwise.hpp>

#include "support/tensors.hpp"

#include <limits>

using namespace dovetail;
using support::filled;

namespace {

struct square {
    template <class T>
    T operator()(T x) const { return x * x; }
};
struct weighted {
    template <class T>
    T operator()(T x, T y, T z, T w) const { return x * w + y - z; }
};

template <class Op, class X, class... R>
void run(filled<X>& y, const R&... x) { Op::launch(host::stream{}, x.in()..., y.out()); }

template <class T>
bool near(double a, double exact) { return (a < exact ? exact - a : a - exact) <= support::tolerance<T>(exact); }

// add takes two values, zip_with as many as its function.
static_assert(dsl::accepts_arguments<ops::add, 2> && !dsl::accepts_arguments<ops::add, 1> && !dsl::accepts_arguments<ops::add, 3>);
static_assert(!dsl::accepts_arguments<ops::subtract, 3> && !dsl::accepts_arguments<ops::multiply, 3>);
static_assert(dsl::accepts_arguments<ops::zip_with<weighted>, 4>);
// What is not a number stays one, so that it is seen.
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
static_assert(ops_detail::positive_part{}(nan) != ops_detail::positive_part{}(nan) && ops_detail::where_positive{}(2.0f, nan) == 2);

}  // namespace

TEST_CASE_TEMPLATE("map and zip_with are functions of corresponding elements", T, float, double, half, bfloat16, std::int32_t, std::uint8_t,
                   std::int64_t) {
    using X = tensor<T, 3, 7>;
    const filled<X> a{1}, b{2}, c{3};
    const filled<scalar<T>> s{4};
    filled<X> y;
    auto all = [&](auto exact) {
        for (int i = 0; i < X::size; ++i)
            if (!near<T>(y[i], static_cast<double>(static_cast<T>(exact(i))))) return false;
        return true;
    };
    run<ops::map<square>>(y, a);
    CHECK(all([&](int i) { return a[i] * a[i]; }));
    run<ops::relu>(y, a);
    CHECK(all([&](int i) { return a[i] > 0 ? a[i] : 0; }));
    run<ops::relu_gradient>(y, a, b);
    CHECK(all([&](int i) { return b[i] > 0 ? a[i] : 0; }));
    if constexpr (element_of<T> != element::uint8) {
        run<ops::add>(y, a, b);
        CHECK(all([&](int i) { return a[i] + b[i]; }));
        run<ops::subtract>(y, a, b);
        CHECK(all([&](int i) { return a[i] - b[i]; }));
        run<ops::multiply>(y, a, b);
        CHECK(all([&](int i) { return a[i] * b[i]; }));
        run<ops::scale>(y, a, s);
        CHECK(all([&](int i) { return a[i] * s[0]; }));
        run<ops::zip_with<weighted>>(y, a, b, c, s);
        CHECK(all([&](int i) { return a[i] * s[0] + b[i] - c[i]; }));
    }
}

TEST_CASE("results may take the place of the first argument") {
    using X = tensor<float, 5, 3>;
    const filled<X> a{1}, b{2};
    filled<X> y = a;
    run<ops::add>(y, y, b);
    for (int i = 0; i < X::size; ++i) CHECK(y[i] == a[i] + b[i]);
    y = a;
    run<ops::add>(y, y, y);
    for (int i = 0; i < X::size; ++i) CHECK(y[i] == 2 * a[i]);
    const filled<tensor<float, 3>> bias{3};
    y = a;
    run<ops::bias_add>(y, y, bias);
    for (int i = 0; i < X::size; ++i) CHECK(y[i] == a[i] + bias[i % 3]);
    static_assert(ops::add::in_place == 0 && ops::relu::in_place == 0 && ops::bias_add::in_place == 0);
}

TEST_CASE_TEMPLATE("bias_add adds a row, bias_gradient sums the columns", T, float, double, half, bfloat16) {
    using X = tensor<T, 2, 5, 131>;
    using B = tensor<T, 131>;
    const filled<X> x{1};
    const filled<B> b{2};
    filled<X> y;
    filled<B> sums;
    run<ops::bias_add>(y, x, b);
    run<ops::bias_gradient>(sums, x);
    int wrong = 0;
    for (int j = 0; j < 131; ++j) {
        double sum = 0;
        for (int i = 0; i < 10; ++i) {
            wrong += y[i * 131 + j] == static_cast<double>(static_cast<T>(static_cast<float>(x[i * 131 + j] + b[j]))) ? 0 : 1;
            sum += x[i * 131 + j];
        }
        wrong += near<T>(sums[j], sum) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("zero extents and scalars") {
    using none = tensor<float, 0, 4>;
    filled<none> empty;
    run<ops::add>(empty, empty, empty);
    run<ops::bias_add>(empty, empty, filled<tensor<float, 4>>{1});
    filled<tensor<float, 4>> sums{1};
    run<ops::bias_gradient>(sums, empty);
    for (int j = 0; j < 4; ++j) CHECK(sums[j] == 0);
    filled<tensor<float, 4, 0>> no_columns;
    run<ops::bias_add>(no_columns, no_columns, filled<tensor<float, 0>>{});
    filled<scalar<float>> y;
    const filled<scalar<float>> a{1}, b{2};
    run<ops::add>(y, a, b);
    CHECK(y[0] == a[0] + b[0]);
}

TEST_CASE("shape rules refuse what does not fit") {
    constexpr auto x = tensor<float, 2, 3>::type, y = tensor<float, 3, 2>::type, s = scalar<float>::type;
    constexpr auto h = x.with_element(element::float16);
    static_assert(ops::relu::result(x) == x);
    static_assert(ops::add::result(x, x) == x);
    static_assert(ops::add::result(x, s) == x);
    static_assert(!ops::add::result(x, y).valid());
    static_assert(!ops::add::result(s, x).valid());
    static_assert(!ops::add::result(x, h).valid());
    static_assert(!ops::zip_with<weighted>::result(x, x, y, x).valid());
    static_assert(!ops::scale::result(x, x).valid() && ops::scale::result(x, s) == x);
    static_assert(!ops::scale::result(x, scalar<half>::type).valid());
    static_assert(!ops::relu_gradient::result(x, s).valid());
    static_assert(ops::bias_add::result(x, tensor<float, 3>::type) == x);
    static_assert(!ops::bias_add::result(x, tensor<float, 2>::type).valid());
    static_assert(!ops::bias_add::result(x, tensor<half, 3>::type).valid());
    static_assert(!ops::bias_add::result(s, s).valid());
    static_assert(ops::bias_gradient::result(x) == tensor<float, 3>::type);
    static_assert(!ops::bias_gradient::result(s).valid());
    static_assert(!ops::bias_gradient::result(tensor<int, 2, 3>::type).valid());
    static_assert(!ops::add::result(tensor_type{}, tensor_type{}).valid() && !ops::bias_add::result({}, {}).valid());
    static_assert(ops::add::cost(x, x).bytes == 3 * 24 && ops::add::cost(x, x).flops == 6);
}
