// Element-wise operations, fills, casts and initial values have the same bits on a GPU as on the host; column sums are equal up to
// rounding, and bitwise equal from run to run.
#include <doctest/doctest.h>

#include "support/on_device.hpp"

#include <dovetail/ops/ops.hpp>

#include <bit>
#include <cmath>
#include <tuple>

namespace dv = dovetail;  // not wholly: CUDA has a ::half and a ::cuda
namespace ops = dovetail::ops;
using dv::scalar;
using dv::tensor;
using support::drawn;
using support::every_way;
using support::filled;
using support::on_device;

namespace ops_of_test {
struct square_plus_one {
    template <class T>
    DOVETAIL_HOST_DEVICE constexpr T operator()(T x) const { return static_cast<T>(x * x) + T(1); }
};
struct clamped {
    template <class T>
    DOVETAIL_HOST_DEVICE constexpr T operator()(T x, T low, T high) const { return x < low ? low : x > high ? high : x; }
};
}  // namespace ops_of_test

namespace {

template <class Op, class Y, class... X>
void run(dv::cuda::stream s, const on_device<Y>& y, const on_device<X>&... x) {
    Op::launch(s, x.in()..., y.out());
    support::gpu().wait();
}

// Op on both, with arguments X and results Y; in place too where the types allow it.
template <class Op, class Y, class... X>
void compare() {
    unsigned seed = 1;
    const std::tuple<filled<X>...> arguments{drawn<X>(seed++)...};
    filled<Y> wanted;
    std::apply([&](auto&... x) { Op::launch(dv::host::stream{}, x.in()..., wanted.out()); }, arguments);
    every_way([&](dv::cuda::stream s, bool skewed) {
        on_device<Y> y{filled<Y>{}, skewed};
        std::apply([&](const auto&... x) { run<Op>(s, y, on_device{x, skewed}...); }, arguments);
        CHECK(support::equal(y.host(), wanted));
    });
}
template <class Op, class X, class... Rest>
void compare_in_place() {
    const filled<X> x = drawn<X>(1);
    const std::tuple<filled<Rest>...> rest{drawn<Rest>(2)...};
    filled<X> wanted;
    std::apply([&](auto&... r) { Op::launch(dv::host::stream{}, x.in(), r.in()..., wanted.out()); }, rest);
    const on_device<X> y{x};
    std::apply([&](const auto&... r) { run<Op>(support::gpu().with(0), y, y, on_device{r}...); }, rest);
    CHECK(support::equal(y.host(), wanted));
}

template <class T, std::int64_t... E>
void some_operations() {
    using X = tensor<T, E...>;
    compare<ops::add, X, X, X>();
    compare<ops::scale, X, X, scalar<T>>();
}
template <class T, std::int64_t... E>
void all_operations() {
    using X = tensor<T, E...>;
    using S = scalar<T>;
    some_operations<T, E...>();
    compare<ops::subtract, X, X, X>();
    compare<ops::multiply, X, X, X>();
    compare<ops::relu, X, X>();
    compare<ops::relu_gradient, X, X, X>();
    compare<ops::copy, X, X>();
    compare<ops::fill<X>, X, S>();
    compare<ops::zip_with<ops_of_test::clamped>, X, X, S, S>();
    compare_in_place<ops::add, X, X>();
}

template <class T, std::int64_t Rows, std::int64_t Columns>
void rows() {
    using X = tensor<T, Rows, Columns>;
    compare<ops::bias_add, X, X, tensor<T, Columns>>();
}

template <class T, std::int64_t Rows, std::int64_t Columns>
void column_sums() {
    using X = tensor<T, Rows, Columns>;
    using Y = tensor<T, Columns>;
    filled<X> x{3};
    filled<Y> wanted, first;
    ops::bias_gradient::launch(dv::host::stream{}, x.in(), wanted.out());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> on{x, skewed};
        const on_device<Y> y{drawn<Y>(5), skewed};
        ops::bias_gradient::launch(s, on.in(), y.out());
        CHECK(support::equal(y.host(), wanted));  // of small halves, whose sums are exact
    });
    x = drawn<X>(4);
    const on_device<X> on{x};
    const on_device<Y> y{drawn<Y>(6)};
    for (int turn = 0; turn < 2; ++turn) {
        ops::bias_gradient::launch(support::gpu().with(0), on.in(), y.out());
        if (turn == 0) first = y.host();
    }
    CHECK(support::equal(y.host(), first));
    // What a sum in any order may be off by: the unit of the sum's type, times the size of the summands.
    for (std::int64_t j = 0; j < Columns; ++j) {
        double sum = 0, size = 0;
        for (std::int64_t i = 0; i < Rows; ++i) {
            sum += x[i * Columns + j];
            size += std::abs(x[i * Columns + j]);
        }
        REQUIRE(std::abs(first[j] - sum) <= support::tolerance<T>(sum) + 1e-6 * size);
    }
}

}  // namespace

TEST_CASE_TEMPLATE("element-wise operations", T, dv::half, dv::bfloat16, float, double, std::int8_t, std::uint8_t, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
    all_operations<T, 37, 31>();
    some_operations<T>();
    some_operations<T, 0>();
    some_operations<T, 64, 1024>();
    rows<T, 513, 10>();
    rows<T, 33, 128>();
}

TEST_CASE("rows: none, empty, long, in place") {
    rows<float, 0, 5>();
    rows<float, 5, 0>();
    rows<float, 1, 1>();
    rows<dv::half, 3, 5000>();
    compare_in_place<ops::bias_add, tensor<dv::half, 33, 24>, tensor<dv::half, 24>>();
}

TEST_CASE("a function object of the user's, and a large tensor") {
    using X = tensor<float, 5'000'011>;
    compare<ops::map<ops_of_test::square_plus_one>, tensor<std::int32_t, 999>, tensor<std::int32_t, 999>>();
    compare<ops::map<ops_of_test::square_plus_one>, tensor<dv::half, 999>, tensor<dv::half, 999>>();  // whose squares are exact in float
    compare<ops::add, X, X, X>();
}

TEST_CASE_TEMPLATE("column sums", T, dv::half, dv::bfloat16, float, double) {
    column_sums<T, 0, 5>();
    column_sums<T, 5, 0>();
    column_sums<T, 1, 1>();
    column_sums<T, 300, 10>();
    column_sums<T, 33, 65>();
    column_sums<T, 96, 768>();
    column_sums<T, 1025, 256>();
}

TEST_CASE_TEMPLATE("casts", T, dv::half, dv::bfloat16, float, double, std::int8_t, std::int32_t, std::uint64_t) {
    using X = tensor<T, 1023>;
    const filled<X> small{2};  // fits every signed element
    const auto to = [&](auto like) {
        using U = decltype(like);
        using Y = tensor<U, 1023>;
        filled<X> x = small;
        if (!dv::is_floating(dv::element_of<U>) || !dv::is_floating(dv::element_of<T>))
            for (auto& e : x.elements)
                e = static_cast<T>(std::abs(static_cast<float>(static_cast<double>(e) > 100 ? 3 : static_cast<double>(e))));
        else x = drawn<X>(7);
        filled<Y> wanted;
        ops::cast<U>::launch(dv::host::stream{}, x.in(), wanted.out());
        every_way([&](dv::cuda::stream s, bool skewed) {
            const on_device<X> on{x, skewed};
            const on_device<Y> y{filled<Y>{}, skewed};
            ops::cast<U>::launch(s, on.in(), y.out());
            CHECK(support::equal(y.host(), wanted));
        });
    };
    to(dv::half{});
    to(dv::bfloat16{});
    to(float{});
    to(double{});
    to(std::int8_t{});
    to(std::int64_t{});
}

TEST_CASE("all halves and bfloat16 to float, floats of every exponent back") {
    using H = tensor<dv::half, 65536>;
    using B = tensor<dv::bfloat16, 65536>;
    using F = tensor<float, 65536>;
    filled<H> halves;
    filled<B> upper;
    filled<F> floats, wanted;
    for (unsigned i = 0; i < 65536; ++i) {
        halves.elements[i].bits = static_cast<std::uint16_t>(i);
        upper.elements[i].bits = static_cast<std::uint16_t>(i);
        floats.elements[i] = std::bit_cast<float>((i << 16) | (i * 40503u & 0xffffu));
    }
    const auto numbers_only = [](auto& x) {  // the payload of not-a-number is nobody's business
        for (auto& e : x.elements)
            if (std::isnan(static_cast<float>(e))) e = 0.0f;
    };
    numbers_only(halves);
    numbers_only(upper);
    numbers_only(floats);
    const auto compare_cast = [](auto op, const auto& x, auto wanted) {
        op.launch(dv::host::stream{}, x.in(), wanted.out());
        const on_device on{x};
        const on_device y{wanted};
        op.launch(support::gpu().with(0), on.in(), y.out());
        CHECK(support::equal(y.host(), wanted));
    };
    compare_cast(ops::cast<float>{}, halves, wanted);
    compare_cast(ops::cast<float>{}, upper, wanted);
    compare_cast(ops::cast<dv::half>{}, floats, halves);
    compare_cast(ops::cast<dv::bfloat16>{}, floats, upper);
}

TEST_CASE_TEMPLATE("initial values", T, dv::half, dv::bfloat16, float, double) {
    compare<ops::normal_init<3, 1, 10>, tensor<T, 4097>>();
    compare<ops::normal_init<4, 2, 1>, tensor<T>>();
    compare<ops::uniform_init<5, 1, 3>, tensor<T, 63, 65>>();
    compare<ops::uniform_init<5, 1, 3>, tensor<T, 0>>();
    compare<ops::constant<1, 3>, tensor<T, 77>>();
    compare<ops::zeros, tensor<T, 4, 4>>();
}
TEST_CASE("constants of whole numbers") {
    compare<ops::constant<7>, tensor<std::int8_t, 77>>();
    compare<ops::constant<-7>, tensor<std::int64_t, 77>>();
}
