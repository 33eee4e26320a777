// What the engines of one rank share: its device, its three streams, its communicators and library handles. Communicators
// are made once for each division of the world and kept; all ranks ask for them in one order.
#pragma once

#include "clock.hpp"
#include "memory.hpp"
#include "word_guard.hpp"

#include <functional>
#include <thread>

namespace dovetail::cuda {

// How the world falls apart for a communicator: by rank its part (-1: none) and its place in that part.
struct division {
    std::vector<int> part, place;

    bool whole() const {
        for (std::size_t r = 0; r < part.size(); ++r)
            if (part[r] != 0 || place[r] != static_cast<int>(r)) return false;
        return true;
    }
    friend bool operator==(const division&, const division&) = default;
};

class context {
public:
    context(std::shared_ptr<peers> world, int index, int size, int device, ncclComm_t all)
        : world{std::move(world)}, index{index}, size{size}, device{device}, memory{std::make_shared<device_memory>(device, index)}, all_{all} {
        try {
            check(calls.set_device(device), "cudaSetDevice");
            int low = 0, high = 0;
            check(calls.stream_priority_range(&low, &high), "cudaDeviceGetStreamPriorityRange");
            for (int l = 0; l < lane_count; ++l) {
                const bool first = l == static_cast<int>(lane_kind::communication);
                check(calls.stream_create(&streams[l], cudaStreamNonBlocking, first ? high : low), "cudaStreamCreateWithPriority");
            }
            check(calls.find_write_value(&write_value), "cudaGetDriverEntryPoint");
            check(calls.find_wait_value(&wait_value), "cudaGetDriverEntryPoint");
            check(calls.blas_create(&blas_), "cublasCreate");
            check(calls.blas_set_stream(blas_, streams[0]), "cublasSetStream");
            constexpr std::int64_t bytes = std::int64_t{32} << 20;  // what cuBLAS recommends for Hopper; its own would be allocated inside a capture
            blas_workspace_ = block{memory, bytes};
            check(calls.blas_set_workspace(blas_, blas_workspace_.data(), static_cast<std::size_t>(bytes)), "cublasSetWorkspace");
        } catch (...) {
            close();
            throw;
        }
    }
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context() { close(); }

    const std::shared_ptr<peers> world;
    const int index, size, device;
    const std::shared_ptr<device_memory> memory;
    world_clock clock;                                                      // agreed on by the first executor
    word_guard waits{[this] { return dead_.load() || world->aborted(); }};  // of peer copies, ended after an abort
    cudaStream_t streams[lane_count] = {};
    detail::stream_word_function write_value = nullptr, wait_value = nullptr;  // null: the driver has none
    std::vector<std::uint64_t> warmed;                                         // hashes of the plans whose connections exist
    int executors = 0;                                                         // made so far
    std::int64_t runs = 0;                                                     // that communicate, issued so far
    std::atomic<bool> ended = false;                                           // the rank has left world.run
    // The run issued last: who issued it, on which store, and the events behind it.
    struct {
        const void* engine = nullptr;
        const void* store = nullptr;
        bool replayed = false;
        cudaEvent_t done[lane_count] = {};
        unsigned lanes = 0;
    } last;

    ncclComm_t all() const { return all_; }
    void* blas() const { return blas_; }

    // This rank's communicator of a division; null where it has no part. Every rank calls it with the same division.
    ncclComm_t communicator(const division& d) {
        if (d.whole()) return all_;
        for (const auto& s : splits_)
            if (s.of == d) return s.comm;
        const int part = d.part[index];
        ncclComm_t made = nullptr;
        check(calls.comm_split(all_, part < 0 ? NCCL_SPLIT_NOCOLOR : part, part < 0 ? 0 : d.place[index], &made, nullptr), "ncclCommSplit");
        const std::lock_guard lock{mutex_};
        splits_.push_back({d, made});
        return made;
    }
    // Throws what NCCL has found in the background.
    void check_communicators() {
        const std::lock_guard lock{mutex_};
        if (dead_) return;
        const auto look = [](ncclComm_t c) {
            ncclResult_t found = ncclSuccess;
            if (c == nullptr) return;
            check(calls.comm_get_async_error(c, &found), "ncclCommGetAsyncError");
            if (found != ncclInProgress) check(found, "NCCL");
        };
        look(all_);
        for (const auto& s : splits_) look(s.comm);
    }
    // Graphs that hold communication: destroyed before the communicators go.
    void watch_graphs(const void* who, std::function<void()> destroy) {
        const std::lock_guard lock{graphs_mutex_};
        graphs_.emplace_back(who, std::move(destroy));
    }
    void forget_graphs(const void* who) noexcept {
        const std::lock_guard lock{graphs_mutex_};
        std::erase_if(graphs_, [&](const auto& g) { return g.first == who; });
    }
    // Ends whatever NCCL does on this rank, once; from any thread.
    void abort_communication() noexcept {
        destroy_graphs();
        const std::lock_guard lock{mutex_};
        if (dead_.exchange(true)) return;
        static_cast<void>(calls.set_device(device));
        for (auto& s : splits_)
            if (s.comm != nullptr) static_cast<void>(calls.comm_abort(std::exchange(s.comm, nullptr)));
        if (all_ != nullptr) static_cast<void>(calls.comm_abort(std::exchange(all_, nullptr)));
    }
    // Waits until the streams are empty, up to the bound.
    bool drain(std::chrono::nanoseconds bound) noexcept {
        const auto until = std::chrono::steady_clock::now() + bound;
        for (;;) {
            bool empty = true;
            for (const cudaStream_t s : streams)
                if (s != nullptr) empty = calls.stream_query(s) != cudaErrorNotReady && empty;
            static_cast<void>(calls.get_last_error());
            if (empty) return true;
            if (std::chrono::steady_clock::now() > until) return false;
            std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
    }
    // The rank leaves: communicators go, at once where a run was aborted.
    void end() noexcept {
        if (ended.exchange(true)) return;
        static_cast<void>(calls.set_device(device));
        if (world->aborted() || !drain(std::chrono::seconds{5})) {
            abort_communication();
            if (!drain(std::chrono::seconds{5})) memory->abandon();
            return;
        }
        destroy_graphs();
        const std::lock_guard lock{mutex_};
        if (dead_.exchange(true)) return;
        for (auto& s : splits_)
            if (s.comm != nullptr) static_cast<void>(calls.comm_destroy(std::exchange(s.comm, nullptr)));
        if (all_ != nullptr) static_cast<void>(calls.comm_destroy(std::exchange(all_, nullptr)));
        memory->clear();
    }

private:
    void destroy_graphs() noexcept {
        const std::lock_guard lock{graphs_mutex_};
        for (const auto& g : graphs_) g.second();
    }
    void close() noexcept {
        if (!ended.load() && all_ != nullptr) abort_communication();  // the constructor failed
        if (blas_ != nullptr) static_cast<void>(calls.blas_destroy(blas_));
        for (const cudaStream_t s : streams)
            if (s != nullptr) static_cast<void>(calls.stream_destroy(s));
        waits.stop();
    }

    struct split {
        division of;
        ncclComm_t comm = nullptr;
    };
    ncclComm_t all_ = nullptr;
    std::vector<split> splits_;
    std::mutex graphs_mutex_;
    std::vector<std::pair<const void*, std::function<void()>>> graphs_;
    std::mutex mutex_;  // of the communicators, once they exist
    std::atomic<bool> dead_ = false;
    cublasHandle_t blas_ = nullptr;
    block blas_workspace_;
};

}  // namespace dovetail::cuda
