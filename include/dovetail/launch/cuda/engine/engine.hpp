// The engine on a GPU: walks the plan onto the three streams of its rank, or replays a captured walk as a CUDA graph. A run consists of
// launches, waits and records, without device allocation, synchronisation or lookup.
#pragma once

#include "../../engine/walk.hpp"
#include "../commands/plain_step.hpp"
#include "launch_status.hpp"
#include "prepare.hpp"
#include "replay.hpp"

namespace dovetail::cuda {

class device_engine final : public prepared_runs {
public:
    static std::shared_ptr<device_engine> make(const executable_plan<stream>& from, std::shared_ptr<context> on, engine_options o) {
        launch::check_store(o, from.name, on->index);
        const auto store = o.store;
        const dovetail::detail::store_core::usage one{store.get()};
        auto made = std::make_shared<device_engine>(from, std::move(on), std::move(o));
        if (!made->addresses.states().empty()) made->addresses.store()->add_user(made);
        return made;
    }
    device_engine(const executable_plan<stream>& from, std::shared_ptr<context> on, engine_options o)
        : prepared_runs{from, std::move(on), std::move(o)}, plain_{plain_steps(*list_, *pointers_, steps(), on_->streams)} {}
    ~device_engine() override {
        const std::lock_guard alone{on_->issuing};
        if (on_->last.engine == this) on_->last.engine = nullptr;
        for (int l = 0; l < stream_count; ++l)
            if (on_->last.owner[l] == this) on_->last.done[l] = nullptr;
    }

    const std::string& replay_fallback_reason() const override { return replay_fallback_reason_; }
    std::chrono::steady_clock::time_point clock_origin() const override { return on_->clock.origin; }

    // The interface of the walker.
    void wait(int stream, int event, int event_slot, int) {
        check(calls.stream_wait_event(on_->streams[stream], event_at(event, event_slot), 0), "cudaStreamWaitEvent");
    }
    void record(int stream, int event, int event_slot) {
        check(calls.event_record(event_at(event, event_slot), on_->streams[stream]), "cudaEventRecord");
        if (std::exchange(reports_late_, false)) report_progress(step_, stream);
    }
    void issue(int index, const ir::step& s) {
        step_ = index;
        counters_.issues(index);
        const plain_step& plain = plain_[static_cast<std::size_t>(index)];
        if (!quiet_ || plain.launch == nullptr) return issue_any(index, s);
        plain.launch(plain.at, plain.pointers);
        launched();
    }

private:
    static constexpr int careful_runs = 2;

    using prepared_runs::wait;
    cudaEvent_t event_at(int event, int event_slot) const {
        return events_[static_cast<std::size_t>(event * plan.event_slots + event_slot)];
    }

    void issue_any(int index, const ir::step& s) {
        const cudaStream_t stream = on_->streams[s.stream];
        if (clock_.open()) clock_.mark(index, false, stream);
        if (inspection_) inspection_->issue(index, true, now_, stream);
        for (int i = list_->first[index], end = list_->first[index + 1]; i < end; ++i) {
            const command& a = list_->commands[static_cast<std::size_t>(i)];
            runner_->execute(a, stream);
            if (launches_kernel(a.kind)) launched();
        }
        if (inspection_) {
            words_.issue(stream);
            inspection_->issue(index, false, now_, stream);
        }
        // What waits for the step need not wait for its word of progress, unless the words of peer copies come first, which take it along.
        reports_late_ = s.event >= 0 && words_.empty();
        if (!reports_late_) report_progress(index, s.stream);
        if (clock_.open()) clock_.mark(index, true, stream);
        if (capturing_) still_capturing();
        if (index == last_input_step_ && !capturing_ && runs_[now_ % depth].last_direct == now_)
            check(calls.event_record(runs_[now_ % depth].inputs_copied, stream), "cudaEventRecord");
    }

    void launched() { status_.launched(step_, now_ < careful_runs || capturing_); }
    void begin_walk() {  // an error may have left something of an earlier one
        words_.clear();
        reports_late_ = false;
    }
    void report_progress(int step, int stream) {
        counters_.done(step, stream, words_);
        words_.issue(on_->streams[stream]);
    }

    // ---- a run

    // All waits come before anything is issued, so that a run which could not be issued in time can be issued again.
    void wait_for_resources(const request& next) override {
        const auto wait = [this](std::int64_t run) { wait_for(run); };
        step_ = -1;
        try {
            const bool replays = may_replay(), same = captured(next.bound, next.binding_version);
            if (!replays || next.recorded || !same) {  // cudaGraphLaunch needs no current device and returns its own errors
                check(calls.set_device(on_->device), "cudaSetDevice");
                static_cast<void>(calls.get_last_error());  // clears an old error of the caller's
            }
            make_room(next.run);
            if (replays && !same && !graphs_.empty()) wait(next.run - 1);
            if (replays && next.recorded) clock_.wait_for_resources(capture_of(next.run), wait);
            inputs_->wait_for_resources(next.run, next.bound, replays, wait);
        } catch (const timeout&) {
            throw;
        } catch (...) {
            fail(std::current_exception(), "run " + std::to_string(next.run));
        }
    }
    void check_call_order() override {
        if (communicates_) on_->world->count_call(rank, on_->runs, number_, described());
    }
    void issue(const std::shared_ptr<run_state>& f) override {
        now_ = f->run;
        step_ = -1;
        issuing_.store(true);
        try {
            const bool recorded = !f->times.empty();
            if (now_ == 0) first(*f);
            const std::lock_guard alone{on_->issuing};
            const bool replayed = may_replay() && can_replay(*f);
            start(f, replayed);
            if (replayed && recorded) clock_.replay(capture_of(now_), f);
            const auto nccl_held = lock_nccl();
            if (replayed)
                (recorded ? recorded_graphs_ : graphs_).launch(now_);
            else {
                counters_.begin(now_);
                begin_walk();
                if (recorded) clock_.begin(f);
                quiet_ = !recorded && !inspection_;
                launch::walk_watched(plan, role, since_switch_, *this, watcher);
                status_.ask_for_rest(step_);
                clock_.close();
            }
            step_ = -1;  // a later error is not caused by the step issued last
            finish_issue(*f, replayed);
            issuing_.store(false);
        } catch (...) {
            counters_.gave_up();
            clock_.close();
            capturing_ = false;
            f->failed.store(true);
            fail(std::current_exception(), "run " + std::to_string(now_));
        }
    }
    // Before the first run: allocates the memory that its bindings need, then waits for all ranks, so that no rank allocates or frees while
    // another's kernels wait for it.
    void first(const run_state& f) {
        inputs_->reserve(f.bound, options.replay != replay_mode::never);
        prepare_inspection();
        if (communicates_) barrier("the first run of " + described());
    }
    void start(const std::shared_ptr<run_state>& issued, bool replayed) {
        run_state& f = *issued;
        const unsigned streams = streams_of(f, replayed);
        wait_for_earlier(issued, replayed, streams);
        if (f.enqueued) {
            check(calls.set_device(on_->device), "cudaSetDevice");  // a null stream is that of the current device
            wait_for_caller(static_cast<cudaStream_t>(f.stream), streams, joins_[0]);
        }
        wait_for_copies_before(streams);
        if (!replayed) pointers_->move(now_, f.bound);
        const auto from = inputs_->prepare(now_, f.bound, replayed);
        issued_run& r = runs_[now_ % depth];
        r.last_direct = from.direct ? now_ : now_ > 0 ? runs_[(now_ - 1) % depth].last_direct : -1;
        r.in_place = from.in_place;
    }
    // The streams go behind the last replayed run, which is on the first stream whatever it works on, and behind all that was issued
    // before where a run of another kind came last, or another executor that shares states, and where this run or one before it writes
    // memory of the caller. NCCL's calls go behind those on another stream, of a plan with overlap before one without: communicators share
    // the GPU, and their kernels come in one order on all ranks.
    void wait_for_earlier(const std::shared_ptr<run_state>& issued, bool replayed, unsigned streams) {
        const auto& last = on_->last;
        const bool shared = !addresses.states().empty() && addresses.store()->change_owner(this, issued) != nullptr;
        const bool kind = last.replayed != replayed, other = last.engine != this;  // one that is gone has left streams to others
        const bool alone = issued->alone || (streams & ~last.behind_alone) != 0;
        const bool all = kind || shared || (other && replayed) || alone;
        if (all) since_switch_ = 0;  // what this executor issued before is among it
        const auto depends = [&, this](int l, int on) {
            return all || (on == 0 && !(last.behind_replayed >> l & 1u)) || (l == nccl_stream_ && on == last.nccl_stream);
        };
        for (int l = 0; l < stream_count; ++l)
            for (int k = 0; k < stream_count; ++k)
                if ((streams >> l & 1u) && last.done[k] != nullptr && k != l && depends(l, k))
                    check(calls.stream_wait_event(on_->streams[l], last.done[k], 0), "cudaStreamWaitEvent");
    }
    void finish_issue(run_state& f, bool replayed) {
        issued_run& r = runs_[now_ % depth];
        r.streams = streams_of(f, replayed);
        if (fills_outputs(f)) fill_outputs(f, r.streams);
        for (int l = 0; l < stream_count; ++l)
            if (r.streams >> l & 1u) {
                check(calls.event_record(r.done[l], on_->streams[l]), "cudaEventRecord");
                if (f.enqueued) check(calls.stream_wait_event(static_cast<cudaStream_t>(f.stream), r.done[l], 0), "cudaStreamWaitEvent");
            }
        ++since_switch_;
        auto& last = on_->last;
        if (last.engine != this) on_->show(counters_.shown(), options.time_limit, communicates_);
        last.engine = this;
        last.replayed = replayed;
        if (nccl_stream_ >= 0) last.nccl_stream = replayed ? 0 : nccl_stream_;
        last.behind_replayed = replayed ? 1u : last.behind_replayed | r.streams;
        last.behind_alone = f.alone ? 0 : last.behind_alone | r.streams;
        for (int l = 0; l < stream_count; ++l)
            if (r.streams >> l & 1u) last.done[l] = r.done[l], last.owner[l] = this;
        counters_.shown()->replayed.store(replayed, std::memory_order_relaxed);
        counters_.issued(now_);
    }

    // ---- replay

    bool may_replay() const { return options.replay != replay_mode::never && replay_fallback_reason_.empty(); }
    // Which of the captures for recorded runs is replayed.
    std::size_t capture_of(std::int64_t run) const { return static_cast<std::size_t>(run % (2 * pointers_->period())); }
    // Whether this run can be replayed; captures it first if there is no graph yet, or if a pointer used in place has changed.
    bool can_replay(const run_state& f) {
        if (!can_replay_unrecorded(f)) return false;
        // Runs whose times are recorded have separate graphs with event nodes: two for each phase, because reading the times of one run
        // takes until that run has ended.
        if (!f.times.empty() && recorded_graphs_.empty())
            for (std::int64_t phase = 0; phase < 2 * pointers_->period(); ++phase) {
                clock_.begin_capture(f.times.size());
                capture(f, phase, recorded_graphs_);
                clock_.close();
            }
        return true;
    }
    // Whether there are graphs for the addresses that operations use in place.
    bool captured(const std::vector<binding>& bound, std::uint64_t version) {
        return !graphs_.empty() && captured_.are_those_of(bound, version);
    }
    bool can_replay_unrecorded(const run_state& f) {
        if (captured(f.bound, f.binding_version)) return true;
        const bool again = !graphs_.empty();
        if (again) {  // the previous run has ended: see wait_for_resources
            graphs_.clear();
            recorded_graphs_.clear();
            clock_.forget_captures();
        }
        captured_ = captured_addresses{f.bound, f.binding_version};
        std::string wrong;
        try {
            for (std::int64_t phase = 0; phase < pointers_->period(); ++phase) capture(f, phase, graphs_);
        } catch (const std::exception& e) {
            wrong = (step_ >= 0 ? names[static_cast<std::size_t>(step_)].text() : described()) + " cannot be captured on " +
                    where.describe(rank) + ": " + text_of(e);
        }
        capturing_ = false;
        // Either all ranks replay, or none.
        if (communicates_ && !again)
            for (const auto& other : on_->world->exchange(rank, "the capture of " + described(), wrong, options.time_limit))
                if (wrong.empty()) wrong = other;
        if (wrong.empty()) return true;
        graphs_.clear();
        if (options.replay == replay_mode::always || again) throw failure{wrong};
        replay_fallback_reason_ = wrong;
        step_ = -1;
        return false;
    }
    void capture(const run_state& f, std::int64_t phase, replays& to) {
        pointers_->move(phase, f.bound);
        inputs_->capture(phase, f.bound);
        step_ = -1;
        const auto nccl_held = lock_nccl();
        to.capture(streams_ | 1u, joins_, [&, this] {
            capturing_ = true;
            quiet_ = false;
            begin_walk();
            counters_.begin_capture(words_);
            launch::walk(plan, role, 0, *this);
            capturing_ = false;
            step_ = -1;
        });
    }
    // Throws if the operation just issued has invalidated the capture and no call has reported it.
    void still_capturing() {
        cudaStreamCaptureStatus status{};
        check(calls.stream_is_capturing(on_->streams[steps()[step_].stream], &status), "cudaStreamIsCapturing");
        if (status != cudaStreamCaptureStatusActive)
            throw failure{"it synchronises, allocates or uses another stream while it is captured"};
    }

    const std::vector<plain_step> plain_;  // by step
    launch_status status_{names};
    captured_addresses captured_;
    replays graphs_{on_}, recorded_graphs_{on_};
    std::string replay_fallback_reason_;
    std::int64_t now_ = 0;           // the run being issued
    std::int64_t since_switch_ = 0;  // runs issued since the streams last waited for all earlier work
    bool capturing_ = false;
    bool reports_late_ = false;  // the progress of the step being issued, behind its event
    bool quiet_ = false;         // neither times nor values of the run are recorded
};

}  // namespace dovetail::cuda
