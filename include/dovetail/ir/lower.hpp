// lower: the descriptors of a graph to arrays. First every statement is found and what it defines gets an id, then arguments
// are looked up and each operation, nested ones before those that use them, becomes a node. Takes the root descriptor, gives
// a graph whose values have no types yet, with the first mistake in names, placement or form in `wrong`.
#pragma once

#include "awaited_values.hpp"
#include "communication_facts.hpp"
#include "open_regions.hpp"
#include "size_bounds.hpp"
#include "symbol_resolution.hpp"

namespace dovetail::ir {

namespace detail {

// The second walk: what uses what.
class connections {
public:
    constexpr explicit connections(lowering_state& d) : d_{d} {}

    constexpr void take(const descriptor& root) {
        if (d_.wrong()) return;
        statements(root, 0, d_.names_roles ? outside : 0, -1);
        if (!d_.wrong() && d_.node_count == 0) d_.fail(make_fault(fault_kind::empty_graph, 0));
    }

private:
    constexpr void statements(const descriptor& parent, int source_position, int role, int nccl_group_id) {
        const dsl::statement* s = parent.statements;
        int at = source_position + 1;
        const descriptor* r = nullptr;  // declared once, see plan/compile/README.md
        for (int i = 0, count = parent.child_count; i < count && !d_.wrong(); ++i) {
            r = s[i][0];
            switch (r->kind) {
                case keyword::let:
                case keyword::update: statement(s[i], at, role, nccl_group_id); break;
                case keyword::input:
                case keyword::state: ++symbol_; break;
                case keyword::output: outputs(*r, at, role); break;
                case keyword::group:
                case keyword::repeat: statements(*r, at, role, nccl_group_id); break;
                // As NCCL's own, a group inside of one belongs to it.
                case keyword::nccl_group: statements(*r, at, role, nccl_group_id >= 0 ? nccl_group_id : nccl_groups_++); break;
                case keyword::after: after(*r, at, role, nccl_group_id); break;
                case keyword::on: statements(*r, at, d_.find_role((*r->statements[0])->id), nccl_group_id); break;
                default:
                    if (!dsl::asks_for_rewrite(*r)) break;
                    regions_.enter(*r, at);
                    statements(*r, at, role, nccl_group_id);
                    regions_.leave();
            }
            at += r->positions;
        }
    }

    // Its statement, with one more value to start after.
    constexpr void after(const descriptor& r, int source_position, int role, int nccl_group_id) {
        awaited_.push((*r.statements[0])->id, source_position + 1);
        statements(r, source_position, role, nccl_group_id);
        awaited_.pop();
    }

    constexpr void statement(dsl::statement s, int source_position, int role, int nccl_group_id) {
        const descriptor &head = *s[0], &names = *s[1];
        const bool many = names.kind == keyword::values;
        const int name = many ? source_position + 2 : source_position + 1;
        const int id =
            operation_node(*head.op, s + 2, head.child_count - 1, source_position + 1 + names.positions, role, name, nccl_group_id);
        if (id < 0) return;
        node& n = d_.nodes[id];
        if (n.op->view != view_kind::none && (n.op->view == view_kind::rows || head.kind == keyword::update))
            return d_.fail(make_fault(fault_kind::rows_by_themselves, name, n.source_position + 1));
        if (awaited_.count > 0 && !awaited_.list(n, [&, this](const tag& x, int at) { return named(x, at, role, name); })) return;
        n.first_result = d_.operand_count;
        if (many) return results(n, id, names, name, head.kind == keyword::update);
        n.results = 1;
        if (head.kind == keyword::update) return changed(n, names, name, name);
        d_.symbols[symbol_].node = id;
        d_.operands[d_.operand_count++] = symbol_++;
    }
    constexpr void results(node& n, int id, const descriptor& names, int source_position, bool update) {
        bool named = false;
        n.results = names.child_count;
        int at = source_position;
        for (int i = 0; i < names.child_count; at += names.children[i]->positions, ++i) {
            const descriptor& name = *names.children[i];
            if (name.kind == keyword::discard) {
                d_.operands[d_.operand_count++] = -1;
                continue;
            }
            named = true;
            if (update) {
                changed(n, name, at, source_position);
            } else {
                d_.symbols[symbol_].node = id;
                d_.operands[d_.operand_count++] = symbol_++;
            }
        }
        n.update = update;
        if (!named && !n.op->has_effect) d_.fail(make_fault(fault_kind::all_discarded, n.source_position + 1));
    }
    // A result that is a state, changed in place.
    constexpr void changed(node& n, const descriptor& name, int at, int statement) {
        n.update = true;
        if (name.kind != keyword::name) return d_.fail(make_fault(fault_kind::not_a_name, at));
        const int s = d_.names.find(&name.id);
        if (s < 0) return unknown(name.id, make_fault(fault_kind::unknown_name, statement, at));
        if (d_.symbols[s].kind != symbol_kind::state) return d_.fail(make_fault(fault_kind::not_a_state, at));
        if (d_.symbols[s].role != n.role) return d_.fail(make_fault(fault_kind::state_crosses_roles, at));
        for (int j = n.first_result; j < d_.operand_count; ++j)
            if (d_.operands[j] == s) return d_.fail(make_fault(fault_kind::defined_twice, at));
        d_.operands[d_.operand_count++] = s;
    }

    constexpr void outputs(const descriptor& r, int source_position, int role) {
        int at = source_position + 1;
        for (int i = 0; i < r.child_count; at += r.children[i]->positions, ++i) {
            const descriptor& c = *r.children[i];
            if (c.kind == keyword::all) {
                outputs(c, at, role);
                continue;
            }
            if (c.kind != keyword::name) return d_.fail(make_fault(uncountable(c, fault_kind::not_a_name), at));
            const int s = d_.names.find(&c.id);
            if (s < 0) return unknown(c.id, make_fault(fault_kind::unknown_output, at, at));
            if (d_.symbols[s].kind != symbol_kind::value) return d_.fail(make_fault(fault_kind::output_not_a_value, at));
            if (role >= 0 && d_.symbols[s].role >= 0 && d_.symbols[s].role != role)
                return d_.fail(make_fault(fault_kind::output_elsewhere, at, d_.roles[role].source_position));
            if (d_.symbols[s].output) return d_.fail(make_fault(fault_kind::output_twice, at));
            d_.symbols[s].output = true;
        }
    }

    // The node of an expression of `size` terms, the operation and its arguments, whose nodes come first. `source_position` is the
    // expression's, `name` that of the statement's name.
    constexpr int operation_node(const operation& facts, const descriptor* const* terms, int size, int source_position, int role, int name,
                                 int nccl_group_id) {
        const descriptor& op = *terms[0];
        if (op.kind != keyword::operation) {
            d_.fail(op.kind == keyword::no_shape_rule ? make_fault(fault_kind::no_shape_rule, source_position + 1)
                                                      : make_fault(fault_kind::not_an_operation, name, source_position + 1));
            return -1;
        }
        int first_argument = d_.operand_count;
        int count = plain_arguments(terms + 1, terms + size, role);
        if (count < 0) {
            // One stack for all expressions: an array of its own for each is where nvcc's front end forgets to release some.
            const int base = arguments_.size();
            collect(terms + 1, terms + size, source_position + 1 + op.positions, role, name);
            first_argument = d_.operand_count;
            for (const int *a = arguments_.begin() + base, *end = arguments_.end(); a != end; ++a) d_.operands[d_.operand_count++] = *a;
            arguments_.resize(base);
            if (d_.wrong()) return -1;
            count = d_.operand_count - first_argument;
        }
        if (!accepted(facts)) return d_.arity(name, source_position + 1, count), -1;

        const int id = d_.node_count++;
        node& n = d_.nodes[id];
        n.op = &facts;
        n.kind = facts.kind;
        n.role = role < 0 ? -1 : role;
        n.first_argument = first_argument;
        n.arguments = count;
        n.statement = name;
        n.source_position = source_position;
        n.region = regions_.innermost();
        n.part = facts.block;
        n.parts = facts.blocks;
        if (nccl_group_id >= 0) {
            n.nccl_group_id = nccl_group_id;
            if (!is_communication(n.kind)) return d_.fail(make_fault(fault_kind::not_communication, name, source_position + 1)), -1;
        }
        if (facts.view != view_kind::none) d_.views = true;
        if (role == outside && !is_collective(n.kind) && facts.view != view_kind::rows)
            return d_.fail(make_fault(fault_kind::outside_role, name)), -1;
        if (n.kind == op_kind::compute) return id;
        if (is_communication(n.kind)) {
            n.reduce = facts.reduce;
            n.offset = facts.offset;
            n.zero_edge = facts.zero_edge;
            communications{d_}.place(n, op, source_position + 1, name);
        } else if (count != 1) {
            d_.arity(name, source_position + 1, count);
        }
        return d_.wrong() ? -1 : id;
    }

    // Arguments that are names of values or inputs, as most are, go to the operands as they are read. Returns their number; -1, and
    // nothing done, where others are.
    constexpr int plain_arguments(const descriptor* const* a, const descriptor* const* end, int role) {
        const symbol* const symbols = d_.symbols;
        int* const first = d_.operands + d_.operand_count;
        int* to = first;
        for (; a != end; ++a) {
            const descriptor& r = **a;
            if (r.kind != keyword::name) return -1;
            const int s = d_.names.find(&r.id);
            if (s < 0 || (symbols[s].kind == symbol_kind::state && symbols[s].role != role)) return -1;
            *to++ = s;
        }
        const int count = static_cast<int>(to - first);
        d_.operand_count += count;
        return count;
    }

    constexpr void collect(const descriptor* const* begin, const descriptor* const* end, int source_position, int role, int name) {
        int at = source_position;
        for (const descriptor* const* c = begin; c != end && !d_.wrong(); at += (*c)->positions, ++c) {
            const descriptor& a = **c;
            if (a.kind == keyword::all)
                collect(a.children, a.children + a.child_count, at + 1, role, name);
            else if (a.kind == keyword::axis_index)
                arguments_.push(axis_index(a.children[0]->id, at + 1, role, name));
            else if (a.kind == keyword::expression)
                arguments_.push(nested(a, at, role, name));
            else if (a.kind == keyword::ellipsis)
                d_.fail(make_fault(fault_kind::ellipsis, name, at + 1));
            else if (a.kind == keyword::operation || a.kind == keyword::no_shape_rule)
                d_.fail(make_fault(fault_kind::operation_as_value, name, at));
            else if (uncountable(a, fault_kind::none) != fault_kind::none)
                d_.fail(make_fault(uncountable(a, fault_kind::none), at));
            else if (a.kind != keyword::name)
                d_.fail(make_fault(fault_kind::not_an_argument, name, at));
            else
                arguments_.push(named(a.id, at, role, name));
        }
    }

    constexpr int named(const tag& value, int source_position, int role, int name) {
        const int s = d_.names.find(&value);
        if (s < 0) return unknown(value, make_fault(fault_kind::unknown_name, name, source_position)), -1;
        const symbol& found = d_.symbols[s];
        if (found.kind == symbol_kind::state && found.role != role)
            return d_.fail(make_fault(fault_kind::state_crosses_roles, source_position)), -1;
        return s;
    }

    // A name that holds no value, for which `otherwise` blames a statement and the name.
    constexpr void unknown(const tag& name, const fault& otherwise) {
        const bool role = d_.find_role(name) >= 0;
        if (!role && d_.find_axis(name) < 0) return d_.fail(otherwise);
        fault f = make_fault(role ? fault_kind::role_as_value : fault_kind::axis_as_value, otherwise.source_position[1]);
        if (otherwise.kind == fault_kind::unknown_name) f.name(otherwise.source_position[0]);
        d_.fail(f.in(otherwise.source_position[1]));
    }

    constexpr int nested(const descriptor& e, int source_position, int role, int name) {
        const bool rows = e.op->view == view_kind::rows;
        if (role == outside && !rows) return d_.fail(make_fault(fault_kind::outside_role, source_position)), -1;
        const int id = operation_node(*e.op, e.children, e.child_count, source_position, role, name, -1);
        if (id < 0) return -1;
        const int s = d_.symbol_count++;
        d_.symbols[s].role = rows ? d_.symbols[d_.operands[d_.nodes[id].first_argument]].role : role;  // where the value lies
        if (rows && role == outside) d_.nodes[id].role = d_.symbols[s].role;
        d_.symbols[s].node = id;
        d_.symbols[s].source_position = source_position;
        d_.nodes[id].first_result = d_.operand_count;
        d_.nodes[id].results = 1;
        d_.operands[d_.operand_count++] = s;
        return s;
    }

    constexpr int axis_index(const tag& name, int source_position, int role, int statement) {
        const int axis = d_.find_axis(name);
        if (role < 0 || axis < 0 || !d_.has_axis(role, axis))
            return d_.fail(make_fault(fault_kind::unknown_axis, statement, source_position)), -1;
        return d_.index_along(axis, name, source_position);
    }

    lowering_state& d_;
    open_regions regions_{d_};
    vec<int> arguments_;  // of the expressions being read
    awaited_values awaited_{d_};
    int symbol_ = 0;  // the next that a statement defines
    int nccl_groups_ = 0;
};

}  // namespace detail

// Writes to a table that has the room `largest_graph` tells of.
template <class Table>
constexpr void lower(const dsl::descriptor& root, bool single_rank, Table& to) {
    detail::lowering_state d{to};
    detail::symbol_resolution{d}.take(root);
    detail::connections{d}.take(root);
    d.finish(to);
    to.single_rank = single_rank;
}
// A template, so that it costs those nothing who do not call it.
template <class Descriptor>
constexpr graph_data lower(const Descriptor& root, bool single_rank = false) {
    const sizes<7> most = largest_graph(root);
    graph_data made{vec<symbol>(most.of[0]), vec<node>(most.of[1]),      vec<int>(most.of[2]),   vec<role>(most.of[3]),
                    vec<axis>(most.of[4]),   vec<mesh_axis>(most.of[5]), vec<region>(most.of[6])};
    lower(root, single_rank, made);
    return made;
}

}  // namespace dovetail::ir
