// What executors of all graphs have in common: one engine, asked by ids, and whoever observes its runs.
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
    // From the next run on, ticket.times() tells when each step ran.
    void record_times(bool on);
    // Why runs go to streams although dv::replay_or_streams asked for replay: "operation `f` of `y` cannot be captured ..."; known
    // after the first run. Empty where they are replayed, or were not asked to be.
    const std::string& replay_fallback_reason() const;
    // The name of a step of this rank, as ticket.times() counts them: "operation `f` of `y`".
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
    // Waits for the runs in flight, up to the time limit; while an exception passes, they are aborted on all ranks.
    ~basic_executor() {
        if (engine_) close();
    }

    // Once, in the constructor.
    void open(std::shared_ptr<dovetail::engine> of, bool times, const plan_options& s);
    const std::shared_ptr<dovetail::engine>& held() const { return engine_; }
    void bind_symbol(int symbol, binding b);
    std::shared_ptr<run_state> run_once();
    // `stream`: the caller's.
    std::shared_ptr<run_state> run_behind(void* stream);
    // Whether this rank plays a role, by its number.
    bool plays(int role) const;
    // A state, after the runs issued so far. `count` elements are given; throws where the state has another number.
    void read_symbol(int symbol, void* to) const;
    void write_symbol(int symbol, const void* from, std::int64_t count);

private:
    void close() noexcept;
    std::shared_ptr<run_state> seen(std::shared_ptr<run_state> f) const;

    std::shared_ptr<dovetail::engine> engine_;
    run_observer* observer_ = nullptr;
    int unwinding_ = 0;  // exceptions that passed when this was made
};

}  // namespace dovetail

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "basic_executor.ipp"
#endif
