// Layer norm, GELU, embedding, attention, AdamW and clipping on a GPU, compared with the host within the rounding of sums; sums have the
// same bits in every run.
#include <doctest/doctest.h>

#include "support/numbers.hpp"
#include "support/on_device.hpp"

#include <dovetail/ops/attention.hpp>
#include <dovetail/ops/cache.hpp>
#include <dovetail/ops/embedding.hpp>
#include <dovetail/ops/gelu.hpp>
#include <dovetail/ops/layer_norm.hpp>
#include <dovetail/ops/optimizer.hpp>

#include <limits>

namespace dv = dovetail;  // not wholly: CUDA has a ::half and a ::cuda
namespace ops = dovetail::ops;
using dv::scalar;
using dv::tensor;
using support::apart;
using support::eighth_of;
using support::every_way;
using support::filled;
using support::on_device;

namespace {

// A host stream with as much workspace as a device has in these tests.
dv::host::stream on_host() {
    static std::vector<double> memory(support::device::workspace_bytes / sizeof(double));
    return {.workspace = memory.data(), .workspace_bytes = support::device::workspace_bytes};
}

template <class T, std::int64_t Rows, std::int64_t Columns>
void layer_norm() {
    using X = tensor<T, Rows, Columns>;
    using P = tensor<T, Columns>;
    static_assert(ops::layer_norm_parameter_gradients::workspace(X::type, X::type) <= support::device::workspace_bytes);
    const filled<X> x{1}, dy{2};
    const filled<P> gain{3}, bias{4};
    filled<X> y, dx;
    filled<P> of_gain, of_bias;
    ops::layer_norm::launch(on_host(), x.in(), gain.in(), bias.in(), y.out());
    ops::layer_norm_gradient::launch(on_host(), dy.in(), x.in(), gain.in(), dx.out());
    ops::layer_norm_parameter_gradients::launch(on_host(), dy.in(), x.in(), of_gain.out(), of_bias.out());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> a{x, skewed}, b{dy, skewed}, c{x, skewed};
        const on_device<P> g{gain, skewed}, h{bias, skewed}, of_g{bias, skewed}, of_h{bias, skewed};
        ops::layer_norm::launch(s, a.in(), g.in(), h.in(), c.out());
        CHECK(apart(c.host(), y) <= 20);
        ops::layer_norm_parameter_gradients::launch(s, b.in(), a.in(), of_g.out(), of_h.out());
        CHECK(apart(of_g.host(), of_gain) <= 200);
        CHECK(apart(of_h.host(), of_bias) <= 200);
        ops::layer_norm_gradient::launch(s, b.in(), a.in(), g.in(), b.out());  // in place
        CHECK(apart(b.host(), dx) <= 50);
    });
}

template <class T, std::int64_t Rows, std::int64_t Columns, std::int64_t Vocabulary>
void embedding() {
    using W = tensor<T, Vocabulary, Columns>;
    using Y = tensor<T, Rows, Columns>;
    using I = tensor<std::int32_t, Rows>;
    const filled<W> table{1};
    const filled<Y> dy{2};
    filled<I> tokens;
    for (std::size_t i = 0; i < tokens.elements.size(); ++i)
        tokens.elements[i] = static_cast<int>(i * i * 31 % static_cast<std::size_t>(Vocabulary));
    static_assert(ops::embedding_gradient<Vocabulary>::workspace(Y::type, I::type) <= support::device::workspace_bytes);
    filled<Y> y;
    filled<W> gradient;
    ops::embedding::launch(on_host(), tokens.in(), table.in(), y.out());
    ops::embedding_gradient<Vocabulary>::launch(on_host(), dy.in(), tokens.in(), gradient.out());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<W> a{table, skewed}, c{table, skewed};
        const on_device<Y> b{dy, skewed}, d{dy, skewed};
        const on_device<I> t{tokens, skewed};
        ops::embedding::launch(s, t.in(), a.in(), d.out());
        CHECK(support::equal(d.host(), y));
        ops::embedding_gradient<Vocabulary>::launch(s, b.in(), t.in(), c.out());
        CHECK(support::equal(c.host(), gradient));  // in the same order
    });
}

template <class T, std::int64_t Length, std::int64_t HeadSize, std::int64_t Sequences, std::int64_t Heads>
void attention() {
    using X = tensor<T, Sequences * Length, Heads * HeadSize>;
    using P = tensor<T, Sequences * Length, Heads * Length>;
    using forward = ops::causal_attention<Length, HeadSize>;
    using backward = ops::causal_attention_gradient<Length, HeadSize>;
    static_assert(backward::workspace(X::type, X::type, X::type, X::type, P::type) <= support::device::workspace_bytes);
    const filled<X> q = eighth_of<X>(1), k = eighth_of<X>(2), v = eighth_of<X>(3), dy = eighth_of<X>(4);
    filled<X> y, dq, dk, dv;
    filled<P> p;
    forward::launch(on_host(), q.in(), k.in(), v.in(), y.out(), p.out());
    backward::launch(on_host(), dy.in(), q.in(), k.in(), v.in(), p.in(), dq.out(), dk.out(), dv.out());
    const on_device<P> given{p};
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> a{q, skewed}, b{k, skewed}, c{v, skewed}, d{dy, skewed}, r{q}, of_q{q}, of_k{q}, of_v{q};
        const on_device<P> of_p{p, skewed};
        forward::launch(s, a.in(), b.in(), c.in(), r.out(), of_p.out());
        CHECK(apart(of_p.host(), p) <= 30);
        CHECK(apart(r.host(), y) <= 30);
        backward::launch(s, d.in(), a.in(), b.in(), c.in(), given.in(), of_q.out(), of_k.out(), of_v.out());
        CHECK(apart(of_q.host(), dq) <= 60);
        CHECK(apart(of_k.host(), dk) <= 60);
        CHECK(apart(of_v.host(), dv) <= 60);
    });
}

template <class T, std::int64_t Length, std::int64_t HeadSize, std::int64_t Sequences, std::int64_t Heads>
void cached_attention() {
    using X = tensor<T, Sequences, Heads * HeadSize>;
    using C = tensor<T, Sequences * Length, Heads * HeadSize>;
    using I = tensor<std::int32_t, Sequences>;
    using attend = ops::cached_attention<Length, HeadSize>;
    const filled<X> q = eighth_of<X>(1), row = eighth_of<X>(4);
    filled<C> keys = eighth_of<C>(2), values = eighth_of<C>(3);
    const filled<C> before = keys;
    filled<I> positions;
    for (std::size_t i = 0; i < positions.elements.size(); ++i)
        positions.elements[i] = static_cast<int>((Length - 1) / static_cast<int>(i + 1));
    filled<X> y;
    ops::write_to_cache<Length>::launch(on_host(), keys.inout(), row.in(), positions.in());
    attend::launch(on_host(), q.in(), keys.in(), values.in(), positions.in(), y.out());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> a{q, skewed}, b{row, skewed}, c{row, skewed};
        const on_device<C> k{before, skewed}, v{values, skewed};
        const on_device<I> at{positions, skewed};
        ops::write_to_cache<Length>::launch(s, k.inout(), b.in(), at.in());
        CHECK(support::equal(k.host(), keys));
        attend::launch(s, a.in(), k.in(), v.in(), at.in(), c.out());
        CHECK(apart(c.host(), y) <= 30);
    });
}

template <class W, class M, class G, std::int64_t N>
void adam_w() {
    using w_type = tensor<W, N>;
    using m_type = tensor<M, N>;
    using g_type = tensor<G, N>;
    const filled<w_type> w{1};
    const filled<m_type> m{2};
    filled<m_type> v;  // not zero, or the step is beyond a half
    for (M& x : v.elements) x = 0.5f;
    const filled<g_type> g{3};
    filled<scalar<float>> rate, factor;
    rate.elements[0] = 0.125f;
    factor.elements[0] = 0.75f;
    filled<scalar<std::int32_t>> step;
    step.elements[0] = 3;
    filled<w_type> once = w, twice;
    filled<m_type> mean = m, square = v;
    ops::adam_w<>::launch(on_host(), once.inout(), mean.inout(), square.inout(), g.in(), rate.in(), step.in());
    twice = once;
    ops::adam_w<>::launch(on_host(), twice.inout(), mean.inout(), square.inout(), g.in(), rate.in(), step.in(), factor.in());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<w_type> a{w, skewed};
        const on_device<m_type> b{m, skewed}, c{v, skewed};
        const on_device<g_type> d{g, skewed};
        const on_device<scalar<float>> r{rate}, f{factor};
        const on_device<scalar<std::int32_t>> t{step};
        ops::adam_w<>::launch(s, a.inout(), b.inout(), c.inout(), d.in(), r.in(), t.in());
        CHECK(apart(a.host(), once) <= 4);
        ops::adam_w<>::launch(s, a.inout(), b.inout(), c.inout(), d.in(), r.in(), t.in(), f.in());
        CHECK(apart(a.host(), twice) <= 8);
        CHECK(apart(b.host(), mean) <= 4);
        CHECK(apart(c.host(), square) <= 4);
    });
}

}  // namespace

TEST_CASE_TEMPLATE("layer norm and its gradients", T, dv::half, dv::bfloat16, float, double) {
    layer_norm<T, 1, 1>();
    layer_norm<T, 5, 33>();
    layer_norm<T, 300, 64>();
    layer_norm<T, 1100, 33>();  // five bands of rows, the last one shorter
    layer_norm<T, 3, 4100>();
    layer_norm<T, 3, 4096>();
}

TEST_CASE_TEMPLATE("gelu and its gradient", T, dv::half, dv::bfloat16, float, double) {
    using X = tensor<T, 3, 1025>;
    const filled<X> x{1}, dy{2};
    filled<X> y, dx;
    ops::gelu::launch(on_host(), x.in(), y.out());
    ops::gelu_gradient::launch(on_host(), dy.in(), x.in(), dx.out());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> a{x, skewed}, b{dy, skewed};
        ops::gelu_gradient::launch(s, b.in(), a.in(), b.out());
        CHECK(apart(b.host(), dx) <= 4);
        ops::gelu::launch(s, a.in(), a.out());
        CHECK(apart(a.host(), y) <= 4);
    });
}

TEST_CASE_TEMPLATE("embedding and its gradient", T, dv::half, dv::bfloat16, float, double) {
    embedding<T, 1, 1, 1>();
    embedding<T, 100, 33, 7>();
    embedding<T, 64, 64, 300>();
    embedding<T, 4096, 3, 50'000>();
    embedding<T, 0, 8, 4>();
}

TEST_CASE("the row of a token out of range is NaN") {
    using Y = tensor<float, 3, 2>;
    filled<tensor<std::int32_t, 3>> tokens;
    tokens.elements = {1, 4, -1};
    const on_device<tensor<float, 4, 2>> table{filled<tensor<float, 4, 2>>{1}};
    const on_device<tensor<std::int32_t, 3>> t{tokens};
    const on_device<Y> y{filled<Y>{}};
    ops::embedding::launch(support::gpu().with(0), t.in(), table.in(), y.out());
    const filled<Y> rows = y.host();
    for (int i = 0; i < 6; ++i) CHECK(std::isnan(rows[i]) == (i >= 2));
}

TEST_CASE_TEMPLATE("attention and its gradients", T, dv::half, dv::bfloat16, float, double) {
    attention<T, 1, 1, 1, 1>();
    attention<T, 5, 3, 2, 3>();
    attention<T, 5, 3, 3, 2>();
    attention<T, 64, 16, 2, 4>();
    attention<T, 40, 8, 5, 1>();
}

// Scores of 80,000: halves end at 65,504, and bfloat16 tells scores of that size apart by 512.
TEST_CASE_TEMPLATE("scores of queries and keys that are larger than a half", T, dv::half, dv::bfloat16, float) {
    using X = tensor<T, 6, 64>;
    using P = tensor<T, 6, 6>;
    using forward = ops::causal_attention<6, 64>;
    filled<X> q, k;
    for (std::size_t i = 0; i < q.elements.size(); ++i) {
        q.elements[i] = static_cast<T>(100.0f);
        k.elements[i] = static_cast<T>(i % 64 == 0 ? static_cast<float>(96 + 2 * (i / 64 % 3)) : 100.0f);
    }
    const filled<X> v = eighth_of<X>(3);
    filled<X> y;
    filled<P> p;
    forward::launch(on_host(), q.in(), k.in(), v.in(), y.out(), p.out());
    CHECK(p[7] > 0.5);  // and not NaN
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> a{q, skewed}, b{k, skewed}, c{v, skewed}, r{q, skewed};
        const on_device<P> of_p{p, skewed};
        forward::launch(s, a.in(), b.in(), c.in(), r.out(), of_p.out());
        CHECK(apart(of_p.host(), p) <= 30);
        CHECK(apart(r.host(), y) <= 30);
    });
}

TEST_CASE_TEMPLATE("attention of a token to a cache", T, dv::half, dv::bfloat16, float, double) {
    cached_attention<T, 1, 1, 1, 1>();
    cached_attention<T, 7, 3, 3, 2>();
    cached_attention<T, 600, 64, 2, 4>();
}

TEST_CASE("AdamW of several elements") {
    adam_w<float, float, float, 1023>();
    adam_w<float, float, dv::bfloat16, 1024>();
    adam_w<dv::half, float, dv::half, 40>();
    adam_w<double, double, double, 33>();
}

TEST_CASE_TEMPLATE("sums of squares, with the same bits every time", T, dv::half, dv::bfloat16, float, double) {
    using X = tensor<T, 100'001>;
    using Y = tensor<T, 3>;
    using S = scalar<dv::ops_detail::arithmetic_t<T>>;
    const filled<X> x{1};
    const filled<Y> y{2};
    filled<S> exact, first;
    ops::sum_of_squares::launch(on_host(), x.in(), y.in(), exact.out());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> a{x, skewed};
        const on_device<Y> b{y, skewed};
        const on_device<S> c{exact}, limit{exact}, factor{exact};
        ops::sum_of_squares::launch(s, a.in(), b.in(), c.out());
        CHECK(support::equal(c.host(), exact));  // sums of quarters are exact
        ops::clip_factor::launch(s, c.in(), limit.in(), factor.out());
        CHECK(factor.host()[0] == 1);  // the limit is the square of the norm
    });
}
