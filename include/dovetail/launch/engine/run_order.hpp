// The order of the runs of one executor, and where the latest ones write memory of the caller. The engines that dv::tuned compares share
// it: each has slots and run numbers of its own, and all write the outputs where the executor binds them.
#pragma once

#include "run_state.hpp"

#include <condition_variable>
#include <mutex>
#include <string>

namespace dovetail::launch {

class run_slots;

class run_order {
public:
    std::mutex mutex;                  // held by callers of all here but `enter` and `leave`; guards the slots of the members
    std::condition_variable released;  // a reading was destroyed

    // Before the first run.
    void enter(run_slots* one, std::size_t slots) {
        const std::lock_guard lock{mutex};
        members_.push_back(one);
        if (slots > latest_.size()) latest_.resize(slots);
    }
    void leave(const run_slots* one) {
        const std::lock_guard lock{mutex};
        std::erase(members_, one);
    }
    const std::vector<run_slots*>& members() const { return members_; }
    // Of the next run.
    std::int64_t next() const { return next_; }
    void add(run_state& f, const run_slots* by) {
        f.order = next_++;
        writer& w = at(f.order);
        w.by = by;
        w.run = f.run;
        w.writes = f.writes;
    }
    // The later runs that write where a run has an output, of this symbol or of any (-1), for a message: "run 3 writes", "run 0 of another
    // plan writes"; empty if there are none. Of a run that has had more runs behind it than are known, it may be any of them.
    std::string overwriters(const run_state& f, int output, const run_slots* own) const {
        if (next_ - 1 - f.order > static_cast<std::int64_t>(latest_.size()))
            return overwritten(f.writes, f.writes, output) != nullptr ? "later runs of other plans may write" : "";
        for (std::int64_t later = f.order + 1; later < next_; ++later)
            if (const writer& w = at(later); overwritten(f.writes, w.writes, output) != nullptr)
                return "run " + std::to_string(w.run) + (w.by == own ? " writes" : " of another plan writes");
        return {};
    }

private:
    struct writer {
        const run_slots* by = nullptr;  // compared, not followed: its engine may be gone
        std::int64_t run = 0;
        std::vector<bound_output> writes;
    };
    const writer& at(std::int64_t order) const { return latest_[static_cast<std::size_t>(order) % latest_.size()]; }
    writer& at(std::int64_t order) { return latest_[static_cast<std::size_t>(order) % latest_.size()]; }

    std::vector<run_slots*> members_;
    std::vector<writer> latest_;  // by order: as many as the slots of a member
    std::int64_t next_ = 0;
};

}  // namespace dovetail::launch
