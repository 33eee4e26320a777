// emit: from the program and one candidate's order, streams and times to the tables of the plan: the steps, waits, events and memory of
// each role.
#pragma once

#include "../pass/sync/waits_across_runs.hpp"
#include "memory_limit.hpp"
#include "plan.hpp"

namespace dovetail::plan {

namespace detail {

// Writes all steps with their waits and events. The waits of a step on its own run precede those on earlier runs; the events of a role are
// numbered in the order in which they are recorded.
template <class Program, class Times, class Table>
constexpr void emit_steps(const pass::basic_issue_order<Program>& issued, const vec<pass::pending_wait>& in_run,
                          const vec<pass::pending_wait>& across, const Times& t, Table& to) {
    const int count = issued.steps.size();
    const bool waits_on_earlier_runs = !across.empty();
    to.steps.resize(count);
    to.waits.resize(in_run.size() + across.size());
    auto& rows = to.steps.first;
    auto& waits = to.waits.first;
    const auto& steps = issued.steps.first;
    const auto &start = t.start.first, &end_of = t.end.first;
    // By step: the number of its event plus 1; 0: no step waits for it; -1: not numbered so far.
    auto event_room = room<int, decltype(Program::participations)>::sized(count);
    auto& event_of = event_room.first;
    vec<int> first_list(waits_on_earlier_runs ? count : 0, -1), next(across.size(), unset{}), place(across.size(), unset{});
    int* first = first_list.begin();
    const pass::pending_wait *local = in_run.begin(), *const locals = in_run.end();
    for (const pass::pending_wait* w = local; w != locals; ++w) event_of[w->on] = -1;
    for (int a = across.size() - 1; a >= 0; --a) {
        const pass::pending_wait& w = across[a];
        event_of[w.on] = -1;
        next[a] = first[w.step];
        first[w.step] = a;
        if (to.event_slots < w.distance) to.event_slots = w.distance;
    }
    int n = 0, before = 0, v = 0, a = 0;  // declared once, see plan/compile/README.md
    for (ir::role_plan *role = to.roles.begin(), *last = role + to.roles.size(); role != last; ++role) {
        const int begin = role->first_step;
        int events = 0;
        for (int s = begin, end = begin + role->steps; s < end; ++s) {
            before = n;
            v = steps[s].task;
            if (event_of[s] < 0) event_of[s] = ++events;
            for (; local != locals && local->step == s; ++local) waits[n++] = {event_of[local->on] - 1, 0, local->on - begin};
            if (waits_on_earlier_runs)
                for (a = first[s]; a >= 0; a = next[a]) {
                    // Its event is not numbered so far.
                    place[a] = n;
                    waits[n++] = {0, across[a].distance, across[a].on - begin};
                }
            rows[s] = {v,
                       steps[s].first_participation,
                       steps[s].participations,
                       steps[s].stream,
                       before,
                       n - before,
                       event_of[s] - 1,
                       start[v],
                       end_of[v]};
        }
        role->events = events;
    }
    for (a = 0; a < across.size(); ++a) waits[place[a]].event = event_of[across[a].on] - 1;
}

}  // namespace detail

// Writes a plan to tables that are large enough, or grow. A plan that exceeds the limit has its bytes in `roles` and no steps.
// `sequential`: the predicted time of the sequential candidate; for a plan of one stream, its own time is used.
template <class Program, class Schedule, class Flow, class Memory, class Table>
constexpr void emit(const Program& p, const Schedule& t, std::int64_t sequential, std::int64_t limit,
                    const pass::basic_issue_order<Program>& issued, const Flow& flow, const Memory& memory,
                    const vec<pass::pending_wait>& across, Table& to) {
    const bool fits = within(limit, memory.roles.view());
    to.roles.resize(p.roles);
    copy_elements(memory.roles, to.roles);
    to.order.resize(fits ? t.order.size() : 0);
    to.placements.resize(fits ? p.buffers.size() : 0);
    to.overlapped = t.overlapped;
    to.predicted = t.length;
    to.predicted_sequential = t.overlapped ? sequential : t.length;
    if (!fits) {
        to.steps.resize(0);
        to.waits.resize(0);
        return;
    }
    copy_elements(t.order, to.order);
    copy_elements(memory.placements, to.placements);
    detail::emit_steps(issued, flow.waits.waits, across, t, to);
}

}  // namespace dovetail::plan
