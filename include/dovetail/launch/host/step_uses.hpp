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
        steps_.push_back({copies, copies || touches(p, s, ir::storage::input, access_mode::read),
                          touches(p, s, ir::storage::state, access_mode::write)});
    }
    bool updates_state(int step) const { return steps_[static_cast<std::size_t>(step)].updates_state; }
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
        bool copies_input = false, reads_input = false, updates_state = false;
    };
    static bool reads_in_place(const std::vector<binding>& bound) {
        for (const binding& b : bound)
            if (b.from == binding_source::in_place) return true;
        return false;
    }
    std::vector<uses> steps_;
};

}  // namespace dovetail::host
