// Walks one role's part of one run in issue order over the tables of the plan. It allocates nothing and decides nothing. Host threads, CUDA
// streams and the simulator of the tests are its backends. A backend implements
//   wait(stream, event, event_slot, step)   the stream waits for copy `event_slot` of the event, which the role's step `step` records
//   issue(index, step)                      the role's step `index` is queued on its stream
//   record(stream, event, event_slot)       copy `event_slot` of the event is queued on the stream
#pragma once

#include "../../plan/plan.hpp"

namespace dovetail::launch {

template <class Backend>
constexpr void walk(const plan::plan& plan, int role, std::int64_t run, Backend& backend) {
    const ir::role_plan& r = plan.roles[role];
    const ir::step* const steps = plan.steps.first + r.first_step;
    for (int i = 0; i < r.steps; ++i) {
        const ir::step& s = steps[i];
        for (const ir::wait& w : plan.waits.subspan(s.first_wait, s.waits))
            if (w.distance <= run) backend.wait(s.stream, w.event, static_cast<int>((run - w.distance) % plan.event_slots), w.step);
        backend.issue(i, s);
        if (s.event >= 0) backend.record(s.stream, s.event, static_cast<int>(run % plan.event_slots));
    }
}

}  // namespace dovetail::launch
