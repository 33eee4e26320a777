// Whether the statements of splits can be computed in blocks, and how each of their values is cut: along which extent, and in which order
// of rows. Takes a checked graph and the number of blocks of each region; gives the first statement of each that cannot be cut, as a fault.
// To a split, what another one makes is a value from outside, so that all are analysed in one walk.
#pragma once

#include "../../collective/shape.hpp"
#include "../graph/replicas.hpp"
#include "block_checks.hpp"
#include "value_cut.hpp"

namespace dovetail::pass {

class split_analysis : public detail::block_checks {
public:
    // Whether to stop at the first statement that cannot be cut, or to find all of them, each as if it stood outside.
    enum class finding : unsigned char { first, all };

    constexpr split_analysis(const ir::graph& g, const vec<int>& blocks, finding what = finding::first)
        : block_checks{g, blocks},
          all_{what == finding::all},
          cut_(g.symbols.size()),
          known_(g.symbols.size()),
          joined_(g.symbols.size()),
          replicas_{g} {
        follow();
        find_joined();
        for (int s = 0; s < g.symbols.size(); ++s)
            if (joined_[s] != 0 && made_in_blocks(s) && !wrong(maker(s))) {
                check_joined(s);
                take_out_if_wrong(g.symbols[s].node);
            }
        for (const int i : nodes_)
            if (inside(i) && !wrong(g.nodes[i])) check_in_place(g.nodes[i]);
        for (const int i : nodes_)
            if (inside(i) && wrong(g.nodes[i])) put_outside(i);
    }

    // The nodes that cannot be cut, where all were asked for.
    constexpr const vec<int>& not_cut() const { return not_cut_; }
    // Whether a node of a split is computed in blocks. One that takes only whole values is computed once.
    constexpr bool is_cut(const ir::node& n) const {
        for (int k = 0; k < n.arguments; ++k)
            if (argument_cut(n, k).extent != whole) return true;
        return takes_rows_of_each_member(n);
    }
    // Whether a node is an all_to_all in blocks of a whole value: a block takes a block of the rows for each member.
    constexpr bool takes_rows_of_each_member(const ir::node& n) const {
        return is_exchange(n) && argument_cut(n, 0).extent == whole && result(n, 0) >= 0 && made_in_blocks(result(n, 0));
    }
    // Whether it is one whose result is read as a whole only: a block makes a block of the rows from each member.
    constexpr bool makes_rows_of_each_member(const ir::node& n) const {
        const int s = is_exchange(n) ? result(n, 0) : -1;
        return s >= 0 && made_in_blocks(s) && joined(s) && cut_[s].exchanged > 0 && !is_read_by_rows(s);
    }
    constexpr bool made_in_blocks(int symbol) const { return made_inside(symbol) && cut_[symbol].extent != whole; }
    // Whether a node takes blocks that its own split makes. Of another value it takes blocks of rows, or all.
    constexpr bool takes_blocks(const ir::node& n, int symbol) const { return made_beside(n, symbol) && cut_[symbol].extent != whole; }
    // Whether somebody reads all of a value that is made in blocks.
    constexpr bool joined(int symbol) const { return joined_[symbol] != 0; }
    constexpr const value_cut& cut_of(int symbol) const { return cut_[symbol]; }

    // How a node of a split takes an argument.
    constexpr value_cut argument_cut(const ir::node& n, int k) const {
        const int s = argument(n, k);
        if (n.kind == op_kind::compute) return {extent_of_argument(n, k)};
        const value_cut cut = made_beside(n, s) ? cut_[s] : value_cut{type_of(s).rank > 0 ? 0 : whole};
        return is_exchange(n) && cut == value_cut{0} ? value_cut{} : cut;
    }

private:
    // A node that cannot be cut, where all are looked for: those that come behind it read a whole value.
    constexpr void take_out_if_wrong(int node) {
        if (!all_ || !wrong(g_.nodes[node])) return;
        wrong_[region_of(g_.nodes[node])] = ir::fault{};
        not_cut_.push(node);
        put_outside(node);
        for (int k = 0; k < g_.nodes[node].results; ++k)
            if (const int s = result(g_.nodes[node], k); s >= 0) cut_[s] = {};
    }

    // Each node once its arguments are known; values may be used above their definition.
    constexpr void follow() {
        vec<char> done(nodes_.size());
        for (bool changed = true; changed;) {
            changed = false;
            for (int at = 0; at < nodes_.size(); ++at) {
                const ir::node& n = g_.nodes[nodes_[at]];
                if (done[at] != 0 || wrong(n) || !ready(n)) continue;
                done[at] = 1;
                changed = true;
                cut(n);
                take_out_if_wrong(nodes_[at]);
            }
        }
    }
    constexpr bool ready(const ir::node& n) const {
        for (int k = 0; k < n.arguments; ++k)
            if (made_beside(n, argument(n, k)) && known_[argument(n, k)] == 0) return false;
        return true;
    }

    // What is awaited, read outside of its split, or an output.
    constexpr void find_joined() {
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const ir::node& n = g_.nodes[i];
            for (int k = 0; k < n.arguments; ++k)
                if (const int s = argument(n, k); made_in_blocks(s) && (!inside(i) || !made_beside(n, s))) joined_[s] = 1;
            for (const int s : awaited(n))
                if (made_in_blocks(s)) joined_[s] = 1;
        }
        for (int s = 0; s < g_.symbols.size(); ++s)
            if (g_.symbols[s].output && made_in_blocks(s)) joined_[s] = 1;
    }

    constexpr void cut(const ir::node& n) {
        if (n.update) {
            fail(ir::fault_kind::update_in_split, n);
        } else if (n.op->view != view_kind::none) {
            fail(ir::fault_kind::not_row_wise, n);
        } else {
            if (n.kind == op_kind::compute && is_cut(n) && !makes_blocks(n)) fail(ir::fault_kind::not_row_wise, n);
            const value_cut made = n.kind == op_kind::compute ? cut_of_compute(n) : cut_of_communication(n);
            for (int k = 0; k < n.arguments && !wrong(n); ++k) check_argument(n, k);
            for (int k = 0; k < n.results && !wrong(n); ++k) make_result(n, k, made);
            if (n.kind == op_kind::compute && made.extent != whole && !wrong(n)) check_shapes(n);
        }
    }

    // The extent along which an elementwise operation goes: that of its first argument that is cut, or else rows.
    constexpr int extent_of_elements(const ir::node& n) const {
        for (int k = 0; k < n.arguments; ++k)
            if (const int s = argument(n, k); n.op->row_wise.of_argument(k) != whole && takes_blocks(n, s)) return cut_[s].extent;
        return 0;
    }
    constexpr int extent_of_argument(const ir::node& n, int k) const {
        const row_wise_extents& by = n.op->row_wise;
        if (!by.elementwise) return by.of_argument(k);
        return by.of_argument(k) == whole || type_of(argument(n, k)).rank == 0 ? whole : extent_of_elements(n);
    }

    // What an operation makes of its arguments. In the order of a reduce_scatter, its other arguments have to be the same on all ranks.
    constexpr value_cut cut_of_compute(const ir::node& n) {
        if (n.op->row_wise.refused) return fail(ir::fault_kind::said_already, n), value_cut{};
        if (!n.op->row_wise.declared) return fail(ir::fault_kind::not_row_wise, n), value_cut{};
        if (!is_cut(n)) return {};
        value_cut made{n.op->row_wise.elementwise ? extent_of_elements(n) : n.op->row_wise.of_result(0)};
        for (int k = 0; k < n.arguments; ++k)
            if (const int s = argument(n, k); extent_of_argument(n, k) != whole && takes_blocks(n, s)) {
                made.scattered |= cut_[s].scattered;
                made.gathered |= cut_[s].gathered;
                if (cut_[s].exchanged != 0) made.exchanged = cut_[s].exchanged;
            }
        for (int k = 0; k < n.arguments; ++k) {
            const int s = argument(n, k);
            if (extent_of_argument(n, k) == whole) {
                if (takes_blocks(n, s)) joined_[s] = 1;
                if ((replicas_.varies_along(s) & made.scattered) != 0) fail(ir::fault_kind::differs_by_rank, n);
            } else if (!same_order(takes_blocks(n, s) ? cut_[s] : value_cut{}, made)) {
                fail(ir::fault_kind::cut_in_another_way, n);
            }
        }
        return made;
    }
    static constexpr bool same_order(const value_cut& a, const value_cut& b) {
        return a.scattered == b.scattered && a.gathered == b.gathered && a.exchanged == b.exchanged;
    }

    // A collective that changes the number of rows acts on extent 0. Others, and copies, take any block as it is.
    constexpr value_cut cut_of_communication(const ir::node& n) {
        const value_cut given = argument_cut(n, 0);
        for (int k = 1; k < n.arguments; ++k)
            if (!(argument_cut(n, k) == given)) fail(ir::fault_kind::cut_in_another_way, n);
        const bool moves_rows = collective::needs_width(collective::of(n.kind));
        if (!moves_rows && (given.scattered & n.axes) != 0) fail(ir::fault_kind::cut_in_another_way, n);
        if (is_exchange(n) && given.extent <= 0) return cut_of_exchange(n, given);
        if (n.kind == op_kind::all_to_all && n.role >= 0 && !is_exchange(n)) return given;
        if (!moves_rows || given.extent != 0) return given;
        if (n.role >= 0 && n.kind == op_kind::reduce_scatter) {
            if (given.in_order()) return {0, n.axes};
            if (given == value_cut{0, 0, n.axes}) return {0};
        }
        if (n.role >= 0 && n.kind == op_kind::all_gather) {
            if (given.in_order()) return {0, 0, n.axes};
            if (given == value_cut{0, n.axes}) return {0};
        }
        return fail(ir::fault_kind::split_stops, n), given;
    }

    // An all_to_all goes in blocks of the rows of each member. Of a whole value that is of use only if its result is read in blocks.
    constexpr value_cut cut_of_exchange(const ir::node& n, const value_cut& given) {
        const auto members = static_cast<int>(ir::width_along(g_, n.role, n.axes));
        const value_cut made{0, 0, 0, members};
        const int from = argument(n, 0);
        if (given.extent == whole && made_beside(n, from) && !made_in_blocks(from) && !is_read_by_rows(result(n, 0))) return given;
        if (given.extent == whole ? !is_read_by_rows(result(n, 0)) : given != made) return fail(ir::fault_kind::split_stops, n), made;
        if (given.extent == whole) {
            check_parts(n, type_of(from), members);
            if (takes_blocks(n, from)) joined_[from] = 1;
        } else {
            check_rows_of_each(n, type_of(from), members);
        }
        return made;
    }
    // By a node of the split that makes it.
    constexpr bool is_read_by_rows(int symbol) const {
        for (const int i : nodes_) {
            const ir::node& n = g_.nodes[i];
            for (int k = 0; k < n.arguments; ++k)
                if (argument(n, k) == symbol && inside(i) && made_beside(n, symbol) && goes_by_rows(n, k)) return true;
        }
        return false;
    }
    // Values from outside are read by blocks of rows.
    constexpr void check_argument(const ir::node& n, int k) {
        const int s = argument(n, k);
        const value_cut by = argument_cut(n, k);
        if (by.extent == whole) return;
        if (by.extent >= type_of(s).rank || (takes_blocks(n, s) ? cut_[s].extent : 0) != by.extent)
            fail(ir::fault_kind::cut_in_another_way, n);
        else if (type_of(s).extent[by.extent] % blocks_of(n) != 0)
            fail(ir::fault_kind::uneven_blocks, n).tensor(type_of(s)).count_of(blocks_of(n));
        else if (rows_together(n, type_of(s), by.extent, s) % n.op->row_wise.unit != 0)
            fail(ir::fault_kind::blocks_of_another_shape, n).tensor(type_of(s)).count_of(blocks_of(n));
        else if (!takes_blocks(n, s))
            check_alignment(n, type_of(s));
    }
    // How many rows of a block lie one behind the other in the whole: all, unless they were gathered from several ranks.
    constexpr std::int64_t rows_together(const ir::node& n, const tensor_type& type, int extent, int s) const {
        if (n.op->row_wise.unit == 1) return type.extent[extent] / blocks_of(n);  // any number of rows will do
        const value_cut cut = takes_blocks(n, s) ? cut_[s] : value_cut{};
        const std::int64_t members = cut.gathered != 0 ? ir::width_along(g_, n.role, cut.gathered) : cut.exchanged;
        return type.extent[extent] / blocks_of(n) / (members != 0 ? members : 1);
    }
    constexpr void make_result(const ir::node& n, int k, value_cut made) {
        const int s = result(n, k);
        if (n.kind == op_kind::compute && made.extent != whole && !n.op->row_wise.elementwise) made.extent = n.op->row_wise.of_result(k);
        if (s < 0) return;
        known_[s] = 1;
        cut_[s] = made;
        if (made.extent == whole) return;
        if (made.extent >= type_of(s).rank || type_of(s).extent[made.extent] % blocks_of(n) != 0)
            fail(ir::fault_kind::uneven_blocks, n).tensor(type_of(s)).count_of(blocks_of(n));
    }

    constexpr void check_shapes(const ir::node& n) {
        vec<tensor_type> given;
        vec<int> extents;
        for (int k = 0; k < n.arguments; ++k) given.push(block_of(type_of(argument(n, k)), extent_of_argument(n, k), blocks_of(n)));
        for (int k = 0; k < n.results; ++k) extents.push(result(n, k) < 0 ? whole : cut_[result(n, k)].extent);
        check_shape_rule(n, given, extents);
    }

    // What is put together lies in blocks of rows, in the written order or in that of an all_to_all, in the arena.
    constexpr void check_joined(int s) {
        const ir::node& n = maker(s);
        if (cut_[s].extent != 0)
            fail(ir::fault_kind::blocks_of_columns, n);
        else if (cut_[s].scattered != 0 || cut_[s].gathered != 0 || (cut_[s].exchanged != 0 && n.role < 0))  // a copy has a role
            fail(ir::fault_kind::split_stops, n);
        else if (g_.symbols[s].in_host_memory)
            fail(ir::fault_kind::split_on_host, n);
        else if (cut_[s].exchanged != 0)
            check_parts(n, type_of(s), cut_[s].exchanged);
        else
            check_alignment(n, type_of(s));
    }
    // A view cannot be changed in place.
    constexpr void check_in_place(const ir::node& n) {
        if (!n.op->in_place_only || !is_cut(n)) return;
        const int from = argument(n, n.op->in_place < 0 ? 0 : n.op->in_place), to = result(n, 0);
        if (!takes_blocks(n, from) || joined_[from] != 0 || (to >= 0 && joined_[to] != 0)) fail(ir::fault_kind::split_in_place, n);
    }

    const bool all_;
    vec<value_cut> cut_;  // by symbol
    vec<char> known_;     // by symbol: whether its cut is final
    vec<char> joined_;    // by symbol
    detail::replicas replicas_;
    vec<int> not_cut_;
};

}  // namespace dovetail::pass
