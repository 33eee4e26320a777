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

namespace detail {

inline bool takes_part(const plan_view& of, const ir::task& v, int member, int role) {
    for (const ir::participation& participation : of.program.participations.subspan(v.first_participation, v.participations))
        if (participation.member == member && participation.role == role) return true;
    return false;
}

// The ends of the flow_event that the i-th of `count` partners draws, as indices of partners; -1: behind an open edge.
struct arrow_ends {
    int from = -1;
    int to = -1;
};
inline arrow_ends ends_of(const ir::member& x, int i, int count) {
    if (x.kind == op_kind::transfer) return {0, i};
    if (x.kind == op_kind::shift) {
        const int shifted = i + x.offset, wrapped = (shifted % count + count) % count;
        return {i, x.zero_edge && shifted != wrapped ? -1 : wrapped};
    }
    if (x.kind == op_kind::reduce || x.kind == op_kind::gather) return {i, x.root};
    return {is_rooted(x.kind) ? x.root : 0, i};
}

}  // namespace detail

// Those that begin or end at a rank.
inline std::vector<flow_event> flow_events(const plan_view& of, const geometry& where, int task, int rank) {
    std::vector<flow_event> list;
    const ir::task& v = of.program.tasks[task];
    const int role = of.graph.single_rank ? 0 : where.role_of(rank);
    for (int m = v.first_member; m < v.first_member + v.members; ++m) {
        const ir::member& x = of.program.members[m];
        if (x.local || !detail::takes_part(of, v, m, role)) continue;
        const std::vector<int> at = where.partners(of.program, v, m, rank);
        const int count = static_cast<int>(at.size());
        for (int i = 0; i < count; ++i) {
            const detail::arrow_ends ends = detail::ends_of(x, i, count);
            if (ends.from < 0 || ends.to < 0 || ends.from >= count || ends.to >= count || ends.from == ends.to) continue;
            const int from = at[static_cast<std::size_t>(ends.from)], to = at[static_cast<std::size_t>(ends.to)];
            if (from != rank && to != rank) continue;
            list.push_back({from, to, std::int64_t{m} * where.ranks() + at[static_cast<std::size_t>(i)]});
        }
    }
    return list;
}

}  // namespace dovetail::observe
