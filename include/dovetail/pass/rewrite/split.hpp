// Computes the statements of splits in blocks: each of its operations becomes one operation for each block.
//
//     split<2, let<h, matmul(x, w)>, let<y, relu(h)>>      h.0 = matmul(rows<0, 2>(x), w)     h.1 = matmul(rows<1, 2>(x), w)
//                                                          y.0 = relu(h.0)                    y.1 = relu(h.1)     y = concat<y.0, y.1>
//
// A value that is used in blocks only is no longer made. The blocks of an operation stand where it stood, so that accesses of states keep
// their order. A block of an all_to_all takes a block of the rows for each member, or makes one of those from each:
//
//     split<2, let<h, all_to_all(x)>,         h.0 = all_to_all(rows<0, 4>(x), rows<2, 4>(x))     h.1 likewise of rows<1, 4> and rows<3, 4>
//              let<y, all_to_all(h)>>         y.0, y.2 = all_to_all(h.0)    y.1, y.3 = all_to_all(h.1)    y = concat<y.0, y.1, y.2, y.3>
//
// Of what else is made of h.0 and h.1, and used as a whole, the rows of each member are copied.
#pragma once

#include "row_nodes.hpp"
#include "split_analysis.hpp"
#include "without_nodes.hpp"

namespace dovetail::pass {

namespace detail {

class splitting {
public:
    constexpr splitting(const ir::graph_data& g, const split_analysis& how)
        : g_{g},
          how_{how},
          to_{without_nodes(g)},
          first_block_(g.symbols.size(), -1),
          last_views_(g.symbols.size(), -1),
          first_part_(g.symbols.size(), -1) {
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
            for (int block = 0; block < how_.blocks_of(n); ++block) {
                push(n, block);
                for (const int s : joined_results(n)) copy_rows_of_each(n, s, block);
            }
            for (const int s : joined_results(n)) add_concat(to_, n, parts_of(n, s), s, receivers_of(n));
        }
        return static_cast<ir::graph_data&&>(to_);
    }

private:
    // The group of a block of a node: as many groups as blocks, but for one whose members are not all in one split, which stays one.
    constexpr void find_groups() {
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const ir::node& n = g_.nodes[i];
            if (how_.inside(i) && how_.blocks_of(n) > most_blocks_) most_blocks_ = how_.blocks_of(n);
            if (n.nccl_group_id < 0) continue;
            while (split_around_.size() <= n.nccl_group_id) split_around_.push(not_seen);
            int& around = split_around_[n.nccl_group_id];
            const int region = how_.inside(i) ? how_.region_of(n) : not_one;
            around = around == not_seen || around == region ? region : not_one;
        }
    }
    constexpr int group_of(const ir::node& n, int block) const {
        if (n.nccl_group_id < 0 || block <= 0 || split_around_[n.nccl_group_id] == not_one) return n.nccl_group_id;
        return split_around_.size() + n.nccl_group_id * most_blocks_ + block;
    }

    // The symbols of the blocks of a value.
    constexpr void make_blocks(int s) {
        const ir::node& maker = g_.nodes[g_.symbols[s].node];
        const int blocks = how_.blocks_of(maker);
        if (const int parts = blocks * how_.cut_of(s).exchanged; parts > 0 && how_.joined(s)) first_part_[s] = add_parts(to_, s, parts);
        to_.symbols[s].node = -1;
        if (how_.makes_rows_of_each_member(maker)) return;
        first_block_[s] = to_.symbols.size();
        ir::symbol block = g_.symbols[s];
        block.type = how_.block_of(block.type, how_.cut_of(s).extent, blocks);
        block.output = false;
        for (int i = 0; i < blocks; ++i) to_.symbols.push(block);
    }

    // The roles that receive the result of a collective over roles; none of other nodes.
    constexpr span<const int> receivers_of(const ir::node& n) const { return g_.operands.view().subspan(n.first_target, n.targets); }

    // A node as it is, or a block of it.
    constexpr void push(const ir::node& written, int block) {
        const vec<int> arguments = arguments_of(written, block), results = results_of(written, block);
        ir::node n = written;
        n.arguments = arguments.size();
        n.results = results.size();
        n.first_argument = add(arguments);
        n.first_awaited = to_.operands.size();
        for (int k = 0; k < n.awaited; ++k) to_.operands.push(g_.operands[written.first_awaited + k]);
        n.first_result = add(results);
        for (const int made : results)
            if (made >= 0 && !n.update) to_.symbols[made].node = to_.nodes.size();
        n.first_target = to_.operands.size();
        for (const int role : receivers_of(written)) to_.operands.push(role);
        if (block >= 0) {
            n.block = block;
            n.blocks = how_.blocks_of(written);
            n.nccl_group_id = group_of(written, block);
        }
        to_.nodes.push(n);
    }
    constexpr int add(const vec<int>& list) {
        const int first = to_.operands.size();
        for (const int s : list) to_.operands.push(s);
        return first;
    }

    constexpr vec<int> arguments_of(const ir::node& n, int block) {
        vec<int> list;
        if (block < 0 || !how_.takes_rows_of_each_member(n))
            for (int k = 0; k < n.arguments; ++k) list.push(argument(n, k, block));
        else
            for (int member = 0, members = members_of(n); member < members; ++member)
                list.push(add_rows(to_, n, g_.operands[n.first_argument], member * how_.blocks_of(n) + block, members * how_.blocks_of(n)));
        return list;
    }
    constexpr vec<int> results_of(const ir::node& n, int block) const {
        vec<int> list;
        if (block >= 0 && how_.makes_rows_of_each_member(n)) {
            for (int member = 0, members = members_of(n); member < members; ++member)
                list.push(part_of(n, g_.operands[n.first_result], member, block));
            return list;
        }
        for (int k = 0; k < n.results; ++k) {
            const int s = g_.operands[n.first_result + k];
            list.push(s >= 0 && block >= 0 ? first_block_[s] + block : s);
        }
        return list;
    }
    constexpr int argument(const ir::node& n, int k, int block) {
        const int s = g_.operands[n.first_argument + k];
        if (block < 0 || how_.argument_cut(n, k).extent == whole) return s;
        return (how_.takes_blocks(n, s) ? first_block_[s] : first_view(n, s)) + block;
    }
    constexpr int members_of(const ir::node& n) const { return how_.cut_of(g_.operands[n.first_result]).exchanged; }
    // The blocks of rows of a value from outside, as the split of a reader takes them.
    constexpr int first_view(const ir::node& reader, int s) {
        const int region = how_.region_of(reader), blocks = how_.blocks_of(reader);
        for (int v = last_views_[s]; v >= 0; v = views_[v].earlier)
            if (views_[v].region == region) return views_[v].first;
        views_.push({region, to_.symbols.size(), last_views_[s]});
        last_views_[s] = views_.size() - 1;
        for (int i = 0; i < blocks; ++i) add_rows(to_, reader, s, i, blocks);
        return views_.back().first;
    }
    // The results that are put together of their blocks.
    constexpr vec<int> joined_results(const ir::node& n) const {
        vec<int> list;
        for (int k = 0; k < n.results; ++k)
            if (const int s = g_.operands[n.first_result + k]; s >= 0 && how_.joined(s)) list.push(s);
        return list;
    }
    // Of a block in the order of an all_to_all, the rows of each member stand apart in the whole.
    constexpr void copy_rows_of_each(const ir::node& written, int s, int block) {
        const int members = how_.makes_rows_of_each_member(written) ? 0 : how_.cut_of(s).exchanged;
        for (int member = 0; member < members; ++member)
            add_copy(to_, written, add_rows(to_, written, first_block_[s] + block, member, members), part_of(written, s, member, block));
    }
    constexpr int part_of(const ir::node& maker, int s, int member, int block) const {
        return first_part_[s] + member * how_.blocks_of(maker) + block;
    }
    // What a value is put together of, in order.
    constexpr vec<int> parts_of(const ir::node& maker, int s) const {
        const bool by_member = first_part_[s] >= 0;
        vec<int> parts;
        for (int i = 0; i < how_.blocks_of(maker) * (by_member ? how_.cut_of(s).exchanged : 1); ++i)
            parts.push((by_member ? first_part_[s] : first_block_[s]) + i);
        return parts;
    }

    const ir::graph_data& g_;
    const split_analysis& how_;
    ir::graph_data to_;
    vec<int> first_block_;  // by symbol: the first of its blocks; -1: it has none
    vec<int> last_views_;   // by symbol: the last of `views_` that are of it
    vec<int> first_part_;   // by symbol in the order of an all_to_all: the first of the parts that it is put together of
    // The views of the blocks of a value, for the readers in one split.
    struct views {
        int region;
        int first;    // symbol
        int earlier;  // in `views_`: those of the same value for another split; -1: there are none
    };
    vec<views> views_;
    static constexpr int not_one = -1, not_seen = -2;
    vec<int> split_around_;  // by NCCL group: the split that has all its members, or `not_one`
    int most_blocks_ = 0;
};

}  // namespace detail

// `blocks`: of each region. One of 1 block, or that cannot be cut, stays as it is, and so does one of 0, which is no split.
constexpr ir::graph_data rewrite_split(ir::graph_data g, vec<int> blocks) {
    bool any = false;
    for (int& n : blocks) {
        if (n == 1) n = 0;
        any |= n > 0;
    }
    if (!any) return g;
    const ir::graph seen = ir::view(g);
    const split_analysis how{seen, blocks};
    return detail::splitting{g, how}.run();
}

}  // namespace dovetail::pass
