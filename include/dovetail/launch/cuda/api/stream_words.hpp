// Words in memory that a stream writes and waits for, in the order of its work. Each call of CUDA takes the GPU about three microseconds,
// however many words it names, so that operations are collected here, and issued together before anything else is issued on their stream.
#pragma once

#include "api.hpp"

#include <utility>

namespace dovetail::cuda {

class stream_words {
public:
    explicit stream_words(detail::batch_mem_op_function call) : call_{call} {}

    // The driver has such operations.
    bool available() const { return call_ != nullptr; }

    void write(cudaStream_t on, CUdeviceptr at, cuuint32_t value) {
        CUstreamBatchMemOpParams& next = add(on);
        next.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        next.writeValue.address = at;
        next.writeValue.value = value;
        next.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
    }
    // Until the word has this value.
    void wait(cudaStream_t on, CUdeviceptr at, cuuint32_t value) {
        CUstreamBatchMemOpParams& next = add(on);
        next.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        next.waitValue.address = at;
        next.waitValue.value = value;
        next.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    }
    void issue(cudaStream_t on) {
        if (count_ > 0) check(call_(on, std::exchange(count_, 0u), collected_, 0), "cuStreamBatchMemOp");
    }
    bool empty() const { return count_ == 0; }
    // Drops what an error has left.
    void clear() { count_ = 0; }

private:
    static constexpr unsigned most = 128;  // CUDA takes at most 255

    CUstreamBatchMemOpParams& add(cudaStream_t on) {
        if (count_ == most) issue(on);
        return collected_[count_++] = {};
    }
    const detail::batch_mem_op_function call_;
    CUstreamBatchMemOpParams collected_[most] = {};
    unsigned count_ = 0;
};

}  // namespace dovetail::cuda
