// The base class of executors of all graphs: it holds an engine, calls it with ids, and notifies the observer of runs.
#pragma once

#include "../core/tag.hpp"
#include "../cost/options.hpp"
#include "binding.hpp"
#include "engine_options.hpp"
#include "linkage.hpp"

#include <memory>
#include <string>
#include <utility>

namespace dovetail {

class engine;
struct run_state;
struct run_observer;

class basic_executor {
public:
    // From the next run on, ticket.times() reports when each step ran.
    void record_times(bool on);
    // Why runs are issued to streams although dv::replay_or_streams asked for replay: "operation `f` of `y` cannot be captured ..."; known
    // after the first run. Empty if runs are replayed, or if no replay was asked for.
    const std::string& replay_fallback_reason() const;
    // Why the runs execute the second plan of the graph, in which NCCL moves what copy engines move in the first: "the peer copies of `g`
    // cannot be made: rank 1: the memory of rank 2 cannot be reached ...". Equal on all ranks; empty if they execute the first plan.
    const std::string& transport_fallback_reason() const;
    // The name of a step of this rank, with the index that ticket.times() uses: "operation `f` of `y`".
    std::string step_name(int step) const;
    // For the library and for tools.
    dovetail::engine& at() const;

protected:
    basic_executor() = default;
    basic_executor(basic_executor&& other) noexcept = default;
    basic_executor& operator=(basic_executor&& other) noexcept {
        std::swap(engine_, other.engine_);
        std::swap(observer_, other.observer_);
        return *this;
    }
    // Waits for the runs in flight, up to the time limit. While an exception unwinds the stack, it aborts them on all ranks instead.
    ~basic_executor() {
        if (engine_) close();
    }

    // Called once, by the constructor, with the options of the first plan and of the second.
    void open(std::shared_ptr<dovetail::engine> of, bool times, const plan_options& first, const plan_options& second);
    const std::shared_ptr<dovetail::engine>& held() const { return engine_; }
    void bind_symbol(int symbol, binding b);
    std::shared_ptr<run_state> run_once();
    // `stream` belongs to the caller.
    std::shared_ptr<run_state> run_behind(void* stream);
    // Whether this rank has the role of that number.
    bool plays(int role) const;
    // Reads or writes a state after the runs issued so far. `count` is the number of elements given; throws if the state has another
    // number.
    void read_symbol(int symbol, void* to) const;
    void write_symbol(int symbol, const void* from, std::int64_t count);

private:
    void close() noexcept;
    std::shared_ptr<run_state> seen(std::shared_ptr<run_state> f) const;

    std::shared_ptr<dovetail::engine> engine_;
    run_observer* observer_ = nullptr;
    int unwinding_ = 0;  // uncaught exceptions when this was made
};

}  // namespace dovetail

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "basic_executor.ipp"
#endif
