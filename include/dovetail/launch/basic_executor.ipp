// Executors: the calls of their engine, and the notifications of the observer of runs.
#pragma once

#include "basic_executor.hpp"
#include "observer.hpp"

#include <exception>

namespace dovetail {

DOVETAIL_INLINE void basic_executor::open(std::shared_ptr<dovetail::engine> of, bool times, const plan_options& first,
                                          const plan_options& second) {
    unwinding_ = std::uncaught_exceptions();
    of->record_times(times);
    observer_ = observing.load(std::memory_order_acquire);
    if (observer_ != nullptr) observer_->made(*of, of->transport_fallback_reason.empty() ? first : second);
    engine_ = std::move(of);
}
DOVETAIL_INLINE void basic_executor::close() noexcept {
    engine_->close(std::uncaught_exceptions() > unwinding_);
    if (observer_ != nullptr) observer_->closed(*engine_);
}

DOVETAIL_INLINE dovetail::engine& basic_executor::at() const {
    if (!engine_) throw usage_error{"an executor that was moved from"};
    return *engine_;
}
DOVETAIL_INLINE void basic_executor::record_times(bool on) { at().record_times(on); }
DOVETAIL_INLINE const std::string& basic_executor::replay_fallback_reason() const { return at().replay_fallback_reason(); }
DOVETAIL_INLINE const std::string& basic_executor::transport_fallback_reason() const { return at().transport_fallback_reason; }
DOVETAIL_INLINE std::string basic_executor::step_name(int step) const { return at().names[static_cast<std::size_t>(step)].text(); }

DOVETAIL_INLINE void basic_executor::bind_symbol(int symbol, binding b) { at().bind(symbol, b); }
DOVETAIL_INLINE std::shared_ptr<run_state> basic_executor::seen(std::shared_ptr<run_state> f) const {
    if (observer_ != nullptr) observer_->issued(*engine_, f);
    return f;
}
DOVETAIL_INLINE std::shared_ptr<run_state> basic_executor::run_once() { return seen(at().run()); }
DOVETAIL_INLINE std::shared_ptr<run_state> basic_executor::run_behind(void* stream) { return seen(at().enqueue(stream)); }

DOVETAIL_INLINE bool basic_executor::plays(int role) const { return at().graph.single_rank || at().role == role; }

DOVETAIL_INLINE void basic_executor::read_symbol(int symbol, void* to) const {
    at().drain();
    at().addresses.store()->read(at().state_of(symbol), to);
}
DOVETAIL_INLINE void basic_executor::write_symbol(int symbol, const void* from, std::int64_t count) {
    const ir::symbol& s = at().graph.symbols[symbol];
    if (count != s.type.size())
        throw state_error{"state `" + display(*s.name) + "` has " + std::to_string(s.type.size()) + " elements, and " +
                          std::to_string(count) + " were given"};
    at().drain();
    at().addresses.store()->write(at().state_of(symbol), from);
}

}  // namespace dovetail
