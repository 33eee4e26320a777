// Matrix products: C = op(A) op(B) with two-dimensional half, bfloat16, float or double tensors of one element, sums in
// float or double. matmul: A B; matmul_nt: A B^T; matmul_tn: A^T B, as backward passes need them.
//
//     matmul     [M,K] x [K,N] -> [M,N]
//     matmul_nt  [M,K] x [N,K] -> [M,N]
//     matmul_tn  [K,M] x [K,N] -> [M,N]
//
// The same added to a matrix in place, as gradients of micro-batches are added up. C has the elements of A and B, or those in which sums
// are computed: float gradients of half factors.
//
//     update<gradient, add_matmul_tn(gradient, x, dy)>    gradient += x^T dy
#pragma once

#include "cuda/gemm.hpp"
#include "host/gemm.hpp"

namespace dovetail::ops {

template <bool TransA, bool TransB>
struct gemm {
    static constexpr tensor_type result(tensor_type a, tensor_type b) {
        if (!ops_detail::is_matrix(a) || !ops_detail::is_matrix(b) || a.type != b.type || inner(a) != b.extent[TransB ? 1 : 0]) return {};
        return a.with_extents(a.extent[TransA ? 1 : 0], b.extent[TransB ? 0 : 1]);
    }
    static constexpr dovetail::cost cost(tensor_type a, tensor_type b) {
        const tensor_type c = result(a, b);
        return {2 * c.size() * inner(a), a.bytes() + b.bytes() + c.bytes(), a.type};
    }
    static constexpr auto row_wise = by_extents({TransA ? 1 : 0, whole}, {0});

    static constexpr dovetail::tiles tiles(tensor_type a, tensor_type b) {
        return ops_detail::product_tiles(a.extent[TransA ? 1 : 0], b.extent[TransB ? 0 : 1]);
    }

    template <class A, class B, class C>
    static void launch(host::stream, in<A> a, in<B> b, out<C> c) {
        loops::gemm<TransA, TransB>(C::template extent<0>, C::template extent<1>, inner(A::type), a.data(), b.data(), c.data());
    }
    template <class A, class B, class C>
    static void launch(cuda::stream s, in<A> a, in<B> b, out<C> c) {
        kernels::gemm<TransA, TransB>(s, C::template extent<0>, C::template extent<1>, inner(A::type), a.data(), b.data(), c.data());
    }

private:
    static constexpr std::int64_t inner(tensor_type a) { return a.extent[TransA ? 0 : 1]; }
};

template <bool TransA, bool TransB>
struct add_gemm {
    static constexpr int in_place = 0;  // c, which as another argument would be read after it has changed

    static constexpr tensor_type result(tensor_type c, tensor_type a, tensor_type b) {
        const tensor_type product = gemm<TransA, TransB>::result(a, b);
        const bool fits = c == product || c == product.with_element(ops_detail::arithmetic_of(a.type));
        return product.valid() && fits ? c : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type c, tensor_type a, tensor_type b) {
        return {2 * c.size() * a.extent[TransA ? 0 : 1], a.bytes() + b.bytes() + 2 * c.bytes(), a.type};
    }
    static constexpr auto row_wise = by_extents({0, TransA ? 1 : 0, whole}, {0});

    static constexpr dovetail::tiles tiles(tensor_type c, tensor_type, tensor_type) {
        return ops_detail::product_tiles(c.extent[0], c.extent[1]);
    }

    template <class C, class A, class B>
    static void launch(host::stream, inout<C> c, in<A> a, in<B> b) {
        loops::gemm<TransA, TransB, true>(C::template extent<0>, C::template extent<1>, A::template extent < TransA ? 0 : 1 >, a.data(),
                                          b.data(), c.data());
    }
    template <class C, class A, class B>
    static void launch(cuda::stream s, inout<C> c, in<A> a, in<B> b) {
        kernels::add_gemm<TransA, TransB>(s, C::template extent<0>, C::template extent<1>, A::template extent < TransA ? 0 : 1 >, a.data(),
                                          b.data(), c.data());
    }
};

struct matmul : gemm<false, false> {};
struct matmul_nt : gemm<false, true> {};
struct matmul_tn : gemm<true, false> {};
struct add_matmul : add_gemm<false, false> {};
struct add_matmul_nt : add_gemm<false, true> {};
struct add_matmul_tn : add_gemm<true, false> {};

}  // namespace dovetail::ops
