// What a program does on the simulated GPU beside its executors: memory of its own, and late work on streams of its own.
#pragma once

#include "dlpack.hpp"
#include "simulated_cuda.hpp"

#include <atomic>
#include <vector>

namespace support {

using floats = std::vector<float>;

// Memory of a GPU, and its description.
struct target {
    explicit target(int device = 0, std::int64_t size = 8) : shape{size} {
        const auto bytes = sizeof(float) * static_cast<std::size_t>(size);
        dovetail::cuda::check(dovetail::cuda::calls.malloc(reinterpret_cast<void**>(&data), bytes), "cudaMalloc");
        std::fill_n(data, size, -1.0f);
        tensor.data = data;
        tensor.device = {kDLCUDA, device};
        tensor.ndim = 1;
        tensor.dtype = {kDLFloat, 32, 1};
        tensor.shape = shape;
    }
    target(const target&) = delete;
    ~target() { static_cast<void>(dovetail::cuda::calls.free(data)); }
    floats values() const { return floats(data, data + shape[0]); }

    float* data = nullptr;
    std::int64_t shape[1];
    DLTensor tensor{};
};
// Work on a stream that does not end before the gate is opened, or destroyed.
class gate {
public:
    gate() = default;
    gate(const gate&) = delete;
    ~gate() { open(); }
    void close(cudaStream_t s) {
        simulated::of(s)->push([opened = opened_] {
            while (!opened->load()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
        });
    }
    void open() { *opened_ = true; }
    bool is_open() const { return *opened_; }

private:
    std::shared_ptr<std::atomic<bool>> opened_ = std::make_shared<std::atomic<bool>>(false);
};
inline void synchronise(const simulated::own_stream& mine) {
    dovetail::cuda::check(dovetail::cuda::calls.stream_synchronize(mine.s), "cudaStreamSynchronize");
}

}  // namespace support
