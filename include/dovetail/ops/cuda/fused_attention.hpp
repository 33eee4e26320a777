// What cuDNN computes of a fused attention; defined in cudnn_attention.hpp, which includes cuDNN's frontend and so takes a compiler the
// better part of a minute.
#pragma once

#include "../attention_shape.hpp"

namespace dovetail::ops_detail {

template <class X, std::int64_t Length, std::int64_t HeadSize>
constexpr void require_cudnn_attention() {
    static_assert(X::type.type == element::float16 || X::type.type == element::bfloat16,
                  "dovetail: fused_causal_attention takes half or bfloat16 on a GPU; causal_attention takes float and double");
    static_assert(HeadSize % 8 == 0 && HeadSize <= 128,
                  "dovetail: fused_causal_attention on a GPU needs heads of 8, 16, ... or 128 elements; causal_attention takes any");
    static_assert(Length > 1, "dovetail: fused_causal_attention on a GPU needs sequences of two tokens or more");
}

// The workspaces of cuDNN (of 9.19, on an H100). That of the gradient has besides a number for each row of a head, and where sums are added
// up in order the gradients of all scores in 16 bits, in whole blocks of 128 rows and columns, else the gradient of the queries in float.
// It has room to spare: not every machine's cuDNN asks for the same, some for 16 bytes more.
inline constexpr std::int64_t fused_attention_bytes = 256;
constexpr std::int64_t fused_gradient_bytes(const attention_shape& a, bool in_order) {
    const std::int64_t length = (a.length + 127) / 128 * 128;
    return 2 * fused_attention_bytes +
           a.sequences * a.heads * (4 * a.length + (in_order ? 2 * length * length : 4 * a.length * a.head_size));
}

}  // namespace dovetail::ops_detail

namespace dovetail::kernels {

// Throw a failure with cuDNN's words where it reports an error.
template <class T>
void fused_causal_attention(cuda::stream s, ops_detail::attention_shape a, const T* q, const T* k, const T* v, T* y, float* log_sums);

template <class T>
void fused_causal_attention_gradient(cuda::stream s, ops_detail::attention_shape a, bool in_order, const T* dy, const T* q, const T* k,
                                     const T* v, const T* y, const float* log_sums, T* dq, T* dk, T* dv);

}  // namespace dovetail::kernels
