// Waits between the lanes of one role within a run: takes the issued steps and the edges, gives the transitive reduction of
// the edges that cross lanes, so that each dependency that neither a lane's order nor other waits imply has one event; and
// the vector clock of every step.
#pragma once

#include "steps.hpp"

namespace dovetail::pass {

static_assert(lane_count == 3, "the clocks of the passes are written out for three lanes");

// known[l]: how many of the role's steps on lane l are complete before the step starts, as its waits and its lane tell.
struct clock {
    int known[lane_count];
};

// Step `step` waits for step `on` of `lag` runs earlier; both are indices into issue.steps, of one role.
struct pending_wait {
    int step = 0;
    int on = 0;
    int lag = 0;
};

struct in_run {
    vec<pending_wait> waits;  // ascending by step
    vec<clock> known;         // by step
};

namespace detail {

// Of the steps `on[l]` that a step needs to have ended (-1: none), drops each that another one has waited for already.
// need[l] is what must be known of lane l; clocks are those at the start of a step.
constexpr void keep_strongest(int (&on)[lane_count], const int* need, const clock* clocks) {
    for (int l = 0; l < lane_count; ++l)
        for (int m = 0; m < lane_count && on[l] >= 0; ++m)
            if (m != l && on[m] >= 0 && clocks[on[m]].known[l] >= need[l]) on[l] = -1;
}

}  // namespace detail

constexpr in_run waits(const ir::program& program, const issue& issued, span<const ir::edge> edges) {
    const ir::step* steps = issued.steps.begin();
    const int *index = issued.lane_index.begin(), *step_of_part = issued.step_of_part.begin();
    const ir::vertex* vertices = program.vertices.first;
    const unsigned char* lane_of = issued.lane.first;
    const int count = issued.steps.size();
    const bool alone = program.roles == 1;
    in_run out;
    out.known = vec<clock>(count, unset{});
    clock* known = out.known.begin();

    // Of the edges into a step only the latest of each lane matters: one more than its index, by step and lane.
    vec<int> latest_list(count * lane_count);
    int* latest = latest_list.begin();
    for (const ir::edge *e = edges.first, *end = e + edges.count; e != end; ++e) {
        if (lane_of[e->from] == lane_of[e->to]) continue;
        const int from = alone ? step_of_part[vertices[e->from].first_part] : step_of(program, issued, e->from, e->role);
        const int to = alone ? step_of_part[vertices[e->to].first_part] : step_of(program, issued, e->to, e->role);
        if (from < 0 || to < 0) continue;
        int& mark = latest[to * lane_count + lane_of[e->from]];
        if (mark <= from) mark = from + 1;
    }

    for (int r = 0; r < program.roles; ++r) {
        int tail[lane_count][lane_count] = {};  // what a lane knows behind its last step
        const int first = issued.roles[r].first_step, end = first + issued.roles[r].steps;
        const int* last = latest + first * lane_count;
        for (int s = first; s < end; ++s, last += lane_count) {
            const int lane = steps[s].lane;
            int* mine = tail[lane];
            if (last[0] + last[1] + last[2] > 0) {
                int on[lane_count] = {-1, -1, -1}, need[lane_count] = {}, wanted = 0;
                for (int l = 0; l < lane_count; ++l) {
                    if (last[l] == 0) continue;
                    need[l] = index[last[l] - 1] + 1;
                    if (need[l] <= mine[l]) continue;
                    on[l] = last[l] - 1;
                    ++wanted;
                }
                if (wanted > 1) detail::keep_strongest(on, need, known);
                for (int l = 0; l < lane_count && wanted > 0; ++l) {
                    if (on[l] < 0) continue;
                    out.waits.push({s, on[l], 0});
                    const int* from = known[on[l]].known;
                    if (mine[0] < from[0]) mine[0] = from[0];
                    if (mine[1] < from[1]) mine[1] = from[1];
                    if (mine[2] < from[2]) mine[2] = from[2];
                    if (mine[l] < need[l]) mine[l] = need[l];
                }
            }
            int* at_start = known[s].known;
            at_start[0] = mine[0];
            at_start[1] = mine[1];
            at_start[2] = mine[2];
            mine[lane] = index[s] + 1;
        }
    }
    return out;
}

}  // namespace dovetail::pass
