// The slots of an engine's runs: as many as runs may be in flight. Each holds the latest run that uses it, and is not reused while a
// reading holds a result of that run. Nor is memory of the caller written while a reading holds a result there: by a run of this engine, or
// of another one of the same executor.
#pragma once

#include "../world/deadline.hpp"
#include "run_order.hpp"

#include <algorithm>
#include <utility>

namespace dovetail::launch {

// The number of slots of a role: as many as runs may be in flight, or as outputs have.
inline int slots_of(const ir::program& p, int role, int in_flight) {
    int count = in_flight < 1 ? 1 : in_flight;
    for (const ir::buffer& b : p.buffers)
        if (b.role == role && b.output && b.slots < count) count = b.slots < 1 ? 1 : b.slots;
    return count;
}

class run_slots {
public:
    // `of` and `place` appear in messages: "`model`", "rank 1 (role `b`)".
    run_slots(int count, std::string of, std::string place, int rank) : of_{std::move(of)}, place_{std::move(place)}, rank_{rank} {
        slots_.resize(static_cast<std::size_t>(count));
        spare_.reserve(most_spare);
        order_->enter(this, slots_.size());
    }
    run_slots(const run_slots&) = delete;
    run_slots& operator=(const run_slots&) = delete;
    ~run_slots() { order_->leave(this); }
    // Called before the first run: the runs of both are those of one executor.
    void share_order(run_slots& other) {
        order_->leave(this);
        order_ = other.order_;
        order_->enter(this, slots_.size());
    }

    int count() const { return static_cast<int>(slots_.size()); }
    // The run that used the slot before this one; null if there is none.
    const std::shared_ptr<run_state>& before(std::int64_t run) const { return slots_[index(run)]; }
    // The state of a run that was issued. If a later run has reused its slot, a new state that only has the run's number.
    std::shared_ptr<run_state> issued(std::int64_t run) const {
        const auto& slot = slots_[index(run)];
        if (slot && slot->run == run) return slot;
        auto f = std::make_shared<run_state>();
        f->run = run;
        return f;
    }
    std::vector<std::shared_ptr<run_state>> all() {
        const std::lock_guard lock{order_->mutex};
        return slots_;
    }

    // Calls `call` with the latest run in each slot of the executor. For those that are called by `claim`.
    template <class Call>
    void for_each_run(Call call) const {
        for (const run_slots* const one : order_->members())
            for (const auto& f : one->slots_)
                if (f) call(std::as_const(*f));
    }

    // Keeps the slot of a run from being reused, until `release`, and where it has the output, of this symbol or of any (-1), from being
    // written.
    void hold(run_state& f, int output = -1) {
        const std::lock_guard lock{order_->mutex};
        const auto& current = slots_[index(f.run)];
        if (current.get() != &f)
            throw usage_error{"the results of run " + std::to_string(f.run) + " of " + of_ + " are gone: run " +
                              std::to_string(current->run) + " uses their slot (runs in flight: " + std::to_string(count()) + ")"};
        if (const std::string who = order_->overwriters(f, output, this); !who.empty())
            throw usage_error{"the results of run " + std::to_string(f.run) + " of " + of_ + " are gone: " + who +
                              " where they were bound, on " + place_};
        f.holders.push_back({this_thread_number(), output});
    }
    // `by` is the thread that called `hold`, or none after `hold_for_another_thread`.
    void release(run_state& f, thread_number by, int output = -1) noexcept {
        {
            const std::lock_guard lock{order_->mutex};
            f.holders.erase(std::find(f.holders.begin(), f.holders.end(), reading_hold{by, output}));
        }
        order_->released.notify_all();
    }
    // From now on any thread may release what `by` holds.
    void hold_for_another_thread(run_state& f, thread_number by, int output = -1) {
        const std::lock_guard lock{order_->mutex};
        std::find(f.holders.begin(), f.holders.end(), reading_hold{by, output})->by = no_thread;
    }

    // The state of a new run that writes this memory of the caller, once no reading holds the run in its slot. When the slot is free,
    // `ready(*this)` is called, which may throw, and then `prepare(state)`, before others see the run.
    template <class Ready, class Prepare>
    std::shared_ptr<run_state> claim(std::int64_t run, std::chrono::nanoseconds limit, Ready ready, Prepare prepare,
                                     const std::vector<bound_output>& writes = {}) {
        std::unique_lock lock{order_->mutex};
        std::shared_ptr<run_state>& slot = slots_[index(run)];
        wait_for_release(lock, slot.get(), run, writes, limit);
        ready(std::as_const(*this));
        recycle(slot);
        slot->run = run;
        slot->writes = writes;
        order_->add(*slot, this);
        prepare(*slot);
        return slot;
    }

private:
    static constexpr std::size_t most_spare = 16;

    std::size_t index(std::int64_t run) const { return static_cast<std::size_t>(run) % slots_.size(); }
    // Of a run that a reading holds, the one in the slot, or one of another engine that writes the same memory and whose slot the new run
    // would need if the executor had one engine; null if there is none.
    const run_state* held_in_the_way(const run_state* slot, const std::vector<bound_output>& writes) const {
        if (slot != nullptr && !slot->holders.empty()) return slot;
        const run_state* found = nullptr;
        for_each_run([&, this](const run_state& f) {
            for (const reading_hold& held : f.holders)
                if (f.order + count() <= order_->next() && overwritten(f.writes, writes, held.output) != nullptr) found = &f;
        });
        return found;
    }
    void wait_for_release(std::unique_lock<std::mutex>& lock, const run_state* slot, std::int64_t run,
                          const std::vector<bound_output>& writes, std::chrono::nanoseconds limit) {
        if (held_in_the_way(slot, writes) == nullptr) return;
        const auto until = after(limit);
        while (const run_state* const f = held_in_the_way(slot, writes)) {
            const std::string number = std::to_string(f->run) + (slots_[index(f->run)].get() == f ? "" : " of another plan");
            const std::string text = "run " + std::to_string(run) + " of " + of_ +
                                     (f == slot ? " needs the slot of run " : " writes to the memory of run ") + number + ", whose result ";
            const auto mine = [&](const reading_hold& h) {
                return h.by == this_thread_number() && (f == slot || overwritten(f->writes, writes, h.output) != nullptr);
            };
            if (std::any_of(f->holders.begin(), f->holders.end(), mine))
                throw usage_error{text + "this thread still holds by a reading, on " + place_ +
                                  ": destroy the reading first, or copy it with .host(), or allow more runs in flight (dv::in_flight<" +
                                  std::to_string(count() + 1) +
                                  ">); if another thread destroys the reading, take it with .for_another_thread()"};
            if (!order_->released.wait_until(lock, until, [&, this] { return held_in_the_way(slot, writes) != f; }))
                throw timeout{"timeout after " + in_seconds(limit) + ": " + text + "is still held by a reading on " + place_, rank_};
        }
    }
    // Reuses the run state in the slot, or an earlier one to which no ticket refers any more, so that runs whose tickets are kept for a
    // while allocate nothing either.
    void recycle(std::shared_ptr<run_state>& slot) {
        if (slot && slot.use_count() > 1) {
            std::shared_ptr<run_state>* unknown = nullptr;
            for (auto& f : spare_)
                if (f.use_count() == 1) unknown = &f;
            if (unknown != nullptr)
                slot.swap(*unknown);
            else if (spare_.size() < most_spare)
                spare_.push_back(std::exchange(slot, nullptr));
            else
                slot = nullptr;
        }
        if (!slot) {
            slot = std::make_shared<run_state>();
            return;
        }
        slot->times.clear();
        slot->pending.store(0, std::memory_order_relaxed);
        slot->reading_inputs.store(0, std::memory_order_relaxed);
        slot->failed.store(false, std::memory_order_relaxed);
        slot->states_lost.store(false, std::memory_order_relaxed);
        slot->reported.store(false, std::memory_order_relaxed);
    }

    const std::string of_, place_;
    const int rank_;
    std::vector<std::shared_ptr<run_state>> slots_;  // the latest run that uses each
    std::vector<std::shared_ptr<run_state>> spare_;  // of earlier runs, reused when their tickets are gone
    std::shared_ptr<run_order> order_ = std::make_shared<run_order>();
};

}  // namespace dovetail::launch
