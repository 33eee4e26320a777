// CUDA matrix product: cuBLAS, called through the services of the stream.
#pragma once

#include "launch.hpp"

namespace dovetail::kernels {

// c [m,n] = op(a) op(b), the inner extent k.
template <bool TransA, bool TransB, class T>
[[gnu::used]] void gemm(cuda::stream s, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c);
// The same, added to c.
template <bool TransA, bool TransB, class T, class Sum>
[[gnu::used]] void add_gemm(cuda::stream s, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, Sum* c);

#if defined(__CUDACC__)

template <bool TransA, bool TransB, class T>
void gemm(cuda::stream s, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c) {
    if (m == 0 || n == 0) return;
    if (k == 0) return s.services->zero(s, c, m * n * static_cast<std::int64_t>(sizeof(T)));
    const element e = element_of<T>;
    s.services->multiply(s, {.elements = e, .results = e, .trans_a = TransA, .trans_b = TransB, .m = m, .n = n, .k = k}, a, b, c);
}
template <bool TransA, bool TransB, class T, class Sum>
void add_gemm(cuda::stream s, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, Sum* c) {
    if (m == 0 || n == 0 || k == 0) return;
    const element of_factors = element_of<T>, of_sums = element_of<Sum>;
    s.services->multiply(
        s, {.elements = of_factors, .results = of_sums, .trans_a = TransA, .trans_b = TransB, .m = m, .n = n, .k = k, .added = true}, a, b,
        c);
}

#endif

}  // namespace dovetail::kernels
