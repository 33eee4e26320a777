// Softmax cross entropy against a naive computation in double precision, PyTorch's values (transformer_values.py) and finite
// differences; the count of correct answers.
#include <doctest/doctest.h>

#include <dovetail/ops/loss.hpp>

#include "ops/transformer_values.hpp"
#include "support/numbers.hpp"

#include <cmath>

using namespace dovetail;
using support::filled;

namespace {

template <class X>
double naive_loss(const filled<X>& logits, const std::vector<std::int32_t>& labels, std::vector<double>& p) {
    constexpr int rows = X::template extent<0>, classes = X::template extent<1>;
    p.assign(rows * classes, 0);
    double loss = 0;
    for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int j = 0; j < classes; ++j) sum += std::exp(logits[i * classes + j]);
        for (int j = 0; j < classes; ++j) p[i * classes + j] = std::exp(logits[i * classes + j]) / sum;
        loss -= std::log(p[i * classes + labels[i]]);
    }
    return loss / rows;
}

}  // namespace

TEST_CASE_TEMPLATE("loss, probabilities and gradient", T, float, double, half, bfloat16) {
    using X = tensor<T, 7, 13>;
    using L = scalar<std::conditional_t<sizeof(T) == 8, double, float>>;
    static_assert(ops::softmax_cross_entropy::result(X::type, tensor<int, 7>::type).count == 2);
    static_assert(ops::softmax_cross_entropy::result(X::type, tensor<int, 7>::type).list[0] == L::type);
    const filled<X> logits{1};
    filled<tensor<int, 7>> labels;
    for (int i = 0; i < 7; ++i) labels.elements[i] = (i * 5) % 13;
    filled<L> loss;
    filled<X> p;
    ops::softmax_cross_entropy::launch(host::stream{}, logits.in(), labels.in(), loss.out(), p.out());
    std::vector<double> exact;
    CHECK(loss[0] == doctest::Approx(naive_loss(logits, labels.elements, exact)).epsilon(1e-5));
    for (int i = 0; i < X::size; ++i) CHECK(std::abs(p[i] - exact[i]) <= support::tolerance<T>(exact[i]));
    ops::softmax_cross_entropy_gradient::launch(host::stream{}, p.in(), labels.in(), p.out());
    for (int i = 0; i < X::size; ++i) {
        const double g = (exact[i] - (i % 13 == labels[i / 13] ? 1 : 0)) / 7;
        CHECK(std::abs(p[i] - g) <= support::tolerance<T>(g));
    }
}

TEST_CASE_TEMPLATE("values and gradient", T, float, double, half, bfloat16) {
    using X = tensor<T, 3, 5>;
    const filled<X> logits = support::eighth_of<X>(1, 8);
    filled<tensor<int, 3>> labels;
    labels.elements = {4, 0, 2};
    filled<scalar<ops_detail::arithmetic_t<T>>> loss;
    filled<X> p, g;
    ops::softmax_cross_entropy::launch(host::stream{}, logits.in(), labels.in(), loss.out(), p.out());
    ops::softmax_cross_entropy_gradient::launch(host::stream{}, p.in(), labels.in(), g.out());
    CHECK(support::differs(loss, expected::cross_entropy::loss) <= 1);
    CHECK(support::differs(p, expected::cross_entropy::probabilities) <= 1);
    CHECK(support::differs(g, expected::cross_entropy::gradient) <= 1);
}

TEST_CASE("the gradient is the derivative of the loss") {
    using X = tensor<double, 3, 5>;
    filled<X> logits{4};
    filled<tensor<int, 3>> labels;
    labels.elements = {4, 0, 2};
    filled<X> p, g;
    filled<scalar<double>> loss;
    auto loss_of = [&] {
        ops::softmax_cross_entropy::launch(host::stream{}, logits.in(), labels.in(), loss.out(), p.out());
        return loss[0];
    };
    loss_of();
    ops::softmax_cross_entropy_gradient::launch(host::stream{}, p.in(), labels.in(), g.out());
    for (int i = 0; i < X::size; ++i) {
        const double kept = logits.elements[i], step = 1e-5;
        logits.elements[i] = kept + step;
        const double above = loss_of();
        logits.elements[i] = kept - step;
        CHECK(g[i] == doctest::Approx((above - loss_of()) / (2 * step)).epsilon(1e-6));
        logits.elements[i] = kept;
    }
}

TEST_CASE("large logits do not overflow, labels out of range are refused, no rows have no loss") {
    filled<tensor<float, 1, 3>> logits, p;
    logits.elements = {1000, -1000, 999};
    filled<tensor<int, 1>> label;
    filled<scalar<float>> loss;
    ops::softmax_cross_entropy::launch(host::stream{}, logits.in(), label.in(), loss.out(), p.out());
    CHECK(loss[0] == doctest::Approx(std::log1p(std::exp(-1.0))));
    CHECK(p[1] == 0);
    for (int bad : {-1, 3}) {
        label.elements[0] = bad;
        CHECK_THROWS_AS(ops::softmax_cross_entropy::launch(host::stream{}, logits.in(), label.in(), loss.out(), p.out()), label_error);
    }
    using none = tensor<float, 0, 3>;
    ops::softmax_cross_entropy::launch(host::stream{}, in<none>{}, in<tensor<int, 0>>{}, loss.out(), out<none>{});
    CHECK(loss[0] == 0);
}

TEST_CASE_TEMPLATE("argmax takes the first of equals, correct_count compares it with the labels", T, float, half, std::int32_t) {
    using X = tensor<T, 3, 4>;
    filled<X> x;
    int i = 0;
    for (int v : {1, 5, 5, 2, -3, -4, -2, -2, 7, 0, 0, 7}) x.elements[i++] = static_cast<T>(static_cast<float>(v));
    filled<tensor<int, 3>> y, labels;
    ops::argmax::launch(host::stream{}, x.in(), y.out());
    CHECK(y.elements == std::vector<std::int32_t>{1, 2, 0});
    labels.elements = {1, 3, 0};
    filled<scalar<int>> count;
    ops::correct_count::launch(host::stream{}, x.in(), labels.in(), count.out());
    CHECK(count[0] == 2);
}

TEST_CASE("shape rules refuse what does not fit") {
    constexpr auto x = tensor<float, 3, 4>::type, labels = tensor<int, 3>::type;
    auto refused = [](const results& r) { return !r.list[0].valid(); };
    CHECK(refused(ops::softmax_cross_entropy::result(x, tensor<int, 4>::type)));
    CHECK(refused(ops::softmax_cross_entropy::result(x, tensor<float, 3>::type)));
    CHECK(refused(ops::softmax_cross_entropy::result(tensor<float, 3, 0>::type, labels)));
    CHECK(refused(ops::softmax_cross_entropy::result(tensor<int, 3, 4>::type, labels)));
    CHECK(refused(ops::softmax_cross_entropy::result({}, {})));
    static_assert(!ops::softmax_cross_entropy_gradient::result(x, x).valid());
    static_assert(ops::softmax_cross_entropy_gradient::result(x, labels) == x);
    static_assert(ops::argmax::result(x) == labels);
    static_assert(!ops::argmax::result(labels).valid() && !ops::argmax::result(tensor<float, 3, 0>::type).valid());
    static_assert(ops::correct_count::result(x, labels) == scalar<int>::type);
    static_assert(!ops::correct_count::result(x, tensor<int, 4>::type).valid() && !ops::correct_count::result({}, {}).valid());
}
