// What a damage is, and what damages are made of: rows that are left out, put in, exchanged, with everything that counts them.
#pragma once

#include "hand_plan.hpp"

namespace support {

// Each damage has sites, counted from 0: `apply(s, site)` changes the subject there, and is false where there is no such site.
// `certain`: no plan survives it at any site; the others may hit something that the plan does not need, such as a wait that a pass
// could have spared.
struct damage {
    const char* name;
    bool certain;
    bool (*apply)(subject&, int site);
    bool of_graph = false;  // the graph is wrong as well, so that there is nothing to compare with
};

namespace detail {

// The site-th element that `good` likes; -1: none.
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

// One access more or less of a part, behind or at its k-th.
inline void insert_access(subject& s, int part, int k, dv::ir::access a) {
    const int at = s.program.parts[part].first_access + k;
    insert(s.program.accesses, at, a);
    ++s.program.parts[part].accesses;
    for (int i = part + 1; i < s.program.parts.size(); ++i) ++s.program.parts[i].first_access;
}
inline void erase_access(subject& s, int part, int k) {
    erase(s.program.accesses, s.program.parts[part].first_access + k);
    --s.program.parts[part].accesses;
    for (int i = part + 1; i < s.program.parts.size(); ++i) --s.program.parts[i].first_access;
}
inline int part_of_access(const subject& s, int a) {
    return nth(s.program.parts, 0, [a](const dv::ir::part& x) { return a >= x.first_access && a < x.first_access + x.accesses; });
}
inline int vertex_of_part(const subject& s, int part) {
    return nth(s.program.vertices, 0, [part](const dv::ir::vertex& x) { return part >= x.first_part && part < x.first_part + x.parts; });
}
// Which roles' steps a vertex has.
template <class F>
void each_step_of(subject& s, int vertex, F f) {
    for (dv::ir::step& x : s.plan.steps)
        if (x.vertex == vertex) f(x);
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

// Steps k and k+1 of one role change places; waits keep naming the steps that record their events.
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

// Do two vertices touch one buffer, one of them writing?
inline bool dependent(const subject& s, int v, int w) {
    for (const auto& x : s.program.parts.view().part(s.program.vertices[v].first_part, s.program.vertices[v].parts))
        for (const auto& y : s.program.parts.view().part(s.program.vertices[w].first_part, s.program.vertices[w].parts))
            for (const auto& a : s.program.accesses.view().part(x.first_access, x.accesses))
                for (const auto& b : s.program.accesses.view().part(y.first_access, y.accesses))
                    if (a.buffer == b.buffer && (dv::writes(a.mode) || dv::writes(b.mode))) return true;
    return false;
}

inline bool over_roles(const subject& s, const dv::ir::member& m) { return m.node >= 0 && s.graph.nodes[m.node].role < 0 && !m.local; }

}  // namespace detail

}  // namespace support
