// The table of pointers of one executor: one for each access of its program, then scratch memory, then memory of other ranks. Most never
// change; those of buffers with slots, of inputs and of outputs change from run to run.
#pragma once

#include "../../executable/buffer_addresses.hpp"

#include <numeric>

namespace dovetail::cuda {

class pointer_table {
public:
    pointer_table(const ir::program& program, span<const ir::step> steps, const buffer_addresses& memory, void* scratch)
        : program_{program}, memory_{memory}, all_(static_cast<std::size_t>(program.accesses.size()) + 1, nullptr) {
        all_.back() = scratch;
        std::vector<int> place(static_cast<std::size_t>(program.buffers.size()), -1);
        const std::vector<binding> none(memory.bindings());
        for (const ir::step& s : steps)
            for (const ir::participation& p : program.participations.subspan(s.first_participation, s.participations))
                for (int a = p.first_access; a < p.first_access + p.accesses; ++a) {
                    const int b = program.accesses[a].buffer;
                    const ir::buffer& x = program.buffers[b];
                    if (memory.binding_of(b) < 0 && x.slots <= 1) {
                        all_[a] = static_cast<char*>(memory.at(b, 0, none)) + ir::offset_of(program, program.accesses[a]);
                        continue;
                    }
                    if (place[b] < 0) {
                        place[b] = static_cast<int>(moving_.size());
                        moving_.push_back({b, nullptr, {}});
                        slots_of(x.slots);
                    }
                    moving_[place[b]].accesses.push_back(a);
                }
    }
    // Adds memory of another rank with `slots` slots that runs use in turn; returns its index in the table.
    int add(char* base, std::int64_t stride, int slots) {
        all_.push_back(base);
        const int at = static_cast<int>(all_.size()) - 1;
        if (slots > 1) {
            turning_.push_back({at, base, stride, slots});
            slots_of(slots);
        }
        return at;
    }
    // After this number of runs all pointers have their former values.
    std::int64_t period() const { return period_; }
    void slots_of(std::int64_t n) { period_ = std::lcm(period_, n < 1 ? 1 : n); }

    void move(std::int64_t run, const std::vector<binding>& bound) {
        for (moving& m : moving_) {
            void* const at = memory_.at(m.buffer, run, bound);
            if (at == m.now) continue;
            m.now = at;
            for (const int a : m.accesses)
                all_[static_cast<std::size_t>(a)] = static_cast<char*>(at) + ir::offset_of(program_, program_.accesses[a]);
        }
        for (const turning& t : turning_) all_[static_cast<std::size_t>(t.place)] = t.base + run % t.slots * t.stride;
    }
    void* at(int place, std::int64_t offset = 0) const { return static_cast<char*>(all_[static_cast<std::size_t>(place)]) + offset; }
    void* const* from(int place) const { return &all_[static_cast<std::size_t>(place)]; }

private:
    // A buffer of this rank whose address changes, and its accesses.
    struct moving {
        int buffer = 0;
        void* now = nullptr;
        std::vector<int> accesses;
    };
    struct turning {
        int place = 0;
        char* base = nullptr;
        std::int64_t stride = 0;
        int slots = 1;
    };
    const ir::program& program_;
    const buffer_addresses& memory_;
    std::vector<void*> all_;
    std::vector<moving> moving_;
    std::vector<turning> turning_;
    std::int64_t period_ = 1;
};

}  // namespace dovetail::cuda
