// Causal attention and its gradients against PyTorch's values (transformer_values.py) in all floating elements, and against finite
// differences; tokens do not see later ones.
#include <doctest/doctest.h>

#include <dovetail/ops/attention.hpp>

#include "ops/attention_checks.hpp"
#include "support/numbers.hpp"

using namespace dovetail;
using support::eighth_of;
using support::filled;

namespace {

template <class T, int Length, int HeadSize, int Sequences, int Heads>
struct example {
    using X = tensor<T, Length * Sequences, HeadSize * Heads>;
    using P = tensor<T, Length * Sequences, Heads * Length>;
    filled<X> q = eighth_of<X>(1, 4), k = eighth_of<X>(2, 4), v = eighth_of<X>(3), dy = eighth_of<X>(4), y, dq, dk, dv;
    filled<P> p{9};

    double forward() {
        double memory[Length];
        ops::causal_attention<Length, HeadSize>::launch(support::with_workspace(memory), q.in(), k.in(), v.in(),
                                                        y.out(), p.out());
        return support::product(y, dy);
    }
    void backward() {
        double memory[Length * Length];
        ops::causal_attention_gradient<Length, HeadSize>::launch(support::with_workspace(memory), dy.in(), q.in(),
                                                                 k.in(), v.in(), p.in(), dq.out(), dk.out(), dv.out());
    }
};

}  // namespace

TEST_CASE_TEMPLATE("values and gradients", T, float, double, half, bfloat16) {
    attention_checks::has_expected_values(example<T, 3, 2, 2, 2>{});
}

TEST_CASE("the gradients are derivatives, of heads longer than a strip of sums") {
    attention_checks::has_derivatives(example<double, 3, 37, 1, 2>{});
}

TEST_CASE("probabilities of later tokens are zero, those of the others add up to one") {
    example<float, 4, 3, 2, 3> e;
    e.forward();
    for (int i = 0; i < 8; ++i)
        for (int h = 0; h < 3; ++h) {
            double sum = 0;
            for (int j = 0; j < 4; ++j) {
                const double p = e.p[i * 12 + h * 4 + j];
                CHECK((p > 0) == (j <= i % 4));
                sum += p;
            }
            CHECK(sum == doctest::Approx(1));
        }
}

TEST_CASE("shape rules refuse what does not fit") {
    using attention = ops::causal_attention<4, 8>;
    using gradient = ops::causal_attention_gradient<4, 8>;
    constexpr auto q = tensor<half, 12, 16>::type, p = tensor<half, 12, 8>::type;
    auto refused = [](const results& r) { return !r.list[0].valid(); };
    static_assert(attention::result(q, q, q).count == 2 && attention::result(q, q, q).list[0] == q);
    static_assert(attention::result(q, q, q).list[1] == p);
    CHECK(refused(attention::result(q, q, tensor<half, 12, 8>::type)));
    CHECK(refused(attention::result(tensor<half, 10, 16>::type, tensor<half, 10, 16>::type, tensor<half, 10, 16>::type)));
    CHECK(refused(attention::result(tensor<half, 12, 12>::type, tensor<half, 12, 12>::type, tensor<half, 12, 12>::type)));
    CHECK(refused(attention::result({}, {}, {})));
    static_assert(gradient::result(q, q, q, q, p).count == 3 && gradient::result(q, q, q, q, p).list[2] == q);
    CHECK(refused(gradient::result(q, q, q, q, q)));
    CHECK(refused(gradient::result(p, q, q, q, p)));
    static_assert(gradient::workspace(q, q, q, q, p) == 3 * p.bytes());  // in float, and in half
    static_assert(attention::row_wise.unit == 4);
}
