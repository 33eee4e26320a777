// The handle that an operation's `launch` receives first: where to put the work, which rank it is, scratch memory as the
// operation declared it. Both backends' handles are defined here without their headers.
#pragma once

#include "../core/view.hpp"  // before dovetail::cuda is declared: it speaks of ::cuda

namespace dovetail::host {

// A launch on the host runs at once, on the thread of its lane.
struct stream {
    int rank = 0;
    int lane = 0;  // lane_kind as a number
    void* workspace = nullptr;
    std::int64_t workspace_bytes = 0;
};

}  // namespace dovetail::host

namespace dovetail::cuda {

struct stream {
    void* handle = nullptr;  // a cudaStream_t
    void* blas = nullptr;    // a cublasHandle_t that is set to this stream
    int sms = 0;             // streaming multiprocessors the plan leaves to the operation; 0: all
    void* workspace = nullptr;
    std::int64_t workspace_bytes = 0;
};

}  // namespace dovetail::cuda
