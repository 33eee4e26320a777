// Waits and lifetimes, which one walk over the accesses in issue order finds: takes the program and its issued steps. The waits
// are the transitive reduction of the dependencies that cross streams, so that each one that neither a stream's order nor other
// waits imply has one event; with them come the vector clocks of the steps. Lifetimes say for each buffer which step defines
// it and, for each stream, how far the stream must have come before the buffer is dead. They are lifetimes by happens-before, not
// by position: a step may re-use the bytes of a buffer only if its own clock covers the release.
#pragma once

#include "vector_clock.hpp"

namespace dovetail::pass {

// All by buffer. A buffer that aliases another one has no lifetime of its own: its accesses count for the other one.
template <class Program>
struct basic_lifetimes {
    template <class T>
    using by_buffer = room<T, decltype(Program::buffers)>;

    by_buffer<int> definition;        // the first step that writes it; of a state the first update. -1: none
    by_buffer<int> last;              // the last step in issue order that touches it; not set where none does
    by_buffer<vector_clock> release;  // by stream: one past the last step on it that touches the buffer, 0 where there is none
    by_buffer<bool> held;             // an output: never dead within the run

    by_buffer<int> defined;  // buffers in the order of the steps that define them, ids ascending within a step
    vec<int> first;          // by role: where its buffers begin in `defined`; one more at the end
};
using lifetimes = basic_lifetimes<ir::program>;

constexpr bool covers(const vector_clock& known, const vector_clock& release) {
    return release.known[0] <= known.known[0] && release.known[1] <= known.known[1] && release.known[2] <= known.known[2];
}

template <class Program>
struct basic_synchronisation {
    basic_in_run<Program> waits;
    basic_lifetimes<Program> lives;
};
using flow = basic_synchronisation<ir::program>;

// Who reads follows whoever wrote the bytes last, who writes follows all who touched them: in an order that respects the
// edges these are the edges, or follow from them.
template <class Program>
constexpr basic_synchronisation<Program> synchronise(const Program& program, const basic_issue_order<Program>& issued) {
    const int buffers = program.buffers.count;
    basic_synchronisation<Program> out{};
    out.waits.known.resize(issued.steps.size());
    out.lives.definition.resize(buffers);
    out.lives.last.resize(buffers);
    out.lives.release.resize(buffers);
    out.lives.held.resize(buffers);
    out.lives.defined.resize(buffers);
    out.lives.first.resize(program.roles + 1);
    // By buffer: one past the last step that wrote its bytes, counted on that step's stream.
    auto written_room = room<int, decltype(program.buffers)>::sized(buffers), writer_room = room<int, decltype(program.buffers)>::sized(buffers);
    auto &definition = out.lives.definition.first, &last = out.lives.last.first, &defined = out.lives.defined.first;
    auto &written = written_room.first, &writer_stream = writer_room.first;
    auto& release = out.lives.release.first;
    auto& known = out.waits.known.first;
    auto& held = out.lives.held.first;
    const auto& buffer = program.buffers.first;
    const auto& participations = program.participations.first;
    const auto& accesses = program.accesses.first;
    const auto& steps = issued.steps.first;
    const auto& index = issued.index_on_stream.first;
    const int* stream_steps = issued.stream_steps.begin();
    for (int b = 0; b < buffers; ++b) definition[b] = -1;
    int defined_count = 0;
    // Of the step, part or access at hand; declared once, see timeline_estimate.hpp.
    int before = 0, after = 0, stream = 0, defined_before = 0, p = 0, end = 0, a = 0, done = 0, own = 0, b = 0, at = 0;
    int *mine = nullptr, *touched = nullptr;
    bool asks = false;
    int on[stream_count] = {}, wanted = 0, l = 0;  // the steps to wait for, by stream
    for (int r = 0; r < program.roles; ++r) {
        int tail[stream_count][stream_count] = {};  // what a stream knows of all streams, its own last step included
        int need[stream_count] = {};                // what a step needs to know of the others
        const int begin = issued.roles[r].first_step, role_steps = issued.roles[r].steps;
        for (int s = begin, stop = begin + role_steps; s < stop; ++s) {
            before = index[s];
            after = before + 1;
            stream = steps[s].stream;
            defined_before = defined_count;
            mine = tail[stream];
            mine[stream] = after;
            asks = false;
            for (p = steps[s].first_participation, end = p + steps[s].participations; p < end; ++p)
                for (a = participations[p].first_access, done = a + participations[p].accesses; a < done; ++a) {
                    own = accesses[a].buffer;
                    b = buffer[own].alias;
                    if (b < 0) b = own;
                    touched = release[b].known;
                    last[b] = s;
                    touched[stream] = after;
                    if (accesses[a].mode == access_mode::read) {
                        at = writer_stream[b];
                        if (written[b] <= mine[at]) continue;
                        if (need[at] < written[b]) need[at] = written[b];
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
                    writer_stream[b] = stream;
                    if (buffer[own].output) held[b] = true;
                    if (definition[b] >= 0) continue;
                    definition[b] = s;
                    for (at = defined_count++; at > defined_before && defined[at - 1] > b; --at) defined[at] = defined[at - 1];
                    defined[at] = b;
                }
            if (asks) {
                wanted = 0;
                for (l = 0; l < stream_count; ++l) {
                    on[l] = -1;
                    if (need[l] <= mine[l]) continue;
                    on[l] = stream_steps[stream_count * begin + l * role_steps + need[l] - 1];
                    ++wanted;
                }
                if (wanted > 1) detail::keep_strongest(on, need, known);
                for (l = 0; l < stream_count; ++l) {
                    if (on[l] >= 0) {
                        out.waits.waits.push({s, on[l], 0});
                        touched = known[on[l]].known;
                        if (mine[0] < touched[0]) mine[0] = touched[0];
                        if (mine[1] < touched[1]) mine[1] = touched[1];
                        if (mine[2] < touched[2]) mine[2] = touched[2];
                        if (mine[l] < need[l]) mine[l] = need[l];
                    }
                    need[l] = 0;
                }
            }
            touched = known[s].known;  // at the start
            touched[0] = mine[0];
            touched[1] = mine[1];
            touched[2] = mine[2];
            touched[stream] = before;
        }
        out.lives.first[r + 1] = defined_count;
    }
    out.lives.defined.cut(defined_count);
    return out;
}

}  // namespace dovetail::pass
