// lay: from a schedule to the plan's tables. Takes the program and one candidate's order, lanes and times; gives
// each role's steps, waits, events and memory.
#pragma once

#include "../pass/wrap.hpp"
#include "plan.hpp"

namespace dovetail::plan {

// What a plan keeps of a schedule.
struct timetable {
    span<const int> order;
    span<const unsigned char> lane;       // by vertex
    span<const std::int64_t> start, end;  // by vertex
    std::int64_t length = 0;
    bool overlapped = false;
};

// Bytes of one rank of a role that a memory limit counts.
constexpr std::int64_t bytes_of(const ir::role_plan& r) { return r.arena_bytes + r.state_bytes; }

constexpr std::int64_t largest_bytes(span<const ir::role_plan> roles) {
    std::int64_t most = 0;
    for (const ir::role_plan& r : roles)
        if (bytes_of(r) > most) most = bytes_of(r);
    return most;
}

// Whether a plan keeps within `limit` bytes on every role; 0 is no limit.
constexpr bool within(std::int64_t limit, span<const ir::role_plan> roles) { return limit == 0 || largest_bytes(roles) <= limit; }

namespace detail {

// The waits and events of all steps. A step's waits of its own run stand first; events of a role are numbered in the order
// in which they are recorded.
constexpr void lay_out_waits(plan_data& d, const vec<pass::pending_wait>& in_run, const vec<pass::pending_wait>& across) {
    ir::step* steps = d.steps.begin();
    vec<int> first_list(across.empty() ? 0 : d.steps.size(), -1), next(across.size(), unset{}), place(across.size(), unset{});
    int* first = first_list.begin();
    for (const pass::pending_wait *w = in_run.begin(), *end = in_run.end(); w != end; ++w) steps[w->on].event = 0;
    for (int a = across.size() - 1; a >= 0; --a) {
        const pass::pending_wait& w = across[a];
        steps[w.on].event = 0;
        next[a] = first[w.step];
        first[w.step] = a;
        if (d.rings < w.lag) d.rings = w.lag;
    }
    d.waits = vec<ir::wait>(in_run.size() + across.size(), unset{});
    ir::wait* waits = d.waits.begin();
    const pass::pending_wait *local = in_run.begin(), *const locals = in_run.end();
    int n = 0;
    for (ir::role_plan& role : d.roles) {
        const int begin = role.first_step;
        int events = 0;
        for (int s = begin, end = begin + role.steps; s < end; ++s) {
            if (steps[s].event == 0) steps[s].event = events++;
            steps[s].first_wait = n;
            if (across.empty() && (local == locals || local->step != s)) continue;
            const int before = n;
            for (; local != locals && local->step == s; ++local) waits[n++] = {steps[local->on].event, 0, local->on - begin};
            if (!across.empty())
                for (int a = first[s]; a >= 0; a = next[a]) {
                    // Its event has no number yet.
                    place[a] = n;
                    waits[n++] = {0, across[a].lag, across[a].on - begin};
                }
            steps[s].waits = n - before;
        }
        role.events = events;
    }
    for (int a = 0; a < across.size(); ++a) waits[place[a]].event = steps[across[a].on].event;
}

}  // namespace detail

// A plan that exceeds the limit has its bytes in `roles` and no steps. `sequential`: the predicted time of everything on one
// stream as written; a plan of one stream is compared with itself.
constexpr plan_data lay(const ir::program& p, const timetable& t, std::int64_t sequential, std::int64_t limit) {
    pass::issue issued = pass::steps(p, t.order, t.lane);
    const pass::flow flow = pass::flow_of(p, issued);
    pass::memory memory = pass::arena(p, issued, flow.waits.known, flow.lives);
    plan_data d;
    if (within(limit, memory.roles.view())) {
        const vec<pass::pending_wait> across = pass::wrap(p, issued, flow.waits, flow.lives, memory);
        d.roles = static_cast<vec<ir::role_plan>&&>(memory.roles);
        d.placements = static_cast<vec<ir::placement>&&>(memory.placements);
        d.steps = static_cast<vec<ir::step>&&>(issued.steps);
        for (ir::step *s = d.steps.begin(), *end = d.steps.end(); s != end; ++s) {
            s->start = t.start.first[s->vertex];
            s->end = t.end.first[s->vertex];
        }
        detail::lay_out_waits(d, flow.waits.waits, across);
        d.order = vec<int>(t.order);
    } else {
        d.roles = static_cast<vec<ir::role_plan>&&>(memory.roles);
    }
    d.overlapped = t.overlapped;
    d.predicted = t.length;
    d.predicted_sequential = t.overlapped ? sequential : t.length;
    return d;
}

}  // namespace dovetail::plan
