// What each step of a role does with memory that is not the plan's: the caller's inputs, and states.
#pragma once

#include "../binding/binding.hpp"
#include "commands.hpp"

#include <vector>

namespace dovetail::host {

class step_uses {
public:
    void add(const ir::program& p, const ir::step& s) {
        const bool copies = p.tasks[s.task].kind == op_kind::input;
        steps_.push_back({copies, copies || touches(p, s, ir::storage::input, access_mode::read)});
        update_states_ = update_states_ || touches(p, s, ir::storage::state, access_mode::write);
    }
    // Whether any step updates a state. If so, a run that fails at any step loses the states: it has made updates before, or has not made
    // those that other ranks may have made.
    bool update_states() const { return update_states_; }
    // Whether a step of a run with these bindings reads memory of the caller.
    bool reads_caller(int step, const std::vector<binding>& bound) const {
        const uses& s = steps_[static_cast<std::size_t>(step)];
        return s.copies_input || (s.reads_input && reads_in_place(bound));
    }
    // How many do.
    int readers(const std::vector<binding>& bound) const {
        const bool in_place = reads_in_place(bound);
        int count = 0;
        for (const uses& s : steps_) count += s.copies_input || (in_place && s.reads_input) ? 1 : 0;
        return count;
    }

private:
    struct uses {
        bool copies_input = false, reads_input = false;
    };
    static bool reads_in_place(const std::vector<binding>& bound) {
        for (const binding& b : bound)
            if (b.from == binding_source::in_place) return true;
        return false;
    }
    std::vector<uses> steps_;
    bool update_states_ = false;
};

}  // namespace dovetail::host
