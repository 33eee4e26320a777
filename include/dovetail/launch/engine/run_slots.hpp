// The slots of an executor's runs: as many as runs may be in flight. Each holds the latest run that uses it, and is not reused while a
// reading holds a result of that run.
#pragma once

#include "../world/deadline.hpp"
#include "run_state.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
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
        const std::lock_guard lock{mutex_};
        return slots_;
    }

    // Keeps the slot of a run from being reused, until `release`. `overwrites(later)`: whether a later run writes where the output is.
    void hold(run_state& f) {
        hold(f, -1, [](const run_state&) { return false; });
    }
    template <class Overwrites>
    void hold(run_state& f, int output, Overwrites overwrites) {
        const std::lock_guard lock{mutex_};
        const auto& current = slots_[index(f.run)];
        if (current.get() != &f)
            throw usage_error{"the results of run " + std::to_string(f.run) + " of " + of_ + " are gone: run " +
                              std::to_string(current->run) + " uses their slot (runs in flight: " + std::to_string(count()) + ")"};
        for (const auto& later : slots_)
            if (later && later->run > f.run && overwrites(*later))
                throw usage_error{"the results of run " + std::to_string(f.run) + " of " + of_ + " are gone: run " +
                                  std::to_string(later->run) + " writes where they were bound, on " + place_};
        f.holders.push_back({this_thread_number(), output});
    }
    // `by` is the thread that called `hold`, or none after `hold_for_another_thread`.
    void release(run_state& f, thread_number by, int output = -1) noexcept {
        {
            const std::lock_guard lock{mutex_};
            f.holders.erase(std::find(f.holders.begin(), f.holders.end(), reading_hold{by, output}));
        }
        released_.notify_all();
    }
    // From now on any thread may release what `by` holds.
    void hold_for_another_thread(run_state& f, thread_number by, int output = -1) {
        const std::lock_guard lock{mutex_};
        std::find(f.holders.begin(), f.holders.end(), reading_hold{by, output})->by = no_thread;
    }

    // The state of a new run, once no reading holds the run in its slot. When the slot is free, `ready(slots)` is called, which may throw,
    // with the latest run that uses each, and then `prepare(state)`, before others see the run.
    template <class Ready, class Prepare>
    std::shared_ptr<run_state> claim(std::int64_t run, std::chrono::nanoseconds limit, Ready ready, Prepare prepare) {
        std::unique_lock lock{mutex_};
        std::shared_ptr<run_state>& slot = slots_[index(run)];
        wait_for_release(lock, slot, run, limit);
        ready(std::as_const(slots_));
        recycle(slot);
        slot->run = run;
        prepare(*slot);
        return slot;
    }

private:
    static constexpr std::size_t most_spare = 16;

    std::size_t index(std::int64_t run) const { return static_cast<std::size_t>(run) % slots_.size(); }
    void wait_for_release(std::unique_lock<std::mutex>& lock, const std::shared_ptr<run_state>& slot, std::int64_t run,
                          std::chrono::nanoseconds limit) {
        const auto free = [&] { return !slot || slot->holders.empty(); };
        if (free()) return;
        const std::string text =
            "run " + std::to_string(run) + " of " + of_ + " needs the slot of run " + std::to_string(slot->run) + ", whose result ";
        if (std::any_of(slot->holders.begin(), slot->holders.end(), [](const reading_hold& h) { return h.by == this_thread_number(); }))
            throw usage_error{text + "this thread still holds by a reading, on " + place_ +
                              ": destroy the reading first, or copy it with .host(), or allow more runs in flight (dv::in_flight<" +
                              std::to_string(count() + 1) +
                              ">); if another thread destroys the reading, take it with .for_another_thread()"};
        if (!released_.wait_until(lock, after(limit), free))
            throw timeout{"timeout after " + in_seconds(limit) + ": " + text + "is still held by a reading on " + place_, rank_};
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
        slot->reported.store(false, std::memory_order_relaxed);
    }

    const std::string of_, place_;
    const int rank_;
    std::vector<std::shared_ptr<run_state>> slots_;  // the latest run that uses each
    std::vector<std::shared_ptr<run_state>> spare_;  // of earlier runs, reused when their tickets are gone
    std::mutex mutex_;
    std::condition_variable released_;
};

}  // namespace dovetail::launch
