// Fused attention by cuDNN, compared with the host within the rounding of sums, the same bits in every run; what it refuses.
#include <doctest/doctest.h>

#if defined(WITH_CUDNN)

#include "support/numbers.hpp"
#include "support/on_device.hpp"

#include <dovetail/ops/cuda/cudnn_attention.hpp>
#include <dovetail/ops/fused_attention.hpp>

namespace dv = dovetail;  // not wholly: CUDA has a ::half and a ::cuda
namespace ops = dovetail::ops;
using dv::tensor;
using support::apart;
using support::eighth_of;
using support::filled;
using support::on_device;

namespace {

template <class T, std::int64_t Length, std::int64_t HeadSize, std::int64_t Sequences, std::int64_t Heads>
struct example {
    using X = tensor<T, Sequences * Length, Heads * HeadSize>;
    using S = tensor<float, Sequences * Length, Heads>;
    using forward = ops::fused_causal_attention<Length, HeadSize>;
    using backward = ops::fused_causal_attention_gradient<Length, HeadSize>;
    using in_any_order = ops::fused_causal_attention_gradient<Length, HeadSize, false>;
    static_assert(backward::workspace(X::type, X::type, X::type, X::type, X::type, S::type) <= support::device::workspace_bytes);

    filled<X> q = eighth_of<X>(1), k = eighth_of<X>(2), v = eighth_of<X>(3), dy = eighth_of<X>(4), y, dq, dk, dv;
    filled<S> sums;

    void on_host() {
        static std::vector<double> memory(support::device::workspace_bytes / sizeof(double));
        const dv::host::stream s{.workspace = memory.data(), .workspace_bytes = support::device::workspace_bytes};
        forward::launch(s, q.in(), k.in(), v.in(), y.out(), sums.out());
        backward::launch(s, dy.in(), q.in(), k.in(), v.in(), y.in(), sums.in(), dq.out(), dk.out(), dv.out());
    }
    // A stream with the workspace that an operation declares.
    template <class Op, class... Tensor>
    static dv::cuda::stream with_declared(Tensor... of) {
        dv::cuda::stream s = support::gpu().with(0);
        s.workspace_bytes = Op::workspace(of...);
        return s;
    }
    // Three times on the device: the values of the host, and then the same bits.
    void compare() {
        on_host();
        const on_device<X> a{q}, b{k}, c{v}, d{dy}, given{y}, r{q}, of_q{q}, of_k{q}, of_v{q}, any_q{q}, any_k{q}, any_v{q};
        const on_device<S> of_sums{sums}, given_sums{sums};
        const dv::cuda::stream s = with_declared<forward>(X::type, X::type, X::type);
        const dv::cuda::stream t = with_declared<backward>(X::type, X::type, X::type, X::type, X::type, S::type);
        const dv::cuda::stream u = with_declared<in_any_order>(X::type, X::type, X::type, X::type, X::type, S::type);
        filled<X> first[4];
        for (int run = 0; run < 3; ++run) {
            forward::launch(s, a.in(), b.in(), c.in(), r.out(), of_sums.out());
            backward::launch(t, d.in(), a.in(), b.in(), c.in(), given.in(), given_sums.in(), of_q.out(), of_k.out(), of_v.out());
            if (run > 0) {
                CHECK(support::equal(r.host(), first[0]));
                CHECK(support::equal(of_q.host(), first[1]));
                CHECK(support::equal(of_k.host(), first[2]));
                CHECK(support::equal(of_v.host(), first[3]));
                continue;
            }
            CHECK(apart(of_sums.host(), sums) <= 300);
            in_any_order::launch(u, d.in(), a.in(), b.in(), c.in(), given.in(), given_sums.in(), any_q.out(), any_k.out(), any_v.out());
            CHECK(apart(any_q.host(), dq) <= 60);
            CHECK(apart(any_k.host(), dk) <= 60);
            CHECK(apart(any_v.host(), dv) <= 60);
            CHECK(apart(first[0] = r.host(), y) <= 30);
            CHECK(apart(first[1] = of_q.host(), dq) <= 60);
            CHECK(apart(first[2] = of_k.host(), dk) <= 60);
            CHECK(apart(first[3] = of_v.host(), dv) <= 60);
        }
    }
};

}  // namespace

TEST_CASE_TEMPLATE("values and gradients", T, dv::half, dv::bfloat16) {
    example<T, 64, 16, 2, 4>{}.compare();
    example<T, 40, 8, 5, 1>{}.compare();
    example<T, 5, 64, 2, 3>{}.compare();
    example<T, 2, 32, 1, 1>{}.compare();
    example<T, 130, 72, 1, 2>{}.compare();
    example<T, 200, 128, 1, 1>{}.compare();
}

// As in the first run of an executor that replays and does not communicate.
TEST_CASE("a shape whose first launch is captured") {
    using example = ::example<dv::half, 96, 32, 1, 2>;
    example e;
    e.on_host();
    const on_device<example::X> a{e.q}, b{e.k}, c{e.v}, r{e.q};
    const on_device<example::S> sums{e.sums};
    const dv::cuda::stream s = support::gpu().with(0);
    const cudaStream_t stream = support::gpu().stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK_NOTHROW(example::forward::launch(s, a.in(), b.in(), c.in(), r.out(), sums.out()));
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiateWithFlags(&made, graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphLaunch(made, stream) == cudaSuccess);
    CHECK(apart(r.host(), e.y) <= 30);
    CHECK(cudaGraphExecDestroy(made) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("what does not fit is refused by name") {
    using example = ::example<dv::half, 8, 8, 1, 1>;
    example e;
    const on_device<example::X> a{e.q, true}, b{e.q}, c{e.q}, r{e.q};
    const on_device<example::S> sums{e.sums};
    dv::cuda::stream s = support::gpu().with(0);
    CHECK_THROWS_WITH(example::forward::launch(s, a.in(), b.in(), c.in(), r.out(), sums.out()),
                      doctest::Contains("operands at multiples of 16 bytes"));
    s.workspace_bytes = 0;
    CHECK_THROWS_WITH(example::backward::launch(s, b.in(), b.in(), b.in(), b.in(), b.in(), sums.in(), r.out(), r.out(), r.out()),
                      doctest::Contains("needs a workspace of"));
}

#else

TEST_CASE("fused attention by cuDNN") { MESSAGE("skipped: compiled without cuDNN's frontend"); }

#endif
