// Waits and lifetimes, which one walk over the accesses in issue order finds: takes the program and its issued steps. The waits
// are the transitive reduction of the dependencies that cross lanes, so that each one that neither a lane's order nor other
// waits imply has one event; with them come the vector clocks of the steps. Lifetimes say for each buffer which step defines
// it and, for each lane, how far the lane must have come before the buffer is dead. They are lifetimes by happens-before, not
// by position: a step may take over the bytes of a buffer only if its own clock covers the release.
#pragma once

#include "waits.hpp"

namespace dovetail::pass {

// All by buffer. A buffer that takes over another one's bytes has no lifetime of its own: its accesses count for the other one.
struct lifetimes {
    vec<int> definition;  // the first step that writes it; of a state the first update. -1: none
    vec<int> last;        // the last step in issue order that touches it; not set where none does
    vec<clock> release;   // by lane: one past the last step on it that touches the buffer, 0 where there is none
    vec<bool> held;       // an output: never dead within the run

    vec<int> defined;  // buffers in the order of the steps that define them, ids ascending within a step
    vec<int> first;    // by role: where its buffers begin in `defined`; one more at the end
};

constexpr int owner_of(const ir::program& program, int buffer) {
    const int alias = program.buffers[buffer].alias;
    return alias < 0 ? buffer : alias;
}

constexpr bool covers(const clock& known, const clock& release) {
    return release.known[0] <= known.known[0] && release.known[1] <= known.known[1] && release.known[2] <= known.known[2];
}

struct flow {
    in_run waits;
    lifetimes lives;
};

// Who reads follows whoever wrote the bytes last, who writes follows all who touched them: in an order that respects the
// edges these are the edges, or follow from them.
constexpr flow flow_of(const ir::program& program, const issue& issued) {
    const int buffers = program.buffers.count, count = issued.steps.size();
    flow out;
    out.waits.known = vec<clock>(count, unset{});
    out.lives.definition = vec<int>(buffers, -1);
    out.lives.last = vec<int>(buffers, unset{});
    out.lives.release = vec<clock>(buffers);
    out.lives.held = vec<bool>(buffers);
    out.lives.defined = vec<int>(buffers, unset{});
    out.lives.first = vec<int>(program.roles + 1);
    // By buffer: one past the last step that wrote its bytes, counted on that step's lane.
    vec<int> written_list(buffers), writer_list(buffers);
    int *definition = out.lives.definition.begin(), *last = out.lives.last.begin(), *defined = out.lives.defined.begin();
    int *written = written_list.begin(), *writer_lane = writer_list.begin();
    clock *release = out.lives.release.begin(), *known = out.waits.known.begin();
    bool* held = out.lives.held.begin();
    const ir::buffer* buffer = program.buffers.first;
    const ir::part* parts = program.parts.first;
    const ir::access* accesses = program.accesses.first;
    const issued_step* steps = issued.steps.begin();
    const int *index = issued.lane_index.begin(), *lane_steps = issued.lane_steps.begin();
    int defined_count = 0;
    for (int r = 0; r < program.roles; ++r) {
        int tail[lane_count][lane_count] = {};  // what a lane knows of all lanes, its own last step included
        int need[lane_count] = {};              // what a step needs to know of the others
        const int begin = issued.roles[r].first_step, role_steps = issued.roles[r].steps;
        for (int s = begin, stop = begin + role_steps; s < stop; ++s) {
            const int before = index[s], after = before + 1, lane = steps[s].lane, defined_before = defined_count;
            int* mine = tail[lane];
            mine[lane] = after;
            bool asks = false;
            const ir::part* p = parts + steps[s].first_part;
            for (const ir::part* end = p + steps[s].parts; p != end; ++p)
                for (const ir::access *a = accesses + p->first_access, *done = a + p->accesses; a != done; ++a) {
                    const int alias = buffer[a->buffer].alias;
                    const int b = alias < 0 ? a->buffer : alias;
                    int* touched = release[b].known;
                    last[b] = s;
                    touched[lane] = after;
                    if (a->mode == access_mode::read) {
                        const int by = writer_lane[b];
                        if (written[b] <= mine[by]) continue;
                        if (need[by] < written[b]) need[by] = written[b];
                        asks = true;
                        continue;
                    }
                    if (touched[0] > mine[0] || touched[1] > mine[1] || touched[2] > mine[2]) {
                        if (need[0] < touched[0]) need[0] = touched[0];
                        if (need[1] < touched[1]) need[1] = touched[1];
                        if (need[2] < touched[2]) need[2] = touched[2];
                        asks = true;
                    }
                    written[b] = after;
                    writer_lane[b] = lane;
                    if (buffer[a->buffer].output) held[b] = true;
                    if (definition[b] >= 0) continue;
                    definition[b] = s;
                    int at = defined_count++;
                    for (; at > defined_before && defined[at - 1] > b; --at) defined[at] = defined[at - 1];
                    defined[at] = b;
                }
            if (asks) {
                int on[lane_count] = {-1, -1, -1}, wanted = 0;
                for (int l = 0; l < lane_count; ++l) {
                    if (need[l] <= mine[l]) continue;
                    on[l] = lane_steps[lane_count * begin + l * role_steps + need[l] - 1];
                    ++wanted;
                }
                if (wanted > 1) detail::keep_strongest(on, need, known);
                for (int l = 0; l < lane_count; ++l) {
                    if (on[l] >= 0) {
                        out.waits.waits.push({s, on[l], 0});
                        const int* from = known[on[l]].known;
                        if (mine[0] < from[0]) mine[0] = from[0];
                        if (mine[1] < from[1]) mine[1] = from[1];
                        if (mine[2] < from[2]) mine[2] = from[2];
                        if (mine[l] < need[l]) mine[l] = need[l];
                    }
                    need[l] = 0;
                }
            }
            int* at_start = known[s].known;
            at_start[0] = mine[0];
            at_start[1] = mine[1];
            at_start[2] = mine[2];
            at_start[lane] = before;
        }
        out.lives.first[r + 1] = defined_count;
    }
    out.lives.defined.cut(defined_count);
    return out;
}

}  // namespace dovetail::pass
