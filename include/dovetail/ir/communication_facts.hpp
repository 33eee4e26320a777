// Where a communication takes place: its axes, its root and the roles that receive. Takes its operation's descriptor and a node that
// has its arguments, fills in the rest, or the first mistake.
#pragma once

#include "../dsl/communication.hpp"
#include "lowering_state.hpp"

namespace dovetail::ir::detail {

class communications {
public:
    constexpr explicit communications(lowering_state& d) : d_{d} {}

    // Axes, root and receiving roles of a communication.
    constexpr void place(node& n, const descriptor& op, int source_position, int name) {
        const bool over_roles = n.role < 0;
        if (!over_roles && n.arguments != 1) return wrong_arguments(n, op, source_position, name);
        if (is_reducing(n.kind) && n.reduce == reduction::none) return d_.fail(make_fault(wrong_reduction(op), name, source_position));
        n.first_target = d_.operand_count;
        int at = source_position + 1;
        for (int i = 0; i < op.child_count; at += op.children[i]->positions, ++i) {
            const descriptor& w = *op.children[i];
            if (w.kind == keyword::name && !over_roles) {  // as most are
                const int axis = d_.find_axis(w.id);
                if (axis < 0 || !d_.has_axis(n.role, axis)) return d_.fail(make_fault(fault_kind::unknown_axis, name, at));
                if ((n.axes >> axis & 1u) != 0) return d_.fail(make_fault(fault_kind::axis_twice, at));
                n.axes |= 1u << axis;
            } else if (w.kind == keyword::root_index && !over_roles && is_rooted(n.kind) && n.root < 0) {
                n.root = w.number;
            } else if (w.kind == keyword::root && over_roles && (n.kind == op_kind::reduce || n.kind == op_kind::gather) && n.root < 0) {
                n.root = d_.find_role(w.children[0]->id);
                if (n.root < 0) return d_.fail(make_fault(fault_kind::unknown_role, name, at + 1));
                d_.operands[d_.operand_count++] = n.root;
                n.targets = 1;
            } else if (w.kind == keyword::to && over_roles && (n.kind == op_kind::broadcast || n.kind == op_kind::scatter)) {
                int to_at = at + 1;
                for (int k = 0; k < w.child_count; to_at += w.children[k]->positions, ++k) target(n, w.children[k]->id, to_at, name);
            } else if (w.kind == keyword::name && d_.find_axis(w.id) >= 0) {
                return d_.fail(make_fault(fault_kind::axis_outside_role, name, at));
            } else if ((w.kind == keyword::root || w.kind == keyword::to) && !over_roles && d_.names_roles) {
                return d_.fail(make_fault(fault_kind::collective_inside_role, name, source_position));
            } else {
                return d_.fail(make_fault(fault_kind::bad_root, name, source_position, at));
            }
        }
        if (over_roles) return resolve_participants(n, source_position, name);
        if (n.axes == 0)
            for (int i = 0; i < d_.roles[n.role].axes; ++i) n.axes |= 1u << d_.mesh[d_.roles[n.role].first_axis + i].axis;
        if (n.axes == 0) return d_.fail(make_fault(fault_kind::member_count, name, source_position));
        if (is_rooted(n.kind) && n.root < 0) d_.fail(make_fault(fault_kind::bad_root, name, source_position, source_position));
    }

private:
    // More or fewer than one, within a role: one for each of several roles, unless axes are named.
    constexpr void wrong_arguments(const node& n, const descriptor& op, int source_position, int name) {
        bool along_axes = false;
        for (int i = 0; i < op.child_count; ++i) along_axes = along_axes || op.children[i]->kind == keyword::name;
        if (n.arguments > 1 && d_.names_roles && is_collective(n.kind) && !along_axes)
            d_.fail(make_fault(fault_kind::collective_inside_role, name, source_position));
        else
            d_.arity(name, source_position, n.arguments);
    }
    // The reduction of this operation is none: does one stand where axes do?
    static constexpr fault_kind wrong_reduction(const descriptor& op) {
        for (int i = 0; i < op.child_count; ++i)
            for (const tag* r : {&tag_of<ops::sum>, &tag_of<ops::product>, &tag_of<ops::minimum>, &tag_of<ops::maximum>, &tag_of<ops::average>})
                if (same(&op.children[i]->id, r)) return fault_kind::swapped_reduction;
        return fault_kind::bad_reduction;
    }
    constexpr void target(node& n, const tag& role, int source_position, int name) {
        const int id = d_.find_role(role);
        if (id < 0) return d_.fail(make_fault(fault_kind::unknown_role, name, source_position));
        for (int j = 0; j < n.targets; ++j)
            if (d_.operands[n.first_target + j] == id) return d_.fail(make_fault(fault_kind::role_twice, name, source_position));
        d_.operands[d_.operand_count++] = id;
        ++n.targets;
    }

    // A collective over roles: one argument per role; everybody receives unless a root or receivers are named.
    constexpr void resolve_participants(node& n, int source_position, int name) {
        for (int i = 0; i < n.arguments; ++i) {
            const symbol& s = d_.symbols[d_.operands[n.first_argument + i]];
            if (s.role < 0) return d_.fail(make_fault(fault_kind::argument_of_no_role, name, s.source_position));
            for (int j = 0; j < i; ++j)
                if (d_.symbols[d_.operands[n.first_argument + j]].role == s.role) return d_.fail(make_fault(fault_kind::role_twice, name, s.source_position));
        }
        if (n.kind == op_kind::broadcast || n.kind == op_kind::scatter) {
            if (n.arguments != 1) return d_.arity(name, source_position, n.arguments);
            if (n.targets == 0) return d_.fail(make_fault(fault_kind::bad_root, name, source_position, source_position));
            n.root = d_.symbols[d_.operands[n.first_argument]].role;
        } else if (n.arguments < 2) {
            return d_.fail(make_fault(fault_kind::member_count, name, source_position));
        } else if (is_rooted(n.kind)) {
            if (n.root < 0) return d_.fail(make_fault(fault_kind::bad_root, name, source_position, source_position));
            bool member = false;
            for (int i = 0; i < n.arguments; ++i) member = member || d_.symbols[d_.operands[n.first_argument + i]].role == n.root;
            if (!member) d_.fail(make_fault(fault_kind::unknown_role, name, d_.roles[n.root].source_position));
        } else {
            for (int i = 0; i < n.arguments; ++i) d_.operands[d_.operand_count++] = d_.symbols[d_.operands[n.first_argument + i]].role;
            n.targets = n.arguments;
        }
    }

    lowering_state& d_;
};

}  // namespace dovetail::ir::detail
