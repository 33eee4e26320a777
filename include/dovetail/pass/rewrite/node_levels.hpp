// The place of each node between the start and the end of a run, in operations on the longest path. The nodes of an NCCL group count as
// one.
#pragma once

#include "../../ir/parts.hpp"

namespace dovetail::pass {

struct node_levels {
    vec<int> from_start, to_end;  // by node: operations on the longest path up to it, and behind it
    bool acyclic = false;
};

namespace detail {

struct node_edge {
    int from = 0, to = 0;
};

// The dependencies between nodes: a value's node comes before its readers; nodes that access a state keep their written order, unless both
// read.
class node_dependencies {
public:
    constexpr explicit node_dependencies(const ir::graph_data& g)
        : g_{g}, where_{g}, updated_(g.symbols.size(), -1), readers_(g.symbols.size()) {
        for (int i = 0; i < g.nodes.size(); ++i) {
            const ir::node& n = g.nodes[i];
            for (int k = 0; k < n.arguments; ++k) read(i, g.operands[n.first_argument + k]);
            for (int k = 0; n.update && k < n.results; ++k)
                if (const int s = g.operands[n.first_result + k]; s >= 0) update(i, where_.whole_of(s));
        }
    }
    vec<node_edge> edges;

private:
    constexpr void read(int i, int symbol) {
        if (g_.symbols[symbol].node >= 0) edges.push({g_.symbols[symbol].node, i});
        const int whole = where_.whole_of(symbol);
        if (g_.symbols[whole].kind != ir::symbol_kind::state) return;
        if (updated_[whole] >= 0) edges.push({updated_[whole], i});
        readers_[whole].push(i);
    }
    constexpr void update(int i, int state) {
        if (updated_[state] >= 0) edges.push({updated_[state], i});
        for (const int reader : readers_[state])
            if (reader != i) edges.push({reader, i});
        readers_[state].clear();
        updated_[state] = i;
    }

    const ir::graph_data& g_;
    ir::locations where_;
    vec<int> updated_;       // by state: the node that updated it last
    vec<vec<int>> readers_;  // by state: the nodes that have read it since
};

// The longest path up to each node, by Kahn's algorithm; false if there is a cycle.
constexpr bool longest_paths(const vec<node_edge>& edges, bool backward, vec<int>& level) {
    const auto from = [&](const node_edge& e) { return backward ? e.to : e.from; };
    const auto to = [&](const node_edge& e) { return backward ? e.from : e.to; };
    const int nodes = level.size();
    vec<int> missing(nodes), first(nodes + 1), target(edges.size());
    for (const node_edge& e : edges) ++missing[to(e)], ++first[from(e)];
    for (int v = 0, sum = 0; v <= nodes; ++v) first[v] = sum += first[v];
    for (int e = edges.size() - 1; e >= 0; --e) target[--first[from(edges[e])]] = to(edges[e]);
    vec<int> ready;
    for (int v = 0; v < nodes; ++v)
        if (missing[v] == 0) ready.push(v);
    for (int k = 0; k < ready.size(); ++k) {
        const int v = ready[k];
        for (int e = first[v]; e < first[v + 1]; ++e) {
            const int w = target[e];
            if (level[w] <= level[v]) level[w] = level[v] + 1;
            if (--missing[w] == 0) ready.push(w);
        }
    }
    return ready.size() == nodes;
}

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

}  // namespace detail

constexpr node_levels levels_of(const ir::graph_data& g) {
    const vec<int> of = detail::representatives(g);
    vec<detail::node_edge> edges;
    for (const detail::node_edge& e : detail::node_dependencies{g}.edges)
        if (of[e.from] != of[e.to]) edges.push({of[e.from], of[e.to]});
    node_levels levels{vec<int>(g.nodes.size()), vec<int>(g.nodes.size())};
    levels.acyclic = detail::longest_paths(edges, false, levels.from_start) && detail::longest_paths(edges, true, levels.to_end);
    return levels;
}

}  // namespace dovetail::pass
