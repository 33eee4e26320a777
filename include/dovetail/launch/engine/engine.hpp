// The part of an executor that does not depend on the backend: one graph on one rank. It keeps the bindings, numbers the runs and gives
// them slots; a backend issues the work and reports its end.
#pragma once

#include "../binding/bindings.hpp"
#include "../engine_options.hpp"
#include "../given_store.hpp"
#include "../log.hpp"
#include "../world/abort_reason.hpp"
#include "../world/deadline.hpp"
#include "inspection.hpp"
#include "last_timeout.hpp"
#include "one_thread.hpp"
#include "run_slots.hpp"
#include "watch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

namespace dovetail {

namespace launch {
class peers;
}

class engine : public detail::state_user, public std::enable_shared_from_this<engine> {
public:
    engine(const ir::graph& g, const ir::program& p, const dovetail::plan::plan& plan, const tag* name, int in_flight, int rank, int ranks,
           const std::shared_ptr<memory>& source, engine_options options)
        : graph{g},
          program{p},
          plan{plan},
          name{name},
          rank{rank},
          options{std::move(options)},
          where{g, ranks, this->options.widths, plan.roles},
          role{where.role_of(rank)},
          addresses{g, p, plan, where, rank, source, launch::store_for(this->options, source, rank)},
          bindings_{graph, addresses, where, rank},
          slots_{launch::slots_of(p, role, in_flight), described(), where.describe(rank), rank} {
        for (const ir::step& s : steps()) names.push_back(name_of_step(g, p, s));
    }
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    const ir::graph graph;
    const ir::program program;
    const dovetail::plan::plan plan;
    const tag* const name;
    const int rank;
    const engine_options options;
    const geometry where;
    const int role;
    buffer_addresses addresses;
    std::vector<step_name> names;  // by step of the role

    span<const ir::step> steps() const { return plan.steps.subspan(plan.roles[role].first_step, plan.roles[role].steps); }

    // Binds an input by symbol; ignored if this role does not use it. Host memory is copied unless it is borrowed, other is used in place.
    void bind(int symbol, binding b, const external_tensor* of = nullptr) {
        const auto one = used();
        reporting([&, this] {
            if (of != nullptr) bindings_.check(symbol, *of);
            bindings_.bind(
                symbol, b, slots_.count(), [this](std::int64_t run) { return inputs_read(*slots_.issued(run)); },
                [this](std::int64_t run, int input) { wait_for_inputs_of(run, input); });
        });
    }
    // Binds an output by symbol to memory that runs write from now on; ignored if this rank has no such output. No other run of the rank is
    // executed beside such a run.
    void bind_output(int symbol, const external_tensor& to) {
        const auto one = used();
        if (has_output(symbol)) bindings_.bind_output(symbol, to, !writes_in_place(addresses.buffer_of_output(symbol)));
    }
    void unbind_output(int symbol) {
        const auto one = used();
        bindings_.unbind_output(symbol);
    }
    // Issues one run and returns at once, or as soon as the slot that it needs is free.
    std::shared_ptr<run_state> run() { return run(false, nullptr); }
    // The same, ordered after the work already on the caller's stream and before its later work.
    std::shared_ptr<run_state> enqueue(void* stream) {
        if (!has_streams()) throw usage_error{"enqueue: the backend of " + described() + " has no streams; use run"};
        check_caller(stream);
        return run(true, stream);
    }
    // Copies an output of an enqueued run on the stream to which the run was enqueued. Later runs of the rank wait for the copy.
    void enqueue_copy(run_state& f, int symbol, void* to, const void* from) {
        reporting([&, this] { copy_behind(f, symbol, to, from); });
    }
    // The ranks of its world; null if its runs do not communicate.
    virtual launch::peers* partners() { return nullptr; }
    // Whether the caller may change the memory to which the run's inputs were bound.
    bool inputs_released(run_state& f) {
        const bool of_caller = std::any_of(f.bound.begin(), f.bound.end(), [](const binding& b) { return b.of_caller(); });
        return !of_caller || inputs_read(f);
    }
    virtual bool has_streams() const { return false; }
    // Blocks until the run has ended, and throws the error that ended it; timeout at the deadline.
    void finish(const std::shared_ptr<run_state>& f, std::optional<std::chrono::nanoseconds> limit) {
        reporting([&, this] { wait_for_end(*f, limit.value_or(options.time_limit)); });
    }
    // Whether the run has ended without an error, without waiting; throws the error that ended it.
    bool ready(run_state& f) {
        return reporting([&, this] { return has_ended(f); });
    }
    // Waits for all runs issued so far. If a run failed, reading a state that it would have updated throws; other states are unchanged.
    void drain() override {
        reporting([&, this] {
            for (const auto& f : open_runs()) {
                if (!f || f->reported.load()) continue;
                try {
                    wait_for_end(*f, options.time_limit);
                } catch (const operation_error&) {
                    if (!addresses.updated_states_are_lost()) throw;
                    f->reported.store(true);  // a state that is written from now on is valid again
                }
            }
        });
    }
    // Why runs are issued to streams although replay was asked for; empty if they are replayed, or if no replay was asked for.
    virtual const std::string& replay_fallback_reason() const {
        static const std::string nothing;
        return nothing;
    }
    // Why the runs do not execute the plan that was asked for (plan/fallback.hpp); empty if they do.
    const std::string& transport_fallback_reason() const { return transport_fallback_reason_; }
    // Called when the engine is made, if it executes another plan; rank 0 logs the reason.
    void fall_back(const std::string& reason) {
        transport_fallback_reason_ = reason;
        if (rank == 0) launch::log(log_level::warning, reason + "; another plan is executed");
    }
    void record_times(bool on) { recording_.store(on); }
    // What executes the runs, with the versions on which their times depend: "NVIDIA H200, NCCL 2.28.9".
    virtual std::string hardware() const { return "threads of the host"; }
    // The zero of the clock of recorded times, which all ranks share in one run of a world; and the largest error of this rank's times.
    virtual std::chrono::steady_clock::time_point clock_origin() const = 0;
    virtual std::int64_t clock_error_ns() const { return 0; }
    launch_watcher* watcher = nullptr;  // notified of the runs issued from now on
    value_observer* values = nullptr;   // set before the first run

    // Keeps the slot of a run from being reused while a reading exists; see run_slots.
    void hold(run_state& f, int output = -1) { slots_.hold(f, output); }
    void hold_for_another_thread(run_state& f, thread_number by, int output) { slots_.hold_for_another_thread(f, by, output); }
    void release(run_state& f, thread_number by, int output = -1) noexcept { slots_.release(f, by, output); }
    // The buffer that holds an output on this rank; throws if this rank has none.
    int output_buffer(int symbol) const {
        const int found = addresses.buffer_of_output(symbol);
        if (found < 0) throw usage_error{"output `" + symbol_name(symbol) + "` is not on " + where.describe(rank)};
        if (where.is_off_root(symbol, rank))
            throw usage_error{"output `" + symbol_name(symbol) + "` is on the root of its " +
                              name_of(graph.nodes[graph.symbols[symbol].node].kind) + " only, and not on " + where.describe(rank)};
        return found;
    }
    // Throws if an output that was read before an abort may have been overwritten since, by copies of other ranks.
    void check_kept(int symbol) {
        reporting([&, this] { check_not_overwritten(addresses.buffer_of_output(symbol)); });
    }
    bool has_output(int symbol) const { return addresses.buffer_of_output(symbol) >= 0 && !where.is_off_root(symbol, rank); }
    detail::stored_state& state_of(int symbol) {
        for (const auto& s : addresses.states())
            if (s.symbol == symbol) return *s.stored;
        throw usage_error{"state `" + symbol_name(symbol) + "` is not on " + where.describe(rank)};
    }
    std::string symbol_name(int symbol) const { return !named(graph.symbols[symbol].name) ? "?" : display(*graph.symbols[symbol].name); }
    std::string described() const { return !named(name) ? std::string{"the graph"} : "`" + display(*name) + "`"; }

    // Called before the first run: runs of this engine and of that one are of one executor, in memory that it binds for both.
    void share_order(engine& other) { slots_.share_order(other.slots_); }
    // Whether the run has ended without an error, without waiting; throws the error that ended it. For the library; programs call `ready`.
    virtual bool has_ended(run_state& f) = 0;
    // True when the run has ended without an error, false at the deadline; throws the error that ended it.
    virtual bool wait(run_state& f, deadline until) = 0;
    // `inputs_read`: whether the run has read the memory to which its inputs are bound. `wait_for_inputs` waits for that: false at the
    // deadline, throws the error that ended the run.
    virtual bool inputs_read(run_state& f) = 0;
    virtual bool wait_for_inputs(run_state& f, deadline until) = 0;
    // Text for a timeout: the operation that the engine waits for, on which rank, and the ranks that it waits for.
    virtual std::string stuck() = 0;
    // Waits for the runs in flight, up to the time limit; with `abort`, aborts them at once. Never throws.
    void close(bool abort) noexcept {
        end_runs(abort);
        open_.store(false);
    }
    bool is_open() const override { return open_.load(); }
    const memory* place() const override { return addresses.source().get(); }

protected:
    virtual void end_runs(bool abort) noexcept = 0;
    // Notes that the program has learnt from an exception what ended the runs, so that world.run need not throw it.
    virtual void reported() noexcept = 0;
    virtual void check_not_overwritten(int) {}
    // Whether an output's buffer can be in memory of the caller; if not, the backend copies the output there at the end of the run.
    virtual bool writes_in_place(int) const { return true; }
    virtual void check_caller(void*) {}  // a backend without streams has no enqueued runs
    virtual void copy_behind(run_state&, int, void*, const void*) {}
    // Throws if no further run can be issued.
    virtual void check_alive() = 0;
    virtual void issue(const std::shared_ptr<run_state>& f) = 0;
    // Called after a run that check_finite or a value observer inspects: waits for its end if necessary, and throws what dv::check_finite
    // finds.
    virtual void inspect(run_state& f) = 0;
    std::vector<launch::inspected_step> inspected_steps() const {
        return launch::inspected_steps(graph, program, steps(), where, rank, options.check_finite, values);
    }
    // What is to be issued: run number `run`, into the slot of the run `before`, if there was one.
    struct request {
        std::int64_t run = 0;
        const std::vector<binding>& bound;
        std::uint64_t binding_version = 0;
        bool recorded = false;
        const std::shared_ptr<run_state>& before;
    };
    // Waits for all that the run depends on. If it throws, nothing has changed, and the run can be issued again.
    virtual void wait_for_resources(const request& next) = 0;
    // Checks that all ranks call their executors in the same order. If it throws, nothing has changed.
    virtual void check_call_order() = 0;

    // Why an executor that is destroyed before its runs have ended aborts those of all ranks.
    launch::abort_reason left_in_flight(bool unwinding) {
        const std::string destroyed = "rank " + std::to_string(rank) + " destroyed the executor of " + described() + " with work in flight";
        if (unwinding) return {rank, destroyed + last_timeout_.behind(), {}, {}, true};
        return {rank, "timeout after " + launch::in_seconds(options.time_limit) + ": " + destroyed + ": " + stuck(), {}, {}, true, nullptr,
                true};
    }
    void wait_for_end(run_state& f, std::chrono::nanoseconds limit) {
        if (wait(f, launch::after(limit))) return last_timeout_.clear();
        throw timeout{last_timeout_.note(too_late(limit, f.run, "ended")), rank};
    }
    std::string too_late(std::chrono::nanoseconds limit, std::int64_t run, const std::string& what) {
        return "timeout after " + launch::in_seconds(limit) + ": run " + std::to_string(run) + " of " + described() + " has not " + what +
               ": " + stuck();
    }

    // The run states whose slots are in use.
    std::vector<std::shared_ptr<run_state>> open_runs() { return slots_.all(); }
    void lose_states(const std::string& why) { addresses.lose_updated_states(why); }  // after a run that did not end

private:
    launch::one_thread::use used() {
        return {&one_thread_, [this] { return "the executor of " + described() + " on " + where.describe(rank) + " is used"; }};
    }
    template <class Call>
    auto reporting(Call call) -> decltype(call()) {
        return launch::reporting(call, [this] { reported(); });
    }
    std::shared_ptr<run_state> run(bool enqueued, void* stream) {
        return reporting([&, this] { return issue_next(enqueued, stream); });
    }
    std::shared_ptr<run_state> issue_next(bool enqueued, void* stream) {
        const auto one = used();
        const detail::store_core::usage states{addresses.states().empty() ? nullptr : addresses.store().get()};
        check_alive();
        bindings_.check_all_bound();
        const bool alone = !bindings_.writes().empty();
        if (alone) bindings_.check_apart();
        const bool recorded = recording_.load();
        wait_for_resources({next_run_, bindings_.all(), bindings_.version(), recorded, slots_.before(next_run_)});
        const auto check = [&, this](const launch::run_slots& runs) {
            if (alone) bindings_.check_held(runs);
            check_call_order();
        };
        const auto prepare = [&, this](run_state& f) {
            bindings_.give_to(f);
            f.alone = alone;
            f.enqueued = enqueued;
            f.stream = stream;
        };
        std::shared_ptr<run_state> next = slots_.claim(next_run_, options.time_limit, check, prepare, bindings_.writes());
        if (recorded) next->times.assign(static_cast<std::size_t>(steps().size()), {});
        ++next_run_;
        bindings_.read_by(next->run);
        const launch::watched here{watcher, next->run};
        issue(next);
        addresses.written_by_run();
        if (options.check_finite || (values != nullptr && next->run < values->runs())) inspect(*next);
        return next;
    }
    void wait_for_inputs_of(std::int64_t run, int input) {
        if (wait_for_inputs(*slots_.issued(run), launch::after(options.time_limit))) return;
        const std::string what = "read its inputs, and " + bindings_.name(static_cast<std::size_t>(input)) + " cannot be bound again";
        throw timeout{too_late(options.time_limit, run, what), rank};
    }

    launch::bindings bindings_;
    launch::run_slots slots_;
    std::int64_t next_run_ = 0;
    std::string transport_fallback_reason_;
    launch::one_thread one_thread_;
    std::atomic<bool> recording_ = false, open_ = true;
    launch::last_timeout last_timeout_;
};

}  // namespace dovetail
