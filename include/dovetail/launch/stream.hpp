// The handle that an operation's `launch` receives first: where to put the work, which rank it is, scratch memory as the
// operation declared it. Both backends' handles are defined here without their headers, which would take the compiler longer
// than a small graph: what a launch needs of CUDA's libraries it asks for through its stream.
#pragma once

#include "../core/view.hpp"  // before dovetail::cuda is declared: it speaks of ::cuda

namespace dovetail::host {

// A launch on the host runs at once, on the thread of its stream.
struct stream {
    int rank = 0;
    int kind = 0;  // stream_kind as a number
    void* workspace = nullptr;
    std::int64_t workspace_bytes = 0;
};

}  // namespace dovetail::host

namespace dovetail::cuda {

struct stream;

// What the shipped operations ask for besides their kernels; see launch/cuda/api/services.hpp. All but `refuse` throw a call_error
// where CUDA refuses.
struct launch_services {
    void (*launched)(const char* kernel) = nullptr;  // whether the launch before this was taken
    void (*copy)(const stream&, const void* from, void* to, std::int64_t bytes) = nullptr;
    void (*zero)(const stream&, void* at, std::int64_t bytes) = nullptr;
    // c [m,n] = op(a) op(b), row-major, the inner extent k, elements of one floating type.
    void (*multiply)(const stream&, element, bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b,
                     void* c) = nullptr;
    void (*refuse)(const char* why) = nullptr;  // throws a failure
};

struct stream {
    void* handle = nullptr;  // a cudaStream_t
    void* blas = nullptr;    // a cublasHandle_t that is set to this stream
    int sms = 0;             // streaming multiprocessors the plan leaves to the operation; 0: all
    void* workspace = nullptr;
    std::int64_t workspace_bytes = 0;
    const launch_services* services = nullptr;  // always there in a stream that an executor hands out
};

}  // namespace dovetail::cuda
