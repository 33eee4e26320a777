// Copies of outputs on streams of the caller, each behind the run that it copies from. The executor's streams go behind them before the
// next run, which may reuse the memory. One event stands for all of them: it is recorded after each, behind the one before.
#pragma once

#include "context.hpp"

namespace dovetail::cuda {

class output_copies {
public:
    explicit output_copies(std::shared_ptr<context> on) : on_{std::move(on)} {}
    output_copies(const output_copies&) = delete;
    ~output_copies() {
        if (last_ != nullptr) static_cast<void>(calls.event_destroy(last_));
    }

    void enqueue(cudaStream_t on, void* to, const void* from, std::int64_t bytes) {
        check(calls.set_device(on_->device), "cudaSetDevice");
        if (last_ == nullptr)
            check(calls.event_create(&last_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        else
            check(calls.stream_wait_event(on, last_, 0), "cudaStreamWaitEvent");
        if (bytes > 0) check(calls.memcpy_async(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, on), "cudaMemcpyAsync");
        check(calls.event_record(last_, on), "cudaEventRecord");
        ordered_ = false;
    }
    // These streams of the executor, as bits, go behind the copies.
    void before_run(unsigned streams) {
        if (std::exchange(ordered_, true)) return;
        for (int l = 0; l < stream_count; ++l)
            if (streams >> l & 1u) check(calls.stream_wait_event(on_->streams[l], last_, 0), "cudaStreamWaitEvent");
    }
    // Waits for the copies; false if they have not ended at the deadline.
    bool wait(deadline until) noexcept {
        while (last_ != nullptr && calls.event_query(last_) == cudaErrorNotReady) {
            static_cast<void>(calls.get_last_error());
            if (std::chrono::steady_clock::now() > until) return false;
            std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
        return true;
    }

private:
    const std::shared_ptr<context> on_;
    cudaEvent_t last_ = nullptr;  // null: there were none
    bool ordered_ = true;         // the streams are behind the latest copy
};

}  // namespace dovetail::cuda
