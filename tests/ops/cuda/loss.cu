// Softmax cross entropy, its gradient, the indices of largest elements and the count of correct answers on a GPU, compared with the host;
// labels out of range.
#include <doctest/doctest.h>

#include "support/on_device.hpp"

#include <dovetail/ops/loss.hpp>

#include <cmath>
#include <limits>

namespace dv = dovetail;  // not wholly: CUDA has a ::half and a ::cuda
namespace ops = dovetail::ops;
using dv::scalar;
using dv::tensor;
using support::drawn;
using support::every_way;
using support::filled;
using support::on_device;

namespace {

template <std::int64_t Rows>
filled<tensor<std::int32_t, Rows>> labels_below(int classes) {
    filled<tensor<std::int32_t, Rows>> labels;
    for (std::size_t i = 0; i < labels.elements.size(); ++i)
        labels.elements[i] = static_cast<int>(i * 7919 % static_cast<std::size_t>(classes));
    return labels;
}

template <class T, std::int64_t Rows, std::int64_t Classes>
void softmax() {
    using X = tensor<T, Rows, Classes>;
    using Y = tensor<std::int32_t, Rows>;
    using L = scalar<dv::ops_detail::arithmetic_t<T>>;
    static_assert(ops::softmax_cross_entropy::workspace(X::type, Y::type) <= support::device::workspace_bytes);
    const filled<X> x{1};
    const filled<Y> labels = labels_below<Rows>(Classes);
    filled<X> p, g;
    filled<L> loss;
    ops::softmax_cross_entropy::launch(dv::host::stream{}, x.in(), labels.in(), loss.out(), p.out());
    ops::softmax_cross_entropy_gradient::launch(dv::host::stream{}, p.in(), labels.in(), g.out());
    const on_device<X> given{p};
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> logits{x, skewed}, probabilities{drawn<X>(2), skewed}, gradient{drawn<X>(3), skewed};
        const on_device<Y> right{labels, skewed};
        const on_device<L> mean{drawn<L>(4), skewed};
        filled<L> first;
        for (int turn = 0; turn < 2; ++turn) {
            ops::softmax_cross_entropy::launch(s, logits.in(), right.in(), mean.out(), probabilities.out());
            if (turn == 0) first = mean.host();
        }
        CHECK(support::apart(mean.host(), loss) <= 10);
        CHECK(support::equal(mean.host(), first));
        CHECK(support::apart(probabilities.host(), p) <= 2);
        // Of the same probabilities the gradient has the same bits, in place too.
        ops::softmax_cross_entropy_gradient::launch(s, given.in(), right.in(), gradient.out());
        CHECK(support::equal(gradient.host(), g));
        const on_device<X> same{p, skewed};
        ops::softmax_cross_entropy_gradient::launch(s, same.in(), right.in(), same.out());
        CHECK(support::equal(same.host(), g));
    });
}

template <class T, std::int64_t Rows, std::int64_t Classes>
void largest(const filled<tensor<T, Rows, Classes>>& x) {
    using X = tensor<T, Rows, Classes>;
    using Y = tensor<std::int32_t, Rows>;
    filled<Y> labels = labels_below<Rows>(Classes), wanted;
    filled<scalar<std::int32_t>> count;
    ops::argmax::launch(dv::host::stream{}, x.in(), wanted.out());
    for (std::size_t i = 0; i < labels.elements.size(); i += 2) labels.elements[i] = wanted.elements[i];
    ops::correct_count::launch(dv::host::stream{}, x.in(), labels.in(), count.out());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> on{x, skewed};
        const on_device<Y> places{drawn<Y>(1), skewed}, right{labels, skewed};
        const on_device<scalar<std::int32_t>> counted{drawn<scalar<std::int32_t>>(2), skewed};
        ops::argmax::launch(s, on.in(), places.out());
        ops::correct_count::launch(s, on.in(), right.in(), counted.out());
        CHECK(support::equal(places.host(), wanted));
        CHECK(support::equal(counted.host(), count));
    });
}
template <class T, std::int64_t Rows, std::int64_t Classes>
void largest() {
    largest<T, Rows, Classes>(drawn<tensor<T, Rows, Classes>>(1));
    largest<T, Rows, Classes>(filled<tensor<T, Rows, Classes>>{2});  // many equal ones
}

}  // namespace

TEST_CASE_TEMPLATE("loss, probabilities and gradient", T, dv::half, dv::bfloat16, float, double) {
    softmax<T, 0, 3>();
    softmax<T, 1, 1>();
    softmax<T, 7, 13>();
    softmax<T, 96, 10>();
    softmax<T, 257, 1000>();
    softmax<T, 3, 5003>();
    softmax<T, 3, 6000>();
}

TEST_CASE_TEMPLATE("largest elements", T, dv::half, dv::bfloat16, float, double, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
    largest<T, 0, 3>();
    largest<T, 1, 1>();
    largest<T, 100, 10>();
    largest<T, 31, 333>();
    largest<T, 2, 9999>();
}

TEST_CASE("not-a-number among the elements") {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    auto x = drawn<tensor<float, 4, 70>>(3);
    x.elements[0] = none;        // first: stays the largest
    x.elements[70 + 5] = none;   // later: never is
    for (int j = 0; j < 70; ++j) x.elements[static_cast<std::size_t>(140 + j)] = none;
    for (int j = 0; j < 70; ++j) x.elements[static_cast<std::size_t>(210 + j)] = -std::numeric_limits<float>::infinity();
    largest(x);
}

TEST_CASE("a label out of range makes the loss not-a-number, and nothing else") {
    using X = tensor<float, 3, 4>;
    using Y = tensor<std::int32_t, 3>;
    const filled<X> x{1};
    for (const int label : {-1, 4, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
        filled<Y> good, bad;
        bad.elements[1] = label;
        filled<X> p;
        filled<scalar<float>> loss;
        ops::softmax_cross_entropy::launch(dv::host::stream{}, x.in(), good.in(), loss.out(), p.out());
        const on_device<X> logits{x}, probabilities{p}, gradient{p};
        const on_device<Y> labels{bad};
        const on_device<scalar<float>> mean{loss};
        const on_device<scalar<std::int32_t>> count{filled<scalar<std::int32_t>>{}};
        const dv::cuda::stream s = support::gpu().with(0);
        ops::softmax_cross_entropy::launch(s, logits.in(), labels.in(), mean.out(), probabilities.out());
        ops::softmax_cross_entropy_gradient::launch(s, probabilities.in(), labels.in(), gradient.out());
        ops::correct_count::launch(s, logits.in(), labels.in(), count.out());
        CHECK(std::isnan(mean.host()[0]));
        CHECK(support::apart(probabilities.host(), p) <= 2);
        CHECK(gradient.host()[4] == doctest::Approx(p[4] / 3));
        CHECK(count.host()[0] <= 2);
    }
}

TEST_CASE("a loss without its workspace is refused") {
    using X = tensor<float, 3, 4>;
    using Y = tensor<std::int32_t, 3>;
    const on_device<X> x{filled<X>{}};
    const on_device<Y> y{filled<Y>{}};
    const on_device<scalar<float>> loss{filled<scalar<float>>{}};
    dv::cuda::stream s = support::gpu().with(0);
    s.workspace = nullptr;
    CHECK_THROWS_WITH_AS(ops::softmax_cross_entropy::launch(s, x.in(), y.in(), loss.out(), x.out()), doctest::Contains("workspace"),
                         dv::failure);
}
