// Memory of one GPU, and pinned memory of its host. Released memory is kept for reuse, and returned to CUDA when the rank ends: cudaFree
// waits for the GPU and, if one process has several GPUs, possibly for an NCCL kernel that waits for this very thread. Memory that the GPU
// may still use after an abort is never freed (`abandon`).
#pragma once

#include "../../../ir/schedule.hpp"
#include "../../engine/memory.hpp"
#include "api.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dovetail::cuda {

// The device, or the host for pinned memory, has too little memory left.
struct out_of_memory : failure {
    using failure::failure;
};

class device_memory final : public memory {
public:
    device_memory(int device, int rank) : device_{device}, rank_{rank} {}

    ~device_memory() override { clear(); }

    void* allocate(std::int64_t bytes) override {
        const auto size = static_cast<std::size_t>(ir::aligned(bytes < 1 ? 1 : bytes));
        if (const cudaError_t status = calls.set_device(device_); status != cudaSuccess) fail("cudaSetDevice", status, size, false);
        void* const p = acquire(device_blocks_, size, false);
        // The streams of a rank do not wait for the default stream, so the memory must be zeroed before it is returned.
        cudaError_t status = calls.memset(p, 0, size);
        const char* call = "cudaMemset";
        if (status == cudaSuccess) status = calls.stream_synchronize(nullptr), call = "cudaStreamSynchronize";
        if (status == cudaSuccess) return p;
        release(p);
        fail(call, status, size, false);
    }
    void release(void* p) noexcept override { return_to_pool(device_blocks_, p); }
    void* allocate_host(std::int64_t bytes) override {
        const auto size = static_cast<std::size_t>(ir::aligned(bytes < 1 ? 1 : bytes));
        if (const cudaError_t status = calls.set_device(device_); status != cudaSuccess) fail("cudaSetDevice", status, size, false);
        return std::memset(acquire(host_blocks_, size, true), 0, size);
    }
    void release_host(void* p) noexcept override { return_to_pool(host_blocks_, p); }
    std::int64_t available() const override {
        std::size_t free = 0, total = 0;
        if (calls.set_device(device_) == cudaSuccess && calls.mem_get_info(&free, &total) == cudaSuccess)
            return static_cast<std::int64_t>(free);
        static_cast<void>(calls.get_last_error());
        return INT64_MAX;
    }
    int device() const override { return device_; }
    int device_of(const void* p) const override {
        cudaPointerAttributes a{};
        const cudaError_t status = calls.pointer_get_attributes(&a, p);
        if (status == cudaSuccess) return a.type == cudaMemoryTypeDevice ? a.device : a.type == cudaMemoryTypeManaged ? device_ : -1;
        static_cast<void>(calls.get_last_error());
        if (status == cudaErrorInvalidValue) return -1;  // memory that CUDA does not know
        throw call_error{"rank " + std::to_string(rank_) + ", cudaPointerGetAttributes of memory that is bound", cudaGetErrorString(status),
                         static_cast<int>(status)};
    }
    void to_host(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
    void from_host(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }

    void abandon() noexcept { abandoned_.store(true, std::memory_order_relaxed); }
    // Another rank has mapped the memory at `p`: it is not returned to CUDA while `in_use` returns true.
    void mark_exported(void* p, std::function<bool()> in_use) {
        const std::lock_guard lock{mutex_};
        for (piece& one : device_blocks_) {
            if (one.at != p) continue;
            if (one.in_use && one.in_use())  // by a rank that mapped it for a previous owner
                one.in_use = [before = std::move(one.in_use), now = std::move(in_use)] { return before() || now(); };
            else
                one.in_use = std::move(in_use);
        }
    }
    // Waits, up to the bound, until no exported memory is in use by another rank.
    void wait_for_importers(std::chrono::nanoseconds bound) noexcept {
        const auto until = std::chrono::steady_clock::now() + bound;
        const auto any = [&, this] {
            const std::lock_guard lock{mutex_};
            return std::any_of(device_blocks_.begin(), device_blocks_.end(), [](const piece& p) { return p.in_use && p.in_use(); });
        };
        while (any() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    bool abandoned() const noexcept override { return abandoned_.load(std::memory_order_relaxed); }
    // Returns unused memory to CUDA.
    void clear() noexcept {
        const std::lock_guard lock{mutex_};
        clear_locked();
    }

private:
    struct piece {
        void* at = nullptr;
        std::size_t bytes = 0;
        bool free = false;
        std::function<bool()> in_use = {};  // by another rank; empty: it was never exported

        bool goes() const { return free && !(in_use && in_use()); }
    };
    using pieces = std::vector<piece>;

    // Unused memory of about the size, or new memory; if there is none, unused memory is returned to CUDA first.
    void* acquire(pieces& from, std::size_t size, bool host) {
        const std::lock_guard lock{mutex_};
        piece* best = nullptr;
        for (piece& p : from)
            if (p.free && p.bytes >= size && p.bytes <= size + size / 4 && (best == nullptr || p.bytes < best->bytes)) best = &p;
        if (best != nullptr) {
            best->free = false;
            return best->at;
        }
        from.reserve(from.size() + 1);
        void* p = nullptr;
        const auto get = [&] { return host ? calls.malloc_host(&p, size) : calls.malloc(&p, size); };
        cudaError_t status = get();
        if (status == cudaErrorMemoryAllocation) {
            static_cast<void>(calls.get_last_error());
            clear_locked();
            status = get();
        }
        if (status != cudaSuccess) fail(host ? "cudaMallocHost" : "cudaMalloc", status, size, !host);
        from.push_back({p, size, false, {}});
        return p;
    }
    void return_to_pool(pieces& to, void* at) noexcept {
        const std::lock_guard lock{mutex_};
        for (piece& p : to)
            if (p.at == at) p.free = !abandoned();
    }
    void clear_locked() noexcept {
        if (abandoned()) return;
        const auto give_back = [](pieces& from, auto release) {
            std::erase_if(from, [&](const piece& p) {
                const bool goes = p.goes();
                if (goes) static_cast<void>(release(p.at));
                return goes;
            });
        };
        give_back(device_blocks_, calls.free);
        give_back(host_blocks_, calls.free_host);
    }
    void copy(void* to, const void* from, std::int64_t bytes) {
        if (bytes <= 0) return;
        try {
            check(calls.set_device(device_), "cudaSetDevice");
            check(calls.memcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault), "cudaMemcpy");
            // cudaMemcpy from pageable memory may return before the copy has arrived
            check(calls.stream_synchronize(nullptr), "cudaStreamSynchronize");
        } catch (const call_error& e) {
            throw call_error{"rank " + std::to_string(rank_) + ", between host and device", e};
        }
    }
    [[noreturn]] void fail(const char* call, cudaError_t status, std::size_t wanted, bool on_device) {
        static_cast<void>(calls.get_last_error());
        std::string text = std::string{call} + " on rank " + std::to_string(rank_) + " (device " + std::to_string(device_) +
                           "): " + cudaGetErrorString(status) + ", " + std::to_string(wanted) + " bytes wanted";
        std::size_t free = 0, total = 0;
        if (on_device && calls.mem_get_info(&free, &total) == cudaSuccess)
            text += ", " + std::to_string(free) + " of " + std::to_string(total) + " free";
        static_cast<void>(calls.get_last_error());
        if (status == cudaErrorMemoryAllocation) throw out_of_memory{text};
        throw failure{text};
    }

    const int device_;
    const int rank_;
    std::mutex mutex_;
    pieces device_blocks_, host_blocks_;
    std::atomic<bool> abandoned_ = false;
};

}  // namespace dovetail::cuda
