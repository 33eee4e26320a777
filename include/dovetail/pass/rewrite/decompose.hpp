// Makes a reduce_scatter and an all_gather of all_reduces, and computes row-wise operations between them on shards.
//
//     decompose<let<h, all_reduce<sum, tp>(x)>, let<y, norm(h)>>      h' = reduce_scatter(x)    y' = norm(h')    y = all_gather(y')
//
// The symbol of a value stands for all its rows; its shard is a symbol of its own. A value of which only shards are read is no longer
// made. What is made of a node stands where it stood, so that accesses of states keep their order.
#pragma once

#include "../../ir/table.hpp"
#include "decompose_analysis.hpp"
#include "without_nodes.hpp"

namespace dovetail::pass {

namespace detail {

struct reduce_scatter;
struct all_gather;
constexpr operation communication_operation(const tag* name, op_kind kind) {
    operation o;
    o.name = name;
    o.kind = kind;
    o.arguments = 1;
    return o;
}
inline constexpr operation reduce_scatter_operation = communication_operation(&tag_of<reduce_scatter>, op_kind::reduce_scatter),
                           all_gather_operation = communication_operation(&tag_of<all_gather>, op_kind::all_gather);

class decomposition {
public:
    constexpr decomposition(const ir::graph_data& g, const decompose_analysis& how)
        : g_{g}, how_{how}, to_{without_nodes(g)}, gathered_{how.gathered()}, shard_(g.symbols.size(), -1) {}

    constexpr ir::graph_data run() {
        for (int s = 0; s < g_.symbols.size(); ++s)
            if (how_.sharded(s) != 0) make_shard(s);
        for (int i = 0; i < g_.nodes.size(); ++i) {
            if (how_.decomposed(i))
                push(scattered(i));
            else
                push(g_.nodes[i], how_.moved(i));
            for (int k = 0; k < g_.nodes[i].results; ++k)
                if (const int s = result(g_.nodes[i], k); s >= 0 && shard_[s] >= 0 && gathered_[s] != 0) gather(i, s);
        }
        return static_cast<ir::graph_data&&>(to_);
    }

private:
    constexpr int result(const ir::node& n, int k) const { return g_.operands[n.first_result + k]; }

    constexpr void make_shard(int s) {
        shard_[s] = to_.symbols.size();
        ir::symbol shard = g_.symbols[s];
        shard.type = how_.shard_of(s);
        shard.output = false;
        to_.symbols.push(shard);
        to_.symbols[s].node = -1;
    }

    constexpr ir::node scattered(int i) const {
        ir::node n = g_.nodes[i];
        n.op = &reduce_scatter_operation;
        n.kind = op_kind::reduce_scatter;
        return n;
    }
    constexpr void gather(int i, int s) {
        ir::node n = g_.nodes[i];
        n.op = &all_gather_operation;
        n.kind = op_kind::all_gather;
        n.reduce = reduction::none;
        n.axes = how_.sharded(s);
        n.first_argument = to_.operands.size();
        n.arguments = 1;
        n.awaited = 0;
        to_.operands.push(shard_[s]);
        n.first_result = to_.operands.size();
        n.results = 1;
        to_.operands.push(s);
        to_.symbols[s].node = to_.nodes.size();
        to_.nodes.push(n);
    }

    // A node with its results, as shards where they have one, and its arguments, as shards where it takes them.
    constexpr void push(ir::node n, bool takes_shards = false) {
        const ir::node given = n;
        n.first_argument = to_.operands.size();
        for (int k = 0; k < n.arguments; ++k) {
            const int s = g_.operands[given.first_argument + k];
            to_.operands.push(takes_shards && how_.takes_shard(given, k) ? shard_[s] : s);
        }
        n.first_awaited = to_.operands.size();
        for (int k = 0; k < n.awaited; ++k) to_.operands.push(g_.operands[given.first_awaited + k]);
        n.first_result = to_.operands.size();
        for (int k = 0; k < n.results; ++k) {
            const int s = result(given, k);
            const int made = s >= 0 && shard_[s] >= 0 ? shard_[s] : s;
            if (made >= 0 && !n.update) to_.symbols[made].node = to_.nodes.size();
            to_.operands.push(made);
        }
        n.first_target = to_.operands.size();
        for (int k = 0; k < n.targets; ++k) to_.operands.push(g_.operands[given.first_target + k]);
        to_.nodes.push(n);
    }

    const ir::graph_data& g_;
    const decompose_analysis& how_;
    ir::graph_data to_;
    vec<char> gathered_;  // by symbol
    vec<int> shard_;      // by symbol: that of its shard; -1: it has none
};

}  // namespace detail

// The region, or -1: every all_reduce that can be decomposed.
constexpr ir::graph_data rewrite_decompose(ir::graph_data g, int region) {
    const ir::graph seen = ir::view(g);
    const decompose_analysis how{seen, region};
    if (!how.decomposes_any()) return g;
    return detail::decomposition{g, how}.run();
}

}  // namespace dovetail::pass
