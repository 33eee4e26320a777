// CUDA matrix product: cuBLAS, called through the services of the stream.
#pragma once

#include "launch.hpp"

namespace dovetail::kernels {

// c [m,n] = op(a) op(b), the inner extent k.
template <bool TransA, bool TransB, class T>
[[gnu::used]] void gemm(cuda::stream s, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c);

#if defined(__CUDACC__)

template <bool TransA, bool TransB, class T>
void gemm(cuda::stream s, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c) {
    if (m == 0 || n == 0) return;
    if (k == 0) return s.services->zero(s, c, m * n * static_cast<std::int64_t>(sizeof(T)));
    s.services->multiply(s, element_of<T>, TransA, TransB, m, n, k, a, b, c);
}

#endif

}  // namespace dovetail::kernels
