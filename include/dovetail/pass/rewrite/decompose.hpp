// Makes a reduce_scatter and an all_gather of all_reduces, and computes row-wise operations between them on shards.
//
//     decompose<let<h, all_reduce<sum, tp>(x)>, let<y, norm(h)>>      h' = reduce_scatter(x)    y' = norm(h')    y = all_gather(y')
//
// The symbol of a value stands for all its rows; its shard is a symbol of its own. A value of which only shards are read is no longer
// made. Where an operation on shards takes rows of a value that is there as a whole, an `own_rows` copies the rank's own block of it. What
// is made of a node stands where it stood, so that accesses of states keep their order.
//
//     shard_update<update<w, sgd(w, all_reduce<sum, dp>(g), rate)>>
//         g' = reduce_scatter(g)    update w' = own_rows(w)    update w' = sgd(w', g', rate)    update w = all_gather(w')
//
// The shard of a state is a state itself, since operations such as sgd change it in place; it is written in each run before it is used.
#pragma once

#include "../../ir/table.hpp"
#include "decompose_analysis.hpp"
#include "rewritten_nodes.hpp"

namespace dovetail::pass {

namespace detail {

inline constexpr operation reduce_scatter_operation = added_operation(&tag_of<struct reduce_scatter>, op_kind::reduce_scatter),
                           all_gather_operation = added_operation(&tag_of<struct all_gather>, op_kind::all_gather),
                           own_rows_operation = added_operation(&tag_of<struct own_rows>, op_kind::own_rows);

class decomposition {
public:
    constexpr decomposition(const ir::graph_data& g, const decompose_analysis& how)
        : g_{g}, how_{how}, to_{g}, gathered_{how.gathered()}, shard_(g.symbols.size(), -1) {}

    constexpr ir::graph_data run() {
        for (int s = 0; s < g_.symbols.size(); ++s)
            if (how_.sharded(s) != 0) {
                shard_[s] = make_shard(s, g_.symbols[s].role, how_.sharded(s));
                to_.made.symbols[s].node = -1;
            }
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const vec<int> arguments = arguments_of(i), results = results_of(i);
            to_.push(how_.decomposed(i) ? scattered(i) : g_.nodes[i], arguments, results);
            if (updates_shards(i)) gather_targets(i, results);
            for (int k = 0; k < g_.nodes[i].results; ++k)
                if (const int s = result(g_.nodes[i], k); s >= 0 && shard_[s] >= 0 && gathered_[s] != 0) gather(i, s);
        }
        return static_cast<ir::graph_data&&>(to_.made);
    }

private:
    constexpr int result(const ir::node& n, int k) const { return g_.operands[n.first_result + k]; }
    constexpr int argument(const ir::node& n, int k) const { return g_.operands[n.first_argument + k]; }

    // The symbol of a shard of s.
    constexpr int make_shard(int s, int role, unsigned axes) {
        ir::symbol shard = g_.symbols[s];
        shard.kind = ir::symbol_kind::value;
        shard.type = how_.shard_of(s, role, axes);
        shard.role = role;
        shard.output = false;
        shard.replicated = 0;
        to_.made.symbols.push(shard);
        return to_.made.symbols.size() - 1;
    }

    // The symbols that a node takes: shards, the rank's own blocks, or values as a whole.
    constexpr vec<int> arguments_of(int i) {
        const ir::node& n = g_.nodes[i];
        vec<int> taken;
        for (int k = 0; k < n.arguments; ++k) {
            const int s = argument(n, k);
            taken.push(how_.takes_shard(i, k) ? shard_[s] : how_.takes_rows(i, k) ? rows_of(i, s) : s);
        }
        return taken;
    }
    constexpr vec<int> results_of(int i) {
        vec<int> made;
        for (int k = 0; k < g_.nodes[i].results; ++k) {
            const int s = result(g_.nodes[i], k);
            made.push(s < 0 ? s : updates_shards(i) ? state_shard(i, s) : shard_[s] >= 0 ? shard_[s] : s);
        }
        return made;
    }
    constexpr bool updates_shards(int i) const { return g_.nodes[i].update && how_.moved(i) != 0; }

    // The state for this rank's rows of a state: one for all regions, since the store knows it by name and type alone.
    constexpr int state_shard(int i, int s) {
        const int role = g_.nodes[i].role;
        const tensor_type type = how_.shard_of(s, role, how_.moved(i));
        for (int k = 0; k < to_.made.symbols.size(); ++k) {
            const ir::symbol& known = to_.made.symbols[k];
            if (known.shard && known.role == role && known.type == type && same(known.name, g_.symbols[s].name)) return k;
        }
        const int made = make_shard(s, role, how_.moved(i));
        ir::symbol& shard = to_.made.symbols[made];
        shard.kind = ir::symbol_kind::state;
        shard.initialised = false;
        shard.shard = true;
        return made;
    }
    constexpr void gather_targets(int i, const vec<int>& shards) {
        for (int k = 0; k < shards.size(); ++k)
            if (const int s = result(g_.nodes[i], k); s >= 0) communicate(i, all_gather_operation, how_.moved(i), shards[k], s);
    }
    // This rank's rows of a value: of the state that an update changes, in a state.
    constexpr int rows_of(int i, int s) {
        if (!how_.is_target(g_.nodes[i], s)) return own_block(i, s);
        const int rows = state_shard(i, s);
        communicate(i, own_rows_operation, how_.moved(i), s, rows);
        return rows;
    }
    // All nodes of a role in a region share the block of a value or an input; of a state and its rows, each takes that of the version it
    // reads.
    constexpr int own_block(int i, int s) {
        const ir::node& n = g_.nodes[i];
        const unsigned axes = how_.moved(i);
        const int region = how_.region_of(n);
        for (const block& b : own_blocks_)
            if (!is_of_state(s) && b.of == s && b.role == n.role && b.axes == axes && b.region == region) return b.symbol;
        own_blocks_.push({s, n.role, axes, region, make_shard(s, n.role, axes)});
        communicate(i, own_rows_operation, axes, s, own_blocks_.back().symbol);
        return own_blocks_.back().symbol;
    }

    // Whether a symbol is a state, or a view of rows of one.
    constexpr bool is_of_state(int s) const {
        const ir::symbol& x = g_.symbols[s];
        if (x.kind != ir::symbol_kind::value) return x.kind == ir::symbol_kind::state;
        return x.node >= 0 && g_.nodes[x.node].op->view == view_kind::rows && is_of_state(argument(g_.nodes[x.node], 0));
    }

    constexpr ir::node scattered(int i) const {
        ir::node n = g_.nodes[i];
        n.op = &reduce_scatter_operation;
        n.kind = op_kind::reduce_scatter;
        return n;
    }
    constexpr void gather(int i, int s) { communicate(i, all_gather_operation, how_.sharded(s), shard_[s], s); }

    constexpr void communicate(int i, const operation& op, unsigned axes, int from, int to) {
        ir::node n = g_.nodes[i];
        n.axes = axes;
        n.awaited = 0;
        to_.derive(n, op, from, to);
    }

    // The rank's own block of a whole value.
    struct block {
        int of, role;
        unsigned axes;
        int region, symbol;
    };

    const ir::graph_data& g_;
    const decompose_analysis& how_;
    rewritten_nodes to_;
    vec<char> gathered_;     // by symbol
    vec<int> shard_;         // by symbol: that of its shard; -1: it has none
    vec<block> own_blocks_;  // so far
};

}  // namespace detail

// The regions of a kind, or every all_reduce of the graph that can be decomposed.
constexpr ir::graph_data rewrite_decompose(ir::graph_data g, rewrite kind, scope of = scope::regions) {
    const ir::graph seen = ir::view(g);
    const decompose_analysis how{seen, kind, of};
    if (!how.decomposes_any()) return g;
    return detail::decomposition{g, how}.run();
}

}  // namespace dovetail::pass
