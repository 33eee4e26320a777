// Waits between the lanes of one role within a run: takes the issued steps and the edges, gives the transitive reduction of
// the edges that cross lanes, so that each dependency that neither a lane's order nor other waits imply has one event; and
// the vector clock of every step.
#pragma once

#include "steps.hpp"

namespace dovetail::pass {

// known[l]: how many of the role's steps on lane l are complete before the step starts, as its waits and its lane tell.
struct clock {
    int known[lane_count] = {};
};

// Step `step` waits for step `on` of `lag` runs earlier; both are indices into issue.steps, of one role.
struct pending_wait {
    int step = 0;
    int on = 0;
    int lag = 0;
};

template <class Store>
struct basic_in_run {
    typename Store::template of<pending_wait, 0> waits;  // ascending by step
    typename Store::template of<clock, 1> known;         // by step

    static constexpr int tables = 2;
    template <class View>
        requires std::is_same_v<View, basic_in_run<viewing>>
    constexpr operator View() const {
        return ir::view(*this);
    }
};

template <class A, class B, class F>
constexpr void zip(A& a, B& b, F f)
    requires(A::tables == 2 && requires { a.known; })
{
    f(a.waits, b.waits);
    f(a.known, b.known);
}

using in_run = basic_in_run<viewing>;
using in_run_data = basic_in_run<owning>;

namespace detail {

constexpr void raise(int& to, int value) {
    if (to < value) to = value;
}

// Of the steps `on[l]` that a step needs to have ended (-1: none), drops each that another one has waited for already.
// need[l] is what must be known of lane l; clocks are those at the start of a step.
constexpr void keep_strongest(int (&on)[lane_count], const int* need, const clock* clocks) {
    for (int l = 0; l < lane_count; ++l)
        for (int m = 0; m < lane_count && on[l] >= 0; ++m)
            if (m != l && on[m] >= 0 && clocks[on[m]].known[l] >= need[l]) on[l] = -1;
}

}  // namespace detail

constexpr in_run_data waits(const ir::program& program, const issue& issued, span<const ir::edge> edges) {
    const ir::step* steps = issued.steps.begin();
    const int* index = issued.lane_index.begin();
    const int count = issued.steps.size();
    in_run_data out;
    out.known = vec<clock>(count);
    clock* known = out.known.begin();

    // Of the edges into a step only the latest of each lane matters.
    vec<clock> needs(count);
    clock* need = needs.begin();
    for (const ir::edge& e : edges) {
        const int from = step_of(program, issued, e.from, e.role);
        const int to = step_of(program, issued, e.to, e.role);
        if (from < 0 || to < 0 || steps[from].lane == steps[to].lane) continue;
        if (need[to].known[steps[from].lane] <= index[from]) need[to].known[steps[from].lane] = index[from] + 1;
    }

    for (int r = 0; r < program.roles; ++r) {
        const int* lane_first = issued.lane_first.begin() + r * lane_count;
        clock tail[lane_count];  // what a lane knows behind its last step
        const int first = issued.roles[r].first_step;
        const int end = first + issued.roles[r].steps;
        for (int s = first; s < end; ++s) {
            const int lane = steps[s].lane;
            clock& mine = tail[lane];
            const int* n = need[s].known;
            if (n[0] > mine.known[0] || n[1] > mine.known[1] || n[2] > mine.known[2]) {
                int on[lane_count] = {-1, -1, -1};
                for (int l = 0; l < lane_count; ++l)
                    if (n[l] > mine.known[l]) on[l] = issued.lane_steps[lane_first[l] + n[l] - 1];
                detail::keep_strongest(on, n, known);
                for (int l = 0; l < lane_count; ++l) {
                    if (on[l] < 0) continue;
                    out.waits.push({s, on[l], 0});
                    for (int m = 0; m < lane_count; ++m) detail::raise(mine.known[m], known[on[l]].known[m]);
                    detail::raise(mine.known[l], n[l]);
                }
            }
            known[s] = mine;
            mine.known[lane] = index[s] + 1;
        }
    }
    return out;
}

}  // namespace dovetail::pass
