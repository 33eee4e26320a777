// Matrix products on a GPU: exact if the sums are exact, otherwise within the rounding of a sum; on a subset of the multiprocessors; with
// empty factors.
#include <doctest/doctest.h>

#include "support/on_device.hpp"

#include <dovetail/ops/gemm.hpp>

#include <cmath>

namespace dv = dovetail;  // not wholly: CUDA has a ::half and a ::cuda
namespace ops = dovetail::ops;
using dv::scalar;
using dv::tensor;
using support::drawn;
using support::every_way;
using support::filled;
using support::on_device;

namespace {

template <class Op, class A, class B, class C>
void compare() {
    const filled<A> a{1};
    const filled<B> b{2};
    filled<C> wanted;
    Op::launch(dv::host::stream{}, a.in(), b.in(), wanted.out());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<A> x{a, skewed};
        const on_device<B> y{b, skewed};
        const on_device<C> c{drawn<C>(3), skewed};
        Op::launch(s, x.in(), y.in(), c.out());
        CHECK(support::equal(c.host(), wanted));  // small halves: all sums are exact, and rounded once
    });
}
template <class Op, class A, class B, class C>
void compare_added() {
    const filled<A> a{1};
    const filled<B> b{2};
    const filled<C> before{4};
    filled<C> wanted = before;
    Op::launch(dv::host::stream{}, wanted.inout(), a.in(), b.in());
    every_way([&](dv::cuda::stream s, bool skewed) {
        const on_device<A> x{a, skewed};
        const on_device<B> y{b, skewed};
        const on_device<C> c{before, skewed};
        Op::launch(s, c.inout(), x.in(), y.in());
        CHECK(support::equal(c.host(), wanted));
    });
}
template <class T, class C, std::int64_t M, std::int64_t N, std::int64_t K>
void all_added() {
    compare_added<ops::add_matmul, tensor<T, M, K>, tensor<T, K, N>, tensor<C, M, N>>();
    compare_added<ops::add_matmul_nt, tensor<T, M, K>, tensor<T, N, K>, tensor<C, M, N>>();
    compare_added<ops::add_matmul_tn, tensor<T, K, M>, tensor<T, K, N>, tensor<C, M, N>>();
}
template <class T, std::int64_t M, std::int64_t N, std::int64_t K>
void all_forms() {
    compare<ops::matmul, tensor<T, M, K>, tensor<T, K, N>, tensor<T, M, N>>();
    compare<ops::matmul_nt, tensor<T, M, K>, tensor<T, N, K>, tensor<T, M, N>>();
    compare<ops::matmul_tn, tensor<T, K, M>, tensor<T, K, N>, tensor<T, M, N>>();
}

}  // namespace

TEST_CASE_TEMPLATE("products", T, dv::half, dv::bfloat16, float, double) {
    all_forms<T, 1, 1, 1>();
    all_forms<T, 3, 5, 7>();
    all_forms<T, 33, 65, 17>();
    all_forms<T, 128, 64, 256>();
    all_forms<T, 96, 10, 384>();
    all_forms<T, 4, 6, 0>();
    all_forms<T, 0, 6, 3>();
    all_forms<T, 4, 0, 3>();
}

TEST_CASE_TEMPLATE("products added to a matrix of their elements and of those of their sums", T, dv::half, dv::bfloat16, float, double) {
    using sum = dv::ops_detail::arithmetic_t<T>;
    all_added<T, T, 33, 65, 17>();
    all_added<T, sum, 33, 65, 17>();
    all_added<T, sum, 128, 64, 256>();
    all_added<T, sum, 4, 6, 0>();
    all_added<T, sum, 0, 6, 3>();
}

TEST_CASE("floats are multiplied as floats, not as TF32") {
    using X = tensor<float, 200, 200>;
    const filled<X> a = drawn<X>(1), b = drawn<X>(2);
    filled<X> c;
    const on_device<X> x{a}, y{b}, z{c};
    ops::matmul::launch(support::gpu().with(0), x.in(), y.in(), z.out());
    c = z.host();
    for (int i = 0; i < 200; ++i)
        for (int j = 0; j < 200; ++j) {
            double sum = 0, size = 0;
            for (int k = 0; k < 200; ++k) {
                sum += a[i * 200 + k] * b[k * 200 + j];
                size += std::abs(a[i * 200 + k] * b[k * 200 + j]);
            }
            REQUIRE(std::abs(c[i * 200 + j] - sum) <= 1e-6 * size);  // TF32 is off by about 1e-4
        }
}

TEST_CASE("the handle keeps no count of multiprocessors") {
    using X = tensor<float, 16, 16>;
    const on_device<X> x{drawn<X>(1)}, y{drawn<X>(2)};
    ops::matmul::launch(support::gpu().with(8), x.in(), x.in(), y.out());
    int count = -1;
    REQUIRE(cublasGetSmCountTarget(support::gpu().blas, &count) == CUBLAS_STATUS_SUCCESS);
    CHECK(count == 0);
    support::gpu().wait();
}
