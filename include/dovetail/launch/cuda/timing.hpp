// When the steps of recorded runs ran: pairs of events that carry times, made for the runs that ask for them.
#pragma once

#include "context.hpp"

namespace dovetail::cuda {

class step_clock {
public:
    step_clock() = default;
    step_clock(const step_clock&) = delete;
    step_clock& operator=(const step_clock&) = delete;
    ~step_clock() {
        for (const auto& s : sets_)
            for (const cudaEvent_t e : s->events)
                if (e != nullptr) static_cast<void>(calls.event_destroy(e));
        if (origin_ != nullptr) static_cast<void>(calls.event_destroy(origin_));
    }

    // A set of events for a run of `steps`; the one of a run that was read before, where there is one.
    void begin(std::int64_t run, int steps, const context& on) {
        const std::lock_guard lock{mutex_};
        if (origin_ == nullptr) {
            cudaEvent_t e = nullptr;
            check(calls.event_create(&e, cudaEventDefault), "cudaEventCreateWithFlags");
            origin_ = e;
            check(calls.event_record(origin_, on.streams[0]), "cudaEventRecord");
            check(calls.stream_synchronize(on.streams[0]), "cudaStreamSynchronize");
            origin_ns_ = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - on.origin).count();
        }
        now_ = nullptr;
        for (const auto& s : sets_)
            if (s->run < 0) now_ = s.get();
        if (now_ == nullptr) now_ = sets_.emplace_back(std::make_unique<set>()).get();
        while (static_cast<int>(now_->events.size()) < 2 * steps) {
            cudaEvent_t e = nullptr;
            check(calls.event_create(&e, cudaEventDefault), "cudaEventCreateWithFlags");
            now_->events.push_back(e);
        }
        now_->run = run;
    }
    void mark(int step, bool end, cudaStream_t stream) const {
        check(calls.event_record(now_->events[static_cast<std::size_t>(2 * step + (end ? 1 : 0))], stream), "cudaEventRecord");
    }
    void close() { now_ = nullptr; }
    bool open() const { return now_ != nullptr; }

    // The run has ended: its times, once.
    void read(flight& f) {
        const std::lock_guard lock{mutex_};
        for (const auto& s : sets_) {
            if (s->run != f.run) continue;
            for (std::size_t i = 0; i < f.times.size(); ++i) f.times[i] = {at(s->events[2 * i]), at(s->events[2 * i + 1])};
            s->run = -1;
        }
    }

private:
    struct set {
        std::int64_t run = -1;
        std::vector<cudaEvent_t> events;
    };
    std::int64_t at(cudaEvent_t e) const {
        float milliseconds = 0;
        check(calls.event_elapsed_time(&milliseconds, origin_, e), "cudaEventElapsedTime");
        return origin_ns_ + static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
    }

    std::mutex mutex_;
    cudaEvent_t origin_ = nullptr;
    std::int64_t origin_ns_ = 0;
    std::vector<std::unique_ptr<set>> sets_;
    set* now_ = nullptr;
};

}  // namespace dovetail::cuda
