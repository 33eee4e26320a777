// Computes the statements of a split in blocks: each of its operations becomes one operation for each block.
//
//     split<2, let<h, matmul(x, w)>, let<y, relu(h)>>      h.0 = matmul(rows<0, 2>(x), w)     h.1 = matmul(rows<1, 2>(x), w)
//                                                          y.0 = relu(h.0)                    y.1 = relu(h.1)     y = concat<y.0, y.1>
//
// A value that is used in blocks only is no longer made. The blocks of an operation stand where it stood, so that accesses of states keep
// their order.
#pragma once

#include "split_analysis.hpp"
#include "view_nodes.hpp"
#include "without_nodes.hpp"

namespace dovetail::pass {

namespace detail {

class splitting {
public:
    constexpr splitting(const ir::graph_data& g, const split_analysis& how)
        : g_{g}, how_{how}, to_{without_nodes(g)}, first_block_(g.symbols.size(), -1), first_view_(g.symbols.size(), -1) {
        find_groups();
    }

    constexpr ir::graph_data run() {
        for (int s = 0; s < g_.symbols.size(); ++s)
            if (how_.made_in_blocks(s)) make_blocks(s);
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const ir::node& n = g_.nodes[i];
            if (!how_.inside(i) || !how_.is_cut(n)) {
                push(n, -1);
                continue;
            }
            for (int block = 0; block < how_.blocks; ++block) push(n, block);
            for (int k = 0; k < n.results; ++k)
                if (const int s = g_.operands[n.first_result + k]; s >= 0) finish(n, s);
        }
        return static_cast<ir::graph_data&&>(to_);
    }

private:
    // The group of a block of a node: as many groups as blocks, but for one that has members outside, which stays one.
    constexpr void find_groups() {
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const int group = g_.nodes[i].nccl_group_id;
            if (group < 0) continue;
            while (within_.size() <= group) within_.push(1);
            if (!how_.inside(i)) within_[group] = 0;
        }
    }
    constexpr int group_of(const ir::node& n, int block) const {
        if (n.nccl_group_id < 0 || block <= 0 || within_[n.nccl_group_id] == 0) return n.nccl_group_id;
        return within_.size() + n.nccl_group_id * how_.blocks + block;
    }

    // The symbols of the blocks of a value.
    constexpr void make_blocks(int s) {
        first_block_[s] = to_.symbols.size();
        ir::symbol block = g_.symbols[s];
        block.type = how_.block_of(block.type, how_.cut_of(s).extent);
        block.output = false;
        for (int i = 0; i < how_.blocks; ++i) to_.symbols.push(block);
        to_.symbols[s].node = -1;
    }

    // A node as it is, or a block of it.
    constexpr void push(const ir::node& written, int block) {
        vec<int> arguments;
        for (int k = 0; k < written.arguments; ++k) arguments.push(argument(written, k, block));
        ir::node n = written;
        n.first_argument = add(arguments);
        n.first_awaited = to_.operands.size();
        for (int k = 0; k < n.awaited; ++k) to_.operands.push(g_.operands[written.first_awaited + k]);
        n.first_result = to_.operands.size();
        for (int k = 0; k < n.results; ++k) {
            const int s = g_.operands[written.first_result + k];
            const int made = s >= 0 && block >= 0 ? first_block_[s] + block : s;
            if (made >= 0 && !n.update) to_.symbols[made].node = to_.nodes.size();
            to_.operands.push(made);
        }
        n.first_target = to_.operands.size();
        for (int k = 0; k < n.targets; ++k) to_.operands.push(g_.operands[written.first_target + k]);
        if (block >= 0) {
            n.block = block;
            n.blocks = how_.blocks;
            n.nccl_group_id = group_of(written, block);
        }
        to_.nodes.push(n);
    }
    constexpr int add(const vec<int>& list) {
        const int first = to_.operands.size();
        for (const int s : list) to_.operands.push(s);
        return first;
    }

    constexpr int argument(const ir::node& n, int k, int block) {
        const int s = g_.operands[n.first_argument + k];
        if (block < 0 || how_.argument_cut(n, k).extent == whole) return s;
        if (first_block_[s] >= 0) return first_block_[s] + block;
        if (first_view_[s] < 0) view(n, s);
        return first_view_[s] + block;
    }
    // The blocks of rows of a value from outside.
    constexpr void view(const ir::node& reader, int s) {
        first_view_[s] = to_.symbols.size();
        for (int i = 0; i < how_.blocks; ++i) add_rows(to_, reader, s, i, how_.blocks);
    }
    // Once all blocks of a value are there.
    constexpr void finish(const ir::node& written, int s) {
        if (!how_.joined(s)) return;
        vec<int> blocks;
        for (int i = 0; i < how_.blocks; ++i) blocks.push(first_block_[s] + i);
        add_concat(to_, written, blocks, s);
    }

    const ir::graph_data& g_;
    const split_analysis& how_;
    ir::graph_data to_;
    vec<int> first_block_;  // by symbol: the first of its blocks; -1: it has none
    vec<int> first_view_;   // by symbol: the first of its views
    vec<char> within_;      // by NCCL group: whether all its members are in the region
};

}  // namespace detail

constexpr ir::graph_data rewrite_split(ir::graph_data g, int region, int blocks) {
    const ir::graph seen = ir::view(g);
    const split_analysis how{seen, region, blocks};
    if (how.fault() || blocks == 1) return g;
    return detail::splitting{g, how}.run();
}

}  // namespace dovetail::pass
