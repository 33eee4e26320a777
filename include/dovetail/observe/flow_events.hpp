// Who sends to whom in a communication, as flow events between ranks: from where data come, or, where every rank gets something of
// all, from the lowest rank. The rule needs no times, so that ranks that write traces of their own draw ends that fit.
#pragma once

#include "../launch/geometry.hpp"
#include "plan_view.hpp"

namespace dovetail::observe {

struct flow_event {
    int from = 0;
    int to = 0;
    std::int64_t number = 0;  // unique among the flow events of a graph's run
};

// Those that begin or end at a rank.
inline std::vector<flow_event> flow_events(const plan_view& of, const geometry& where, int task, int rank) {
    std::vector<flow_event> list;
    const ir::task& v = of.program.tasks[task];
    const int role = of.graph.single_rank ? 0 : where.role_of(rank);
    for (int m = v.first_member; m < v.first_member + v.members; ++m) {
        const ir::member& x = of.program.members[m];
        bool mine = false;
        for (const ir::participation& participation : of.program.participations.subspan(v.first_participation, v.participations))
            mine = mine || (participation.member == m && participation.role == role);
        if (!mine || x.local) continue;
        const std::vector<int> at = where.partners(of.program, v, m, rank);
        const int count = static_cast<int>(at.size());
        const auto add = [&](int from, int to, int own) {
            if (from < 0 || to < 0 || from >= count || to >= count || from == to) return;
            const flow_event a{at[static_cast<std::size_t>(from)], at[static_cast<std::size_t>(to)],
                               std::int64_t{m} * where.ranks() + at[static_cast<std::size_t>(own)]};
            if (a.from == rank || a.to == rank) list.push_back(a);
        };
        for (int i = 0; i < count; ++i) {
            const int shifted = i + x.offset, wrapped = (shifted % count + count) % count;
            if (x.kind == op_kind::transfer)
                add(0, i, i);
            else if (x.kind == op_kind::shift)
                add(i, x.zero_edge && shifted != wrapped ? -1 : wrapped, i);
            else if (x.kind == op_kind::reduce || x.kind == op_kind::gather)
                add(i, x.root, i);
            else
                add(is_rooted(x.kind) ? x.root : 0, i, i);
        }
    }
    return list;
}

}  // namespace dovetail::observe
