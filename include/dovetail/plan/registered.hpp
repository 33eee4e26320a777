// May NCCL know the memory that a communication passes to it? Its manual wants registered memory passed by all ranks or by none, and
// by a collective at equal offsets on all of them. What the caller binds counts as not registered. Takes the program and the plan;
// what it says is the same on all ranks. (Of captured calls NCCL registers by itself what it can: NCCL_GRAPH_REGISTER.)
#pragma once

#include "plan.hpp"

namespace dovetail::plan {

// Of the communication `member`, one of the task `v`, when every rank registers its arena and nothing else.
constexpr bool may_be_registered(const ir::program& p, const plan& made, int v, int member) {
    const op_kind kind = p.members[member].kind;
    // All ranks give and get alike; in the others one rank passes what it gives, and another what it gets.
    const bool alike = kind == op_kind::all_reduce || kind == op_kind::all_gather || kind == op_kind::reduce_scatter;
    const bool by_one_call = alike || kind == op_kind::broadcast || kind == op_kind::reduce;
    const auto in_arena = [&](int b) { return p.buffers[b].where == ir::storage::arena || p.buffers[b].where == ir::storage::workspace; };
    int side[2] = {-1, -1};  // a buffer that is read, one that is written
    for (const ir::participation& x : p.participations.subspan(p.tasks[v].first_participation, p.tasks[v].participations)) {
        if (x.member != member) continue;
        for (const ir::access& a : p.accesses.subspan(x.first_access, x.accesses))
            for (int writing = 0; writing < 2; ++writing) {
                // (Off the root of a reduce NCCL ignores the result.)
                const bool both = a.mode == access_mode::update || (kind == op_kind::broadcast && ir::only_gives(p, x));
                if (!both && (a.mode == access_mode::write) != (writing == 1)) continue;
                const int b = ir::owner_of(p, a.buffer), other = side[writing];
                if (other < 0) side[writing] = b;
                if (const int opposite = side[1 - writing]; !alike && opposite >= 0 && in_arena(opposite) != in_arena(b)) return false;
                if (other < 0) continue;
                if (in_arena(other) != in_arena(b)) return false;
                const ir::placement &here = made.placements[b], &there = made.placements[other];
                if (by_one_call && in_arena(b) &&
                    (here.offset != there.offset || p.buffers[b].slots != p.buffers[other].slots || (p.buffers[b].slots > 1 && here.stride != there.stride)))
                    return false;
            }
    }
    return true;
}

}  // namespace dovetail::plan
