// transpose on a GPU has the bits of the host's, for every size of element, for whole tiles and for parts of them.
#include <doctest/doctest.h>

#include "support/on_device.hpp"

#include <dovetail/ops/transpose.hpp>

namespace dv = dovetail;  // not wholly: CUDA has a ::half and a ::cuda
namespace ops = dovetail::ops;
using dv::tensor;
using support::drawn;
using support::every_way;
using support::filled;
using support::on_device;

namespace {

template <class T, std::int64_t Rows, std::int64_t Columns>
void transposed() {
    using X = tensor<T, Rows, Columns>;
    using Y = tensor<T, Columns, Rows>;
    const filled<X> x = drawn<X>(1);
    filled<Y> y;
    ops::transpose::launch(dv::host::stream{}, x.in(), y.out());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<X> a{x, skewed};
        const on_device<Y> b{drawn<Y>(2), skewed};
        ops::transpose::launch(s, a.in(), b.out());
        CHECK(support::equal(b.host(), y));
    });
}

}  // namespace

TEST_CASE_TEMPLATE("rows become columns", T, dv::half, dv::bfloat16, float, double, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
    transposed<T, 0, 5>();
    transposed<T, 1, 1>();
    transposed<T, 3, 70>();
    transposed<T, 1000, 1>();
    transposed<T, 64, 128>();
    transposed<T, 129, 333>();
}
