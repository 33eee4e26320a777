// The base class of executors of all graphs: it holds an engine, calls it with ids, and notifies the observer of runs.
#pragma once

#include "../core/tag.hpp"
#include "../cost/options.hpp"
#include "../plan/plan.hpp"
#include "binding/binding.hpp"
#include "binding/external_tensor.hpp"
#include "engine_options.hpp"
#include "linkage.hpp"
#include "ticket.hpp"
#include "tuning/tuning_report.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace dovetail {

class engine;
struct run_state;
struct run_observer;

namespace launch {
class tuner;
}

class basic_executor {
public:
    // From the next run on, ticket.times() reports when each step ran.
    void record_times(bool on);
    // Why runs are issued to streams although dv::replay_or_streams asked for replay: "operation `f` of `y` cannot be captured ..."; known
    // after the first run. Empty if runs are replayed, or if no replay was asked for.
    std::string replay_fallback_reason() const;
    // Why the runs do not execute the plan that was asked for, but one in which NCCL moves what copy engines move in that: "the peer copies
    // of `g` cannot be made: rank 1: the memory of rank 2 cannot be reached ...". Equal on all ranks; empty if they do.
    std::string transport_fallback_reason() const;
    // With dv::tuned, the plans that are compared, and the one that is kept; otherwise there are none.
    const tuning_report& tuning() const;
    // The name of a step of this rank, with the index that ticket.times() of the latest run uses: "operation `f` of `y`".
    std::string step_name(int step) const;
    // For the library and for tools.
    dovetail::engine& at() const;

protected:
    basic_executor();
    basic_executor(basic_executor&& other) noexcept;
    basic_executor& operator=(basic_executor&& other) noexcept;
    // Waits for the runs in flight, up to the time limit. While an exception unwinds the stack, it aborts them on all ranks instead.
    ~basic_executor();

    // Called by the constructor, with the graph before rewrites and the options of the first plan and of the second: once, or for each plan
    // that is compared.
    void open(std::shared_ptr<dovetail::engine> of, bool times, const ir::graph& written, const plan_options& first,
              const plan_options& second);
    // Adds a plan to those that dv::tuned compares; `open_plan` opens its engine with these options, in which the engines share a store.
    void compare(const char* name, std::uint64_t hash, const plan::plan& plan, const plan_options& s, engine_options& o,
                 const std::function<void()>& open_plan);
    void begin_tuning();
    void bind_symbol(int symbol, binding b);
    void bind_symbol(int symbol, const external_tensor& t);
    void bind_output_symbol(int symbol, const external_tensor& to);
    void unbind_output_symbol(int symbol);
    basic_ticket run_once();
    // `stream` belongs to the caller.
    basic_ticket run_behind(void* stream);
    // Whether this rank has the role of that number.
    bool plays(int role) const;
    // Reads or writes a state after the runs issued so far. `count` is the number of elements given; throws if the state has another
    // number.
    void read_symbol(int symbol, void* to) const;
    void write_symbol(int symbol, const void* from, std::int64_t count);
    void write_symbol(int symbol, const external_tensor& from);

private:
    template <class Call>
    void for_each_engine(Call call) const;
    void follow_tuner();
    template <class Issue>
    basic_ticket issue(Issue run);
    void close() noexcept;
    void close(dovetail::engine& one) noexcept;

    std::shared_ptr<dovetail::engine> engine_;  // of the next run
    std::shared_ptr<dovetail::engine> latest_;  // of the run before; null before the first
    std::unique_ptr<launch::tuner> tuner_;      // null: there is one plan
    run_observer* observer_ = nullptr;
    int unwinding_ = 0;  // uncaught exceptions when this was made
};

}  // namespace dovetail

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "basic_executor.ipp"
#endif
