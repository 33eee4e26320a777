// Which nodes of a graph stand in which split, and which values are made there: what the analysis of splits starts from. A node or a value
// can be put outside again.
#pragma once

#include "../../ir/graph.hpp"

namespace dovetail::pass::detail {

class split_members {
public:
    // `blocks`: of each region; 0: its statements are not cut.
    constexpr split_members(const ir::graph& g, const vec<int>& blocks)
        : g_{g}, blocks_{blocks}, inside_(g.nodes.size()), made_in_(g.symbols.size(), -1) {
        for (int i = 0; i < g.nodes.size(); ++i) {
            const ir::node& n = g.nodes[i];
            const int region = region_of(n);
            if (region < 0 || blocks_[region] == 0) continue;
            nodes_.push(i);
            inside_[i] = 1;
            for (int k = 0; k < n.results && !n.update; ++k)
                if (result(n, k) >= 0) made_in_[result(n, k)] = region;
        }
    }

    // The split around a node; -1: there is none.
    constexpr int region_of(const ir::node& n) const { return ir::region_around(g_, n, rewrite::split); }
    // The number of blocks of a node in a split.
    constexpr int blocks_of(const ir::node& n) const { return blocks_[region_of(n)]; }
    constexpr bool inside(int node) const { return inside_[node] != 0; }

protected:
    constexpr int argument(const ir::node& n, int k) const { return g_.operands[n.first_argument + k]; }
    constexpr span<const int> awaited(const ir::node& n) const { return g_.operands.subspan(n.first_awaited, n.awaited); }
    constexpr int result(const ir::node& n, int k) const { return g_.operands[n.first_result + k]; }
    constexpr const tensor_type& type_of(int symbol) const { return g_.symbols[symbol].type; }

    constexpr bool made_inside(int symbol) const { return made_in_[symbol] >= 0; }
    // Whether a value is made in the split of a node.
    constexpr bool made_beside(const ir::node& n, int symbol) const { return made_inside(symbol) && made_in_[symbol] == region_of(n); }
    constexpr const ir::node& maker(int symbol) const { return g_.nodes[g_.symbols[symbol].node]; }

    constexpr void put_outside(int node) {
        inside_[node] = 0;
        for (int k = 0; k < g_.nodes[node].results; ++k)
            if (const int s = result(g_.nodes[node], k); s >= 0) made_in_[s] = -1;
    }

    const ir::graph& g_;
    vec<int> blocks_;   // by region
    vec<int> nodes_;    // of all splits, those that were put outside included
    vec<char> inside_;  // by node
    vec<int> made_in_;  // by symbol: the split that makes it; -1: it is made outside
};

}  // namespace dovetail::pass::detail
