// What `run` returns: when the run has ended, what it made, how long its steps took. A ticket may outlive its executor; it
// may be copied, and dropped without waiting.
#pragma once

#include "engine.hpp"

namespace dovetail {

// The part that knows no graph type.
class basic_ticket {
public:
    basic_ticket() = default;
    basic_ticket(std::shared_ptr<engine> of, std::shared_ptr<flight> f) : engine_{std::move(of)}, flight_{std::move(f)} {}

    // Returns when the run has ended on this rank. Throws what went wrong; timeout after the executor's time limit.
    void wait() const { checked().finish(flight_, std::nullopt); }
    // The same with a limit of its own. The time-out names the operation that is stuck; one may wait again after it.
    template <class Duration>
    void wait_for(Duration limit) const {
        checked().finish(flight_, launch::nanoseconds_of(limit));
    }
    bool ready() const { return checked().ready(*flight_); }
    // Whether the memory that inputs were bound to may be changed.
    bool consumed() const { return checked().consumed(*flight_); }
    // Number of the run, from 0.
    std::int64_t run() const {
        static_cast<void>(checked());
        return flight_->run;
    }
    // By step of this rank's role, in issue order; empty unless the executor records times. Waits for the end of the run.
    const std::vector<step_time>& times() const {
        wait();
        return flight_->times;
    }
    const std::shared_ptr<flight>& record() const { return flight_; }

protected:
    engine& checked() const {
        if (!flight_) throw usage_error{"a ticket of no run"};
        return *engine_;
    }

    std::shared_ptr<engine> engine_;
    std::shared_ptr<flight> flight_;
};

template <class... Tickets>
void wait_all(const Tickets&... tickets) {
    (tickets.wait(), ...);
}

// An output of one run, in place. While it lives, its slot is not used again: `run` waits.
class basic_reading {
public:
    basic_reading(std::shared_ptr<engine> of, std::shared_ptr<flight> f, int symbol) : engine_{std::move(of)}, flight_{std::move(f)} {
        const int buffer = engine_->output_buffer(symbol);
        engine_->hold(*flight_);
        data_ = engine_->memory_of.at(buffer, flight_->run, flight_->inputs);
    }
    basic_reading(basic_reading&& other) noexcept : engine_{std::move(other.engine_)}, flight_{std::move(other.flight_)}, data_{other.data_} {}
    basic_reading& operator=(basic_reading&& other) noexcept {
        std::swap(engine_, other.engine_);
        std::swap(flight_, other.flight_);
        std::swap(data_, other.data_);
        return *this;
    }
    ~basic_reading() {
        if (engine_) engine_->release(*flight_);
    }
    const void* address() const { return data_; }
    void copy(void* to, std::int64_t from_byte, std::int64_t bytes) const {
        if (bytes > 0) engine_->memory_of.source()->to_host(to, static_cast<const char*>(data_) + from_byte, bytes);
    }

private:
    std::shared_ptr<engine> engine_;
    std::shared_ptr<flight> flight_;
    void* data_ = nullptr;
};

template <class Tensor>
class reading : basic_reading {
public:
    using tensor = Tensor;
    using element_type = typename Tensor::element_type;
    using basic_reading::basic_reading;

    static constexpr std::int64_t size() { return Tensor::size; }
    // In the memory of the rank: a device pointer on a GPU.
    const element_type* data() const { return static_cast<const element_type*>(address()); }
    // One element, copied to the host.
    element_type operator[](std::int64_t i) const {
        element_type x;
        copy(&x, i * static_cast<std::int64_t>(sizeof x), sizeof x);
        return x;
    }
    std::vector<element_type> host() const {
        std::vector<element_type> all(static_cast<std::size_t>(Tensor::size));
        copy(all.data(), 0, Tensor::bytes);
        return all;
    }
};

}  // namespace dovetail
