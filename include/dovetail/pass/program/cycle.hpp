// check_cycles: what only the program shows: dependencies through states, channels or the members of a group that close a cycle.
// Takes a program and its edges, gives a fault that names the statements in order, or none.
#pragma once

#include "edges.hpp"

namespace dovetail::pass {

constexpr ir::fault check_cycles(const ir::graph& g, const ir::program& p, span<const ir::edge> edges) {
    ir::fault f;
    // Where every edge leads on there is none.
    if (leads_forward(edges)) return f;
    const vec<int> around = find_cycle(p.tasks.size(), edges);
    if (around.empty()) return f;
    f.kind = ir::fault_kind::cycle;
    int first = -1;
    int last = -1;
    for (int v : around) {
        const ir::task& task = p.tasks[v];
        if (task.members > 1) f.kind = ir::fault_kind::group_dependence;
        const int node = p.members[task.first_member].node;
        if (node < 0) continue;  // a derived transfer has no name of its own
        const int name = g.nodes[node].statement;
        if (name != last) f.name(name);
        if (first < 0) first = name;
        last = name;
    }
    if (f.kind == ir::fault_kind::cycle && (last != first || f.count == 1)) f.close_cycle();
    return f;
}

}  // namespace dovetail::pass
