// Random damages: one row of a proven plan is changed. Either the prover refuses the result, or the simulator finds no mistake in it.
#pragma once

#include "hash_ops.hpp"

#include <dovetail/plan/plan.hpp>

namespace support {

enum class mutation { wait_removed, distance_changed, neighbours_swapped, place_taken, stream_changed };
inline constexpr int mutations = 5;

inline const char* name_of(mutation d) {
    static const char* const names[] = {"wait_removed", "distance_changed", "neighbours_swapped", "place_taken", "stream_changed"};
    return names[static_cast<int>(d)];
}

namespace detail {

// Two neighbours in the order are exchanged, on all roles.
inline void swap_neighbours(dv::plan::plan_data& plan, int at) {
    const int a = plan.order[at], b = plan.order[at + 1];
    plan.order[at] = b;
    plan.order[at + 1] = a;
    for (const dv::ir::role_plan& role : plan.roles) {
        int x = -1, y = -1;
        for (int i = 0; i < role.steps; ++i) {
            if (plan.steps[role.first_step + i].task == a) x = i;
            if (plan.steps[role.first_step + i].task == b) y = i;
        }
        if (x < 0 || y < 0) continue;
        const dv::ir::step moved = plan.steps[role.first_step + x];
        plan.steps[role.first_step + x] = plan.steps[role.first_step + y];
        plan.steps[role.first_step + y] = moved;
        for (int i = 0; i < role.steps; ++i) {
            const dv::ir::step& s = plan.steps[role.first_step + i];
            for (int w = s.first_wait; w < s.first_wait + s.waits; ++w) {
                int& step = plan.waits[w].step;
                step = step == x ? y : step == y ? x : step;
            }
        }
    }
}

}  // namespace detail

// False if the plan has no row of this kind.
inline bool mutate(mutation d, const dv::ir::program& p, dv::plan::plan_data& plan, chooser& r) {
    switch (d) {
        case mutation::wait_removed: {
            if (plan.waits.empty()) return false;
            const int w = r.below(plan.waits.size());
            for (dv::ir::step& s : plan.steps) {
                if (w < s.first_wait || w >= s.first_wait + s.waits) continue;
                plan.waits[w] = plan.waits[s.first_wait + s.waits - 1];
                --s.waits;
            }
            return true;
        }
        case mutation::distance_changed: {
            if (plan.waits.empty()) return false;
            int& distance = plan.waits[r.below(plan.waits.size())].distance;
            distance = distance == 0 ? plan.event_slots : distance - 1;
            return true;
        }
        case mutation::neighbours_swapped: {
            if (plan.order.size() < 2) return false;
            detail::swap_neighbours(plan, r.below(plan.order.size() - 1));
            return true;
        }
        case mutation::place_taken: {
            const int a = r.below(plan.placements.size()), b = r.below(plan.placements.size());
            const auto movable = [&](int i) { return plan.placements[i].offset >= 0 && p.buffers[i].bytes > 0 && p.buffers[i].alias < 0; };
            if (!movable(a) || !movable(b) || p.buffers[a].role != p.buffers[b].role ||
                plan.placements[a].offset == plan.placements[b].offset)
                return false;
            for (int i = 0; i < p.buffers.size(); ++i)
                if (i == a || p.buffers[i].alias == a) plan.placements[i].offset = plan.placements[b].offset;
            return true;
        }
        case mutation::stream_changed: {
            if (plan.steps.empty()) return false;
            int& stream = plan.steps[r.below(plan.steps.size())].stream;
            stream = (stream + 1) % dv::stream_count;
            return true;
        }
    }
    return false;
}

}  // namespace support
