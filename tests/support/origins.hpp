// Whether a rewritten graph computes what the written one does: compares the two by the origins of nodes. Takes both graphs, checked;
// gives the first flaw with its node. It shares no code with pass/rewrite and is no part of the proof of a plan, which knows one graph.
//
// Each symbol of the rewritten graph is all of a written value, or block b of n of it along some extent:
//
//     written        h = matmul(x, w)                       y = relu(h)          outputs y
//     rewritten      h0 = matmul(rows<0, 2>(x), w)          y0 = relu(h0)        y = concat<y0, y1>
//                    h1 = matmul(rows<1, 2>(x), w)          y1 = relu(h1)
//
// Blocks of an all_to_all take and make rows of each member, as one symbol or as one for each; copies of rows hold what they are made of.
//
// NCCL groups and the order of nodes that share no state are free.
#pragma once

#include "rewrite_verdict.hpp"

#include <dovetail/collective/shape.hpp>
#include <dovetail/ir/table.hpp>
#include <dovetail/pass/graph/replicas.hpp>

namespace support {

namespace detail {

// What a symbol holds of a written value.
struct share {
    int of = -1;  // the written symbol; -1: not known
    int block = 0;
    int blocks = 0;  // 0: all of it
    int extent = dv::whole;
    unsigned scattered = 0;  // the axes of a reduce_scatter of blocks: it holds other rows than a block of the whole would
    unsigned gathered = 0;   // ... of an all_gather of blocks
    int exchanged = 0;       // the members of an all_to_all of whose rows it has a block, if there are several

    friend constexpr bool operator==(const share&, const share&) = default;
};

class origin_check {
public:
    constexpr origin_check(const dv::ir::graph& written, const dv::ir::graph& rewritten)
        : w_{written}, r_{rewritten}, share_(rewritten.symbols.size()), replicas_{written} {}

    constexpr rewrite_verdict run() {
        check_symbols();
        check_nodes();
        if (found_) check_counts();
        if (found_) follow();
        if (found_) check_outputs();
        if (found_) check_states();
        return found_;
    }

private:
    constexpr void fail(rewrite_flaw what, int node) {
        if (found_) found_ = {what, node};
    }
    constexpr void expect(bool right, rewrite_flaw what, int node) {
        if (!right) fail(what, node);
    }
    static constexpr int argument(const dv::ir::graph& g, const dv::ir::node& n, int k) { return g.operands[n.first_argument + k]; }
    static constexpr int result(const dv::ir::graph& g, const dv::ir::node& n, int k) { return g.operands[n.first_result + k]; }
    constexpr const dv::ir::node& origin_of(const dv::ir::node& n) const { return w_.nodes[n.origin]; }

    // Written symbols keep their numbers.
    constexpr void check_symbols() {
        if (r_.symbols.size() < w_.symbols.size()) return fail(rewrite_flaw::symbol_changed, -1);
        for (int s = 0; s < r_.symbols.size(); ++s) {
            const dv::ir::symbol& x = r_.symbols[s];
            if (s >= w_.symbols.size()) {
                expect(x.kind == dv::ir::symbol_kind::value && !x.output, rewrite_flaw::symbol_changed, x.node);
                continue;
            }
            const dv::ir::symbol& y = w_.symbols[s];
            expect(x.name == y.name && x.kind == y.kind && x.type == y.type && x.role == y.role && x.output == y.output &&
                       x.in_host_memory == y.in_host_memory && x.replicated == y.replicated && x.index_axis == y.index_axis,
                   rewrite_flaw::symbol_changed, x.node);
            if (x.kind != dv::ir::symbol_kind::value) share_[s].of = s;
        }
    }

    constexpr void check_nodes() {
        for (int i = 0; i < r_.nodes.size(); ++i) {
            const dv::ir::node& n = r_.nodes[i];
            if (n.origin >= w_.nodes.size())
                fail(rewrite_flaw::node_added, i);
            else if (n.origin >= 0)
                expect(is_like(n, origin_of(n)), rewrite_flaw::node_changed, i);
            else
                expect((n.op->view != dv::view_kind::none || is_copy(n)) && !n.update && n.results == 1, rewrite_flaw::node_added, i);
        }
    }
    static constexpr bool is_copy(const dv::ir::node& n) {
        return n.kind == dv::op_kind::own_rows && n.role >= 0 && n.axes == 0 && n.arguments == 1;
    }
    constexpr bool is_like(const dv::ir::node& n, const dv::ir::node& o) const {
        if (n.op != o.op || n.kind != o.kind || n.role != o.role || n.update != o.update || n.reduce != o.reduce || n.axes != o.axes ||
            n.root != o.root || n.offset != o.offset || n.zero_edge != o.zero_edge || n.statement != o.statement || n.part != o.part ||
            n.parts != o.parts || n.targets != o.targets)
            return false;
        if (n.kind != dv::op_kind::all_to_all && (n.arguments != o.arguments || n.results != o.results)) return false;
        for (int k = 0; k < n.targets; ++k)
            if (r_.operands[n.first_target + k] != w_.operands[o.first_target + k]) return false;
        return true;
    }

    // Each written node is there once, or once for each of its blocks.
    constexpr void check_counts() {
        dv::vec<int> blocks(w_.nodes.size(), -1), first(w_.nodes.size());
        for (const dv::ir::node& n : r_.nodes)
            if (n.origin >= 0) blocks[n.origin] = n.blocks;
        int all = 0;
        for (int i = 0; i < w_.nodes.size(); ++i) {
            first[i] = all;
            all += blocks[i] > 0 ? blocks[i] : 1;
        }
        dv::vec<char> there(all);
        for (int i = 0; i < r_.nodes.size() && found_; ++i) {
            const dv::ir::node& n = r_.nodes[i];
            if (n.origin < 0) continue;
            const bool fits = n.blocks == blocks[n.origin] && n.block >= 0 && n.block < (n.blocks > 0 ? n.blocks : 1);
            expect(fits, rewrite_flaw::node_changed, i);
            if (fits) expect(there[first[n.origin] + n.block]++ == 0, rewrite_flaw::node_twice, i);
        }
        for (int i = 0; i < w_.nodes.size(); ++i)
            for (int k = 0; k < (blocks[i] > 0 ? blocks[i] : 1); ++k) expect(there[first[i] + k] != 0, rewrite_flaw::node_missing, i);
    }

    // Each node once its arguments are known; values may be used above their definition.
    constexpr void follow() {
        dv::vec<char> done(r_.nodes.size());
        for (bool changed = true; changed && found_;) {
            changed = false;
            for (int i = 0; i < r_.nodes.size() && found_; ++i) {
                if (done[i] != 0 || !ready(r_.nodes[i])) continue;
                done[i] = 1;
                changed = true;
                check(i);
            }
        }
        for (int i = 0; i < r_.nodes.size(); ++i) expect(done[i] != 0, rewrite_flaw::wrong_argument, i);
    }
    constexpr bool ready(const dv::ir::node& n) const {
        for (int k = 0; k < n.arguments; ++k)
            if (share_[argument(r_, n, k)].of < 0) return false;
        return true;
    }
    constexpr void check(int i) {
        const dv::ir::node& n = r_.nodes[i];
        if (n.origin < 0 && is_copy(n))
            define(i, 0, share_[argument(r_, n, 0)]);
        else if (n.origin < 0)
            n.op->view == dv::view_kind::rows ? check_rows(i) : check_concat(i);
        else if (n.blocks == 0)
            check_whole(i);
        else if (n.kind == dv::op_kind::compute)
            check_block(i);
        else
            check_communicated_block(i);
    }

    constexpr void check_rows(int i) {
        const dv::ir::node& n = r_.nodes[i];
        const share& from = share_[argument(r_, n, 0)];
        const bool of_member = from.blocks > 0 && from.extent == 0 && n.parts == (from.exchanged > 0 ? from.exchanged : 1);
        expect(n.arguments == 1 && (from.blocks == 0 || of_member) && n.part >= 0 && n.part < n.parts, rewrite_flaw::wrong_argument, i);
        if (found_) define(i, 0, of_member ? rows_of_member(from.of, n.part, from, n.parts) : share{from.of, n.part, n.parts, 0});
    }
    // The rows of one member in a block.
    static constexpr share rows_of_member(int of, int member, const share& block, int members) {
        return {of, member * block.blocks + block.block, members * block.blocks, 0};
    }
    constexpr void check_concat(int i) {
        const dv::ir::node& n = r_.nodes[i];
        const int made = result(r_, n, 0);
        for (int k = 0; k < n.arguments; ++k)
            expect(share_[argument(r_, n, k)] == share{made, k, n.arguments, 0}, rewrite_flaw::wrong_argument, i);
        define(i, 0, {made});
    }
    constexpr void check_whole(int i) {
        const dv::ir::node &n = r_.nodes[i], &o = origin_of(n);
        for (int k = 0; k < n.arguments; ++k) check_whole_argument(i, k);
        for (int k = 0; k < n.results; ++k)
            if (n.update)
                expect(result(r_, n, k) == result(w_, o, k), rewrite_flaw::wrong_result, i);
            else
                define(i, k, {result(w_, o, k)});
    }
    constexpr void check_whole_argument(int i, int k) {
        const dv::ir::node& n = r_.nodes[i];
        expect(share_[argument(r_, n, k)] == share{argument(w_, origin_of(n), k)}, rewrite_flaw::wrong_argument, i);
    }

    // A block takes the same block of what its operation takes by blocks, and all of the rest.
    constexpr void check_block(int i) {
        const dv::ir::node &n = r_.nodes[i], &o = origin_of(n);
        const dv::row_wise_extents& by = o.op->row_wise;
        share cut = first_cut(n);
        expect(by.declared && cut.of >= 0 && !o.update, rewrite_flaw::wrong_argument, i);
        for (int k = 0; k < n.arguments; ++k) {
            if (!is_cut(n, k)) {
                check_whole_argument(i, k);
                expect((replicas_.varies_along(argument(w_, o, k)) & cut.scattered) == 0, rewrite_flaw::differs_by_rank, i);
                continue;
            }
            const int extent = by.elementwise ? cut.extent : by.of_argument(k);
            expect(share_[argument(r_, n, k)] == cut_like(cut, argument(w_, o, k), n, extent), rewrite_flaw::wrong_argument, i);
        }
        for (int k = 0; k < n.results; ++k)
            define(i, k, cut_like(cut, result(w_, o, k), n, by.elementwise ? cut.extent : by.of_result(k)));
    }
    constexpr bool is_cut(const dv::ir::node& n, int k) const {
        const dv::row_wise_extents& by = n.op->row_wise;
        return by.of_argument(k) != dv::whole && (!by.elementwise || w_.symbols[argument(w_, origin_of(n), k)].type.rank > 0);
    }
    // The block of a node, of a value that is cut along this extent, with its rows in the order of another one.
    static constexpr share cut_like(const share& other, int of, const dv::ir::node& n, int extent) {
        return {of, n.block, n.blocks, extent, other.scattered, other.gathered, other.exchanged};
    }
    constexpr share first_cut(const dv::ir::node& n) const {
        for (int k = 0; k < n.arguments; ++k)
            if (is_cut(n, k)) return share_[argument(r_, n, k)];
        return {};
    }

    // What moves data along other extents than the blocks, or along none, takes a block as it would the whole. Along extent 0, a
    // reduce_scatter of blocks gives other rows than one of the whole, and so does an all_gather; of a pair along the same axes the second
    // one gives them back.
    constexpr void check_communicated_block(int i) {
        const dv::ir::node &n = r_.nodes[i], &o = origin_of(n);
        share cut = share_[argument(r_, n, 0)];
        if (n.kind == dv::op_kind::all_to_all && n.role >= 0 && cut.extent == 0) return check_exchange(i);
        for (int k = 0; k < n.arguments; ++k)
            expect(share_[argument(r_, n, k)] == cut_like(cut, argument(w_, o, k), n, cut.extent), rewrite_flaw::wrong_argument, i);
        if (!dv::collective::needs_width(dv::collective::of(n.kind)))
            expect((cut.scattered & n.axes) == 0, rewrite_flaw::wrong_argument, i);
        else if (cut.extent == 0)
            follow_order(i, cut);
        for (int k = 0; k < n.results; ++k) define(i, k, cut_like(cut, result(w_, o, k), n, cut.extent));
    }
    // A block of the rows for each member, and of those from each.
    constexpr void check_exchange(int i) {
        const dv::ir::node &n = r_.nodes[i], &o = origin_of(n);
        const int x = argument(w_, o, 0), y = result(w_, o, 0), members = static_cast<int>(dv::ir::width_along(w_, n.role, n.axes));
        const share block{y, n.block, n.blocks, 0, 0, 0, members > 1 ? members : 0};
        share whole_block = block;
        whole_block.of = x;
        expect((n.arguments == 1 || n.arguments == members) && (n.results == 1 || n.results == members), rewrite_flaw::node_changed, i);
        for (int k = 0; k < n.arguments && found_; ++k)
            expect(share_[argument(r_, n, k)] == (n.arguments == members ? rows_of_member(x, k, block, members) : whole_block),
                   rewrite_flaw::wrong_argument, i);
        for (int k = 0; k < n.results && found_; ++k) define(i, k, n.results == members ? rows_of_member(y, k, block, members) : block);
    }
    constexpr void follow_order(int i, share& cut) {
        const dv::ir::node& n = r_.nodes[i];
        const bool in_order = cut.scattered == 0 && cut.gathered == 0 && cut.exchanged == 0;
        const bool scatters = n.kind == dv::op_kind::reduce_scatter, gathers = n.kind == dv::op_kind::all_gather;
        const bool gives_back = scatters ? cut.scattered == 0 && cut.gathered == n.axes : cut.gathered == 0 && cut.scattered == n.axes;
        expect(n.role >= 0 && (scatters || gathers) && (in_order || (gives_back && cut.exchanged == 0)), rewrite_flaw::wrong_argument, i);
        cut.scattered = in_order && scatters ? n.axes : 0;
        cut.gathered = in_order && gathers ? n.axes : 0;
    }

    // Result k of node i holds this; a written value that it holds as a whole keeps its number.
    constexpr void define(int i, int k, const share& held) {
        const int s = result(r_, r_.nodes[i], k);
        if (s < 0 || held.of < 0) return expect(s < 0 && held.of < 0, rewrite_flaw::wrong_result, i);
        if (held.of >= w_.symbols.size()) return fail(rewrite_flaw::wrong_result, i);
        expect(share_[s].of < 0 && r_.symbols[s].node == i && (held.blocks == 0) == (s == held.of), rewrite_flaw::wrong_result, i);
        expect(r_.symbols[s].role == w_.symbols[held.of].role && has_type(r_.symbols[s].type, held), rewrite_flaw::wrong_result, i);
        share_[s] = held;
    }
    constexpr bool has_type(const dv::tensor_type& type, const share& held) const {
        dv::tensor_type all = type;
        if (held.blocks > 0) {
            if (held.extent < 0 || held.extent >= type.rank) return false;
            all.extent[held.extent] *= held.blocks;
        }
        return all == w_.symbols[held.of].type;
    }

    constexpr void check_outputs() {
        for (int s = 0; s < w_.symbols.size(); ++s)
            if (w_.symbols[s].output) expect(share_[s] == share{s}, rewrite_flaw::symbol_changed, -1);
    }

    // The written symbol of which another one is rows.
    constexpr int viewed(int s) const {
        while (w_.symbols[s].kind == dv::ir::symbol_kind::value && w_.nodes[w_.symbols[s].node].op->view == dv::view_kind::rows)
            s = argument(w_, w_.nodes[w_.symbols[s].node], 0);
        return s;
    }
    // Where one of two operations changes a state that both touch, they stand in the written order.
    constexpr void check_states() {
        dv::vec<int> touched(w_.symbols.size(), -1), updated(w_.symbols.size(), -1);  // the last origin so far, by state
        for (int i = 0; i < r_.nodes.size(); ++i) {
            const dv::ir::node& n = r_.nodes[i];
            if (n.origin < 0) continue;
            for (int k = 0; k < n.arguments; ++k) {
                const int s = viewed(share_[argument(r_, n, k)].of);
                expect(updated[s] < n.origin, rewrite_flaw::state_order, i);
                if (touched[s] < n.origin) touched[s] = n.origin;
            }
            for (int k = 0; k < n.results && n.update; ++k) {
                const int s = result(r_, n, k);
                if (s < 0) continue;
                expect(touched[s] <= n.origin && updated[s] < n.origin, rewrite_flaw::state_order, i);
                touched[s] = updated[s] = n.origin;
            }
        }
    }

    const dv::ir::graph &w_, &r_;
    dv::vec<share> share_;  // by rewritten symbol
    dv::pass::detail::replicas replicas_;
    rewrite_verdict found_;
};

}  // namespace detail

constexpr rewrite_verdict compare_by_origins(const dv::ir::graph& written, const dv::ir::graph& rewritten) {
    return detail::origin_check{written, rewritten}.run();
}

}  // namespace support
