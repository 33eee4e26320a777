// Whether the buffers that a communication passes to NCCL may be in registered memory. NCCL requires that all ranks pass registered memory
// or none, and for collectives equal offsets on all ranks. Memory bound by the caller counts as not registered. From the program and the
// plan; the result is equal on all ranks. (For captured calls NCCL itself registers what it can: NCCL_GRAPH_REGISTER.)
#pragma once

#include "plan.hpp"

namespace dovetail::plan {

namespace detail {

// What a communication's ranks read, or what they write: of it, the access that was seen first; null: none yet.
using side = const ir::access*;

struct registration {
    const ir::program& p;
    const plan& made;
    // All ranks pass both sides alike. In the other calls one rank passes what it sends, and another what it receives.
    bool alike;
    bool one_call;  // one NCCL call for all ranks, which wants equal offsets
    side read = nullptr;
    side written = nullptr;

    constexpr int owner(const ir::access& a) const { return ir::owner_of(p, a.buffer); }
    constexpr bool in_arena(const ir::access& a) const {
        const ir::storage where = p.buffers[owner(a)].where;
        return where == ir::storage::arena || where == ir::storage::workspace;
    }
    constexpr bool at_equal_offsets(const ir::access& x, const ir::access& y) const {
        const int a = owner(x), b = owner(y);
        const ir::placement &here = made.placements[a], &there = made.placements[b];
        const int slots = p.buffers[a].slots;
        return here.offset + ir::offset_of(p, x) == there.offset + ir::offset_of(p, y) && slots == p.buffers[b].slots &&
               (slots <= 1 || here.stride == there.stride);
    }
    // Whether an access goes with those that the ranks before passed on its side, and with the opposite side's.
    constexpr bool add(const ir::access& a, side& own, side opposite) {
        const side first = own;
        if (first == nullptr) own = &a;
        if (!alike && opposite != nullptr && in_arena(*opposite) != in_arena(a)) return false;
        if (first == nullptr) return true;
        return in_arena(*first) == in_arena(a) && (!one_call || !in_arena(a) || at_equal_offsets(a, *first));
    }
};

}  // namespace detail

// Whether the communication `member` of task `v` may pass registered memory, if every rank registers its arena and nothing else.
constexpr bool may_be_registered(const ir::program& p, const plan& made, int v, int member) {
    const op_kind kind = p.members[member].kind;
    if (!collective::passes_between_members(kind)) return true;
    const bool one_call = collective::by_one_call(kind);
    detail::registration sides{p, made, one_call && !is_rooted(kind), one_call};
    for (const ir::participation& x : p.participations.subspan(p.tasks[v].first_participation, p.tasks[v].participations)) {
        if (x.member != member) continue;
        for (const ir::access& a : p.accesses.subspan(x.first_access, x.accesses)) {
            // (Off the root of a reduce NCCL ignores the result.)
            const bool both = a.mode == access_mode::update || (collective::passes_argument_as_result(kind) && ir::only_sends(p, x));
            if ((both || a.mode != access_mode::write) && !sides.add(a, sides.read, sides.written)) return false;
            if ((both || a.mode == access_mode::write) && !sides.add(a, sides.written, sides.read)) return false;
        }
    }
    return true;
}

}  // namespace dovetail::plan
