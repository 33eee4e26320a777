// Flow events between ranks for a communication: from the source of the data, or, if every rank gets data of all, from the lowest rank. The
// rule does not depend on times, so the traces of single ranks have matching ends.
#pragma once

#include "../launch/executable/geometry.hpp"
#include "plan_view.hpp"

#include <utility>

namespace dovetail::observe {

struct flow_event {
    int from = 0;
    int to = 0;
    std::int64_t number = 0;  // unique among the flow events of a graph's run
};

// The flow event drawn for member i of a communication of `members`: its source and target as members; -1: none.
inline std::pair<int, int> ends_of_arrow(const ir::member& x, int i, int members) {
    switch (collective::of(x.kind).moves) {
        case collective::flow::none:
        case collective::flow::itself: break;
        case collective::flow::channel:
        case collective::flow::everyone: return {0, i};
        case collective::flow::shifted:
        case collective::flow::paired: return {i, collective::target_of(x, i, members)};
        case collective::flow::from_root: return {x.root, i};
        case collective::flow::to_root: return {i, x.root};
    }
    return {-1, -1};
}

// The flow events that begin or end at a rank.
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
        const int members = static_cast<int>(at.size());
        for (int i = 0; i < members; ++i) {
            const auto [from, to] = ends_of_arrow(x, i, members);
            if (from < 0 || to < 0 || from >= members || to >= members || from == to) continue;
            const flow_event a{at[static_cast<std::size_t>(from)], at[static_cast<std::size_t>(to)],
                               std::int64_t{m} * where.ranks() + at[static_cast<std::size_t>(i)]};
            if (a.from == rank || a.to == rank) list.push_back(a);
        }
    }
    return list;
}

}  // namespace dovetail::observe
