// The state that the engines of one rank share: its device, its streams, communicators and library handles. Communicators are made once
// for each split of the world and kept; all ranks request them in one order.
#pragma once

#include "../../engine/one_thread.hpp"
#include "../../world/clock.hpp"
#include "../../world/stall_detector.hpp"
#include "../api/device_memory.hpp"
#include "../communicators/communicators.hpp"
#include "../peer_copy/flag_releaser.hpp"
#include "output_copies.hpp"

namespace dovetail::cuda {

class context : public std::enable_shared_from_this<context> {
public:
    context(std::shared_ptr<launch::peers> world, int index, int size, int device, ncclComm_t all, const nccl_options& options = {})
        : world{std::move(world)},
          index{index},
          size{size},
          device{device},
          memory{std::make_shared<device_memory>(device, index)},
          nccl{all, index, device, options} {
        try {
            check(calls.set_device(device), "cudaSetDevice");
            int low = 0, high = 0;
            check(calls.stream_priority_range(&low, &high), "cudaDeviceGetStreamPriorityRange");
            for (int l = 0; l < 2 * stream_count; ++l) {
                const bool first = l == static_cast<int>(stream_kind::communication) || l >= stream_count;
                check(calls.stream_create(&streams[l], cudaStreamNonBlocking, first ? high : low), "cudaStreamCreateWithPriority");
            }
            check(calls.find_batch_mem_op(&batch_mem_op), "cudaGetDriverEntryPoint");
            check(calls.blas_create(&blas_), "cublasCreate");
            check(calls.blas_set_stream(blas_, streams[0]), "cublasSetStream");
            // cuBLAS's recommendation for Hopper; a workspace of its own would be allocated inside a capture.
            constexpr std::int64_t bytes = std::int64_t{32} << 20;
            blas_workspace_ = block{memory, bytes};
            check(calls.blas_set_workspace(blas_, blas_workspace_.data(), static_cast<std::size_t>(bytes)), "cublasSetWorkspace");
        } catch (const call_error& e) {
            close();
            throw call_error{"rank " + std::to_string(index) + " cannot be initialised", e};
        } catch (...) {
            close();
            throw;
        }
    }
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context() { close(); }

    const std::shared_ptr<launch::peers> world;
    const int index, size, device;
    const std::shared_ptr<device_memory> memory;
    communicators nccl;
    launch::world_clock clock;                                // synchronised by the first executor
    flag_releaser flags{[this] { return stopped_.load(); }};  // releases waits of peer copies after an abort
    output_copies copies;
    cudaStream_t streams[2 * stream_count] = {};           // those of plans, then the side stream of each
    detail::batch_mem_op_function batch_mem_op = nullptr;  // null: the driver has none
    // Hashes of the plans whose kernels are loaded and whose connections exist
    std::vector<std::uint64_t> warmed;
    launch::one_thread making;        // of executors, whose order all ranks have to keep
    int executors = 0;                // number of executors made
    std::int64_t runs = 0;            // number of communicating runs issued
    std::atomic<bool> ended = false;  // the rank has left its world
    std::mutex issuing;               // held while a run is issued: executors of the rank may be used by several threads
    // The run issued last and, for each stream, the event after all work issued on it, with the executor that recorded it.
    struct {
        const void* engine = nullptr;
        bool replayed = false;
        cudaEvent_t done[stream_count] = {};
        const void* owner[stream_count] = {};
        unsigned behind_replayed = ~0u;  // streams ordered after the last replayed run
        unsigned behind_alone = ~0u;     // streams ordered after the last run that writes memory of the caller
        int nccl_stream = -1;            // the stream of the NCCL calls issued last
    } last;

    void* blas() const { return blas_; }
    // For what a step does beside its other work: copies within the GPU beside puts. It begins behind the stream, which joins it again.
    cudaStream_t side_stream_of(int stream) const { return streams[stream_count + stream]; }

    // From now on, progress is read from `p`; `limit` is the longest time that communication may make no progress. That of runs before goes
    // on being watched if these do not communicate.
    void show(std::shared_ptr<const launch::progress> p, std::chrono::nanoseconds limit, bool communicates) {
        world->watch(index, p);
        longest_limit_ = std::max(longest_limit_, limit);
        if (communicates) stall_detector_.show(std::move(p), limit);
    }
    // Until `end`, a watchdog thread monitors this rank too, whatever its own thread is doing: it aborts the rank's communication when the
    // work of all ranks has ended, and ends the work of all when the communication makes no progress for longer than its limit.
    void attend() {
        world->attend(
            index,
            [mine = weak_from_this()] {
                if (const auto c = mine.lock()) c->abort_communication();
            },
            [mine = weak_from_this()] {
                if (const auto c = mine.lock()) c->look_for_stall();
            });
    }
    // `call` is called before communication is aborted, because after the abort its work seems to have ended normally.
    void before_abort(const void* who, std::function<void()> call) {
        const std::lock_guard lock{graphs_mutex_};
        before_abort_.emplace_back(who, std::move(call));
    }
    // CUDA graphs that contain communication are destroyed before the communicators.
    void watch_graphs(const void* who, std::function<void()> destroy) {
        const std::lock_guard lock{graphs_mutex_};
        graphs_.emplace_back(who, std::move(destroy));
    }
    void forget(const void* who) noexcept {
        const std::lock_guard lock{graphs_mutex_};
        std::erase_if(graphs_, [&](const auto& g) { return g.first == who; });
        std::erase_if(before_abort_, [&](const auto& b) { return b.first == who; });
    }
    // Ends the communication of this rank, from any thread. What it leaves behind must not be taken for data, so this waits until the other
    // ranks know of the abort: for those whose memory it shares it can see that, others get a message.
    void abort_communication() noexcept {
        std::chrono::steady_clock::time_point begun;
        {
            const std::lock_guard lock{graphs_mutex_};
            for (const auto& b : before_abort_) b.second();
            if (abort_begun_ == std::chrono::steady_clock::time_point{}) abort_begun_ = std::chrono::steady_clock::now();
            begun = abort_begun_;
        }
        flags.inform_others(begun + std::chrono::seconds{1});
        if (size > 1) std::this_thread::sleep_until(begun + message_time);
        stopped_.store(true);
        nccl.abort([this] { destroy_graphs(); });
    }
    // After an abort: waits until the GPU has no more work. Memory that it may still use after the bound is never freed.
    void drain_after_abort() noexcept {
        if (!stuck_.load() && !drain(std::chrono::seconds{5})) {
            stuck_.store(true);
            memory->abandon();
        }
    }
    // Waits until the streams are empty, up to the bound; false if they are not.
    bool drain(std::chrono::nanoseconds bound) noexcept {
        const auto until = launch::after(bound);
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
    // The rank leaves: its communicators are destroyed, or aborted if a run was aborted. Runs in flight have the time limit of their
    // executor; the watchdog still looks after them.
    void end() noexcept {
        if (ended.exchange(true)) return;
        static_cast<void>(calls.set_device(device));
        const bool over = world->aborted() || drain(longest_limit_);
        world->unattend(index);
        if (!over && !world->aborted())
            world->abort({index,
                          "timeout: rank " + std::to_string(index) + " left its world with work in flight: " + world->describe(),
                          {},
                          {},
                          true,
                          nullptr,
                          true});
        if (world->aborted()) {
            abort_communication();
            return drain_after_abort();
        }
        destroy_graphs();
        nccl.destroy();
        memory->clear();
    }

private:
    void destroy_graphs() noexcept {
        const std::lock_guard lock{graphs_mutex_};
        for (const auto& g : graphs_) g.second();
    }
    void close() noexcept {
        if (blas_ != nullptr && !stuck_.load()) static_cast<void>(calls.blas_destroy(blas_));  // which waits for the GPU
        for (const cudaStream_t s : streams)
            if (s != nullptr) static_cast<void>(calls.stream_destroy(s));
        flags.stop();
        if (world->aborted()) memory->wait_for_importers(std::chrono::seconds{2});  // other processes unmap it when their streams are empty
    }

    void look_for_stall() {
        if (world->aborted()) return;
        const launch::stall_detector::finding f = stall_detector_.look();
        if (f.still.count() == 0) return;
        const std::string who = world->describe();  // called early: it also requests the status of other ranks
        if (f.too_long)
            world->abort({index,
                          "timeout: the communication of rank " + std::to_string(index) + " has stood still for " +
                              launch::in_seconds(f.limit) + ": " + who,
                          f.doing.operation, f.doing.statement});
    }

    static constexpr std::chrono::milliseconds message_time{20};        // of an abort, over rank 0
    std::chrono::nanoseconds longest_limit_ = std::chrono::seconds{5};  // of the executors that have issued runs
    std::chrono::steady_clock::time_point abort_begun_ = {};
    std::mutex graphs_mutex_;
    std::vector<std::pair<const void*, std::function<void()>>> graphs_, before_abort_;
    launch::stall_detector stall_detector_;
    std::atomic<bool> stopped_ = false, stuck_ = false;
    cublasHandle_t blas_ = nullptr;
    block blas_workspace_;
};

}  // namespace dovetail::cuda
