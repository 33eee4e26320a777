// Matrix products against a naive sum in double precision: odd sizes, zero extents, all four floating-point types, refused shapes.
#include <doctest/doctest.h>

#include <dovetail/ops/gemm.hpp>

#include "support/tensors.hpp"

using namespace dovetail;
using support::filled;

namespace {

// `before`: what the product is added to, where it is.
template <bool TA, bool TB, class T, class A, class B, class C>
void check(const A& a, const B& b, const C& c, int m, int n, int k, const C* before = nullptr) {
    int wrong = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double exact = before == nullptr ? 0 : (*before)[i * n + j];
            for (int p = 0; p < k; ++p) exact += a[TA ? p * m + i : i * k + p] * b[TB ? j * k + p : p * n + j];
            const double error = c[i * n + j] - exact;
            wrong += (error < 0 ? -error : error) <= support::tolerance<T>(exact) ? 0 : 1;
        }
    CHECK(wrong == 0);
}

template <bool TA, bool TB, int M, int N, int K, class C, class A, class B>
void compare_added(const filled<A>& a, const filled<B>& b) {
    static_assert(ops::add_gemm<TA, TB>::result(C::type, A::type, B::type) == C::type);
    filled<C> c{4};
    const filled<C> before = c;
    ops::add_gemm<TA, TB>::launch(host::stream{}, c.inout(), a.in(), b.in());
    check<TA, TB, typename C::element_type>(a, b, c, M, N, K, &before);
}

template <bool TA, bool TB, class T, int M, int N, int K>
void compare() {
    using A = std::conditional_t<TA, tensor<T, K, M>, tensor<T, M, K>>;
    using B = std::conditional_t<TB, tensor<T, N, K>, tensor<T, K, N>>;
    using C = tensor<T, M, N>;
    static_assert(ops::gemm<TA, TB>::result(A::type, B::type) == C::type);
    filled<A> a{1};
    filled<B> b{2};
    filled<C> c{3};
    ops::gemm<TA, TB>::launch(host::stream{}, a.in(), b.in(), c.out());
    check<TA, TB, T>(a, b, c, M, N, K);
    compare_added<TA, TB, M, N, K, C>(a, b);
    compare_added<TA, TB, M, N, K, tensor<ops_detail::arithmetic_t<T>, M, N>>(a, b);
}

template <class T, int M, int N, int K>
void compare_layouts() {
    compare<false, false, T, M, N, K>();
    compare<false, true, T, M, N, K>();
    compare<true, false, T, M, N, K>();
    compare<true, true, T, M, N, K>();
}

template <class T>
void compare_sizes() {
    compare_layouts<T, 1, 1, 1>();
    compare_layouts<T, 3, 5, 7>();
    compare_layouts<T, 4, 8, 128>();
    compare_layouts<T, 65, 71, 131>();
    compare_layouts<T, 130, 9, 257>();
}

constexpr tensor_type matrix(int m, int n, element e = element::float32) { return tensor_type{e, 0, {}}.with_extents(m, n); }

}  // namespace

TEST_CASE_TEMPLATE("a product is the sum over the inner extent", T, float, double, half, dovetail::bfloat16) { compare_sizes<T>(); }

TEST_CASE("zero extents: an empty product is left alone, an empty sum is zero") {
    compare_layouts<float, 0, 5, 3>();
    compare_layouts<float, 5, 0, 3>();
    compare_layouts<float, 5, 3, 0>();
    compare_layouts<half, 5, 3, 0>();
    compare_layouts<double, 0, 0, 0>();
}

TEST_CASE("half sums are taken in float") {
    using A = tensor<half, 1, 4096>;
    filled<A> a;
    filled<tensor<half, 4096, 1>> b;
    filled<tensor<half, 1, 1>> c;
    for (auto& x : a.elements) x = 1.0f;
    for (auto& x : b.elements) x = 0.5f;
    b.elements[0] = 16.0f;
    ops::matmul::launch(host::stream{}, a.in(), b.in(), c.out());
    CHECK(c[0] == 2064.0);  // 16 + 4095 / 2 rounded once; in half it would stick at 1024
}

TEST_CASE("shape rules refuse what does not fit") {
    static_assert(ops::matmul::result(matrix(2, 3), matrix(3, 4)) == matrix(2, 4));
    static_assert(ops::matmul_nt::result(matrix(2, 3), matrix(4, 3)) == matrix(2, 4));
    static_assert(ops::matmul_tn::result(matrix(3, 2), matrix(3, 4)) == matrix(2, 4));
    static_assert(!ops::matmul::result(matrix(2, 3), matrix(4, 3)).valid());
    static_assert(!ops::matmul_nt::result(matrix(2, 3), matrix(3, 4)).valid());
    static_assert(!ops::matmul_tn::result(matrix(2, 3), matrix(3, 4)).valid());
    static_assert(!ops::matmul::result(matrix(2, 3), matrix(3, 4, element::float16)).valid());
    static_assert(!ops::matmul::result(matrix(2, 3, element::int32), matrix(3, 4, element::int32)).valid());
    static_assert(!ops::matmul::result(tensor<float, 2, 3, 4>::type, matrix(4, 4)).valid());
    static_assert(!ops::matmul::result(tensor_type{}, tensor_type{}).valid());
    static_assert(ops::add_matmul_tn::result(matrix(2, 4), matrix(3, 2), matrix(3, 4)) == matrix(2, 4));
    static_assert(!ops::add_matmul_tn::result(matrix(4, 2), matrix(3, 2), matrix(3, 4)).valid());
    static_assert(!ops::add_matmul_tn::result(matrix(2, 4), matrix(2, 3), matrix(3, 4)).valid());
    static_assert(!ops::add_matmul::result(matrix(2, 4, element::float16), matrix(2, 3), matrix(3, 4)).valid());
    static_assert(!ops::add_matmul::result(tensor_type{}, tensor_type{}, tensor_type{}).valid());
    static_assert(!ops::add_matmul::result(scalar<float>::type, matrix(2, 3), matrix(5, 4)).valid());
}

TEST_CASE("costs") {
    constexpr auto c = ops::matmul_tn::cost(matrix(10, 20, element::float16), matrix(10, 30, element::float16));
    static_assert(c.flops == 2 * 10 * 20 * 30);
    static_assert(c.bytes == 2 * (200 + 300 + 600));
    static_assert(c.arithmetic == element::float16);
    constexpr auto added = ops::add_matmul_tn::cost(matrix(20, 30), matrix(10, 20, element::float16), matrix(10, 30, element::float16));
    static_assert(added.flops == c.flops && added.arithmetic == element::float16);
    static_assert(added.bytes == 2 * (200 + 300) + 2 * 4 * 600);
}
