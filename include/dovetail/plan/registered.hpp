// May NCCL know the memory that a communication passes to it? Its manual wants registered memory passed by all ranks or by none, and
// by a collective at equal offsets on all of them. What the caller binds counts as not registered. Takes the program and the plan;
// what it says is the same on all ranks. (Of captured calls NCCL registers by itself what it can: NCCL_GRAPH_REGISTER.)
#pragma once

#include "plan.hpp"

namespace dovetail::plan {

namespace detail {

// The two sides of a communication: what its ranks read, and what they write. Of each, the first buffer; -1: none yet.
struct registration {
    const ir::program& p;
    const plan& made;
    // All ranks pass both alike. In the other calls one rank passes what it gives, and another what it gets.
    bool alike;
    bool one_call;  // one NCCL call for all ranks, which wants equal offsets
    int read = -1;
    int written = -1;

    constexpr bool in_arena(int b) const { return p.buffers[b].where == ir::storage::arena || p.buffers[b].where == ir::storage::workspace; }
    constexpr bool at_equal_offsets(int a, int b) const {
        const ir::placement &here = made.placements[a], &there = made.placements[b];
        const int slots = p.buffers[a].slots;
        return here.offset == there.offset && slots == p.buffers[b].slots && (slots <= 1 || here.stride == there.stride);
    }
    // Whether a buffer goes with those that the ranks before passed on this side, and with the other side's.
    constexpr bool add(int b, int& side, int opposite) {
        const int first = side;
        if (first < 0) side = b;
        if (!alike && opposite >= 0 && in_arena(opposite) != in_arena(b)) return false;
        if (first < 0) return true;
        return in_arena(first) == in_arena(b) && (!one_call || !in_arena(b) || at_equal_offsets(b, first));
    }
};

}  // namespace detail

// Of the communication `member`, one of the task `v`, when every rank registers its arena and nothing else.
constexpr bool may_be_registered(const ir::program& p, const plan& made, int v, int member) {
    const op_kind kind = p.members[member].kind;
    const bool one_call = collective::by_one_call(kind);
    detail::registration sides{p, made, one_call && !is_rooted(kind), one_call};
    for (const ir::participation& x : p.participations.subspan(p.tasks[v].first_participation, p.tasks[v].participations)) {
        if (x.member != member) continue;
        for (const ir::access& a : p.accesses.subspan(x.first_access, x.accesses)) {
            // (Off the root of a reduce NCCL ignores the result.)
            const bool both = a.mode == access_mode::update || (collective::passes_argument_as_result(kind) && ir::only_gives(p, x));
            const int b = ir::owner_of(p, a.buffer);
            if ((both || a.mode != access_mode::write) && !sides.add(b, sides.read, sides.written)) return false;
            if ((both || a.mode == access_mode::write) && !sides.add(b, sides.written, sides.read)) return false;
        }
    }
    return true;
}

}  // namespace dovetail::plan
