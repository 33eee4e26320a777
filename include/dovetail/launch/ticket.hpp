// The result of `run`: the end of the run, its outputs, the times of its steps. A ticket may outlive its executor; it may be copied, and
// dropped without waiting.
#pragma once

#include "binding/external_tensor.hpp"
#include "engine/step_time.hpp"
#include "world/deadline.hpp"
#include "world/thread_number.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace dovetail {

class engine;
struct run_state;

// The part without the graph's type.
class basic_ticket {
public:
    basic_ticket() = default;
    basic_ticket(std::shared_ptr<engine> of, std::shared_ptr<run_state> f) : engine_{std::move(of)}, run_{std::move(f)} {}

    // Blocks until the run has ended on this rank. Throws the error that ended it; timeout after the executor's time limit.
    void wait() const;
    // The same with a limit of its own. The timeout names the operation that has not ended; waiting again is allowed.
    template <class Rep, class Period>
    void wait_for(std::chrono::duration<Rep, Period> limit) const {
        wait_at_most(launch::nanoseconds_of(limit));
    }
    bool ready() const;
    // Whether the program may change the memory to which inputs were bound.
    bool inputs_released() const;
    // Number of the run, from 0; while dv::tuned compares plans, of the plan that executes it.
    std::int64_t run() const;
    // By step of this rank's role, in issue order; empty unless the executor records times. Waits for the end of the run.
    const std::vector<step_time>& times() const;
    const std::shared_ptr<run_state>& record() const { return run_; }

protected:
    engine& checked() const;
    void enqueue_copy_of(int symbol, const external_tensor& to) const;

    std::shared_ptr<engine> engine_;
    std::shared_ptr<run_state> run_;

private:
    void wait_at_most(std::chrono::nanoseconds limit) const;
};

template <class... Tickets>
void wait_all(const Tickets&... tickets) {
    (tickets.wait(), ...);
}

// An output of one run, in place. While it exists, its slot is not reused: `run` waits for its end, and throws a usage_error if it would
// wait for the calling thread. One that was moved from throws a usage_error when it is asked.
class basic_reading {
public:
    basic_reading(std::shared_ptr<engine> of, std::shared_ptr<run_state> f, int symbol);
    basic_reading(basic_reading&& other) noexcept;
    basic_reading& operator=(basic_reading&& other) noexcept;
    ~basic_reading();

    void hold_for_another_thread();
    // Throws unless there is an element i.
    void check_index(std::int64_t i) const;
    const void* address() const;
    void copy(void* to, std::int64_t from_byte, std::int64_t bytes) const;
    // Throws a usage_error unless the tensor fits the output.
    void copy(const external_tensor& to) const;
    // The same on the stream to which the run was enqueued; does not wait.
    void enqueue_copy(const external_tensor& to) const;
    // The number of the GPU on which the output lies; -1: the host.
    int device() const;

private:
    engine& checked() const;
    void check_fits(const external_tensor& to) const;

    std::shared_ptr<engine> engine_;
    std::shared_ptr<run_state> run_;
    int symbol_ = -1;
    void* data_ = nullptr;
    thread_number holder_ = no_thread;  // no_thread: not known yet
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
    // One element, copied to the host. Throws a usage_error if there is none.
    element_type operator[](std::int64_t i) const {
        check_index(i);
        element_type x;
        copy(&x, i * static_cast<std::int64_t>(sizeof x), sizeof x);
        return x;
    }
    std::vector<element_type> host() const {
        std::vector<element_type> all(static_cast<std::size_t>(Tensor::size));
        copy(all.data(), 0, Tensor::bytes);
        return all;
    }
    // Copies the output into a DLTensor, a DLManagedTensor* or an mdspan, on the host or on this rank's GPU, and waits for the copy. Throws
    // a usage_error unless it is in row-major order and has the element type and the extents of the output.
    template <class To>
        requires(detail::external_fits<To, Tensor>() && !detail::mdspan_of_const<To>)
    void copy_to(const To& to) const {
        copy(detail::describe(to));
    }
    // Makes a DLTensor describe the output in place. It is valid while the reading exists.
    template <detail::dlpack_tensor To>
    void describe_in(To& to) const {
        detail::describe_as_dlpack<Tensor>(to, const_cast<element_type*>(data()), device());
    }
    // The same reading, to be destroyed by another thread: the thread that read it may call `run`, which waits for that.
    reading for_another_thread() && {
        hold_for_another_thread();
        return std::move(*this);
    }
};

}  // namespace dovetail

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "ticket.ipp"
#endif
