// The optimizers have the same bits on a GPU as on the host, for all combinations of element types; a launch that fails throws.
#include <doctest/doctest.h>

#include "support/on_device.hpp"

#include <dovetail/ops/cuda/instances.hpp>

namespace dv = dovetail;  // not wholly: CUDA has a ::half and a ::cuda
namespace ops = dovetail::ops;
using dv::scalar;
using dv::tensor;
using support::drawn;
using support::every_way;
using support::filled;
using support::on_device;

template struct dovetail::kernels_for<float, std::int32_t>;  // alone it must compile too

namespace {

template <class W, class V, class G, class R, std::int64_t... E>
void compare() {
    using w_type = tensor<W, E...>;
    using v_type = tensor<V, E...>;
    using g_type = tensor<G, E...>;
    const auto w = drawn<w_type>(1);
    const auto v = drawn<v_type>(2);
    const auto g = drawn<g_type>(3);
    filled<scalar<R>> rate;
    rate.elements[0] = static_cast<R>(0.03f);
    auto plain = w, moved = w;
    auto speed = v;
    ops::sgd::launch(dv::host::stream{}, plain.inout(), g.in(), rate.in());
    ops::sgd_momentum<9, 10>::launch(dv::host::stream{}, moved.inout(), speed.inout(), g.in(), rate.in());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<w_type> a{w, skewed}, b{w, skewed};
        const on_device<v_type> c{v, skewed};
        const on_device<g_type> gradient{g, skewed};
        const on_device<scalar<R>> step{rate, skewed};
        ops::sgd::launch(s, a.inout(), gradient.in(), step.in());
        ops::sgd_momentum<9, 10>::launch(s, b.inout(), c.inout(), gradient.in(), step.in());
        CHECK(support::equal(a.host(), plain));
        CHECK(support::equal(b.host(), moved));
        CHECK(support::equal(c.host(), speed));
    });
}

}  // namespace

TEST_CASE_TEMPLATE("weights of one element, everything else of any", W, dv::half, dv::bfloat16, float, double) {
    compare<W, W, W, float, 0>();
    compare<W, W, W, W>();
    compare<W, W, W, float, 33, 65>();
    compare<W, float, dv::half, double, 1023>();
    compare<W, double, dv::bfloat16, dv::half, 1023>();
    compare<W, float, float, dv::bfloat16, 1024>();
    compare<W, dv::half, double, float, 40>();
}

TEST_CASE("a launch that fails throws what CUDA says and which kernel it was") {
    using X = tensor<float, 8>;
    const on_device<X> x{filled<X>{}};
    const auto kept = dv::cuda::calls;
    dv::cuda::calls.get_last_error = [] { return cudaErrorLaunchOutOfResources; };
    CHECK_THROWS_WITH_AS(ops::relu::launch(support::gpu().with(0), x.in(), x.out()),
                         doctest::Contains("kernel transform: too many resources"), dv::cuda::call_error);
    dv::cuda::calls = kept;
    support::gpu().wait();
    const dv::cuda::stream nowhere{.services = &dv::cuda::services};
    using M = tensor<float, 4, 4>;
    const on_device<M> m{filled<M>{}};
    CHECK_THROWS_WITH_AS(ops::matmul::launch(nowhere, m.in(), m.in(), m.out()), doctest::Contains("cublasGemmEx"), dv::cuda::call_error);
}
