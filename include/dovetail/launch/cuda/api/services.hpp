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

// A factor of a product in host memory, as cuBLAS reads it: of the type in which sums are computed.
struct blas_factor {
    double wide;
    float narrow = static_cast<float>(wide);
    const void* of(element e) const { return e == element::float64 ? static_cast<const void*>(&wide) : &narrow; }
};
// Sums are computed in double, or in float without TF32 unless the handle allows it.
constexpr cublasComputeType_t blas_sums(element e) { return e == element::float64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F; }
constexpr cublasOperation_t blas_operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

// Calls `product` with the handle of the stream, set to the multiprocessors of the operation.
template <class Product>
void with_blas(const stream& s, const char* name, Product product) {
    const auto handle = static_cast<cublasHandle_t>(s.blas);
    if (s.sms > 0) check(calls.blas_set_sm_count(handle, s.sms), "cublasSetSmCountTarget");
    const cublasStatus_t status = product(handle);
    // All operations of the rank share the handle
    const cublasStatus_t again = s.sms > 0 ? calls.blas_set_sm_count(handle, 0) : CUBLAS_STATUS_SUCCESS;
    check(status, name);
    check(again, "cublasSetSmCountTarget");
}

// cuBLAS is column-major, so a row-major product exchanges the factors: c^T = op(b)^T op(a)^T.
inline void multiply_on(const stream& s, const matrix_product& p, const void* a, const void* b, void* c) {
    const cudaDataType type = blas_type(p.elements);
    const blas_factor factor{p.factor}, of_c{p.added ? 1.0 : 0.0};
    with_blas(s, "cublasGemmEx", [&](cublasHandle_t handle) {
        return calls.blas_gemm(handle, blas_operation(p.trans_b), blas_operation(p.trans_a), p.n, p.m, p.k, factor.of(p.elements), b, type,
                               p.trans_b ? p.k : p.n, a, type, p.trans_a ? p.m : p.k, of_c.of(p.elements), c, blas_type(p.results), p.n,
                               blas_sums(p.elements), CUBLAS_GEMM_DEFAULT);
    });
}

inline void multiply_batch_on(const stream& s, const matrix_product& p, matrix_batch<const void> a, matrix_batch<const void> b,
                              matrix_batch<void> c) {
    const cudaDataType type = blas_type(p.elements);
    const blas_factor factor{p.factor}, of_c{p.added ? 1.0 : 0.0};
    with_blas(s, "cublasGemmStridedBatchedEx", [&](cublasHandle_t handle) {
        return calls.blas_gemm_batch(handle, blas_operation(p.trans_b), blas_operation(p.trans_a), p.n, p.m, p.k, factor.of(p.elements),
                                     b.first, type, b.row, b.next, a.first, type, a.row, a.next, of_c.of(p.elements), c.first,
                                     blas_type(p.results), c.row, c.next, p.count, blas_sums(p.elements), CUBLAS_GEMM_DEFAULT);
    });
}

[[noreturn]] inline void refuse(const char* why) { throw failure{why}; }

}  // namespace detail

inline constexpr launch_services services{detail::look_at_launch, detail::copy_on,           detail::zero_on,
                                          detail::multiply_on,    detail::multiply_batch_on, detail::refuse};

}  // namespace dovetail::cuda
