// Executors: the calls of their engine, and the notifications of the observer of runs.
#pragma once

#include "basic_executor.hpp"
#include "engine/observer.hpp"
#include "tuning/tuner.hpp"

#include <exception>

namespace dovetail {

DOVETAIL_INLINE basic_executor::basic_executor() = default;
DOVETAIL_INLINE basic_executor::basic_executor(basic_executor&& other) noexcept = default;
DOVETAIL_INLINE basic_executor& basic_executor::operator=(basic_executor&& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(latest_, other.latest_);
    std::swap(tuner_, other.tuner_);
    std::swap(observer_, other.observer_);
    return *this;
}
DOVETAIL_INLINE basic_executor::~basic_executor() {
    if (engine_) close();
}

namespace launch {

// Logs on rank 0 if the times by which it was planned were measured on other hardware.
inline void compare_hardware(const engine& e, const profile_table& profile) {
    if (e.rank != 0 || profile.rows.count == 0 || *profile.measured_on == 0) return;
    const std::string here = e.hardware();
    if (here != profile.measured_on)
        log(log_level::warning, "the profile with which `" + display(*e.name) + "` was planned was measured on " + profile.measured_on +
                                    ", and rank 0 runs on " + here + ": DOVETAIL_PROFILE=file.hpp writes one of this hardware");
}

}  // namespace launch

DOVETAIL_INLINE void basic_executor::open(std::shared_ptr<dovetail::engine> of, bool times, const ir::graph& written,
                                          const plan_options& first, const plan_options& second) {
    unwinding_ = std::uncaught_exceptions();
    of->record_times(times);
    if (engine_ == nullptr) launch::compare_hardware(*of, first.profile);  // once for all plans that are compared
    observer_ = observing.load(std::memory_order_acquire);
    if (observer_ != nullptr) observer_->made(*of, of->transport_fallback_reason().empty() ? first : second, written);
    engine_ = std::move(of);
}
DOVETAIL_INLINE void basic_executor::compare(const char* name, std::uint64_t hash, const plan::plan& plan, const plan_options& s,
                                             engine_options& o, const std::function<void()>& open_plan) {
    if (tuner_ == nullptr) tuner_ = std::make_unique<launch::tuner>(s.memory_limit, s.in_flight);
    tuner_->add(name, hash, plan, [&, this] {
        open_plan();
        o.store = engine_->addresses.store();
        return engine_;
    });
}
DOVETAIL_INLINE void basic_executor::begin_tuning() {
    tuner_->start();
    engine_ = tuner_->next();
}
// While plans are compared, the engines of all of them; then the one that is kept.
template <class Call>
void basic_executor::for_each_engine(Call call) const {
    if (tuner_ == nullptr) return call(at());
    for (const auto& candidate : tuner_->compared()) call(*candidate.on);
}
DOVETAIL_INLINE void basic_executor::close(dovetail::engine& one) noexcept {
    one.close(std::uncaught_exceptions() > unwinding_);
    if (observer_ != nullptr) observer_->closed(one);
}
DOVETAIL_INLINE void basic_executor::close() noexcept {
    for_each_engine([this](dovetail::engine& one) { close(one); });
}

DOVETAIL_INLINE dovetail::engine& basic_executor::at() const {
    if (!engine_) throw usage_error{"an executor that was moved from"};
    return *engine_;
}
DOVETAIL_INLINE void basic_executor::record_times(bool on) {
    for_each_engine([&](dovetail::engine& one) { one.record_times(on); });
}
DOVETAIL_INLINE std::string basic_executor::replay_fallback_reason() const { return at().replay_fallback_reason(); }
DOVETAIL_INLINE std::string basic_executor::transport_fallback_reason() const { return at().transport_fallback_reason(); }
DOVETAIL_INLINE const tuning_report& basic_executor::tuning() const {
    static const tuning_report none;
    return tuner_ == nullptr ? none : tuner_->report();
}
DOVETAIL_INLINE std::string basic_executor::step_name(int step) const {
    return (latest_ ? *latest_ : at()).names[static_cast<std::size_t>(step)].text();
}

DOVETAIL_INLINE void basic_executor::bind_symbol(int symbol, binding b) {
    for_each_engine([&](dovetail::engine& one) { one.bind(symbol, b); });
}
DOVETAIL_INLINE void basic_executor::bind_symbol(int symbol, const external_tensor& t) {
    for_each_engine([&](dovetail::engine& one) { one.bind(symbol, binding_of(t), &t); });
}
DOVETAIL_INLINE void basic_executor::bind_output_symbol(int symbol, const external_tensor& to) {
    for_each_engine([&](dovetail::engine& one) { one.bind_output(symbol, to); });
}
DOVETAIL_INLINE void basic_executor::unbind_output_symbol(int symbol) {
    for_each_engine([&](dovetail::engine& one) { one.unbind_output(symbol); });
}
// The engine of the next run; after the decision the others are closed.
DOVETAIL_INLINE void basic_executor::follow_tuner() {
    engine_ = tuner_->next();
    if (!tuner_->decided() || tuner_->compared().size() == 1) return;
    for (const auto& other : tuner_->take_others()) close(*other);
}
template <class Issue>
basic_ticket basic_executor::issue(Issue run) {
    static_cast<void>(at());
    if (tuner_ != nullptr) {
        tuner_->begin_run();
        follow_tuner();
    }
    basic_ticket issued{engine_, run(*engine_)};
    latest_ = engine_;
    if (observer_ != nullptr) observer_->issued(*engine_, issued.record());
    if (tuner_ != nullptr) {
        tuner_->end_run(issued.record());
        follow_tuner();
    }
    return issued;
}
DOVETAIL_INLINE basic_ticket basic_executor::run_once() {
    return issue([](dovetail::engine& one) { return one.run(); });
}
DOVETAIL_INLINE basic_ticket basic_executor::run_behind(void* stream) {
    return issue([&](dovetail::engine& one) { return one.enqueue(stream); });
}

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
DOVETAIL_INLINE void basic_executor::write_symbol(int symbol, const external_tensor& from) {
    const ir::symbol& s = at().graph.symbols[symbol];
    const std::string why = detail::mismatch_of(from, s.type, at().addresses.source()->device());
    if (!why.empty()) throw state_error{"state `" + display(*s.name) + "` is given " + why};
    write_symbol(symbol, from.data, s.type.size());
}

}  // namespace dovetail
