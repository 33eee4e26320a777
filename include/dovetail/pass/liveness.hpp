// Lifetimes of buffers: takes the program and its issued steps, gives for each buffer the step that defines it and, for each
// lane, how far the lane must have come before the buffer is dead. They are lifetimes by happens-before, not by position:
// a step may take over the bytes of a buffer only if its own clock covers the release.
#pragma once

#include "waits.hpp"

namespace dovetail::pass {

// A buffer that takes over another one's bytes has no lifetime of its own: its accesses count for the other one.
struct lifetime {
    int definition = -1;  // the first step that writes it; of a state the first update. -1: none
    int last_write = -1;  // the last step that writes it
    int last = -1;        // the last step in issue order that touches it
    clock release = {};   // by lane: one past the last step on it that touches the buffer, 0 where there is none
    bool held = false;    // an output: never dead within the run
};

template <class Store>
struct basic_lifetimes {
    typename Store::template of<lifetime, 0> of;  // by buffer
    typename Store::template of<int, 1> defined;  // by step: the first buffer that it defines, -1 where none
    typename Store::template of<int, 2> next;     // by buffer: the next one defined by the same step, ids ascending

    static constexpr int tables = 3;
    template <class View>
        requires std::is_same_v<View, basic_lifetimes<viewing>>
    constexpr operator View() const {
        return ir::view(*this);
    }
};

template <class A, class B, class F>
constexpr void zip(A& a, B& b, F f)
    requires(A::tables == 3 && requires { a.defined; })
{
    f(a.of, b.of);
    f(a.defined, b.defined);
    f(a.next, b.next);
}

using lifetimes = basic_lifetimes<viewing>;
using lifetimes_data = basic_lifetimes<owning>;

constexpr int owner_of(const ir::program& program, int buffer) {
    const int alias = program.buffers[buffer].alias;
    return alias < 0 ? buffer : alias;
}

// Whether x is over before the step with this clock starts.
constexpr bool dead_before(const lifetime& x, const clock& at) {
    return !x.held && x.release.known[0] <= at.known[0] && x.release.known[1] <= at.known[1] && x.release.known[2] <= at.known[2];
}

constexpr lifetimes_data liveness(const ir::program& program, const issue& issued) {
    const int buffers = program.buffers.size();
    lifetimes_data out;
    out.of = vec<lifetime>(buffers);
    out.defined = vec<int>(issued.steps.size(), -1);
    out.next = vec<int>(buffers, -1);
    lifetime* of = out.of.begin();
    const ir::buffer* buffer = program.buffers.begin();
    const ir::part* parts = program.parts.begin();
    const ir::access* accesses = program.accesses.begin();
    const ir::step* steps = issued.steps.begin();
    for (int s = 0; s < issued.steps.size(); ++s) {
        const ir::step& step = steps[s];
        const int after = issued.lane_index[s] + 1;
        for (const ir::part *p = parts + step.first_part, *stop = p + step.parts; p != stop; ++p)
            for (const ir::access *a = accesses + p->first_access, *end = a + p->accesses; a != end; ++a) {
                lifetime& life = of[buffer[a->buffer].alias < 0 ? a->buffer : buffer[a->buffer].alias];
                life.last = s;
                life.release.known[step.lane] = after;
                if (a->mode == access_mode::read) continue;
                if (life.definition < 0) life.definition = s;
                life.last_write = s;
            }
    }
    for (int b = buffers - 1; b >= 0; --b) {
        if (buffer[b].output) of[owner_of(program, b)].held = true;
        if (of[b].definition < 0) continue;
        out.next[b] = out.defined[of[b].definition];
        out.defined[of[b].definition] = b;
    }
    return out;
}

}  // namespace dovetail::pass
