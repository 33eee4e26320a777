// Lifetimes of buffers: takes the program and its issued steps, gives for each buffer the step that defines it and, for each
// lane, how far the lane must have come before the buffer is dead. They are lifetimes by happens-before, not by position:
// a step may take over the bytes of a buffer only if its own clock covers the release.
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

constexpr lifetimes liveness(const ir::program& program, const issue& issued) {
    const int buffers = program.buffers.count;
    lifetimes out;
    out.definition = vec<int>(buffers, -1);
    out.last = vec<int>(buffers, unset{});
    out.release = vec<clock>(buffers);
    out.held = vec<bool>(buffers);
    out.defined = vec<int>(buffers, unset{});
    out.first = vec<int>(program.roles + 1);
    int *definition = out.definition.begin(), *last = out.last.begin(), *defined = out.defined.begin();
    clock* release = out.release.begin();
    const ir::buffer* buffer = program.buffers.first;
    const ir::part* parts = program.parts.first;
    const ir::access* accesses = program.accesses.first;
    const ir::step* steps = issued.steps.begin();
    const int* index = issued.lane_index.begin();
    int count = 0;
    for (int r = 0; r < program.roles; ++r) {
        for (int s = issued.roles[r].first_step, stop = s + issued.roles[r].steps; s < stop; ++s) {
            const int after = index[s] + 1, lane = steps[s].lane, before = count;
            const ir::part* p = parts + steps[s].first_part;
            for (const ir::part* end = p + steps[s].parts; p != end; ++p)
                for (const ir::access *a = accesses + p->first_access, *done = a + p->accesses; a != done; ++a) {
                    const int alias = buffer[a->buffer].alias;
                    const int b = alias < 0 ? a->buffer : alias;
                    last[b] = s;
                    release[b].known[lane] = after;
                    if (a->mode == access_mode::read) continue;
                    if (buffer[a->buffer].output) out.held[b] = true;
                    if (definition[b] >= 0) continue;
                    definition[b] = s;
                    int at = count++;
                    for (; at > before && defined[at - 1] > b; --at) defined[at] = defined[at - 1];
                    defined[at] = b;
                }
        }
        out.first[r + 1] = count;
    }
    out.defined.resize(count);
    return out;
}

}  // namespace dovetail::pass
