// Work of a foreign stream beside the runs of a rank, for tests that look for an order which only held by luck.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>

namespace gpu {

__device__ inline void spin_for(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {}
}
template <class T>
__global__ void spin(T cycles) {
    spin_for(cycles);
}
template <class T>
__global__ void read_and_write(T* at, std::int64_t n) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) at[i] += 1;
}

// Kernels of random lengths, some of which fill the GPU; with memory also kernels and copies that use its bandwidth, and copies from and
// to the host. On the device of the thread that makes it, before it makes executors: a kernel is loaded when it is first launched, which
// may wait for what runs.
class disturbance {
public:
    explicit disturbance(unsigned most_cycles = 60000, std::size_t bytes = 0) : most_cycles_{most_cycles}, bytes_{bytes} {
        cudaGetDevice(&device_);
        cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
        if (bytes > 0) {
            cudaMalloc(&memory_, 2 * bytes);
            cudaMallocHost(&of_host_, host_bytes);
        }
        fill(0, 1);
        for (unsigned how = 0; how < 4 && bytes > 0; ++how) use_memory(how);
        if (cudaStreamSynchronize(stream_) != cudaSuccess || cudaGetLastError() != cudaSuccess)
            throw std::runtime_error{"the disturbance does not run"};
        thread_ = std::thread{[this] { work(); }};
    }
    ~disturbance() {
        stop_ = true;
        thread_.join();
        cudaStreamDestroy(stream_);
        cudaFree(memory_);
        cudaFreeHost(of_host_);
    }
    disturbance(const disturbance&) = delete;
    disturbance& operator=(const disturbance&) = delete;

private:
    static constexpr std::size_t host_bytes = 1 << 18;

    void work() {
        cudaSetDevice(device_);
        for (unsigned i = 1; !stop_; i = i * 1664525u + 1013904223u) {
            fill((i >> 8) % most_cycles_, i % 3 == 0 ? 2048 : 32);
            if (bytes_ > 0) use_memory((i >> 24) % 8);
            if (i % 16 == 0) cudaStreamSynchronize(stream_);
            std::this_thread::sleep_for(std::chrono::microseconds{(i >> 16) % 50});
        }
        cudaStreamSynchronize(stream_);
    }
    void fill(unsigned cycles, unsigned blocks) { spin<<<blocks, 128, 0, stream_>>>(cycles); }
    void use_memory(unsigned how) {
        auto* const second = static_cast<char*>(memory_) + bytes_;
        if (how == 0) cudaMemcpyAsync(second, memory_, bytes_, cudaMemcpyDeviceToDevice, stream_);
        if (how == 1) cudaMemcpyAsync(memory_, of_host_, host_bytes, cudaMemcpyHostToDevice, stream_);
        if (how == 2) cudaMemcpyAsync(of_host_, second, host_bytes, cudaMemcpyDeviceToHost, stream_);
        if (how == 3)
            read_and_write<<<1024, 256, 0, stream_>>>(static_cast<std::uint32_t*>(memory_),
                                                      static_cast<std::int64_t>(bytes_ / sizeof(std::uint32_t)));
    }

    unsigned most_cycles_;
    std::size_t bytes_;
    int device_ = 0;
    cudaStream_t stream_ = nullptr;
    void *memory_ = nullptr, *of_host_ = nullptr;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

}  // namespace gpu
