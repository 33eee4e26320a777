// The services of a stream (launch/stream.hpp), implemented by the table of calls. To launch an operation on a stream of your own:
// `{.handle = s, .services = &dovetail::cuda::services}`.
#pragma once

#include "../../stream.hpp"
#include "api.hpp"

namespace dovetail::cuda {

namespace detail {

inline cudaStream_t on(const stream& s) { return static_cast<cudaStream_t>(s.handle); }

inline void look_at_launch(const char* kernel) { check(calls.get_last_error(), kernel); }

inline void copy_on(const stream& s, const void* from, void* to, std::int64_t bytes) {
    check(calls.memcpy_async(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, on(s)), "cudaMemcpyAsync");
}

inline void zero_on(const stream& s, void* at, std::int64_t bytes) {
    check(calls.memset_async(at, 0, static_cast<std::size_t>(bytes), on(s)), "cudaMemsetAsync");
}

constexpr cudaDataType blas_type(element e) {
    switch (e) {
        case element::float16: return CUDA_R_16F;
        case element::bfloat16: return CUDA_R_16BF;
        case element::float64: return CUDA_R_64F;
        default: return CUDA_R_32F;
    }
}

// cuBLAS is column-major, so a row-major product exchanges the factors: c^T = op(b)^T op(a)^T. Sums are computed in double, or in float
// without TF32 unless the handle allows it.
inline void multiply_on(const stream& s, element e, bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                        const void* a, const void* b, void* c) {
    const bool twice = e == element::float64;
    const cudaDataType type = blas_type(e);
    const cublasComputeType_t sums = twice ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;
    const void* const alpha = twice ? static_cast<const void*>(&wide_one) : &one;
    const void* const beta = twice ? static_cast<const void*>(&wide_zero) : &zero;
    const auto handle = static_cast<cublasHandle_t>(s.blas);
    if (s.sms > 0) check(calls.blas_set_sm_count(handle, s.sms), "cublasSetSmCountTarget");
    const cublasStatus_t status =
        calls.blas_gemm(handle, trans_b ? CUBLAS_OP_T : CUBLAS_OP_N, trans_a ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, alpha, b, type,
                        trans_b ? k : n, a, type, trans_a ? m : k, beta, c, type, n, sums, CUBLAS_GEMM_DEFAULT);
    // All operations of the rank share the handle
    const cublasStatus_t again = s.sms > 0 ? calls.blas_set_sm_count(handle, 0) : CUBLAS_STATUS_SUCCESS;
    check(status, "cublasGemmEx");
    check(again, "cublasSetSmCountTarget");
}

[[noreturn]] inline void refuse(const char* why) { throw failure{why}; }

}  // namespace detail

inline constexpr launch_services services{detail::look_at_launch, detail::copy_on, detail::zero_on, detail::multiply_on, detail::refuse};

}  // namespace dovetail::cuda
