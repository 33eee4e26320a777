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
        if (n.role >= 0 && n.arguments != 1) return wrong_arguments(n, op, source_position, name);
        if (is_reducing(n.kind) && n.reduce == reduction::none) return d_.fail(make_fault(wrong_reduction(op), name, source_position));
        n.first_target = d_.operand_count;
        int at = source_position + 1;
        for (int i = 0; i < op.child_count; at += op.children[i]->positions, ++i) {
            const found what{*op.children[i], at, source_position, name, i};
            if (!(n.role < 0 ? take_roles(n, what) : take_axes(n, what))) return;
        }
        if (n.role < 0)
            resolve_participants(n, source_position, name);
        else
            settle_axes(n, source_position, name);
    }

private:
    // What an operation names in its angle brackets.
    struct found {
        const descriptor& r;
        int at;         // its position in the source
        int operation;  // ... and those of the operation and of what the statement defines
        int name;
        int number;  // among all that the operation names
    };

    // Within a role: axes, and the index of a root.
    constexpr bool take_axes(node& n, const found& what) {
        const descriptor& r = what.r;
        if (collective::of(n.kind).moves == collective::flow::paired && (what.number > 0 || r.kind == keyword::pair))
            return check_pair(n, what);
        if (r.kind == keyword::name) {
            const int axis = d_.find_axis(r.id);
            if (axis < 0 || !d_.has_axis(n.role, axis)) return refuse(make_fault(fault_kind::unknown_axis, what.name, what.at));
            if ((n.axes >> axis & 1u) != 0) return refuse(make_fault(fault_kind::axis_twice, what.at));
            n.axes |= 1u << axis;
            return true;
        }
        if (r.kind == keyword::root_index && is_rooted(n.kind) && n.root < 0) {
            n.root = r.number;
            return true;
        }
        if ((r.kind == keyword::root || r.kind == keyword::to) && d_.names_roles)
            return refuse(make_fault(fault_kind::collective_inside_role, what.name, what.operation));
        return refuse(make_fault(fault_kind::bad_root, what.name, what.operation, what.at));
    }
    // A pair of positions on the axis that stands in front: each position sends to one other at most, and receives from one.
    constexpr bool check_pair(const node& n, const found& what) {
        if (what.number == 0 || what.r.kind != keyword::pair)
            return refuse(make_fault(fault_kind::bad_pairs, what.name, what.operation, what.at));
        const position_pair* const pairs = n.op->pairs;
        const position_pair& p = pairs[what.number - 1];
        const int width = d_.width_of(n.role, n.axes);
        const auto is_on_axis = [&](int position) { return position >= 0 && (position < width || width == 0); };
        if (!is_on_axis(p.source) || !is_on_axis(p.target))
            return refuse(make_fault(fault_kind::bad_position, what.name, what.operation, what.at).count_of(width));
        for (int i = 0; i < what.number - 1; ++i) {
            if (pairs[i].source == p.source) return refuse(make_fault(fault_kind::source_twice, what.name, what.operation, what.at));
            if (pairs[i].target == p.target) return refuse(make_fault(fault_kind::target_twice, what.name, what.operation, what.at));
        }
        return true;
    }
    // Over roles: the root that receives, or the receivers.
    constexpr bool take_roles(node& n, const found& what) {
        const descriptor& r = what.r;
        if (r.kind == keyword::root && collective::ends_at_root(n.kind) && n.root < 0) {
            n.root = d_.find_role(r.children[0]->id);
            if (n.root < 0) return refuse(make_fault(fault_kind::unknown_role, what.name, what.at + 1));
            d_.operands[d_.operand_count++] = n.root;
            n.targets = 1;
            return true;
        }
        if (r.kind == keyword::to && collective::begins_at_root(n.kind)) {
            int at = what.at + 1;
            for (int k = 0; k < r.child_count; at += r.children[k]->positions, ++k) target(n, r.children[k]->id, at, what.name);
            return true;
        }
        if (r.kind == keyword::name && d_.find_axis(r.id) >= 0)
            return refuse(make_fault(fault_kind::axis_outside_role, what.name, what.at));
        return refuse(make_fault(fault_kind::bad_root, what.name, what.operation, what.at));
    }
    constexpr bool refuse(const fault& f) {
        d_.fail(f);
        return false;
    }

    // Without axes: all that the role has.
    constexpr void settle_axes(node& n, int source_position, int name) {
        if (n.axes == 0)
            for (int i = 0; i < d_.roles[n.role].axes; ++i) n.axes |= 1u << d_.mesh[d_.roles[n.role].first_axis + i].axis;
        if (n.axes == 0) return d_.fail(make_fault(fault_kind::member_count, name, source_position));
        if (collective::of(n.kind).moves == collective::flow::paired && n.op->pair_count == 0)
            d_.fail(make_fault(fault_kind::bad_pairs, name, source_position));
        if (is_rooted(n.kind) && n.root < 0) d_.fail(make_fault(fault_kind::bad_root, name, source_position, source_position));
    }

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
            for (const tag* r :
                 {&tag_of<ops::sum>, &tag_of<ops::product>, &tag_of<ops::minimum>, &tag_of<ops::maximum>, &tag_of<ops::average>})
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

    // A collective over roles: one argument per role; all roles receive unless a root or receivers are named.
    constexpr void resolve_participants(node& n, int source_position, int name) {
        for (int i = 0; i < n.arguments; ++i) {
            const symbol& s = d_.symbols[d_.operands[n.first_argument + i]];
            if (s.role < 0) return d_.fail(make_fault(fault_kind::argument_of_no_role, name, s.source_position));
            for (int j = 0; j < i; ++j)
                if (d_.symbols[d_.operands[n.first_argument + j]].role == s.role)
                    return d_.fail(make_fault(fault_kind::role_twice, name, s.source_position));
        }
        if (collective::begins_at_root(n.kind)) {
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
