// The type of a damage, and functions that damages consist of: removing, inserting and exchanging rows, with all indices that refer to
// them.
#pragma once

#include "hand_plan.hpp"

namespace support {

// Each damage has sites, counted from 0: `apply(s, site)` changes the subject there, and is false where there is no such site.
// `certain`: every plan must be refused, whatever the site; the others may hit something that the plan does not need, such as a redundant
// wait.
struct damage {
    const char* name;
    bool certain;
    bool (*apply)(subject&, int site);
    bool of_graph = false;  // the graph is wrong as well, so that there is nothing to compare with
};

namespace detail {

// The site-th element for which `good` is true; -1: none.
template <class List, class Good>
int nth(const List& list, int site, Good good) {
    for (int i = 0; i < list.size(); ++i)
        if (good(list[i]) && site-- == 0) return i;
    return -1;
}

inline int role_of_step(const subject& s, int k) {
    int role = 0;
    while (k < s.plan.roles[role].first_step || k >= s.plan.roles[role].first_step + s.plan.roles[role].steps) ++role;
    return role;
}
inline int step_of_wait(const subject& s, int w) {
    return nth(s.plan.steps, 0, [w](const dv::ir::step& x) { return w >= x.first_wait && w < x.first_wait + x.waits; });
}

template <class T>
void erase(dv::vec<T>& list, int at) {
    for (int i = at; i + 1 < list.size(); ++i) list[i] = list[i + 1];
    list.cut(list.size() - 1);
}

template <class T>
void insert(dv::vec<T>& list, int at, const T& x) {
    const T added = x;
    list.push(added);
    for (int i = list.size() - 1; i > at; --i) list[i] = list[i - 1];
    list[at] = added;
}

// Inserts an access of a participation after its k-th, or removes its k-th.
inline void insert_access(subject& s, int participation, int k, dv::ir::access a) {
    const int at = s.program.participations[participation].first_access + k;
    insert(s.program.accesses, at, a);
    dv::ir::participation& x = s.program.participations[participation];
    ++(k <= x.accesses ? x.accesses : x.awaited);
    for (int i = participation + 1; i < s.program.participations.size(); ++i) ++s.program.participations[i].first_access;
}
inline void erase_access(subject& s, int participation, int k) {
    erase(s.program.accesses, s.program.participations[participation].first_access + k);
    dv::ir::participation& x = s.program.participations[participation];
    --(k < x.accesses ? x.accesses : x.awaited);
    for (int i = participation + 1; i < s.program.participations.size(); ++i) --s.program.participations[i].first_access;
}
inline int participation_of_access(const subject& s, int a) {
    return nth(s.program.participations, 0,
               [a](const dv::ir::participation& x) { return a >= x.first_access && a < x.first_access + x.touches(); });
}
inline int task_of_participation(const subject& s, int participation) {
    return nth(s.program.tasks, 0, [participation](const dv::ir::task& x) {
        return participation >= x.first_participation && participation < x.first_participation + x.participations;
    });
}
// The roles with a step of a task.
template <class F>
void each_step_of(subject& s, int task, F f) {
    for (dv::ir::step& x : s.plan.steps)
        if (x.task == task) f(x);
}

inline void erase_step(subject& s, int k) {
    const int role = role_of_step(s, k), index = k - s.plan.roles[role].first_step;
    for (int i = s.plan.roles[role].first_step; i < s.plan.roles[role].first_step + s.plan.roles[role].steps; ++i)
        for (int w = s.plan.steps[i].first_wait; w < s.plan.steps[i].first_wait + s.plan.steps[i].waits; ++w)
            if (s.plan.waits[w].step > index) --s.plan.waits[w].step;
    erase(s.plan.steps, k);
    --s.plan.roles[role].steps;
    for (dv::ir::role_plan& r : s.plan.roles)
        if (r.first_step > k) --r.first_step;
}

// Exchanges steps k and k+1 of one role; waits still name the steps that record their events.
inline void swap_steps(subject& s, int k) {
    const int role = role_of_step(s, k), index = k - s.plan.roles[role].first_step;
    const dv::ir::step x = s.plan.steps[k];
    s.plan.steps[k] = s.plan.steps[k + 1];
    s.plan.steps[k + 1] = x;
    for (int i = s.plan.roles[role].first_step; i < s.plan.roles[role].first_step + s.plan.roles[role].steps; ++i)
        for (int w = s.plan.steps[i].first_wait; w < s.plan.steps[i].first_wait + s.plan.steps[i].waits; ++w) {
            int& by = s.plan.waits[w].step;
            if (by == index) by = index + 1;
            else if (by == index + 1) by = index;
        }
}

inline bool in_arena(const dv::ir::buffer& b) { return b.where == dv::ir::storage::arena && b.bytes > 0; }

// Whether two tasks access the same buffer and one of them writes it.
inline bool dependent(const subject& s, int v, int w) {
    for (const auto& x : s.program.participations.view().subspan(s.program.tasks[v].first_participation, s.program.tasks[v].participations))
        for (const auto& y :
             s.program.participations.view().subspan(s.program.tasks[w].first_participation, s.program.tasks[w].participations))
            for (const auto& a : s.program.accesses.view().subspan(x.first_access, x.accesses))
                for (const auto& b : s.program.accesses.view().subspan(y.first_access, y.accesses))
                    if (a.buffer == b.buffer && a.leaf < b.leaf + b.leaves && b.leaf < a.leaf + a.leaves &&
                        (dv::writes(a.mode) || dv::writes(b.mode)))
                        return true;
    return false;
}

inline bool over_roles(const subject& s, const dv::ir::member& m) { return m.node >= 0 && s.graph.nodes[m.node].role < 0 && !m.local; }

}  // namespace detail

}  // namespace support
