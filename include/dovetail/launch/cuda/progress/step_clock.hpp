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
    // Issued to a separate stream. If that shares a hardware queue with work that does not end soon, the constructor stops waiting: the
    // moment is then known once `find` was called.
    anchor(cudaStream_t on, const launch::world_clock& world) {
        check(calls.event_record(events_[0], on), "cudaEventRecord");
        if (reached(events_[0], made_ + patience)) find(on, world);
    }
    // Called before times are read. Waits for the first event.
    void find(cudaStream_t on, const launch::world_clock& world) {
        if (found_) return;
        static_cast<void>(reached(events_[0], std::chrono::steady_clock::time_point::max()));
        const auto now = [&] { return world.since_origin(std::chrono::steady_clock::now()); };
        launch::clock_detail::clock_bounds at;  // of the first event, on the world's clock
        at.narrow(world.since_origin(made_), now());
        // Each of the other events happens between two readings of the host's clock, and at a known time after the first. All of them
        // bound the same offset, so slow ones do no harm.
        for (auto* e = events_ + 1; e != std::end(events_); ++e) {
            const std::int64_t before = now();
            check(calls.event_record(*e, on), "cudaEventRecord");
            if (!reached(*e, std::chrono::steady_clock::now() + patience)) break;
            const std::int64_t after = now(), later = detail::elapsed_ns(events_[0], *e);
            const std::int64_t inexact = resolution + (later >> float_bits) + later / drift;
            at.narrow(before - later - inexact, after - later + inexact);
        }
        first_ = at.middle();
        error_ = at.error();
        found_ = true;
    }
    std::int64_t time_of(cudaEvent_t e) const { return first_ + detail::elapsed_ns(events_[0], e); }
    std::int64_t error_ns() const { return error_; }
    // Whether a new anchor is needed: the two clocks drift apart, and event times are floating-point differences that lose precision.
    bool old() const { return std::chrono::steady_clock::now() - made_ > std::chrono::milliseconds{50}; }

private:
    static constexpr std::int64_t resolution = 500;  // of event times, as documented by CUDA
    static constexpr int float_bits = 23;            // of the number of milliseconds that an event time is
    static constexpr std::int64_t drift = 20'000;    // the clocks of a GPU and its host differ by less than one part in so many
    static constexpr std::chrono::milliseconds patience{2};

    static bool reached(cudaEvent_t e, std::chrono::steady_clock::time_point limit) {
        for (;;) {
            const cudaError_t status = calls.event_query(e);
            if (status == cudaSuccess) return true;
            if (status != cudaErrorNotReady) check(status, "cudaEventQuery");
            static_cast<void>(calls.get_last_error());
            if (std::chrono::steady_clock::now() > limit) return false;
        }
    }
    const std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
    detail::timed_event events_[8];
    std::int64_t first_ = 0, error_ = 0;
    bool found_ = false;
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
        std::shared_ptr<anchor> by;
    };
    void take(set& s) {
        auto& times = s.of->times;
        s.by->find(stream_, on_->clock);
        if (s.by->error_ns() > most_error_) most_error_ = s.by->error_ns();
        for (std::size_t i = 0; i < times.size(); ++i) times[i] = {s.by->time_of(s.events[2 * i]), s.by->time_of(s.events[2 * i + 1])};
        s.of = nullptr;
    }
    void start(set& s, const std::shared_ptr<run_state>& f) {
        if (stream_ == nullptr) check(calls.stream_create(&stream_, cudaStreamNonBlocking, 0), "cudaStreamCreateWithPriority");
        if (!anchor_ || anchor_->old()) anchor_ = std::make_shared<anchor>(stream_, on_->clock);
        s.of = f;
        s.by = anchor_;
    }

    const std::shared_ptr<context> on_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<set>> sets_, replayed_;
    std::shared_ptr<anchor> anchor_;
    std::int64_t most_error_ = 0;
    cudaStream_t stream_ = nullptr;  // of the anchors; no other work is issued to it
    set* now_ = nullptr;
    bool capturing_ = false;
};

}  // namespace dovetail::cuda
