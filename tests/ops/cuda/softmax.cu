// softmax and its gradient on a GPU, compared with the host: rows of a warp and of a block, aligned and not, in place.
#include <doctest/doctest.h>

#include "support/on_device.hpp"

#include <dovetail/ops/softmax.hpp>

namespace dv = dovetail;  // not wholly: CUDA has a ::half and a ::cuda
namespace ops = dovetail::ops;
using dv::tensor;
using support::apart;
using support::drawn;
using support::every_way;
using support::filled;
using support::on_device;

namespace {

template <class T, std::int64_t Rows, std::int64_t Columns>
void softmax() {
    using X = tensor<T, Rows, Columns>;
    const filled<X> x{1}, dy{2};
    filled<X> y, dx;
    ops::softmax::launch(dv::host::stream{}, x.in(), y.out());
    ops::softmax_gradient::launch(dv::host::stream{}, dy.in(), y.in(), dx.out());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> a{x, skewed}, b{dy, skewed}, c{drawn<X>(3), skewed}, d{drawn<X>(4), skewed}, of_host{y, skewed};
        ops::softmax::launch(s, a.in(), c.out());
        CHECK(apart(c.host(), y) <= 2);
        ops::softmax_gradient::launch(s, b.in(), of_host.in(), d.out());
        CHECK(apart(d.host(), dx) <= 10);
        const filled<X> once = c.host(), gradient = d.host();
        ops::softmax::launch(s, a.in(), a.out());
        CHECK(support::equal(a.host(), once));
        ops::softmax_gradient::launch(s, b.in(), of_host.in(), b.out());
        CHECK(support::equal(b.host(), gradient));
    });
}

}  // namespace

TEST_CASE_TEMPLATE("softmax and its gradient", T, dv::half, dv::bfloat16, float, double) {
    softmax<T, 0, 3>();
    softmax<T, 1, 1>();
    softmax<T, 7, 13>();
    softmax<T, 257, 1000>();
    softmax<T, 3, 5003>();
    softmax<T, 3, 6000>();
}
