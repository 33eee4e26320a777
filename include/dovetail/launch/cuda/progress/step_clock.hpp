// The times of the steps of recorded runs: pairs of timed events, recorded by the streams or by nodes of a CUDA graph at each of its
// launches; and their conversion from the GPU's clock to the clock of the world.
#pragma once

#include "../engine/context.hpp"

namespace dovetail::cuda {

namespace detail {

// An event that carries a time.
class timed_event {
public:
    timed_event() { check(calls.event_create(&event_, cudaEventDefault), "cudaEventCreateWithFlags"); }
    timed_event(const timed_event&) = delete;
    timed_event& operator=(const timed_event&) = delete;
    ~timed_event() { static_cast<void>(calls.event_destroy(event_)); }
    operator cudaEvent_t() const { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};
inline std::int64_t elapsed_ns(cudaEvent_t from, cudaEvent_t to) {
    float milliseconds = 0;
    check(calls.event_elapsed_time(&milliseconds, from, to), "cudaEventElapsedTime");
    return static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace detail

// A moment whose time is known on both the GPU's clock and the world's.
class anchor {
public:
    // Records events on a separate stream and waits for each: the event happened between two readings of the host's clock. All events bound
    // the same offset, so slow ones do no harm. If the stream shares a hardware queue with work that does not end, the constructor stops
    // waiting, and the error of the anchor is `patience`.
    anchor(cudaStream_t on, const launch::world_clock& world) {
        launch::clock_detail::clock_bounds at;  // of the first event, on the world's clock
        for (const auto& e : events_) {
            taken_ = std::chrono::steady_clock::now();
            check(calls.event_record(e, on), "cudaEventRecord");
            const std::int64_t before = world.since_origin(taken_);
            if (!reached(e, patience)) {
                if (&e == events_) at.narrow(before, before + 2 * patience.count());
                break;
            }
            const std::int64_t after = world.since_origin(std::chrono::steady_clock::now()), later = detail::elapsed_ns(events_[0], e);
            at.narrow(before - later - resolution, after - later + resolution);
        }
        first_ = at.middle();
        error_ = at.error();
    }
    // Called before times are read: the constructor may not have waited for the first event.
    void wait_for_first_event() const { static_cast<void>(reached(events_[0], std::chrono::nanoseconds::max())); }
    std::int64_t time_of(cudaEvent_t e) const { return first_ + detail::elapsed_ns(events_[0], e); }
    std::int64_t error_ns() const { return error_; }
    // Whether a new anchor is needed: the two clocks drift apart, and event times are floating-point differences that lose precision.
    bool old() const { return std::chrono::steady_clock::now() - taken_ > std::chrono::milliseconds{50}; }

private:
    static constexpr std::int64_t resolution = 500;  // of event times, as documented by CUDA
    static constexpr std::chrono::nanoseconds patience = std::chrono::milliseconds{2};

    bool reached(cudaEvent_t e, std::chrono::nanoseconds limit) const {
        for (;;) {
            const cudaError_t status = calls.event_query(e);
            if (status == cudaSuccess) return true;
            if (status != cudaErrorNotReady) check(status, "cudaEventQuery");
            static_cast<void>(calls.get_last_error());
            if (std::chrono::steady_clock::now() - taken_ > limit) return false;
        }
    }
    detail::timed_event events_[8];
    std::int64_t first_ = 0, error_ = 0;
    std::chrono::steady_clock::time_point taken_;
};

class step_clock {
public:
    explicit step_clock(std::shared_ptr<context> on) : on_{std::move(on)} {}
    step_clock(const step_clock&) = delete;
    step_clock& operator=(const step_clock&) = delete;
    ~step_clock() {
        if (stream_ != nullptr) static_cast<void>(calls.stream_destroy(stream_));
    }

    // The steps issued from now until `close` belong to a run. Reuses the events of a run whose times were read, or whose ticket is gone,
    // if there are any.
    void begin(const std::shared_ptr<run_state>& f) {
        const std::lock_guard lock{mutex_};
        set* to = nullptr;
        for (const auto& s : sets_)
            if (!s->of || s->of.use_count() == 1) to = s.get();
        if (to == nullptr) to = sets_.emplace_back(std::make_unique<set>(f->times.size())).get();
        now_ = to;
        start(*to, f);
    }
    // The steps issued from now until `close` are captured, for the runs passed to `replay`.
    void begin_capture(std::size_t steps) {
        const std::lock_guard lock{mutex_};
        now_ = replayed_.emplace_back(std::make_unique<set>(steps)).get();
        capturing_ = true;
    }
    void close() {
        now_ = nullptr;
        capturing_ = false;
    }
    bool open() const { return now_ != nullptr; }
    void mark(int step, bool end, cudaStream_t stream) const {
        const cudaEvent_t e = now_->events[static_cast<std::size_t>(2 * step + (end ? 1 : 0))];
        if (capturing_)
            check(calls.event_record_with_flags(e, stream, cudaEventRecordExternal), "cudaEventRecordWithFlags");
        else
            check(calls.event_record(e, stream), "cudaEventRecord");
    }
    // Before a run replays captured events: `wait` blocks until the previous run that used them has ended, and its times are read.
    template <class Wait>
    void wait_for_resources(std::size_t capture, Wait wait) {
        std::shared_ptr<run_state> before;
        {
            const std::lock_guard lock{mutex_};
            if (capture < replayed_.size()) before = replayed_[capture]->of;
        }
        if (!before) return;
        wait(before->run);
        read(*before);
    }
    void replay(std::size_t capture, const std::shared_ptr<run_state>& f) {
        const std::lock_guard lock{mutex_};
        start(*replayed_[capture], f);
    }
    // Destroys the captured events, after the runs that recorded them have ended.
    void forget_captures() {
        const std::lock_guard lock{mutex_};
        for (const auto& s : replayed_)
            if (s->of) take(*s);
        replayed_.clear();
    }

    // Reads the times of a run that has ended, once.
    void read(run_state& f) {
        const std::lock_guard lock{mutex_};
        for (const auto* list : {&sets_, &replayed_})
            for (const auto& s : *list)
                if (s->of.get() == &f) take(*s);
    }
    // Largest error of this rank's times on the world's clock; 0 if none were read.
    std::int64_t error_ns() const {
        const std::lock_guard lock{mutex_};
        return most_error_ + (anchor_ ? on_->clock.error.count() : 0);
    }

private:
    struct set {
        explicit set(std::size_t steps) : events(2 * steps) {}
        std::vector<detail::timed_event> events;
        std::shared_ptr<run_state> of;  // the run whose times they hold; null: none
        std::shared_ptr<const anchor> by;
    };
    static void take(set& s) {
        auto& times = s.of->times;
        s.by->wait_for_first_event();
        for (std::size_t i = 0; i < times.size(); ++i) times[i] = {s.by->time_of(s.events[2 * i]), s.by->time_of(s.events[2 * i + 1])};
        s.of = nullptr;
    }
    void start(set& s, const std::shared_ptr<run_state>& f) {
        if (stream_ == nullptr) check(calls.stream_create(&stream_, cudaStreamNonBlocking, 0), "cudaStreamCreateWithPriority");
        if (!anchor_ || anchor_->old()) anchor_ = std::make_shared<const anchor>(stream_, on_->clock);
        if (anchor_->error_ns() > most_error_) most_error_ = anchor_->error_ns();
        s.of = f;
        s.by = anchor_;
    }

    const std::shared_ptr<context> on_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<set>> sets_, replayed_;
    std::shared_ptr<const anchor> anchor_;
    std::int64_t most_error_ = 0;
    cudaStream_t stream_ = nullptr;  // of the anchors; no other work is issued to it
    set* now_ = nullptr;
    bool capturing_ = false;
};

}  // namespace dovetail::cuda
