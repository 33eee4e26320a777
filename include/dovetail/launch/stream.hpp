// The handle that an operation's `launch` gets as its first argument: the stream to use, the rank, the workspace that the operation
// declared. The handles of both backends are defined here without the backends' headers, which would cost more compile time than a small
// graph; calls of CUDA's libraries go through a table of functions in the handle.
#pragma once

#include "../core/view.hpp"  // before dovetail::cuda is declared: it speaks of ::cuda

namespace dovetail::host {

// A launch on the host runs at once, on the worker thread of its stream.
struct stream {
    int rank = 0;
    int kind = 0;  // stream_kind as a number
    void* workspace = nullptr;
    std::int64_t workspace_bytes = 0;
};

}  // namespace dovetail::host

namespace dovetail::cuda {

struct stream;

// c = factor op(a) op(b), or that added to c: a product [m,n] with the inner extent k, row-major, elements of one floating type.
struct matrix_product {
    element elements = element::none;
    element results = element::none;  // of those elements, or wider
    bool trans_a = false;
    bool trans_b = false;
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    double factor = 1;
    bool added = false;
    std::int64_t count = 1;  // of a batch
};
// The matrices of one factor, or of the results: the first one, and elements from row to row and from matrix to matrix.
template <class Void>
struct matrix_batch {
    Void* first = nullptr;
    std::int64_t row = 0;
    std::int64_t next = 0;
};

// The calls of CUDA's libraries that the shipped operations make; implemented in launch/cuda/api/services.hpp. All but `refuse` throw a
// call_error if CUDA reports an error.
struct launch_services {
    void (*launched)(const char* kernel) = nullptr;  // checks the launch before this call
    void (*copy)(const stream&, const void* from, void* to, std::int64_t bytes) = nullptr;
    void (*zero)(const stream&, void* at, std::int64_t bytes) = nullptr;
    void (*multiply)(const stream&, const matrix_product&, const void* a, const void* b, void* c) = nullptr;
    void (*multiply_batch)(const stream&, const matrix_product&, matrix_batch<const void> a, matrix_batch<const void> b,
                           matrix_batch<void> c) = nullptr;
    void (*refuse)(const char* why) = nullptr;  // throws a failure
};

struct stream {
    void* handle = nullptr;  // a cudaStream_t
    void* blas = nullptr;    // a cublasHandle_t that is set to this stream
    int sms = 0;             // streaming multiprocessors that the plan assigns to the operation; 0: all
    void* workspace = nullptr;
    std::int64_t workspace_bytes = 0;
    const launch_services* services = nullptr;  // never null in a stream that an executor passes to a launch
};

}  // namespace dovetail::cuda
