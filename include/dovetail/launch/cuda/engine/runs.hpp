// The runs of one executor on a GPU, from issue to end: the events recorded after them, waits for them, and failures. engine.hpp issues
// them.
#pragma once

#include "../progress/progress_counters.hpp"
#include "../progress/step_clock.hpp"

namespace dovetail::cuda {

class gpu_runs : public engine {
public:
    bool has_streams() const override { return true; }
    bool is_open() const override { return engine::is_open() && !on_->ended.load(); }
    bool has_ended(run_state& f) override {
        if (f.failed.load() || (on_->world->aborted() && !ended(f.run))) raise();
        if (!ended(f.run)) return false;
        try {
            if (!f.times.empty()) clock_.read(f);
        } catch (const call_error&) {
            fail(std::current_exception(), "run " + std::to_string(f.run));
        }
        return true;
    }
    bool wait(run_state& f, deadline until) override {
        return poll(until, [&, this] { return has_ended(f); });
    }
    bool wait_for_inputs(run_state& f, deadline until) override {
        return poll(until, [&, this] { return inputs_read(f) || has_ended(f); });
    }
    // A run that copies nothing from bound memory has read its inputs once the last earlier run that does has read them.
    bool inputs_read(run_state& f) override {
        const issued_run& r = runs_[static_cast<std::size_t>(f.run % depth)];
        const std::int64_t last = r.last_direct;
        if (ended_.load(std::memory_order_acquire) >= f.run) return true;
        if (r.in_place) return reached(f.run);
        if (ended_.load(std::memory_order_acquire) >= last) return true;
        try {
            return query(runs_[static_cast<std::size_t>(last % depth)].inputs_copied);
        } catch (const call_error&) {
            fail(std::current_exception(), "run " + std::to_string(last));
        }
    }
    std::int64_t clock_error_ns() const override { return clock_.error_ns(); }
    std::string stuck() override { return on_->world->describe(); }
    void end_runs(bool abort) noexcept override {
        try {
            if (on_->ended.load()) return lose_if_unfinished();
            static_cast<void>(calls.set_device(on_->device));
            if (!on_->world->aborted()) {
                run_state f;
                f.run = counters_.shown()->issued.load();
                if (ended(f.run) || (!abort && wait(f, launch::after(options.time_limit)))) return;
            }
            if (!on_->world->aborted()) on_->world->abort(left_in_flight(abort));
        } catch (...) {  // the run has failed; called by a destructor
        }
        on_->abort_communication();
        if (counters_.shown()->issued.load() > ended_.load()) on_->world->lose_run();
        lose_unfinished(destroyed());
        on_->drain_after_abort();
    }

protected:
    static constexpr int depth = 64;  // runs issued ahead of the GPU, at most
    struct issued_run {
        cudaEvent_t done[stream_count] = {};
        cudaEvent_t inputs_copied = nullptr;  // null: no step copies an input
        unsigned streams = 0;
        std::int64_t last_direct = -1;  // the latest run up to this one whose copies read bound memory; -1: none
        bool in_place = false;
    };

    gpu_runs(const executable_plan<stream>& from, std::shared_ptr<context> on, engine_options o)
        : engine{from.graph, from.program, from.plan, from.name, from.s.in_flight, on->index, on->size, on->memory, std::move(o)},
          on_{std::move(on)} {
        on_->before_abort(this, [this] { count_ended(); });
    }
    ~gpu_runs() override {
        on_->forget(this);
        for (const cudaEvent_t e : all_events_) static_cast<void>(calls.event_destroy(e));
    }

    cudaEvent_t new_event() {
        cudaEvent_t e = nullptr;
        check(calls.event_create(&e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        all_events_.push_back(e);
        return e;
    }
    static bool query(cudaEvent_t e) {
        const cudaError_t status = calls.event_query(e);
        if (status == cudaErrorNotReady) {
            static_cast<void>(calls.get_last_error());
            return false;
        }
        check(status, "cudaEventQuery");
        return true;
    }
    // Whether the events of a run have completed; an abort completes them too.
    bool reached(std::int64_t run) {
        if (run < 0 || ended_.load(std::memory_order_acquire) >= run) return true;
        const issued_run& r = runs_[static_cast<std::size_t>(run % depth)];
        try {
            for (int l = 0; l < stream_count; ++l)
                if ((r.streams >> l & 1u) && !query(r.done[l])) return false;
        } catch (const call_error&) {
            fail(std::current_exception(), "run " + std::to_string(run));
        }
        return true;
    }
    // Whether a run has ended without an error. A run that completed because communication was aborted has not.
    bool ended(std::int64_t run) {
        if (run < 0 || ended_.load(std::memory_order_acquire) >= run) return true;
        if (run > counters_.shown()->issued.load(std::memory_order_acquire)) return false;  // another thread issues it
        if (!reached(run) || counted_.load(std::memory_order_acquire)) return false;
        note_ended(run);
        return true;
    }
    void note_ended(std::int64_t run) {
        std::int64_t before = ended_.load(std::memory_order_relaxed);
        while (before < run && !ended_.compare_exchange_weak(before, run, std::memory_order_acq_rel)) {}
        counters_.shown()->ended.store(ended_.load(), std::memory_order_release);
    }
    void wait_for(std::int64_t run) {
        run_state f;
        f.run = run;
        wait_for_end(f, options.time_limit);
    }
    // Limits the runs in flight to `depth`. Querying an event takes as long as a launch, so one answer has to cover many runs.
    void make_room(std::int64_t next) {
        if (next < depth || ended_.load(std::memory_order_acquire) >= next - depth) return;
        if (!ended(next - depth / 2) && !ended(next - depth * 3 / 4)) wait_for(next - depth);
    }
    // Waits until the streams are empty, before any run. `what` becomes the message if they do not: "the connections ... were not made".
    void wait_for_streams(const std::string& what) {
        for (const cudaStream_t s : on_->streams) wait_for_stream(s, what);
    }
    void wait_for_stream(cudaStream_t s, const std::string& what) {
        const auto until = launch::after(options.time_limit);
        for (cudaError_t status; (status = calls.stream_query(s)) != cudaSuccess;) {
            if (status != cudaErrorNotReady) give_up(std::string{"cudaStreamQuery: "} + cudaGetErrorString(status) + ": " + what);
            static_cast<void>(calls.get_last_error());
            look_for_errors();
            if (on_->world->aborted()) raise(what);
            if (std::chrono::steady_clock::now() > until) give_up(what + " within " + launch::in_seconds(options.time_limit));
            std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
        if (on_->world->aborted()) raise(what);  // which has emptied the streams
    }
    void look_for_errors() {
        if (on_->world->aborted()) return;
        try {
            on_->nccl.check_async_errors();
        } catch (const call_error& e) {
            // Over the network NCCL, too, notices a rank that has ended, maybe before the connection to it says who it was.
            if (!on_->world->aborts_within(std::chrono::seconds{1})) give_up(e.text() + "; " + stuck());
        }
    }
    // Aborts the runs of all ranks and throws.
    [[noreturn]] void give_up(const std::string& why) {
        const launch::activity now = counters_.shown()->doing();
        on_->world->abort({rank, where.describe(rank) + ": " + why, now.operation, now.statement});
        raise();
    }
    // Throws once the GPU no longer uses memory that the caller may free; memory that it may still use after the bound is never freed.
    // `state` is part of the message if no run is open.
    [[noreturn]] void raise(const std::string& state = {}) {
        on_->abort_communication();
        lose_unfinished("a run of " + described() + " did not end: " + on_->world->why().text);
        on_->drain_after_abort();
        launch::activity here = counted_.load(std::memory_order_acquire) ? cut_off_ : launch::activity{};
        if (here.operation.empty()) {
            here.text = state.empty() ? "" : "was not ready: " + state;
            if (step_ >= 0)
                here = {"was issuing " + names[static_cast<std::size_t>(step_)].text(), names[static_cast<std::size_t>(step_)].operation,
                        names[static_cast<std::size_t>(step_)].statement};
        }
        on_->world->raise(rank, here);
    }
    [[noreturn]] void fail(const std::exception_ptr& why, const std::string& when) {
        bool earlier = false;
        try {
            std::rethrow_exception(why);
        } catch (const operation_error&) {
            throw;  // already handled
        } catch (const call_error& e) {
            earlier = of_earlier_work(e.code);
            if (e.of_another_process && on_->world->aborts_within(std::chrono::seconds{1})) raise();
        } catch (...) {}
        const step_name step = step_ >= 0 ? names[static_cast<std::size_t>(step_)] : step_name{};
        const std::string who = step_ >= 0 ? step.text() : described();
        const std::string text = who + (earlier ? step_ >= 0 ? ", or an operation before it," : ", or what was issued before it," : "") +
                                 " failed on " + where.describe(rank) + ", " + when + ": " + text_of(why) + (earlier ? "; " + stuck() : "");
        on_->world->abort({rank, text, earlier ? "" : step.operation, earlier ? "" : step.statement, false, why});
        raise();
    }

    const std::shared_ptr<context> on_;
    std::array<issued_run, depth> runs_;
    progress_counters counters_{on_, described()};
    step_clock clock_{on_};
    bool communicates_ = false;
    int step_ = -1;                      // the step being issued
    std::atomic<bool> issuing_ = false;  // a run is being issued, or issuing one failed

private:
    void reported() noexcept override { on_->world->report(); }
    std::string destroyed() const { return "the executor of " + described() + " was destroyed with work in flight"; }
    // After the rank has left its world: an abort may have cut off the last runs.
    void lose_if_unfinished() noexcept {
        try {
            if (ended(counters_.shown()->issued.load())) return;
        } catch (...) {  // it failed
        }
        lose_unfinished(destroyed());
    }
    // Whether the events of a run have completed, after an abort too; an error counts as not.
    static bool completed(const issued_run& r) noexcept {
        bool all = true;
        for (int l = 0; l < stream_count; ++l) all = all && ((r.streams >> l & 1u) == 0 || calls.event_query(r.done[l]) == cudaSuccess);
        static_cast<void>(calls.get_last_error());
        return all;
    }
    // Waits until `done()`; false at the deadline.
    template <class Done>
    bool poll(deadline until, Done done) {
        const auto since = std::chrono::steady_clock::now();
        auto left = deadline::max();  // when the absence of a partner that has left becomes an error
        for (int turn = 0;; ++turn) {
            if (done()) return true;
            const auto now = std::chrono::steady_clock::now();
            if (turn % 64 == 63) {
                look_for_errors();
                if (!communicates_ || !a_partner_left())
                    left = deadline::max();
                else if (left == deadline::max())
                    left = now + std::chrono::seconds{1};
                if (now > left) give_up("a rank has left and takes no part any more: " + stuck());
            }
            if (now >= until) return false;
            if (now - since > std::chrono::milliseconds{2})
                std::this_thread::sleep_for(std::chrono::microseconds{20});
            else
                std::this_thread::yield();
        }
    }
    void check_alive() override {
        if (on_->world->aborted()) raise();
        if (on_->ended.load())
            throw usage_error{"rank " + std::to_string(rank) + " has left its world: the executor of " + described() +
                              " cannot run any more"};
        addresses.check_states(rank);
    }
    // Whether a partner in the communication that this rank waits for has left. Other ranks may leave when their work is done, even while
    // this rank still computes.
    bool a_partner_left() const {
        const int waiting = counters_.shown()->at().step;
        if (waiting < 0) return false;
        const ir::step s = steps()[waiting];
        for (const ir::participation& mine : program.participations.subspan(s.first_participation, s.participations))
            for (const int r : where.partners(program, program.tasks[s.task], mine.member, rank))
                if (r != rank && on_->world->gone(r)) return true;
        return false;
    }
    // Whether an abort may spoil runs in flight: they communicate, or take states from runs of other executors that do.
    bool spoilt_by_abort() const { return communicates_ || (options.store != nullptr && !addresses.states().empty()); }
    // Called before communication is aborted, on any thread: runs that have not ended by now count as failed, whatever their events report
    // later.
    void count_ended() noexcept {
        if (!spoilt_by_abort() || counted_.load(std::memory_order_acquire)) return;
        const std::int64_t last = counters_.shown()->issued.load();
        for (std::int64_t run = ended_.load() + 1; run <= last; ++run) {
            const issued_run& r = runs_[static_cast<std::size_t>(run % depth)];
            if (!completed(r)) break;
            note_ended(run);
        }
        if (ended_.load() < last) on_->world->lose_run();
        try {
            cut_off_ = counters_.shown()->doing();
        } catch (...) {}
        counted_.store(true, std::memory_order_release);
    }
    // Marks the states that a run in flight updates as lost. Only once: a state that is written afterwards is valid.
    void lose_unfinished(const std::string& why) noexcept {
        const std::int64_t last = counters_.shown()->issued.load();
        bool over = last <= ended_.load();
        if (!over && !spoilt_by_abort()) over = completed(runs_[static_cast<std::size_t>(last % depth)]);
        if ((over && !issuing_.load()) || lost_.exchange(true)) return;
        try {
            lose_states(why);
        } catch (...) {}
    }

    std::vector<cudaEvent_t> all_events_;
    std::atomic<std::int64_t> ended_ = -1;
    std::atomic<bool> counted_ = false;  // `ended_` does not change any more
    launch::activity cut_off_;           // the activity at that time
    std::atomic<bool> lost_ = false;     // states were marked as lost
};

}  // namespace dovetail::cuda
