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
    // By leaf of a buffer that is no in-place result, where some buffer has several: as `definition` and `release`. Else a leaf is one.
    vec<int> leaf_definition;
    vec<vector_clock> leaf_release;

    constexpr int definition_of(int leaf) const { return leaf_definition.empty() ? definition[leaf] : leaf_definition[leaf]; }
    constexpr const vector_clock& release_of(int leaf) const { return leaf_release.empty() ? release[leaf] : leaf_release[leaf]; }
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
using synchronisation = basic_synchronisation<ir::program>;

namespace detail {

// The walk over one role's steps after the other. What is written and touched is by leaf of the buffer that owns the bytes.
template <class Program>
class access_walk {
public:
    constexpr access_walk(const Program& program, const basic_issue_order<Program>& issued, span<const vector_clock> memory,
                          basic_synchronisation<Program>& out)
        : program_{program},
          issued_{issued},
          memory_{memory},
          out_{out},
          written_(decltype(written_)::sized(program.leaves.count)),
          writer_stream_(decltype(writer_stream_)::sized(program.leaves.count)),
          touched_(decltype(touched_)::sized(program.leaves.count)) {
        const int buffers = program.buffers.count;
        out.waits.known.resize(issued.steps.size());
        out.lives.definition.resize(buffers);
        out.lives.last.resize(buffers);
        out.lives.release.resize(buffers);
        out.lives.held.resize(buffers);
        out.lives.defined.resize(buffers);
        out.lives.first.resize(program.roles + 1);
        for (int b = 0; b < buffers; ++b) out.lives.definition.first[b] = -1;
        if (in_parts_) out.lives.leaf_definition = vec<int>(program.leaves.count, -1);
    }

    constexpr void walk() {
        for (int r = 0; r < program_.roles; ++r) {
            walk_role(r);
            out_.lives.first[r + 1] = defined_;
        }
        out_.lives.defined.cut(defined_);
        release_buffers();
    }

private:
    constexpr void walk_role(int r) {
        int tail[stream_count][stream_count] = {};  // what a stream knows of all streams, its own last step included
        auto& known = out_.waits.known.first;
        const auto& steps = issued_.steps.first;
        const auto& index = issued_.index_on_stream.first;
        const auto& participations = program_.participations.first;
        const auto& accesses = program_.accesses.first;
        int p = 0, end = 0, a = 0, done = 0, *at_start = nullptr;  // declared once, see plan/compile/README.md
        for (int s = issued_.roles[r].first_step, stop = s + issued_.roles[r].steps; s < stop; ++s) {
            step_ = s;
            after_ = index[s] + 1;
            stream_ = steps[s].stream;
            defined_before_ = defined_;
            mine_ = tail[stream_];
            mine_[stream_] = after_;
            asks_ = false;
            if (!memory_.empty()) wait_for_memory(memory_.first[s]);
            for (p = steps[s].first_participation, end = p + steps[s].participations; p < end; ++p)
                for (a = participations[p].first_access, done = a + participations[p].accesses + participations[p].awaited; a < done; ++a)
                    touch(accesses[a]);
            if (asks_) wait(r);
            at_start = known[s].known;
            at_start[0] = mine_[0];
            at_start[1] = mine_[1];
            at_start[2] = mine_[2];
            at_start[stream_] = after_ - 1;
        }
    }

    // After the last uses of the bytes that the step takes over.
    constexpr void wait_for_memory(const vector_clock& memory) {
        for (int l = 0; l < stream_count; ++l) {
            if (l == stream_ || memory.known[l] <= mine_[l]) continue;
            need_[l] = memory.known[l];
            asks_ = true;
        }
    }
    constexpr void touch(const ir::access& a) {
        const auto& buffers = program_.buffers.first;
        const bool reading = a.mode == access_mode::read;
        int b = a.buffer, l = a.leaf;
        if (buffers[b].alias >= 0) {
            b = buffers[b].alias;
            l += buffers[b].first_leaf - buffers[a.buffer].first_leaf;
        }
        out_.lives.last.first[b] = step_;
        if (reading) {
            for (const int end = l + a.leaves; l < end; ++l) read(l);
            return;
        }
        for (const int end = l + a.leaves; l < end; ++l) write(l);
        if (buffers[a.buffer].output) out_.lives.held.first[b] = true;
        if (out_.lives.definition.first[b] < 0) define(b);
    }
    // After the last writer of the leaf.
    constexpr void read(int leaf) {
        touched_.first[leaf].known[stream_] = after_;
        const int by = written_.first[leaf], stream = writer_stream_.first[leaf];
        if (by <= mine_[stream]) return;
        if (need_[stream] < by) need_[stream] = by;
        asks_ = true;
    }
    // After all earlier accesses to the leaf.
    constexpr void write(int leaf) {
        int* const touched = touched_.first[leaf].known;
        touched[stream_] = after_;
        if (touched[0] > mine_[0] || touched[1] > mine_[1] || touched[2] > mine_[2]) {
            if (need_[0] < touched[0]) need_[0] = touched[0];
            if (need_[1] < touched[1]) need_[1] = touched[1];
            if (need_[2] < touched[2]) need_[2] = touched[2];
            asks_ = true;
        }
        written_.first[leaf] = after_;
        writer_stream_.first[leaf] = stream_;
        if (in_parts_ && out_.lives.leaf_definition.first[leaf] < 0) out_.lives.leaf_definition.first[leaf] = step_;
    }

    constexpr void define(int b) {
        auto& defined = out_.lives.defined.first;
        out_.lives.definition.first[b] = step_;
        int at = defined_++;
        for (; at > defined_before_ && defined[at - 1] > b; --at) defined[at] = defined[at - 1];
        defined[at] = b;
    }
    // The waits of the step, which then knows what it needs to know.
    constexpr void wait(int r) {
        const auto& known = out_.waits.known.first;
        const int* stream_steps = issued_.stream_steps.begin() + stream_count * issued_.roles[r].first_step;
        int on[stream_count] = {}, wanted = 0;  // the steps to wait for, by stream
        for (int l = 0; l < stream_count; ++l) {
            on[l] = -1;
            if (need_[l] <= mine_[l]) continue;
            on[l] = stream_steps[l * issued_.roles[r].steps + need_[l] - 1];
            ++wanted;
        }
        if (wanted > 1) keep_strongest(on, need_, known);
        for (int l = 0; l < stream_count; ++l) {
            if (on[l] >= 0) {
                out_.waits.waits.push({step_, on[l], 0});
                const int* theirs = known[on[l]].known;
                if (mine_[0] < theirs[0]) mine_[0] = theirs[0];
                if (mine_[1] < theirs[1]) mine_[1] = theirs[1];
                if (mine_[2] < theirs[2]) mine_[2] = theirs[2];
                if (mine_[l] < need_[l]) mine_[l] = need_[l];
            }
            need_[l] = 0;
        }
    }

    // A buffer is released when all its leaves are.
    constexpr void release_buffers() {
        auto& release = out_.lives.release.first;
        const auto& buffers = program_.buffers.first;
        if (in_parts_) out_.lives.leaf_release = vec<vector_clock>(program_.leaves.count, unset{});
        for (int l = 0; l < program_.leaves.count && in_parts_; ++l) out_.lives.leaf_release[l] = touched_.first[l];
        int *most = nullptr, *own = nullptr, l = 0, end = 0;  // declared once, see plan/compile/README.md
        for (int b = 0; b < program_.buffers.count; ++b) {
            l = buffers[b].first_leaf;
            release[b] = touched_.first[l];
            most = release[b].known;
            for (end = l + buffers[b].leaves; ++l < end;) {
                own = touched_.first[l].known;
                if (most[0] < own[0]) most[0] = own[0];
                if (most[1] < own[1]) most[1] = own[1];
                if (most[2] < own[2]) most[2] = own[2];
            }
        }
    }

    const Program& program_;
    const basic_issue_order<Program>& issued_;
    span<const vector_clock> memory_;  // by step: what it must know to take bytes over; empty if that is only what others imply
    basic_synchronisation<Program>& out_;
    room<int, decltype(Program::leaves)> written_;           // by leaf: one past the last step that wrote it, counted on that step's stream
    room<int, decltype(Program::leaves)> writer_stream_;     // ... and that stream
    room<vector_clock, decltype(Program::leaves)> touched_;  // by leaf and stream: one past the last step that touched it
    int defined_ = 0;
    // Of the step at hand: itself, its stream and its number there, one more; what it knows, and what it needs to know of the others.
    int step_ = 0, stream_ = 0, after_ = 0, defined_before_ = 0;
    int* mine_ = nullptr;
    int need_[stream_count] = {};
    bool asks_ = false;
    const bool in_parts_ = ir::has_parts(program_);
};

}  // namespace detail

// A read waits for the last write of the bytes, a write for all earlier accesses to them. In an order that respects the edges, these pairs
// are edges or follow from edges. `memory`: waits for memory (../memory/memory_waits.hpp), by step, or empty.
template <class Program>
constexpr basic_synchronisation<Program> synchronise(const Program& program, const basic_issue_order<Program>& issued,
                                                     span<const vector_clock> memory = {}) {
    basic_synchronisation<Program> out{};
    detail::access_walk<Program>{program, issued, memory, out}.walk();
    return out;
}

}  // namespace dovetail::pass
