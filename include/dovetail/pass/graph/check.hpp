// check: the rules of the language that need types and readers. Every name is used; no state is read before it is set; replicas stay
// equal; the result of a rooted collective is read at the root only; a value changed in place has no other reader; meshes of connected
// roles are equal. From a typed graph to its first fault, or none.
#pragma once

#include "../../ir/parts.hpp"
#include "awaited.hpp"
#include "replicas.hpp"
#include "update_targets.hpp"

namespace dovetail::pass {

namespace detail {

class checker {
public:
    constexpr explicit checker(const ir::graph& g) : g_{g}, where_{g}, readers_(g.symbols.size()), updated_(g.symbols.size()) {}

    constexpr ir::fault run() {
        look();
        if (g_.views) views();
        if (has_unset_states_) states();
        if (has_groups_) groups();
        const bool one_mesh = meshes();
        if (has_special_nodes_ || !one_mesh || g_.views)
            for (const ir::node& n : g_.nodes) {
                check_equal_meshes(n);
                roots(n);
                host_memory(n);
                if (n.op->in_place_only && !n.update) in_place(n);
                if (n.awaited > 0) fail(check_awaited(g_, n));
            }
        if (unused_ >= 0) fail(ir::make_fault(ir::fault_kind::unused, g_.symbols[unused_].source_position));
        if (!wrong_ && has_replicas_) wrong_ = replicas{g_}.first_diverging();
        return wrong_;
    }

private:
    constexpr span<const int> arguments(const ir::node& n) const { return g_.operands.subspan(n.first_argument, n.arguments); }
    constexpr span<const int> awaited(const ir::node& n) const { return g_.operands.subspan(n.first_awaited, n.awaited); }
    constexpr span<const int> results(const ir::node& n) const { return g_.operands.subspan(n.first_result, n.results); }
    constexpr ir::fault& fail(const ir::fault& f) {
        if (!wrong_) wrong_ = f;
        return wrong_;
    }

    // Whether all roles have the same mesh. One rank can run all roles only if they have the same positions.
    constexpr bool meshes() {
        bool alike = true;
        for (int r = 1; r < g_.roles.size(); ++r) {
            if (same_mesh(0, r)) continue;
            alike = false;
            if (g_.single_rank)
                fail(ir::make_fault(ir::fault_kind::single_rank_mismatch, g_.roles[0].source_position, g_.roles[r].source_position));
        }
        return alike;
    }

    // Counts readers and determines which rules are relevant, in one pass. Most graphs need few of them.
    constexpr void look() {
        look_at_nodes();
        look_at_symbols();
    }
    constexpr void look_at_nodes() {
        int* const readers = readers_.begin();
        for (const ir::node& n : g_.nodes) {
            for (int a : arguments(n)) ++readers[a];
            if (n.awaited > 0) {
                has_special_nodes_ = true;
                for (int a : awaited(n)) ++readers[a];
            }
            if (n.nccl_group_id >= 0) has_groups_ = true;
            if (n.kind == op_kind::compute ? n.op->in_place_only : !collective::has_equal_results(n.kind)) has_special_nodes_ = true;
            if (!n.update) continue;
            fail(check_targets(g_, n));
            for (int r : results(n))
                if (r >= 0) updated_[r] = 1;
        }
    }
    constexpr void look_at_symbols() {
        for (int s = g_.symbols.count - 1; s >= 0; --s) {
            const ir::symbol& y = g_.symbols.first[s];
            if (readers_[s] == 0 && is_unused(y, s)) unused_ = s;
            if (y.kind == ir::symbol_kind::value) continue;
            if (y.in_host_memory) has_special_nodes_ = true;
            if (y.kind != ir::symbol_kind::state) continue;
            if (!y.initialised) has_unset_states_ = true;
            if (y.replicated != 0) has_replicas_ = true;
        }
    }
    // For a symbol that no statement reads.
    constexpr bool is_unused(const ir::symbol& y, int s) const {
        switch (y.kind) {
            case ir::symbol_kind::value: return !y.output && !g_.nodes[y.node].op->has_effect;
            case ir::symbol_kind::input: return true;
            case ir::symbol_kind::state: return updated_[s] == 0;
            case ir::symbol_kind::axis_index: return false;
        }
        return false;
    }

    // A concat's parts are made where it lies; an update overwrites all of a state that it does not pass as `inout`.
    constexpr void views() {
        vec<int> concat_of(g_.symbols.size(), -1);
        part_readers_ = vec<int>(g_.symbols.size());
        for (const ir::node& n : g_.nodes) {
            if (n.op->view == view_kind::concat)
                for (int a : arguments(n)) check_part(n, a, concat_of[a]);
            for (int a : arguments(n)) part_readers_[where_.whole_of(a)] += n.op->view == view_kind::none ? 1 : 0;
            for (int a : awaited(n)) ++part_readers_[where_.whole_of(a)];
            if (!n.update) continue;
            for (int r : results(n))
                for (int a : arguments(n))
                    if (r >= 0 && a != r && where_.overlap(a, r))
                        fail(ir::make_fault(ir::fault_kind::rows_of_target, n.statement, g_.symbols[r].source_position,
                                            g_.symbols[a].source_position));
        }
    }
    constexpr void check_part(const ir::node& concat, int a, int& concat_of_it) {
        const ir::symbol& s = g_.symbols[a];
        if (concat_of_it >= 0) fail(ir::make_fault(ir::fault_kind::part_twice, concat.statement, s.source_position));
        concat_of_it = concat.first_result;
        if (s.kind != ir::symbol_kind::value || s.output || s.in_host_memory || g_.nodes[s.node].op->view == view_kind::rows)
            fail(ir::make_fault(ir::fault_kind::not_a_part, concat.statement, s.source_position).in(concat.statement));
        else if (s.role != concat.role)
            fail(ir::make_fault(ir::fault_kind::part_elsewhere, concat.statement, s.source_position).in(concat.statement));
        else if (g_.nodes[s.node].op->in_place_only)
            fail(ir::make_fault(ir::fault_kind::part_in_place, concat.statement, s.source_position, g_.nodes[s.node].source_position + 1)
                     .in(concat.statement));
    }

    constexpr void states() {
        vec<char> set(g_.symbols.size());
        for (int s = 0; s < g_.symbols.size(); ++s) set[s] = g_.symbols[s].initialised ? 1 : 0;
        const auto reads = [&, this](const ir::node& n, int s) {
            if (g_.symbols[s].kind == ir::symbol_kind::state && set[s] == 0)
                fail(ir::make_fault(ir::fault_kind::uninitialised, g_.symbols[s].source_position, n.statement).in(n.statement));
        };
        for (const ir::node& n : g_.nodes) {
            for (int a : arguments(n)) reads(n, a);
            for (int a : awaited(n)) reads(n, a);
            if (n.update)
                for (int r : results(n))
                    if (r >= 0) set[r] = 1;
        }
    }

    // The members of an NCCL group have the same roles, and none writes a state that another one accesses.
    constexpr void groups() {
        vec<int> first(g_.nodes.size(), -1);                                  // by group: its first node
        vec<int> touched(g_.symbols.size(), -1), set(g_.symbols.size(), -1);  // by symbol: the last node that does
        const auto depends = [&, this](int by, int i) {
            if (by < 0 || g_.nodes[by].nccl_group_id != g_.nodes[i].nccl_group_id) return;
            fail(ir::make_fault(ir::fault_kind::group_dependence, g_.nodes[by].statement, g_.nodes[i].statement));
        };
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const ir::node& n = g_.nodes[i];
            if (n.nccl_group_id < 0) continue;
            int k = 0;
            while (first[k] >= 0 && g_.nodes[first[k]].nccl_group_id != n.nccl_group_id) ++k;
            if (first[k] < 0) first[k] = i;
            if (!same_roles(n, g_.nodes[first[k]]))
                fail(ir::make_fault(ir::fault_kind::group_dependence, g_.nodes[first[k]].statement, n.statement));
            for (int a : arguments(n)) depends(set[where_.whole_of(a)], i);
            for (int a : awaited(n)) depends(set[where_.whole_of(a)], i);
            if (n.update) {
                const int s = results(n)[0];
                depends(touched[s], i);
                set[s] = touched[s] = i;
            }
            for (int a : arguments(n)) touched[where_.whole_of(a)] = i;
            for (int a : awaited(n)) touched[where_.whole_of(a)] = i;
        }
    }
    constexpr bool same_roles(const ir::node& a, const ir::node& b) const {
        if (a.role != b.role) return false;
        if (a.role >= 0) return true;
        if (a.arguments != b.arguments || a.targets != b.targets) return false;
        for (int i = 0; i < a.arguments; ++i)
            if (g_.symbols[arguments(a)[i]].role != g_.symbols[arguments(b)[i]].role) return false;
        for (int i = 0; i < a.targets; ++i)
            if (g_.operands[a.first_target + i] != g_.operands[b.first_target + i]) return false;
        return true;
    }

    constexpr bool same_mesh(int a, int b) const { return ir::same_mesh(g_, a, b); }

    // Channels and collectives over roles connect equal positions.
    constexpr void check_equal_meshes(const ir::node& n) {
        int first = n.role;
        for (int a : arguments(n)) {
            const ir::symbol& s = g_.symbols[a];
            if (s.role < 0) continue;
            if (first < 0) first = s.role;
            if (s.role != first && !same_mesh(s.role, first))
                fail(ir::make_fault(ir::fault_kind::mesh_mismatch, s.source_position, g_.roles[s.role].source_position,
                                    g_.roles[first].source_position)
                         .in(n.statement));
        }
        if (n.role < 0)
            for (int r : g_.operands.subspan(n.first_target, n.targets))
                if (!same_mesh(r, first))
                    fail(ir::make_fault(ir::fault_kind::mesh_mismatch, n.statement, g_.roles[first].source_position,
                                        g_.roles[r].source_position));
    }

    constexpr void roots(const ir::node& reader) {
        if (reader.update && collective::ends_at_root(reader.kind))
            fail(ir::make_fault(ir::fault_kind::off_root_update, g_.symbols[results(reader)[0]].source_position, reader.source_position + 1)
                     .in(reader.statement));
        for (int a : arguments(reader)) {
            const ir::symbol& s = g_.symbols[a];
            if (s.node < 0) continue;
            const ir::node& n = g_.nodes[s.node];
            if (n.role < 0) {
                if (!collective::has_equal_results(n.kind) && !ir::receives(g_, n, reader.role))
                    fail(ir::make_fault(ir::fault_kind::off_root_read, s.source_position, reader.statement).in(reader.statement));
            } else if (collective::ends_at_root(n.kind)) {
                const bool back = collective::begins_at_root(reader.kind);
                if (!back || reader.role != n.role || reader.axes != n.axes || reader.root != n.root)
                    fail(ir::make_fault(ir::fault_kind::off_root_read, s.source_position, reader.statement).in(reader.statement));
            }
        }
    }

    // A value in host memory may be viewed, and read by from_host on its own role, but nothing else. A state is in device memory.
    constexpr void host_memory(const ir::node& n) {
        if (n.update && n.kind == op_kind::to_host) fail(ir::make_fault(ir::fault_kind::state_on_host, n.statement).in(n.statement));
        for (int a : arguments(n)) {
            const ir::symbol& s = g_.symbols[a];
            if (n.kind == op_kind::from_host && !s.in_host_memory)
                fail(ir::make_fault(ir::fault_kind::device_value, s.source_position, n.statement).in(n.statement));
            if (s.in_host_memory && n.op->view != view_kind::rows && (n.kind != op_kind::from_host || (s.role >= 0 && s.role != n.role)))
                fail(ir::make_fault(ir::fault_kind::host_value, s.source_position, n.statement).in(n.statement));
        }
    }

    // A value that an operation changes in place has the bytes of the result, and no other reader.
    constexpr void in_place(const ir::node& n) {
        const int k = n.op->in_place < 0 ? 0 : n.op->in_place;
        const int a = g_.operands[n.first_argument + k];
        const ir::symbol& s = g_.symbols[a];
        if (const tensor_type made = first_result(n); made.bytes() != s.type.bytes())
            fail(ir::make_fault(ir::fault_kind::in_place_mismatch, n.statement, n.source_position + 1)).tensor(s.type).tensor(made);
        if (s.kind != ir::symbol_kind::value || s.output || (part_readers_.empty() ? readers_ : part_readers_)[a] > 1 || s.role != n.role ||
            where_.is_part(a))
            fail(ir::make_fault(ir::fault_kind::in_place_shared, n.statement, n.source_position + 1, s.source_position));
    }

    // The type of an operation's first result, even if it is discarded.
    constexpr tensor_type first_result(const ir::node& n) const {
        if (const int r = results(n)[0]; r >= 0) return g_.symbols[r].type;
        vec<tensor_type> types;
        for (int a : arguments(n)) types.push(g_.symbols[a].type);
        tensor_type made[max_results] = {};
        n.op->infer(types.begin(), made);
        return made[0];
    }

    const ir::graph& g_;
    const ir::locations where_;
    vec<int> readers_;
    vec<int> part_readers_;  // of each value and what is part of it, views left out; empty for a graph without views
    vec<char> updated_;      // states that some statement changes
    int unused_ = -1;        // the first
    bool has_groups_ = false;
    bool has_unset_states_ = false;
    bool has_replicas_ = false;
    bool has_special_nodes_ = false;  // nodes that restrict where or by whom a buffer may be used
    ir::fault wrong_;
};

}  // namespace detail

constexpr ir::fault check(const ir::graph& g) { return detail::checker{g}.run(); }

}  // namespace dovetail::pass
