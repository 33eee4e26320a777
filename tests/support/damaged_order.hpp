// Damages of the order, the steps, their streams, waits and events.
#pragma once

#include "damaged_rows.hpp"

namespace support {

inline bool drop_wait(subject& s, int site) {
    const int w = detail::nth(s.plan.waits, site, [](const auto&) { return true; });
    if (w < 0) return false;
    dv::ir::step& x = s.plan.steps[detail::step_of_wait(s, w)];
    for (int i = w; i + 1 < x.first_wait + x.waits; ++i) s.plan.waits[i] = s.plan.waits[i + 1];
    --x.waits;
    return true;
}
inline bool drop_wrap_wait(subject& s, int site) {
    for (int w = 0; w < s.plan.waits.size(); ++w)
        if (s.plan.waits[w].distance > 0 && site-- == 0) return drop_wait(s, w);
    return false;
}
// The waits of the largest distance are left out, and the event_slots that they need.
inline bool drop_longest_waits(subject& s, int site) {
    if (site > 0 || s.plan.waits.empty()) return false;
    const int longest = s.plan.event_slots;
    for (int w = s.plan.waits.size() - 1; w >= 0; --w)
        if (s.plan.waits[w].distance == longest) drop_wait(s, w);
    s.plan.event_slots = 1;
    for (const dv::ir::step& x : s.plan.steps)
        for (const dv::ir::wait& w : s.plan.waits.view().subspan(x.first_wait, x.waits))
            if (w.distance > s.plan.event_slots) s.plan.event_slots = w.distance;
    return true;
}
inline bool wait_for_another_event(subject& s, int site) {
    if (site >= s.plan.waits.size()) return false;
    const int events = s.plan.roles[detail::role_of_step(s, detail::step_of_wait(s, site))].events;
    s.plan.waits[site].event = (s.plan.waits[site].event + 1) % (events + 1);
    return true;
}
// Event and step of a wait both name the record of an earlier step: only the ordering is wrong.
inline bool wait_for_an_earlier_step(subject& s, int site) {
    if (site >= s.plan.waits.size()) return false;
    const dv::ir::role_plan& r = s.plan.roles[detail::role_of_step(s, detail::step_of_wait(s, site))];
    dv::ir::wait& w = s.plan.waits[site];
    for (int i = w.step - 1; i >= 0; --i)
        if (s.plan.steps[r.first_step + i].event >= 0) {
            w.event = s.plan.steps[r.first_step + i].event;
            w.step = i;
            return true;
        }
    return false;
}
inline bool wait_one_run_further_back(subject& s, int site) {
    const int w = detail::nth(s.plan.waits, site, [](const dv::ir::wait& x) { return x.distance > 0; });
    if (w >= 0) ++s.plan.waits[w].distance;
    return w >= 0;
}
// As above, with event_slots that have room for it.
inline bool wait_one_run_further_back_in_more_slots(subject& s, int site) {
    const bool done = wait_one_run_further_back(s, site);
    if (done) ++s.plan.event_slots;
    return done;
}
inline bool wait_for_this_run_instead(subject& s, int site) {
    const int w = detail::nth(s.plan.waits, site, [](const dv::ir::wait& x) { return x.distance > 0; });
    if (w >= 0) s.plan.waits[w].distance = 0;
    return w >= 0;
}
inline bool wait_for_the_run_before(subject& s, int site) {
    const int w = detail::nth(s.plan.waits, site, [](const dv::ir::wait& x) { return x.distance == 0; });
    if (w >= 0) s.plan.waits[w].distance = 1;
    return w >= 0;
}
inline bool leave_event_unrecorded(subject& s, int site) {
    const int k = detail::nth(s.plan.steps, site, [](const dv::ir::step& x) { return x.event >= 0; });
    if (k >= 0) s.plan.steps[k].event = -1;
    return k >= 0;
}
inline bool record_event_elsewhere(subject& s, int site) {
    const int k = detail::nth(s.plan.steps, site, [](const dv::ir::step& x) { return x.event >= 0; });
    if (k < 0) return false;
    const int role = detail::role_of_step(s, k), first = s.plan.roles[role].first_step, last = first + s.plan.roles[role].steps - 1;
    const int other = k < last ? k + 1 : k - 1;
    if (other < first) return false;
    const int e = s.plan.steps[other].event;
    s.plan.steps[other].event = s.plan.steps[k].event;
    s.plan.steps[k].event = e;
    return true;
}
inline bool record_event_twice(subject& s, int site) {
    const int k = detail::nth(s.plan.steps, site, [](const dv::ir::step& x) { return x.event >= 0; });
    if (k < 0) return false;
    const dv::ir::role_plan& r = s.plan.roles[detail::role_of_step(s, k)];
    for (int i = r.first_step + r.steps - 1; i >= r.first_step; --i)
        if (i != k) {
            s.plan.steps[i].event = s.plan.steps[k].event;
            return true;
        }
    return false;
}
inline bool swap_steps_of_one_role(subject& s, int site) {
    for (const dv::ir::role_plan& r : s.plan.roles)
        for (int k = r.first_step; k + 1 < r.first_step + r.steps; ++k)
            if (site-- == 0) {
                detail::swap_steps(s, k);
                return true;
            }
    return false;
}
// Two dependent tasks are exchanged in the order and in the steps of all roles.
inline bool swap_dependent_tasks(subject& s, int site) {
    for (int i = 0; i + 1 < s.plan.order.size(); ++i) {
        const int v = s.plan.order[i], w = s.plan.order[i + 1];
        if (!detail::dependent(s, v, w) || site-- != 0) continue;
        s.plan.order[i] = w;
        s.plan.order[i + 1] = v;
        for (int k = 0; k + 1 < s.plan.steps.size(); ++k)
            if (s.plan.steps[k].task == v && s.plan.steps[k + 1].task == w && detail::role_of_step(s, k) == detail::role_of_step(s, k + 1))
                detail::swap_steps(s, k);
        return true;
    }
    return false;
}
inline bool repeat_in_order(subject& s, int site) {
    if (site + 1 >= s.plan.order.size()) return false;
    s.plan.order[site] = s.plan.order[site + 1];
    return true;
}
inline bool leave_out_step(subject& s, int site) {
    if (site >= s.plan.steps.size()) return false;
    detail::erase_step(s, site);
    return true;
}
inline bool duplicate_step(subject& s, int site) {
    if (site >= s.plan.steps.size()) return false;
    dv::ir::step x = s.plan.steps[site];
    x.event = -1;
    const int role = detail::role_of_step(s, site);
    s.plan.steps.push(x);
    for (int i = s.plan.steps.size() - 1; i > site; --i) s.plan.steps[i] = s.plan.steps[i - 1];
    s.plan.steps[site + 1] = x;
    const int index = site - s.plan.roles[role].first_step;
    ++s.plan.roles[role].steps;
    for (dv::ir::role_plan& r : s.plan.roles)
        if (r.first_step > site) ++r.first_step;
    for (int i = s.plan.roles[role].first_step; i < s.plan.roles[role].first_step + s.plan.roles[role].steps; ++i)
        for (int w = s.plan.steps[i].first_wait; w < s.plan.steps[i].first_wait + s.plan.steps[i].waits; ++w)
            if (s.plan.waits[w].step > index) ++s.plan.waits[w].step;
    return true;
}
// A task is missing in the order and among the steps, or another one replaces it.
inline bool leave_out_of_plan(subject& s, int site) {
    if (site >= s.program.tasks.size()) return false;
    for (int k = s.plan.steps.size() - 1; k >= 0; --k)
        if (s.plan.steps[k].task == site) detail::erase_step(s, k);
    for (int i = s.plan.order.size() - 1; i >= 0; --i)
        if (s.plan.order[i] == site) detail::erase(s.plan.order, i);
    return true;
}
inline bool put_another_in_its_place(subject& s, int site) {
    for (int v = 0; v < s.program.tasks.size(); ++v)
        for (int w = 0; w < s.program.tasks.size(); ++w) {
            const dv::ir::task &x = s.program.tasks[v], &y = s.program.tasks[w];
            if (v == w || x.participations != 1 || y.participations != 1 || x.stream != y.stream ||
                s.program.participations[x.first_participation].role != s.program.participations[y.first_participation].role || site-- != 0)
                continue;
            for (int& at : s.plan.order)
                if (at == v) at = w;
            detail::each_step_of(s, v, [&](dv::ir::step& k) { k.task = w, k.first_participation = y.first_participation; });
            return true;
        }
    return false;
}
inline bool another_stream_for_a_step(subject& s, int site) {
    if (site >= s.plan.steps.size()) return false;
    s.plan.steps[site].stream = (s.plan.steps[site].stream + 1) % dv::stream_count;
    return true;
}
// One of several calls of NCCL of a role moves to its compute stream, where nothing orders it with the others.
inline bool communicate_on_two_streams(subject& s, int site) {
    const auto calls = [&](const dv::ir::step& x) {
        const dv::ir::task& v = s.program.tasks[x.task];
        return v.stream == dv::stream_kind::communication && x.stream == 1 && !s.program.members[v.first_member].local;
    };
    for (const dv::ir::role_plan& r : s.plan.roles) {
        const dv::span<dv::ir::step> steps{s.plan.steps.begin() + r.first_step, r.steps};
        int count = 0;
        for (const dv::ir::step& x : steps) count += calls(x) ? 1 : 0;
        if (count < 2) continue;
        if (site >= count) {
            site -= count;
            continue;
        }
        for (dv::ir::step& x : steps)
            if (calls(x) && site-- == 0) x.stream = 0;
        return true;
    }
    return false;
}
// The task moves to the copy stream on all its roles; its waits stay the same.
inline bool another_stream_for_a_task(subject& s, int site) {
    const int v = detail::nth(s.program.tasks, site, [](const dv::ir::task& x) { return x.stream == dv::stream_kind::compute; });
    if (v < 0 || !s.plan.overlapped) return false;
    s.program.tasks[v].stream = dv::stream_kind::copy;
    for (dv::ir::step& x : s.plan.steps)
        if (x.task == v) x.stream = 2;
    return true;
}
// Communication moves to another stream on all its roles.
inline bool another_stream_for_communication(subject& s, int site) {
    const int v = detail::nth(s.program.tasks, site / 2, [](const dv::ir::task& x) { return x.stream == dv::stream_kind::communication; });
    if (v < 0 || !s.plan.overlapped) return false;
    s.program.tasks[v].stream = site % 2 == 0 ? dv::stream_kind::compute : dv::stream_kind::copy;
    detail::each_step_of(s, v, [&](dv::ir::step& x) { x.stream = static_cast<int>(s.program.tasks[v].stream); });
    return true;
}

}  // namespace support
