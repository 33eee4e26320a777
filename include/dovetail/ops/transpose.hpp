// transpose(x): [M,N] -> [N,M], of any element; y[j][i] = x[i][j] in new memory. Its gradient is transpose(dy).
//
// A product of a transposed matrix needs no transpose: matmul_nt, matmul_tn and gemm read it as it is.
#pragma once

#include "cuda/transpose.hpp"
#include "host/transpose.hpp"

namespace dovetail::ops {

struct transpose {
    static constexpr tensor_type result(tensor_type x) { return x.rank == 2 ? x.with_extents(x.extent[1], x.extent[0]) : tensor_type{}; }
    static constexpr dovetail::cost cost(tensor_type x) { return bytes_moved(2 * x.bytes()); }

    template <class X, class Y>
    static void launch(host::stream, in<X> x, out<Y> y) {
        loops::transpose(X::template extent<0>, X::template extent<1>, x.data(), y.data());
    }
    template <class X, class Y>
    static void launch(cuda::stream s, in<X> x, out<Y> y) {
        kernels::transpose(s, X::template extent<0>, X::template extent<1>, x.data(), y.data());
    }
};

}  // namespace dovetail::ops
