// GPU half of the matrix product: cuBLAS, in row-major order by exchanging the factors. Sums are taken in float, without
// TF32 unless the handle was set to it, or in double.
#pragma once

#include "launch.hpp"

namespace dovetail::ops::kernels {

// c [m,n] = op(a) op(b), the inner extent k.
template <bool TransA, bool TransB, class T>
[[gnu::used]] void gemm(cuda::stream s, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c);

#if defined(__CUDACC__)

namespace detail {
template <class T> inline constexpr cudaDataType blas_type = CUDA_R_32F;
template <> inline constexpr cudaDataType blas_type<half> = CUDA_R_16F;
template <> inline constexpr cudaDataType blas_type<bfloat16> = CUDA_R_16BF;
template <> inline constexpr cudaDataType blas_type<double> = CUDA_R_64F;
}  // namespace detail

template <bool TransA, bool TransB, class T>
void gemm(cuda::stream s, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c) {
    if (m == 0 || n == 0) return;
    if (k == 0) return cuda::check(cuda::calls.memset_async(c, 0, static_cast<std::size_t>(m * n) * sizeof(T), on(s)), "cudaMemsetAsync");
    using R = ops::detail::arithmetic_t<T>;
    constexpr cudaDataType type = detail::blas_type<T>;
    constexpr cublasComputeType_t sums = sizeof(T) == 8 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
    const R one = 1, zero = 0;
    const auto handle = static_cast<cublasHandle_t>(s.blas);
    if (s.sms > 0) cuda::check(cuda::calls.blas_set_sm_count(handle, s.sms), "cublasSetSmCountTarget");
    // A row-major matrix is its transposed in cuBLAS's eyes: c^T = op(b)^T op(a)^T.
    const cublasStatus_t status = cuda::calls.blas_gemm(handle, TransB ? CUBLAS_OP_T : CUBLAS_OP_N, TransA ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &one, b, type,
                                                        TransB ? k : n, a, type, TransA ? m : k, &zero, c, type, n, sums, CUBLAS_GEMM_DEFAULT);
    if (s.sms > 0) static_cast<void>(cuda::calls.blas_set_sm_count(handle, 0));  // the handle is the rank's: others get all again
    cuda::check(status, "cublasGemmEx");
}

#endif

}  // namespace dovetail::ops::kernels
