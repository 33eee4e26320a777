// The copies of outputs of a rank on streams of the caller. The streams of the rank go behind them before the next run, which may reuse the
// memory. One event stands for all of them: it is recorded after each, behind the one before. Any thread may call.
#pragma once

#include "../../world/deadline.hpp"
#include "../api/api.hpp"

#include <cstdint>
#include <mutex>
#include <thread>

namespace dovetail::cuda {

class output_copies {
public:
    output_copies() = default;
    output_copies(const output_copies&) = delete;
    ~output_copies() {
        if (last_ != nullptr) static_cast<void>(calls.event_destroy(last_));
    }

    // The current device is that of the rank.
    void enqueue(cudaStream_t on, void* to, const void* from, std::int64_t bytes) {
        const std::lock_guard lock{mutex_};
        if (last_ == nullptr)
            check(calls.event_create(&last_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        else
            check(calls.stream_wait_event(on, last_, 0), "cudaStreamWaitEvent");
        if (bytes > 0) check(calls.memcpy_async(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, on), "cudaMemcpyAsync");
        const cudaError_t recorded = calls.event_record(last_, on);
        if (recorded != cudaSuccess) static_cast<void>(calls.stream_synchronize(on));  // nothing else would wait for this copy
        check(recorded, "cudaEventRecord");
        behind_ = 0;
    }
    // Those of the rank's streams that are named, as bits, go behind the copies.
    void before_run(unsigned named, const cudaStream_t* streams) {
        const std::lock_guard lock{mutex_};
        for (int l = 0; (named & ~behind_) >> l != 0; ++l)
            if ((named & ~behind_) >> l & 1u) check(calls.stream_wait_event(streams[l], last_, 0), "cudaStreamWaitEvent");
        behind_ |= named;
    }
    // Waits for the copies; false if they have not ended at the deadline.
    bool wait(deadline until) noexcept {
        const cudaEvent_t last = [&, this] {
            const std::lock_guard lock{mutex_};
            return last_;
        }();
        while (last != nullptr && calls.event_query(last) == cudaErrorNotReady) {
            static_cast<void>(calls.get_last_error());
            if (std::chrono::steady_clock::now() > until) return false;
            std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
        return true;
    }

private:
    std::mutex mutex_;
    cudaEvent_t last_ = nullptr;  // null: there were none
    unsigned behind_ = ~0u;       // the streams that are behind the latest copy
};

}  // namespace dovetail::cuda
