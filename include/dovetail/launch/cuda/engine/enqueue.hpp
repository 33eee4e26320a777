// Runs on streams of the caller: the order between them and the streams of the rank, and copies of outputs behind the runs.
#pragma once

#include "runs.hpp"

namespace dovetail::cuda {

class enqueued_runs : public gpu_runs {
public:
    using gpu_runs::gpu_runs;
    // A ticket may have enqueued copies after `close`.
    ~enqueued_runs() override { wait_for_copies(options.time_limit); }

    void end_runs(bool abort) noexcept override {
        gpu_runs::end_runs(abort);
        wait_for_copies(abort ? std::chrono::seconds{5} : options.time_limit);
    }

protected:
    void check_caller(void* stream) override {
        check_device(static_cast<cudaStream_t>(stream));
        check_not_captured(static_cast<cudaStream_t>(stream));
    }
    void wait_for_caller(cudaStream_t caller, unsigned streams, cudaEvent_t join) {
        check(calls.event_record(join, caller), "cudaEventRecord");
        for (int l = 0; l < stream_count; ++l)
            if (streams >> l & 1u) check(calls.stream_wait_event(on_->streams[l], join, 0), "cudaStreamWaitEvent");
    }
    // The streams of a run go behind the copies of outputs of runs before, whichever executor's they were.
    void wait_for_copies_before(unsigned streams) { on_->copies.before_run(streams, on_->streams); }

private:
    // The default streams are those of the device that is current when they are used, which is the rank's.
    void check_device(cudaStream_t caller) const {
        if (caller == nullptr || caller == cudaStreamLegacy || caller == cudaStreamPerThread) return;
        int device = -1;
        if (calls.stream_get_device(caller, &device) != cudaSuccess) static_cast<void>(calls.get_last_error());
        if (device >= 0 && device != on_->device)
            throw usage_error{"the stream given for " + described() + " on " + where.describe(rank) + " is of device " +
                              std::to_string(device) + ", the rank's is " + std::to_string(on_->device)};
    }
    // A captured run would read its inputs and end whenever that graph is launched, which the library could not know.
    void check_not_captured(cudaStream_t caller) const {
        cudaStreamCaptureStatus status{};
        const cudaError_t asked = calls.stream_is_capturing(caller, &status);
        if (asked != cudaSuccess) static_cast<void>(calls.get_last_error());
        // The legacy stream, which waits for a stream that is being captured.
        const bool implicitly = asked == cudaErrorStreamCaptureImplicit;
        if (implicitly || (asked == cudaSuccess && status != cudaStreamCaptureStatusNone))
            throw usage_error{"the stream given for " + described() + " on " + where.describe(rank) +
                              " is being captured: enqueue runs outside the capture, or capture them alone with dv::replay"};
    }
    void copy_behind(run_state& f, int symbol, void* to, const void* from) override {
        check_caller(f.stream);
        check_not_overwritten(output_buffer(symbol));
        static_cast<void>(has_ended(f));  // throws if it failed
        const auto stream = static_cast<cudaStream_t>(f.stream);
        try {
            check(calls.set_device(on_->device), "cudaSetDevice");
            // Again, because the handle may stand for another stream by now: that of another thread, or a new one.
            const issued_run& r = runs_[static_cast<std::size_t>(f.run % depth)];
            for (int l = 0; l < stream_count; ++l)
                if (r.streams >> l & 1u) check(calls.stream_wait_event(stream, r.done[l], 0), "cudaStreamWaitEvent");
            on_->copies.enqueue(stream, to, from, graph.symbols[symbol].type.bytes());
        } catch (const call_error& e) {
            const std::string when = "behind run " + std::to_string(f.run);
            if (of_earlier_work(e.code)) fail(std::current_exception(), when);
            throw call_error{
                "output `" + symbol_name(symbol) + "` of " + described() + " cannot be copied " + when + " on " + where.describe(rank), e};
        }
    }
    // Copies that have not ended by then still read the arena, which is not freed, nor any other memory of the rank.
    void wait_for_copies(std::chrono::nanoseconds limit) noexcept {
        if (on_->copies.wait(launch::after(limit)) || on_->memory->abandoned()) return;
        on_->memory->abandon();
        launch::log(log_level::warning,
                    "the executor of " + described() + " on " + where.describe(rank) +
                        " ends while outputs are still being copied on a stream of the program; memory of this rank is not freed "
                        "any more");
    }
};

}  // namespace dovetail::cuda
