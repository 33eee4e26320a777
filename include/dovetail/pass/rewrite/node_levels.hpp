// The place of each node between the start and the end of a run, in operations on the longest path. The nodes of an NCCL group count as
// one.
#pragma once

#include "../../ir/parts.hpp"
#include "../schedule/list_scheduling.hpp"

namespace dovetail::pass {

struct node_levels {
    vec<int> from_start, to_end;  // by node: operations on the longest path up to it, and behind it
    bool acyclic = false;
};

namespace detail {

// The node that stands for each one: the first of its NCCL group, or itself.
constexpr vec<int> representatives(const ir::graph_data& g) {
    vec<int> of(g.nodes.size());
    vec<int> first;  // by group
    for (int i = 0; i < g.nodes.size(); ++i) {
        of[i] = i;
        const int group = g.nodes[i].nccl_group_id;
        if (group < 0) continue;
        while (first.size() <= group) first.push(-1);
        if (first[group] < 0) first[group] = i;
        of[i] = first[group];
    }
    return of;
}

// The dependencies between nodes: a value's node comes before its readers; nodes that access a state keep their written order, unless both
// read.
class node_dependencies {
public:
    constexpr explicit node_dependencies(const ir::graph_data& g)
        : g_{g}, where_{g}, stands_for_(representatives(g)), updated_(g.symbols.size(), -1), readers_(g.symbols.size()) {
        for (int i = 0; i < g.nodes.size(); ++i) {
            const ir::node& n = g.nodes[i];
            for (int k = 0; k < n.arguments; ++k) read(i, g.operands[n.first_argument + k]);
            for (int k = 0; k < n.awaited; ++k) read(i, g.operands[n.first_awaited + k]);
            for (int k = 0; n.update && k < n.results; ++k)
                if (const int s = g.operands[n.first_result + k]; s >= 0) update(i, where_.whole_of(s));
        }
    }
    vec<ir::edge> edges;

private:
    // Between the nodes that stand for them; none within a group.
    constexpr void add(int from, int to) {
        if (stands_for_[from] != stands_for_[to]) edges.push({stands_for_[from], stands_for_[to], 0, 0, ir::edge_kind::flow});
    }
    constexpr void read(int i, int symbol) {
        if (g_.symbols[symbol].node >= 0) add(g_.symbols[symbol].node, i);
        const int whole = where_.whole_of(symbol);
        if (g_.symbols[whole].kind != ir::symbol_kind::state) return;
        if (updated_[whole] >= 0) add(updated_[whole], i);
        readers_[whole].push(i);
    }
    constexpr void update(int i, int state) {
        if (updated_[state] >= 0) add(updated_[state], i);
        for (const int reader : readers_[state])
            if (reader != i) add(reader, i);
        readers_[state].clear();
        updated_[state] = i;
    }

    const ir::graph_data& g_;
    ir::locations where_;
    vec<int> stands_for_;
    vec<int> updated_;       // by state: the node that updated it last
    vec<vec<int>> readers_;  // by state: the nodes that have read it since
};

}  // namespace detail

constexpr node_levels levels_of(const ir::graph_data& g) {
    const int nodes = g.nodes.size();
    const detail::node_dependencies dependencies{g};
    const span<const ir::edge> edges = dependencies.edges.view();
    const vec<int> order = written_order(nodes, edges);
    const adjacency out = successors(nodes, edges);
    node_levels levels{vec<int>(nodes), vec<int>(nodes), order.size() == nodes};
    for (const int v : order)
        for (int e = out.first[v]; e < out.first[v + 1]; ++e)
            if (int& level = levels.from_start[out.neighbour[e]]; level <= levels.from_start[v]) level = levels.from_start[v] + 1;
    for (int k = order.size() - 1; k >= 0; --k)
        for (int e = out.first[order[k]]; e < out.first[order[k] + 1]; ++e)
            if (int& level = levels.to_end[order[k]]; level <= levels.to_end[out.neighbour[e]]) level = levels.to_end[out.neighbour[e]] + 1;
    return levels;
}

}  // namespace dovetail::pass
