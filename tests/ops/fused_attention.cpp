// Fused attention on the host: the values and gradients of causal attention, and derivatives by finite differences.
#include <doctest/doctest.h>

#include <dovetail/ops/attention.hpp>
#include <dovetail/ops/fused_attention.hpp>

#include "ops/attention_checks.hpp"
#include "support/numbers.hpp"

using namespace dovetail;
using support::eighth_of;
using support::filled;

namespace {

template <class T, int Length, int HeadSize, int Sequences, int Heads>
struct example {
    using X = tensor<T, Length * Sequences, HeadSize * Heads>;
    using S = tensor<ops_detail::arithmetic_t<T>, Length * Sequences, Heads>;
    filled<X> q = eighth_of<X>(1, 4), k = eighth_of<X>(2, 4), v = eighth_of<X>(3), dy = eighth_of<X>(4), y, dq, dk, dv;
    filled<S> log_sums;

    double forward() {
        double memory[Length];
        ops::fused_causal_attention<Length, HeadSize>::launch(support::with_workspace(memory), q.in(), k.in(), v.in(), y.out(),
                                                              log_sums.out());
        return support::product(y, dy);
    }
    void backward() {
        double memory[2 * Length * Length];
        ops::fused_causal_attention_gradient<Length, HeadSize>::launch(support::with_workspace(memory), dy.in(), q.in(), k.in(), v.in(),
                                                                       y.in(), log_sums.in(), dq.out(), dk.out(), dv.out());
    }
};

}  // namespace

TEST_CASE_TEMPLATE("values and gradients", T, float, double, half, bfloat16) {
    attention_checks::has_expected_values(example<T, 3, 2, 2, 2>{});
}

TEST_CASE("the gradients are derivatives, of heads longer than a strip of sums") {
    attention_checks::has_derivatives(example<double, 3, 37, 1, 2>{});
}

TEST_CASE("the sums of a sequence lie head by head: the first token sees one score") {
    example<double, 4, 3, 2, 3> e;
    e.forward();
    for (int s = 0; s < 2; ++s)
        for (int h = 0; h < 3; ++h) {
            double score = 0;
            for (int c = 0; c < 3; ++c) score += e.q[s * 36 + h * 3 + c] * e.k[s * 36 + h * 3 + c];
            CHECK(e.log_sums[(s * 3 + h) * 4] == doctest::Approx(score / std::sqrt(3.0)));
        }
}

TEST_CASE("large scores do not overflow") {
    example<float, 4, 8, 1, 1> e;
    for (float& x : e.q.elements) x = 100;
    for (float& x : e.k.elements) x = 100;
    e.forward();
    e.backward();
    for (int i = 0; i < 32; ++i) CHECK(std::isfinite(e.y[i]));
    for (int i = 0; i < 32; ++i) CHECK(std::isfinite(e.dq[i]));
}

TEST_CASE("shape rules refuse what does not fit") {
    using attention = ops::fused_causal_attention<4, 8>;
    using gradient = ops::fused_causal_attention_gradient<4, 8>;
    constexpr auto q = tensor<half, 12, 16>::type, sums = tensor<float, 12, 2>::type;
    auto refused = [](const results& r) { return !r.list[0].valid(); };
    static_assert(attention::result(q, q, q).count == 2 && attention::result(q, q, q).list[0] == q);
    static_assert(attention::result(q, q, q).list[1] == sums);
    CHECK(refused(attention::result(q, q, tensor<half, 12, 8>::type)));
    CHECK(refused(attention::result(tensor<half, 10, 16>::type, tensor<half, 10, 16>::type, tensor<half, 10, 16>::type)));
    CHECK(refused(attention::result({}, {}, {})));
    static_assert(gradient::result(q, q, q, q, q, sums).count == 3 && gradient::result(q, q, q, q, q, sums).list[2] == q);
    CHECK(refused(gradient::result(q, q, q, q, q, q)));
    CHECK(refused(gradient::result(q, q, q, q, sums, sums)));
    CHECK(refused(gradient::result(q, q, q, q, q, tensor<half, 12, 2>::type)));
    static_assert(attention::workspace(q, q, q) == 256);
    static_assert(ops::fused_causal_attention<100, 8>::workspace(q, q, q) == 400);
    static_assert(attention::row_wise.unit == 4 && gradient::row_wise.unit == 4);
}

// Sequences, heads, length, head size, and what cuDNN asked for on an H100: 9.19, and for the last one that of another machine.
TEST_CASE("the gradient's workspace is what cuDNN uses, or little more") {
    const auto fits = [](std::int64_t sequences, std::int64_t heads, std::int64_t length, std::int64_t head_size, bool in_order,
                         std::int64_t asked) {
        const std::int64_t bytes = ops_detail::fused_gradient_bytes({sequences, length, heads, head_size}, in_order);
        return bytes >= asked && bytes <= asked + asked / 64 + 512;
    };
    CHECK(fits(8, 12, 1024, 64, false, 25'559'296));
    CHECK(fits(2, 16, 4096, 128, false, 67'633'408));
    CHECK(fits(2, 3, 100, 8, false, 21'856));
    CHECK(fits(8, 12, 1024, 64, true, 201'720'064));
    CHECK(fits(2, 16, 4096, 128, true, 1'074'266'368));
    CHECK(fits(2, 3, 100, 8, true, 199'264));
    CHECK(fits(2, 3, 100, 128, true, 199'264));
    CHECK(fits(3, 2, 1000, 64, true, 12'607'168));
    CHECK(fits(2, 4, 64, 16, false, 35'088));
    // Of the lengths that are no whole blocks, more is declared.
    CHECK(ops_detail::fused_gradient_bytes({3, 64, 2, 64}, true) >= 100'096);
    CHECK(ops_detail::fused_gradient_bytes({3, 129, 2, 64}, true) >= 593'176);
}
