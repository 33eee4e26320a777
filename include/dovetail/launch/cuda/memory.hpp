// Memory of one GPU, and pinned memory of its host. What cannot be given back safely, because the GPU still works on it after
// an abort, is kept: `abandon` says so.
#pragma once

#include "../../ir/schedule.hpp"
#include "../memory.hpp"
#include "api.hpp"

#include <atomic>
#include <cstring>

namespace dovetail::cuda {

class device_memory final : public memory {
public:
    device_memory(int device, int rank) : device_{device}, rank_{rank} {}

    void* allocate(std::int64_t bytes) override {
        const auto size = static_cast<std::size_t>(ir::aligned(bytes < 1 ? 1 : bytes));
        check(calls.set_device(device_), "cudaSetDevice");
        void* p = nullptr;
        if (const cudaError_t status = calls.malloc(&p, size); status != cudaSuccess) fail("cudaMalloc", status, size, true);
        // The streams of a rank do not wait for the default one, so the zeros are to be there before anybody uses them.
        cudaError_t status = calls.memset(p, 0, size);
        if (status == cudaSuccess) status = calls.stream_synchronize(nullptr);
        if (status != cudaSuccess) {
            static_cast<void>(calls.free(p));
            fail("cudaMemset", status, size, false);
        }
        return p;
    }
    void release(void* p) noexcept override {
        if (!abandoned_.load(std::memory_order_relaxed)) static_cast<void>(calls.free(p));
    }
    void* allocate_host(std::int64_t bytes) override {
        const auto size = static_cast<std::size_t>(ir::aligned(bytes < 1 ? 1 : bytes));
        check(calls.set_device(device_), "cudaSetDevice");
        void* p = nullptr;
        if (const cudaError_t status = calls.malloc_host(&p, size); status != cudaSuccess) fail("cudaMallocHost", status, size, false);
        return std::memset(p, 0, size);
    }
    void release_host(void* p) noexcept override {
        if (!abandoned_.load(std::memory_order_relaxed)) static_cast<void>(calls.free_host(p));
    }
    void to_host(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
    void from_host(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }

    void abandon() noexcept { abandoned_.store(true, std::memory_order_relaxed); }

private:
    void copy(void* to, const void* from, std::int64_t bytes) {
        if (bytes <= 0) return;
        check(calls.set_device(device_), "cudaSetDevice");
        check(calls.memcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault), "cudaMemcpy");
        check(calls.stream_synchronize(nullptr), "cudaStreamSynchronize");  // from pageable memory, cudaMemcpy returns before it is there
    }
    [[noreturn]] void fail(const char* call, cudaError_t status, std::size_t wanted, bool on_device) {
        static_cast<void>(calls.get_last_error());
        std::string text = std::string{call} + " on rank " + std::to_string(rank_) + " (device " + std::to_string(device_) + "): " + cudaGetErrorString(status) + ", " +
                           std::to_string(wanted) + " bytes wanted";
        std::size_t free = 0, total = 0;
        if (on_device && calls.mem_get_info(&free, &total) == cudaSuccess) text += ", " + std::to_string(free) + " of " + std::to_string(total) + " free";
        static_cast<void>(calls.get_last_error());
        throw failure{text};
    }

    const int device_;
    const int rank_;
    std::atomic<bool> abandoned_ = false;
};

}  // namespace dovetail::cuda
