// Tickets and readings: their calls of the engine.
#pragma once

#include "engine/engine.hpp"
#include "ticket.hpp"

namespace dovetail {

DOVETAIL_INLINE engine& basic_ticket::checked() const {
    if (!run_) throw usage_error{"a ticket of no run"};
    return *engine_;
}
DOVETAIL_INLINE void basic_ticket::enqueue_copy_of(int symbol, const external_tensor& to) const {
    static_cast<void>(checked());
    basic_reading{engine_, run_, symbol}.enqueue_copy(to);
}
DOVETAIL_INLINE void basic_ticket::wait() const { checked().finish(run_, std::nullopt); }
DOVETAIL_INLINE void basic_ticket::wait_at_most(std::chrono::nanoseconds limit) const { checked().finish(run_, limit); }
DOVETAIL_INLINE bool basic_ticket::ready() const { return checked().ready(*run_); }
DOVETAIL_INLINE bool basic_ticket::inputs_released() const { return checked().inputs_released(*run_); }
DOVETAIL_INLINE std::int64_t basic_ticket::run() const {
    static_cast<void>(checked());
    return run_->run;
}
DOVETAIL_INLINE const std::vector<step_time>& basic_ticket::times() const {
    wait();
    return run_->times;
}

DOVETAIL_INLINE basic_reading::basic_reading(std::shared_ptr<engine> of, std::shared_ptr<run_state> f, int symbol)
    : engine_{std::move(of)}, run_{std::move(f)}, symbol_{symbol}, holder_{launch::this_thread_number()} {
    const int buffer = engine_->output_buffer(symbol);
    engine_->hold(*run_, symbol);
    data_ = engine_->addresses.at(buffer, run_->run, run_->bound);
}
DOVETAIL_INLINE basic_reading::basic_reading(basic_reading&& other) noexcept
    : engine_{std::move(other.engine_)}, run_{std::move(other.run_)}, symbol_{other.symbol_}, data_{other.data_}, holder_{other.holder_} {}
DOVETAIL_INLINE basic_reading& basic_reading::operator=(basic_reading&& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(run_, other.run_);
    std::swap(symbol_, other.symbol_);
    std::swap(data_, other.data_);
    std::swap(holder_, other.holder_);
    return *this;
}
DOVETAIL_INLINE basic_reading::~basic_reading() {
    if (engine_) engine_->release(*run_, holder_, symbol_);
}
DOVETAIL_INLINE engine& basic_reading::checked() const {
    if (!engine_) throw usage_error{"a reading that was moved from"};
    return *engine_;
}
DOVETAIL_INLINE const void* basic_reading::address() const {
    static_cast<void>(checked());
    return data_;
}
DOVETAIL_INLINE void basic_reading::hold_for_another_thread() {
    checked().hold_for_another_thread(*run_, holder_, symbol_);
    holder_ = no_thread;
}
DOVETAIL_INLINE void basic_reading::check_index(std::int64_t i) const {
    const std::int64_t size = checked().graph.symbols[symbol_].type.size();
    if (i >= 0 && i < size) return;
    throw usage_error{"element " + std::to_string(i) + " of output `" + engine_->symbol_name(symbol_) + "` is read, which has " +
                      std::to_string(size) + " elements, on " + engine_->where.describe(engine_->rank)};
}
DOVETAIL_INLINE void basic_reading::copy(void* to, std::int64_t from_byte, std::int64_t bytes) const {
    engine& of = checked();
    if (bytes > 0) of.addresses.source()->to_host(to, static_cast<const char*>(data_) + from_byte, bytes);
    of.check_kept(symbol_);
}
DOVETAIL_INLINE void basic_reading::check_fits(const external_tensor& to) const {
    const tensor_type& type = checked().graph.symbols[symbol_].type;
    const std::string why =
        to.read_only ? std::string{"a read-only tensor"} : detail::mismatch_of(to, type, engine_->addresses.source()->device());
    if (!why.empty())
        throw usage_error{"output `" + engine_->symbol_name(symbol_) + "` is copied to " + why + ", on " +
                          engine_->where.describe(engine_->rank)};
}
DOVETAIL_INLINE void basic_reading::copy(const external_tensor& to) const {
    check_fits(to);
    copy(to.data, 0, to.type.bytes());
}
DOVETAIL_INLINE void basic_reading::enqueue_copy(const external_tensor& to) const {
    engine& of = checked();
    if (!run_->enqueued)
        throw usage_error{"output `" + of.symbol_name(symbol_) + "` is to be copied behind run " + std::to_string(run_->run) + " of " +
                          of.described() + ", which was not enqueued on a stream, on " + of.where.describe(of.rank) +
                          ": use enqueue for the run, or read for the output"};
    check_fits(to);
    of.enqueue_copy(*run_, symbol_, to.data, data_);
}
DOVETAIL_INLINE int basic_reading::device() const {
    return checked().graph.symbols[symbol_].in_host_memory ? -1 : engine_->addresses.source()->device();
}

}  // namespace dovetail
