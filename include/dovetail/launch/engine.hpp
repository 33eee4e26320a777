// What an executor holds: one graph on one rank, whatever the backend. This part keeps the bindings, numbers the runs and
// guards the slots; a backend issues the work and says when it has ended.
#pragma once

#include "deadline.hpp"
#include "flight.hpp"
#include "tables.hpp"
#include "watch.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <utility>

namespace dovetail {

// How runs reach a GPU: launch by launch onto streams, or as one CUDA graph; the last falls back to streams where an operation
// cannot be captured. The host backend knows streams only.
enum class replay_mode : unsigned char { never, always, if_possible };

// What an executor may be told besides its graph and options.
struct engine_options {
    std::shared_ptr<detail::store_core> store = nullptr;
    std::vector<axis_width> widths = {};
    std::chrono::nanoseconds time_limit = std::chrono::minutes{10};  // of every wait that is given none
    bool record_times = false;
    replay_mode replay = replay_mode::never;
};

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
          where{g, ranks, this->options.widths},
          role{where.role_of(rank)},
          memory_of{g, p, plan, where, rank, source, store_for(source)} {
        in_flight_ = in_flight < 1 ? 1 : in_flight;
        for (const ir::buffer& b : p.buffers)
            if (b.role == role && b.output && b.slots < in_flight_) in_flight_ = b.slots < 1 ? 1 : b.slots;
        slots_.resize(static_cast<std::size_t>(in_flight_));
        spare_.reserve(most_spare);
        bound_.resize(memory_of.inputs().size());
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
    buffers memory_of;
    std::vector<step_name> names;  // by step of the role

    span<const ir::step> steps() const { return plan.steps.part(plan.roles[role].first_step, plan.roles[role].steps); }

    // Binds an input by symbol; ignored where this role does not use it.
    void bind(int symbol, binding b) {
        const busy one{*this};
        const int i = memory_of.input_of(symbol);
        if (i < 0) return;
        const std::int64_t wanted = graph.symbols[symbol].type.size();
        if (b.count != wanted)
            throw binding_error{"input " + input_name(i) + " is bound to " + std::to_string(b.count) + " elements and has " + std::to_string(wanted) + ", on " +
                                where.describe(rank)};
        if (!b.in_place) memory_of.stage(i);
        bound_[i] = std::move(b);
    }
    // Issues one run and returns at once, or as soon as the slot it needs is free.
    std::shared_ptr<flight> run() { return run(false, nullptr); }
    // The same, behind the work that the caller's stream holds and before what it gets later.
    std::shared_ptr<flight> enqueue(void* stream) {
        if (!has_streams()) throw usage_error{"enqueue: the backend of " + described() + " has no streams; use run"};
        return run(true, stream);
    }
    // Whether the memory that the run's inputs were bound to may be changed.
    virtual bool consumed(flight& f) { return f.reading_inputs.load(std::memory_order_acquire) == 0; }
    virtual bool has_streams() const { return false; }
    // Blocks until the run has ended, and throws what went wrong in it; timeout at the deadline.
    void finish(const std::shared_ptr<flight>& f, std::optional<std::chrono::nanoseconds> limit) {
        const auto span = limit.value_or(options.time_limit);
        if (!wait(*f, launch::after(span)))
            throw timeout{"timeout after " + launch::in_seconds(span) + ": run " + std::to_string(f->run) + " of " + described() + " has not ended: " + stuck(),
                          rank};
    }
    // Waits for all runs issued so far. Of a run that failed, the states that it would have updated say so when they are read;
    // the others are as they were.
    void settle() override {
        for (const auto& f : open_flights()) {
            if (!f || f->told.load()) continue;
            try {
                finish(f, std::nullopt);
            } catch (const operation_error&) {
                for (const auto& s : memory_of.states())
                    if (updates(s.buffer) && memory_of.store()->lost(*s.stored).empty()) throw;
                f->told.store(true);  // a state that is written now is good again
            }
        }
    }
    // Why runs go to streams although replay was asked for; empty where they do not, and where nothing is replayed.
    virtual const std::string& not_replayed() const {
        static const std::string nothing;
        return nothing;
    }
    void record_times(bool on) { recording_.store(on); }
    // How far times of this rank may be off the clock that all ranks of the world share.
    virtual std::int64_t clock_error_ns() const { return 0; }
    launch_watcher* watcher = nullptr;  // of the runs issued from now on

    // Keeps the slot of a run from being used again, until `release`.
    void hold(flight& f) {
        const std::lock_guard lock{mutex_};
        const auto& current = slots_[f.run % in_flight_];
        if (current.get() != &f)
            throw usage_error{"the results of run " + std::to_string(f.run) + " of " + described() + " are gone: run " + std::to_string(current->run) +
                              " uses their slot (runs in flight: " + std::to_string(in_flight_) + ")"};
        ++f.held;
    }
    void release(flight& f) noexcept {
        {
            const std::lock_guard lock{mutex_};
            --f.held;
        }
        released_.notify_all();
    }
    // The buffer that holds an output on this rank; throws where it has none.
    int output_buffer(int symbol) const {
        const int found = find_output(symbol);
        if (found < 0) throw usage_error{"output `" + symbol_name(symbol) + "` is not on " + where.describe(rank)};
        if (off_root(symbol))
            throw usage_error{"output `" + symbol_name(symbol) + "` is on the root of its " + name_of(graph.nodes[graph.symbols[symbol].node].kind) +
                              " only, and not on " + where.describe(rank)};
        return found;
    }
    bool has_output(int symbol) const { return find_output(symbol) >= 0 && !off_root(symbol); }
    detail::stored_state& state_of(int symbol) {
        for (const auto& s : memory_of.states())
            if (s.symbol == symbol) return *s.stored;
        throw usage_error{"state `" + symbol_name(symbol) + "` is not on " + where.describe(rank)};
    }
    std::string symbol_name(int symbol) const { return !named(graph.symbols[symbol].name) ? "?" : display(*graph.symbols[symbol].name); }
    std::shared_ptr<detail::store_core> store_for(const std::shared_ptr<memory>& source) const {
        if (!options.store) return std::make_shared<detail::store_core>(source, rank);
        if (options.store->rank != rank)
            throw usage_error{"the store given to the executor of " + described() + " on " + where.describe(rank) + " is that of rank " +
                              std::to_string(options.store->rank) + ": each rank has its own"};
        return options.store;
    }
    std::string described() const { return !named(name) ? std::string{"the graph"} : "`" + display(*name) + "`"; }

    // Whether the run has ended well, without waiting; throws what went wrong in it.
    virtual bool ready(flight& f) = 0;
    // True when the run has ended well, false at the deadline; throws what went wrong in it.
    virtual bool wait(flight& f, deadline until) = 0;
    // What the engine is waiting for, on which rank, and for whom.
    virtual std::string stuck() = 0;
    // Ends: waits for the runs in flight, up to the time limit; at once with `abort`. Never throws.
    virtual void close(bool abort) noexcept = 0;

protected:
    // Throws if no further run can be issued.
    virtual void check_alive() = 0;
    virtual void issue(const std::shared_ptr<flight>& f) = 0;
    // What is to be issued: run number `run`, into the slot of the run `before`, if there was one.
    struct request {
        std::int64_t run = 0;
        const std::vector<binding>& inputs;
        bool recorded = false;
        const std::shared_ptr<flight>& before;
    };
    // Waits for what the run must find done. What it throws leaves all as it was: the run may be asked for again.
    virtual void make_way(const request& next) = 0;
    // It is this executor's turn, of all on this rank; throws, and leaves all as it was, where another rank sees it otherwise.
    virtual void take_turn() = 0;

    // Flights whose slots are in use.
    std::vector<std::shared_ptr<flight>> open_flights() {
        const std::lock_guard lock{mutex_};
        return slots_;
    }
    // States that the graph updates are worth nothing after a run that did not end.
    void lose_states(const std::string& why) {
        for (const auto& s : memory_of.states())
            if (updates(s.buffer)) memory_of.store()->lose(*s.stored, why);
    }

private:
    // One thread at a time: a second one gets an exception, not a race.
    struct busy {
        engine& e;
        explicit busy(engine& of) : e{of} {
            if (e.busy_.test_and_set(std::memory_order_acquire))
                throw usage_error{"the executor of " + e.described() + " on " + e.where.describe(e.rank) + " is used by two threads at once"};
        }
        ~busy() { e.busy_.clear(std::memory_order_release); }
    };
    std::shared_ptr<flight> run(bool enqueued, void* stream) {
        const busy one{*this};
        check_alive();
        for (std::size_t i = 0; i < bound_.size(); ++i)
            if (bound_[i].data == nullptr && graph.symbols[memory_of.inputs()[i].symbol].type.size() != 0)
                throw binding_error{"input " + input_name(static_cast<int>(i)) + " is not bound on " + where.describe(rank)};
        const bool recorded = recording_.load();
        auto& slot = slots_[next_run_ % in_flight_];
        make_way({next_run_, bound_, recorded, slot});
        std::shared_ptr<flight> next = claim(slot);
        next->run = next_run_;
        next->inputs = bound_;
        next->enqueued = enqueued;
        next->stream = stream;
        if (recorded) next->times.assign(static_cast<std::size_t>(steps().size()), {});
        ++next_run_;
        const launch::watched here{watcher, next->run};
        issue(next);
        return next;
    }
    // The flight of the next run, in its slot: the one before, or an earlier one, where nobody knows it any more, so that runs of
    // which a ticket each is kept allocate nothing either.
    std::shared_ptr<flight> claim(std::shared_ptr<flight>& slot) {
        std::unique_lock lock{mutex_};
        const auto free = [&] { return !slot || slot->held == 0; };
        if (!free() && !released_.wait_until(lock, launch::after(options.time_limit), free))
            throw timeout{"timeout after " + launch::in_seconds(options.time_limit) + ": run " + std::to_string(next_run_) + " of " + described() +
                              " needs the slot of run " + std::to_string(slot->run) + ", whose result is still held by a reading on " + where.describe(rank),
                          rank};
        take_turn();
        if (slot && slot.use_count() > 1) {
            std::shared_ptr<flight>* unknown = nullptr;
            for (auto& f : spare_)
                if (f.use_count() == 1) {
                    f->inputs.clear();  // which may own memory
                    unknown = &f;
                }
            if (unknown != nullptr)
                slot.swap(*unknown);
            else if (spare_.size() < most_spare)
                spare_.push_back(std::exchange(slot, nullptr));
            else
                slot = nullptr;
        }
        if (slot) {
            slot->times.clear();
            slot->pending.store(0, std::memory_order_relaxed);
            slot->reading_inputs.store(0, std::memory_order_relaxed);
            slot->failed.store(false, std::memory_order_relaxed);
            slot->told.store(false, std::memory_order_relaxed);
        } else
            slot = std::make_shared<flight>();
        return slot;
    }
    bool updates(int buffer) const {
        for (const ir::access& a : program.accesses)
            if (a.buffer == buffer && writes(a.mode)) return true;
        return false;
    }
    int find_output(int symbol) const {
        for (int i = 0; i < program.buffers.size(); ++i)
            if (program.buffers[i].symbol == symbol && program.buffers[i].role == role && program.buffers[i].output) return i;
        return -1;
    }
    // Every lane has a buffer for the result of a rooted collective along axes, but only the root's is written.
    bool off_root(int symbol) const {
        const int at = graph.symbols[symbol].node;
        if (at < 0) return false;
        const ir::node& n = graph.nodes[at];
        return n.role >= 0 && (n.kind == op_kind::reduce || n.kind == op_kind::gather) && where.coordinate(rank, n.axes) != n.root;
    }
    std::string input_name(int i) const { return "`" + symbol_name(memory_of.inputs()[static_cast<std::size_t>(i)].symbol) + "`"; }

    static constexpr std::size_t most_spare = 16;
    int in_flight_ = 1;
    std::int64_t next_run_ = 0;
    std::vector<binding> bound_;
    std::vector<std::shared_ptr<flight>> slots_;  // the latest run that uses each
    std::vector<std::shared_ptr<flight>> spare_;  // of earlier runs, to be used again when their tickets are gone
    std::mutex mutex_;
    std::condition_variable released_;
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    std::atomic<bool> recording_ = false;
};

}  // namespace dovetail
