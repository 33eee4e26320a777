// Plans damaged on purpose: one row of a proven plan is changed. The prover must refuse the damaged plan, or the simulator
// must find nothing wrong with it.
#pragma once

#include "hash_ops.hpp"

#include <dovetail/ir/table.hpp>
#include <dovetail/plan/plan.hpp>

#include <algorithm>

namespace support {

enum class damage { less_waiting, other_lag, step_earlier, other_place, other_lane, count };

inline const char* name_of(damage d) {
    static const char* const names[] = {"less_waiting", "other_lag", "step_earlier", "other_place", "other_lane"};
    return names[static_cast<int>(d)];
}

// False where the plan has nothing of the kind to damage.
inline bool inflict(damage d, const dv::ir::program& p, dv::plan::plan_data& plan, chooser& r) {
    if (d == damage::less_waiting || d == damage::other_lag) {
        if (plan.waits.empty()) return false;
        const int w = r.below(plan.waits.size());
        if (d == damage::other_lag) {
            const int lag = plan.waits[w].lag;
            plan.waits[w].lag = lag == 0 ? plan.rings : lag - 1;
            return true;
        }
        for (dv::ir::step& s : plan.steps) {
            if (w < s.first_wait || w >= s.first_wait + s.waits) continue;
            std::swap(plan.waits[w], plan.waits[s.first_wait + s.waits - 1]);
            --s.waits;
        }
        return true;
    }
    if (d == damage::step_earlier) {  // two neighbours of the one order, on all roles alike
        if (plan.order.size() < 2) return false;
        const int at = r.below(plan.order.size() - 1);
        const int a = plan.order[at], b = plan.order[at + 1];
        std::swap(plan.order[at], plan.order[at + 1]);
        for (const dv::ir::role_plan& role : plan.roles) {
            int x = -1, y = -1;
            for (int i = 0; i < role.steps; ++i) {
                if (plan.steps[role.first_step + i].vertex == a) x = i;
                if (plan.steps[role.first_step + i].vertex == b) y = i;
            }
            if (x < 0 || y < 0) continue;
            std::swap(plan.steps[role.first_step + x], plan.steps[role.first_step + y]);
            for (int i = 0; i < role.steps; ++i) {
                const dv::ir::step& s = plan.steps[role.first_step + i];
                for (int w = s.first_wait; w < s.first_wait + s.waits; ++w)
                    plan.waits[w].step = plan.waits[w].step == x ? y : plan.waits[w].step == y ? x : plan.waits[w].step;
            }
        }
        return true;
    }
    if (d == damage::other_place) {
        const int a = r.below(plan.placements.size()), b = r.below(plan.placements.size());
        const auto fits = [&](int i) { return plan.placements[i].offset >= 0 && p.buffers[i].bytes > 0 && p.buffers[i].alias < 0; };
        if (a == b || !fits(a) || !fits(b) || p.buffers[a].role != p.buffers[b].role) return false;
        const std::int64_t offset = plan.placements[a].offset;
        plan.placements[a].offset = plan.placements[b].offset;
        for (int i = 0; i < p.buffers.size(); ++i)
            if (p.buffers[i].alias == a) plan.placements[i].offset = plan.placements[a].offset;
        return offset != plan.placements[a].offset;
    }
    const int s = r.below(plan.steps.size());
    plan.steps[s].lane = (plan.steps[s].lane + 1) % dv::lane_count;
    return true;
}

}  // namespace support
