// The engine on the host: walks the plan onto the streams of its rank, whose worker threads launch the operations and communicate with the
// other ranks.
#pragma once

#include "../engine/initialise.hpp"
#include "../engine/walk.hpp"
#include "../world/plan_fingerprint.hpp"
#include "commands.hpp"
#include "rank_state.hpp"
#include "step_uses.hpp"

#include <algorithm>

namespace dovetail::host {

class host_engine final : public engine, public work_handler {
public:
    static std::shared_ptr<host_engine> make(const executable_plan<stream>& from, std::shared_ptr<rank_state> on, engine_options o) {
        launch::check_store(o, from.name, on->index);
        const auto store = o.store;
        const dovetail::detail::store_core::usage one{store.get()};
        auto made = std::make_shared<host_engine>(from, std::move(on), std::move(o));
        if (!made->addresses.states().empty()) made->addresses.store()->add_user(made);
        return made;
    }
    host_engine(const executable_plan<stream>& from, std::shared_ptr<rank_state> on, engine_options o)
        : engine{from.graph, from.program, from.plan, from.name, from.s.in_flight, on->index, on->world->peers.size(),
                 on->device, std::move(o)},
          executable_{from},
          on_{std::move(on)},
          peers_{on_->world->peers},
          number_{on_->executors++} {
        const ir::role_plan& r = plan.roles[role];
        const std::size_t copies = static_cast<std::size_t>(r.events) * static_cast<std::size_t>(plan.event_slots);
        recorded_ = std::vector<std::atomic<std::int64_t>>(copies);
        issued_.assign(copies, 0);
        prepare();
        launch::compare_plans(peers_, rank, number_, described(), launch::fingerprint_text(from.hash, from.s, options, described()),
                              options.role_conflict, options.time_limit);
        launch::initialise_states(
            *this, executable_, [&, this](auto initialiser, void* const* at) { initialiser(stream{rank, 0, nullptr, 0}, at); },
            [&, this](const launch::abort_reason& why) { peers_.abort(why); });
        for (int l = 0; l < stream_count; ++l)
            if (uses_[l]) stream_worker::start(on_->streams[l]);
    }

    bool has_ended(run_state& f) override {
        if (f.pending.load(std::memory_order_acquire) > 0) {
            if (peers_.aborted()) peers_.raise(rank);
            return false;
        }
        if (f.failed.load()) peers_.raise(rank);
        return true;
    }
    bool wait(run_state& f, deadline until) override {
        const auto ended = [&] { return f.pending.load(std::memory_order_acquire) == 0; };
        {
            std::unique_lock lock{on_->signal->mutex};
            if (!on_->signal->changed.wait_until(lock, until, [&, this] { return ended() || peers_.aborted(); })) return false;
            // After an abort the streams finish their work. The caller may free memory that they use, so this waits for them for a limited
            // time.
            if (!ended()) on_->signal->changed.wait_until(lock, std::min(until, std::chrono::steady_clock::now() + grace), ended);
        }
        return has_ended(f);
    }
    bool inputs_read(run_state& f) override { return f.reading_inputs.load(std::memory_order_acquire) == 0; }
    bool wait_for_inputs(run_state& f, deadline until) override {
        std::unique_lock lock{on_->signal->mutex};
        const bool over = on_->signal->changed.wait_until(lock, until, [&, this] { return inputs_read(f) || peers_.aborted(); });
        lock.unlock();
        if (over && !inputs_read(f)) peers_.raise(rank);
        return over;
    }
    std::chrono::steady_clock::time_point clock_origin() const override { return on_->world->origin; }
    std::string stuck() override { return on_->world->stuck(rank); }
    void end_runs(bool abort) noexcept override {
        try {
            const auto end = [&, this](std::chrono::nanoseconds bound) {
                std::unique_lock lock{on_->signal->mutex};
                return on_->signal->changed.wait_for(lock, bound, [&, this] { return open_ == 0; });
            };
            if (!abort && !peers_.aborted()) {
                std::unique_lock lock{on_->signal->mutex};
                on_->signal->changed.wait_until(lock, launch::after(options.time_limit),
                                                [&, this] { return open_ == 0 || peers_.aborted(); });
            }
            if (end(std::chrono::nanoseconds{0})) return;
            peers_.abort(left_in_flight(abort));
            end(std::chrono::seconds{5});
        } catch (...) {  // called by a destructor
        }
    }
    // The interface of the walker.
    void wait(int on, int event, int event_slot, int step) {
        const int copy = event * plan.event_slots + event_slot;
        push({nullptr, now_, work_kind::wait, on, copy, issued_[copy], step});
    }
    void issue(int index, const ir::step& s) { push({nullptr, now_, work_kind::step, s.stream, index, 0}); }
    void record(int on, int event, int event_slot) {
        const int copy = event * plan.event_slots + event_slot;
        push({nullptr, now_, work_kind::record, on, copy, issued_[copy] = now_->run + 1});
    }

    void handle(const work_item& t) noexcept override {
        try {
            switch (t.kind) {
                case work_kind::wait: return await(t);
                case work_kind::step: return step(t);
                case work_kind::record: recorded_[t.index].store(t.generation, std::memory_order_release); return on_->signal->notify();
                case work_kind::behind: {
                    std::unique_lock lock{on_->signal->mutex};
                    on_->signal->changed.wait(lock,
                                              [&, this] { return t.of->pending.load(std::memory_order_acquire) == 0 || peers_.aborted(); });
                    return;
                }
                case work_kind::finish: return finished(*t.of);
            }
        } catch (...) {  // out of memory
            fail(*t.of, step_name{"the executor", ""}, std::current_exception());
        }
    }

private:
    static constexpr std::chrono::seconds grace{1};
    void prepare() {
        communicates_ = where.communicates(program);
        for (const step_name& n : names) texts_.push_back(std::make_shared<const std::string>(n.text()));
        for (const ir::step& s : steps()) {
            uses_[s.stream] = true;
            commands_.push_back(commands_of(program, where, rank, s));
            step_uses_.add(program, s);
        }
    }

    void reported() noexcept override { peers_.report(); }
    launch::peers* partners() override { return communicates_ ? &peers_ : nullptr; }
    void check_alive() override {
        if (peers_.aborted()) peers_.raise(rank);
        if (peers_.gone(rank))
            throw usage_error{"rank " + std::to_string(rank) + " has left its world: the executor of " + described() +
                              " cannot run any more"};
        addresses.check_states(rank);
    }
    void wait_for_resources(const request& next) override {
        if (next.before) wait_for_end(*next.before, options.time_limit);
        const std::lock_guard lock{on_->issuing};
        std::erase_if(on_->unfinished, [](const auto& f) { return f->pending.load(std::memory_order_acquire) == 0; });
    }
    void check_call_order() override {
        if (communicates_) peers_.count_call(rank, on_->runs, number_, described());
    }
    void issue(const std::shared_ptr<run_state>& f) override {
        const std::lock_guard alone{on_->issuing};
        const int used = static_cast<int>(std::count(std::begin(uses_), std::end(uses_), true));
        f->reading_inputs.store(step_uses_.readers(f->bound));
        f->pending.store(used);
        now_ = f;
        if (f->run == 0 && (options.check_finite || values != nullptr)) inspected_ = inspected_steps();
        {
            const std::lock_guard lock{on_->signal->mutex};
            open_ += used > 0 ? 1 : 0;
        }
        if (!addresses.states().empty())
            if (const auto before = addresses.store()->change_owner(this, f)) go_behind(before);
        for (const auto& earlier : on_->unfinished)
            if (f->alone || earlier->alone) go_behind(earlier);
        on_->unfinished.push_back(f);
        launch::walk(plan, role, f->run, *this);
        for (int l = 0; l < stream_count; ++l)
            if (uses_[l]) push({nullptr, f, work_kind::finish, l, 0, 0, -1});
        for (int l = 0; l < stream_count; ++l)
            if (!staged_[l].empty()) on_->streams[l]->push(staged_[l]);
        now_ = nullptr;
    }
    // The values are inspected by the streams; with check_finite this waits for the run.
    void inspect(run_state& f) override {
        if (options.check_finite) wait_for_end(f, options.time_limit);
    }
    // The streams of this executor wait for the end of a run.
    void go_behind(const std::shared_ptr<run_state>& earlier) {
        for (int l = 0; l < stream_count; ++l)
            if (uses_[l]) push({nullptr, earlier, work_kind::behind, l, 0, 0, -1});
    }
    void push(work_item t) {
        t.who = std::static_pointer_cast<host_engine>(shared_from_this());
        std::vector<work_item>& to = staged_[t.stream];
        to.push_back(std::move(t));
        if (to.size() >= batch) on_->streams[to.back().stream]->push(to);
    }

    void await(const work_item& t) {
        auto& copy = recorded_[t.index];
        if (copy.load(std::memory_order_acquire) >= t.generation) return;
        stream_worker& on = *on_->streams[t.stream];
        on.now({activity::event, texts_[static_cast<std::size_t>(t.awaited)], t.of->run, nullptr});
        {
            std::unique_lock lock{on_->signal->mutex};
            on_->signal->changed.wait(lock, [&, this] { return copy.load(std::memory_order_acquire) >= t.generation || peers_.aborted(); });
        }
        on.now({});
    }
    void step(const work_item& t) {
        run_state& f = *t.of;
        stream_worker& on = *on_->streams[t.stream];
        if (peers_.aborted()) f.failed.store(true);
        if (!f.failed.load()) {
            const bool timed = !f.times.empty();
            const auto start = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
            const launch::watched here{watcher, t.index};
            on.now({activity::operation, texts_[static_cast<std::size_t>(t.index)], f.run, nullptr});
            try {
                if (!inspected_.empty()) look(t.index, f, true);
                if (!run_commands(commands_[t.index], f, on)) f.failed.store(true);
                if (!inspected_.empty() && !f.failed.load()) look(t.index, f, false);
            } catch (...) {
                fail(f, names[t.index], std::current_exception());
            }
            on.now({});
            if (timed) f.times[t.index] = {since(start), since(std::chrono::steady_clock::now())};
        }
        if (f.failed.load() && step_uses_.update_states() && !f.states_lost.exchange(true))  // once: states written later are valid
            lose_states("run " + std::to_string(f.run) + " of " + described() + " did not end: " + peers_.why().text);
        if (step_uses_.reads_caller(t.index, f.bound) && f.reading_inputs.fetch_sub(1, std::memory_order_acq_rel) == 1)
            on_->signal->notify();
    }
    void look(int step, const run_state& f, bool before) const {
        const auto at = [&, this](const ir::access& a) {
            return static_cast<const char*>(addresses.at(a.buffer, f.run, f.bound)) + ir::offset_of(program, a);
        };
        launch::look(inspected_[static_cast<std::size_t>(step)], before, graph, program, at, f.run, values);
    }
    // False if a communication did not take place.
    bool run_commands(const std::vector<command>& commands, run_state& f, stream_worker& on) {
        const command_runner me{executable_, addresses, rank};
        std::vector<std::shared_ptr<pending_communication>> pending;
        bool all = true;
        for (const command& a : commands) {
            if (a.partners.empty()) {
                me.execute(a, f, on.number());
                continue;
            }
            auto met = on_->world->join_communication({number_, f.run, a.member, a.partners[0]}, a.partners, a.mine,
                                                      me.participant_of(a.first_access, a.pointers, f), a.move);
            if (met)
                pending.push_back(std::move(met));
            else
                all = false;
        }
        // Also after a failure, waits for each communication that has begun: a partner may be moving data to or from this rank.
        for (const auto& m : pending) {
            activity now = on.doing();
            now.doing = activity::partners;
            now.at = m;
            on.now(now);
            int missing = -1;
            if (on_->world->wait_for_completion(*m, missing)) continue;
            all = false;
            if (missing < 0) continue;
            const std::string text = "rank " + std::to_string(missing) + " has left and does not take part in " + *now.step + " (run " +
                                     std::to_string(f.run) + ")";
            peers_.abort({missing, text, {}, {}, true});
        }
        return all;
    }

    void finished(run_state& f) {
        {
            const std::lock_guard lock{on_->signal->mutex};
            if (f.pending.fetch_sub(1, std::memory_order_acq_rel) == 1) --open_;
        }
        on_->signal->changed.notify_all();
    }
    void fail(run_state& f, const step_name& step, const std::exception_ptr& why) {
        peers_.abort({rank, step.text() + " failed on " + where.describe(rank) + ", run " + std::to_string(f.run) + ": " + text_of(why),
                      step.operation, step.statement, false, why});
        f.failed.store(true);  // who sees this may ask why
    }
    std::int64_t since(std::chrono::steady_clock::time_point t) const {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(t - on_->world->origin).count();
    }

    const executable_plan<stream> executable_;
    const std::shared_ptr<rank_state> on_;
    launch::peers& peers_;
    const int number_;                                 // of this executor on its rank
    std::vector<std::atomic<std::int64_t>> recorded_;  // by event copy: run + 1 of the last record that was executed
    std::vector<std::int64_t> issued_;                 // ... that was issued
    std::vector<std::vector<command>> commands_;       // by step
    std::vector<launch::inspected_step> inspected_;    // by step; empty: values are not inspected
    step_uses step_uses_;
    bool uses_[stream_count] = {};
    bool communicates_ = false;
    int open_ = 0;                            // runs in flight; guarded by the monitor
    std::shared_ptr<run_state> now_;          // the run being issued
    static constexpr std::size_t batch = 32;  // work items passed to a stream at once: few wake-ups, but an early start
    std::vector<work_item> staged_[stream_count];
    std::vector<std::shared_ptr<const std::string>> texts_;  // by step
};

}  // namespace dovetail::host
