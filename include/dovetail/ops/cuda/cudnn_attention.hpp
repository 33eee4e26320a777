// Fused attention by cuDNN and its frontend (it ran with 9.19 and 1.32): what fused_attention.hpp declares, of half and bfloat16. One unit
// of a program includes this, compiled by nvcc or by the host compiler, with the folder of cudnn_frontend.h and that of cudnn.h in the
// include path:
//
//     #include <dovetail/ops/cuda/cudnn_attention.hpp>
//
// and the program is linked with libcudnn, and for the frontend with libnvrtc and libcuda.
#pragma once

#include "fused_attention.hpp"

#include <cudnn_frontend.h>

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace dovetail::kernels {

namespace detail {
namespace fe = cudnn_frontend;

// The tensors of an attention, by their numbers in its graphs.
enum class attention_tensor : std::int64_t { q = 1, k, v, y, log_sums, dy, dq, dk, dv };
using attention_pointers = std::unordered_map<std::int64_t, void*>;

// Throws what cuDNN reports.
inline void must_succeed(const cuda::stream& s, fe::error_t reported) {
    if (reported.is_bad()) s.services->refuse(("cuDNN's attention: " + reported.get_message()).c_str());
}

// What is computed of an attention.
enum class attention_pass { forward, gradient, gradient_in_order };

// One of cuDNN's graphs for an attention of one shape.
class attention_graph {
public:
    attention_graph(const cuda::stream& s, cudnnHandle_t handle, const ops_detail::attention_shape& a, element of, attention_pass pass)
        : shape_{a} {
        graph_.set_io_data_type(of == element::float16 ? fe::DataType_t::HALF : fe::DataType_t::BFLOAT16)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
        const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(a.head_size)));
        if (pass == attention_pass::forward)
            add_forward(scale);
        else
            add_gradient(scale, pass == attention_pass::gradient_in_order);
        must_succeed(s, graph_.build(handle, {fe::HeurMode_t::A}));
        must_succeed(s, graph_.get_workspace_size(workspace_bytes_));
    }

    void execute(const cuda::stream& s, cudnnHandle_t handle, attention_pointers& at) {
        if (workspace_bytes_ > s.workspace_bytes)
            s.services->refuse(("cuDNN's attention needs a workspace of " + std::to_string(workspace_bytes_) + " bytes and was given " +
                                std::to_string(s.workspace_bytes))
                                   .c_str());
        must_succeed(s, graph_.execute(handle, at, s.workspace));
    }

private:
    using tensor = fe::graph::Tensor_attributes;
    using shared_tensor = std::shared_ptr<tensor>;

    void add_forward(float scale) {
        const auto q = rows(attention_tensor::q), k = rows(attention_tensor::k), v = rows(attention_tensor::v);
        const auto options = fe::graph::SDPA_attributes()
                                 .set_name("fused_causal_attention")
                                 .set_generate_stats(true)
                                 .set_causal_mask(true)
                                 .set_attn_scale(scale);
        const auto [y, log_sums] = graph_.sdpa(q, k, v, options);
        y->set_output(true);
        as_rows(*y, attention_tensor::y);
        log_sums->set_output(true);
        as_log_sums(*log_sums);
    }
    void add_gradient(float scale, bool in_order) {
        const auto q = rows(attention_tensor::q), k = rows(attention_tensor::k), v = rows(attention_tensor::v);
        const auto y = rows(attention_tensor::y), dy = rows(attention_tensor::dy);
        tensor of_sums;
        const auto log_sums = graph_.tensor(as_log_sums(of_sums));
        const auto options = fe::graph::SDPA_backward_attributes()
                                 .set_name("fused_causal_attention_gradient")
                                 .set_causal_mask(true)
                                 .set_attn_scale(scale)
                                 .set_deterministic_algorithm(in_order);
        const auto [dq, dk, dv] = graph_.sdpa_backward(q, k, v, y, dy, log_sums, options);
        as_rows(dq->set_output(true), attention_tensor::dq);
        as_rows(dk->set_output(true), attention_tensor::dk);
        as_rows(dv->set_output(true), attention_tensor::dv);
    }

    // [sequences, heads, length, head_size], as the rows [B,C] have them.
    tensor& as_rows(tensor& t, attention_tensor which) const {
        return t.set_uid(static_cast<std::int64_t>(which))
            .set_dim({shape_.sequences, shape_.heads, shape_.length, shape_.head_size})
            .set_stride({shape_.length * shape_.row(), shape_.head_size, shape_.row(), 1});
    }
    tensor& as_log_sums(tensor& t) const {
        return t.set_uid(static_cast<std::int64_t>(attention_tensor::log_sums))
            .set_data_type(fe::DataType_t::FLOAT)
            .set_dim({shape_.sequences, shape_.heads, shape_.length, 1})
            .set_stride({shape_.heads * shape_.length, shape_.length, 1, 1});
    }
    shared_tensor rows(attention_tensor which) {
        tensor t;
        return graph_.tensor(as_rows(t, which));
    }

    const ops_detail::attention_shape shape_;
    fe::graph::Graph graph_;
    std::int64_t workspace_bytes_ = 0;
};

// While it exists, the thread may make calls that a capture by it forbids, such as allocations.
class calls_within_capture {
public:
    calls_within_capture() { exchange(); }
    calls_within_capture(const calls_within_capture&) = delete;
    ~calls_within_capture() { exchange(); }

private:
    void exchange() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&other_)); }
    cudaStreamCaptureMode other_ = cudaStreamCaptureModeRelaxed;
};

// cuDNN's handle of a device, and the graphs built with it, which takes a part of a second for each: in the first launch of an operation,
// before any run where a plan communicates, else in the first run or its capture. Never destroyed: CUDA may end before the last destructor.
class cudnn_of_device {
public:
    static cudnn_of_device& current(const cuda::stream& s) {
        static std::mutex mutex;
        static auto& all = *new std::map<int, cudnn_of_device>;
        int device = 0;
        if (cudaGetDevice(&device) != cudaSuccess) s.services->refuse("cuDNN's attention: no CUDA device is current");
        const std::lock_guard lock{mutex};
        return all[device];
    }

    void execute(const cuda::stream& s, const ops_detail::attention_shape& a, element of, attention_pass pass, attention_pointers at) {
        for (const auto& [which, pointer] : at)
            if (reinterpret_cast<std::uintptr_t>(pointer) % 16 != 0)
                s.services->refuse("cuDNN's attention needs operands at multiples of 16 bytes");
        const std::lock_guard lock{mutex_};
        attention_graph& graph = graph_of(s, a, of, pass);
        must_succeed(s, cudnnSetStream(handle_, static_cast<cudaStream_t>(s.handle)), "cudnnSetStream");
        graph.execute(s, handle_, at);
    }

private:
    attention_graph& graph_of(const cuda::stream& s, const ops_detail::attention_shape& a, element of, attention_pass pass) {
        std::unique_ptr<attention_graph>& graph = graphs_[{a.sequences, a.length, a.heads, a.head_size, of, pass}];
        if (!graph) {
            const calls_within_capture allowed;
            if (handle_ == nullptr) must_succeed(s, cudnnCreate(&handle_), "cudnnCreate");
            graph = std::make_unique<attention_graph>(s, handle_, a, of, pass);
        }
        return *graph;
    }
    static void must_succeed(const cuda::stream& s, cudnnStatus_t status, const char* call) {
        if (status != CUDNN_STATUS_SUCCESS) s.services->refuse((std::string{call} + ": " + cudnnGetErrorString(status)).c_str());
    }

    std::mutex mutex_;
    cudnnHandle_t handle_ = nullptr;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, element, attention_pass>, std::unique_ptr<attention_graph>>
        graphs_;
};

// cuDNN takes all pointers as changeable.
inline attention_pointers::value_type at(attention_tensor which, const void* p) {
    return {static_cast<std::int64_t>(which), const_cast<void*>(p)};
}

}  // namespace detail

template <class T>
void fused_causal_attention(cuda::stream s, ops_detail::attention_shape a, const T* q, const T* k, const T* v, T* y, float* log_sums) {
    if (a.rows() == 0) return;
    using detail::at;
    using detail::attention_tensor;
    detail::cudnn_of_device::current(s).execute(s, a, element_of<T>, detail::attention_pass::forward,
                                                {at(attention_tensor::q, q), at(attention_tensor::k, k), at(attention_tensor::v, v),
                                                 at(attention_tensor::y, y), at(attention_tensor::log_sums, log_sums)});
}

template <class T>
void fused_causal_attention_gradient(cuda::stream s, ops_detail::attention_shape a, bool in_order, const T* dy, const T* q, const T* k,
                                     const T* v, const T* y, const float* log_sums, T* dq, T* dk, T* dv) {
    if (a.rows() == 0) return;
    using detail::at;
    using detail::attention_tensor;
    const auto pass = in_order ? detail::attention_pass::gradient_in_order : detail::attention_pass::gradient;
    detail::cudnn_of_device::current(s).execute(
        s, a, element_of<T>, pass,
        {at(attention_tensor::dy, dy), at(attention_tensor::q, q), at(attention_tensor::k, k), at(attention_tensor::v, v),
         at(attention_tensor::y, y), at(attention_tensor::log_sums, log_sums), at(attention_tensor::dq, dq), at(attention_tensor::dk, dk),
         at(attention_tensor::dv, dv)});
}

#define DOVETAIL_CUDNN_ATTENTION(T)                                                                                                        \
    template void fused_causal_attention(cuda::stream, ops_detail::attention_shape, const T*, const T*, const T*, T*, float*);             \
    template void fused_causal_attention_gradient(cuda::stream, ops_detail::attention_shape, bool, const T*, const T*, const T*, const T*, \
                                                  const T*, const float*, T*, T*, T*)
DOVETAIL_CUDNN_ATTENTION(half);
DOVETAIL_CUDNN_ATTENTION(bfloat16);
#undef DOVETAIL_CUDNN_ATTENTION

}  // namespace dovetail::kernels
