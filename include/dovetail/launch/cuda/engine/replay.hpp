// The CUDA graphs of one executor: one instance of the captured walk for each phase of its slots, launched in turn. NCCL does not release a
// communicator, not even in an abort, while a graph that contains its work exists, so the context destroys the graphs first.
#pragma once

#include "context.hpp"
#include "implied_edges.hpp"

namespace dovetail::cuda {

// The addresses that captured operations use in place, by binding.
class captured_addresses {
public:
    captured_addresses() = default;
    captured_addresses(const std::vector<binding>& bound, std::uint64_t version) : version_{version} {
        for (const binding& b : bound) at_.push_back(address(b));
    }
    // Whether bindings have these addresses. Those of the version that had them last are not looked through.
    bool are_those_of(const std::vector<binding>& bound, std::uint64_t version) {
        if (version == version_) return true;
        for (std::size_t i = 0; i < bound.size(); ++i)
            if (at_[i] != address(bound[i])) return false;
        version_ = version;
        return true;
    }

private:
    static const void* address(const binding& b) { return b.in_place() ? b.data : nullptr; }

    std::vector<const void*> at_;
    std::uint64_t version_ = 0;
};

class replays {
public:
    explicit replays(std::shared_ptr<context> on) : on_{std::move(on)} {
        on_->watch_graphs(this, [this] { clear(); });
    }
    replays(const replays&) = delete;
    replays& operator=(const replays&) = delete;
    ~replays() {
        on_->forget(this);
        clear();
    }

    bool empty() const {
        const std::lock_guard lock{mutex_};
        return instances_.empty();
    }
    void clear() noexcept {
        const std::lock_guard lock{mutex_};
        for (const cudaGraphExec_t e : instances_) static_cast<void>(calls.graph_exec_destroy(e));
        instances_.clear();
    }
    // Captures the work that `walk` issues: it starts on the first stream, is ordered onto the other streams by events, and joins the first
    // again. The capture mode is thread-local, so that other threads may make calls that a capture forbids.
    template <class Walk>
    void capture(unsigned streams, const cudaEvent_t* joins, Walk walk) {
        check(calls.stream_begin_capture(on_->streams[0], cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
        cudaGraph_t graph = nullptr;
        try {
            check(calls.event_record(joins[0], on_->streams[0]), "cudaEventRecord");
            for (int l = 1; l < stream_count; ++l)
                if ((streams >> l) & 1u) check(calls.stream_wait_event(on_->streams[l], joins[0], 0), "cudaStreamWaitEvent");
            walk();
            for (int l = 1; l < stream_count; ++l)
                if ((streams >> l) & 1u) {
                    check(calls.event_record(joins[l], on_->streams[l]), "cudaEventRecord");
                    check(calls.stream_wait_event(on_->streams[0], joins[l], 0), "cudaStreamWaitEvent");
                }
        } catch (...) {
            // Ends the failed capture and discards its graph.
            if (calls.stream_end_capture(on_->streams[0], &graph) == cudaSuccess && graph != nullptr)
                static_cast<void>(calls.graph_destroy(graph));
            static_cast<void>(calls.get_last_error());
            throw;
        }
        check(calls.stream_end_capture(on_->streams[0], &graph), "cudaStreamEndCapture");
        const std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, destroy_graph> captured{graph};
        remove_implied_edges(graph);
        cudaGraphExec_t made = nullptr;
        // Without node priorities the priority of the communication stream would be lost.
        check(calls.graph_instantiate(&made, graph, cudaGraphInstantiateFlagUseNodePriority), "cudaGraphInstantiateWithFlags");
        {
            const std::lock_guard lock{mutex_};
            instances_.push_back(made);
        }
        check(calls.graph_upload(made, on_->streams[0]), "cudaGraphUpload");
    }
    void launch(std::int64_t run) const {
        const std::lock_guard lock{mutex_};
        if (instances_.empty()) throw failure{"the graphs are gone: the communication was aborted"};
        check(calls.graph_launch(instances_[static_cast<std::size_t>(run) % instances_.size()], on_->streams[0]), "cudaGraphLaunch");
    }

private:
    struct destroy_graph {
        void operator()(cudaGraph_t g) const noexcept { static_cast<void>(calls.graph_destroy(g)); }
    };

    const std::shared_ptr<context> on_;
    mutable std::mutex mutex_;
    std::vector<cudaGraphExec_t> instances_;
};

}  // namespace dovetail::cuda
