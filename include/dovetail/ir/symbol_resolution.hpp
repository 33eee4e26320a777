// The first walk over a graph's descriptors: definitions. Takes the root descriptor and an empty state of lowering, leaves in it the
// roles with their meshes and the symbols of inputs, states and results, or the first mistake.
#pragma once

#include "listed_roles.hpp"

namespace dovetail::ir::detail {

class symbol_resolution {
public:
    constexpr explicit symbol_resolution(lowering_state& d) : d_{d} {}

    constexpr void take(const descriptor& root) {
        d_.names_roles = has_roles(root);
        if (!d_.names_roles) d_.roles.push({});
        statements(root, 0, d_.names_roles ? outside : 0);
        number_roles();
        place_meshes();
        replicate();
    }

private:
    struct found {
        const descriptor* r = nullptr;
        int source_position = 0;
        int of = -1;  // of a mesh: its role, -1 the graph's; of a replication: the symbol
    };

    static constexpr bool has_roles(const descriptor& parent) {
        for (int i = 0; i < parent.child_count; ++i) {
            const descriptor& r = **parent.statements[i];
            if (r.kind == keyword::on || r.kind == keyword::roles) return true;
            if (r.kind != keyword::graph && dsl::has_statements(r) && has_roles(r)) return true;
        }
        return false;
    }

    constexpr void statements(const descriptor& parent, int source_position, int role) {
        const statement* s = parent.statements;
        int at = source_position + 1;
        const descriptor* r = nullptr;  // declared once, see plan/compile/README.md
        for (int i = 0, count = parent.child_count; i < count; ++i) {
            r = s[i][0];
            switch (r->kind) {
                case keyword::let:
                    if (s[i][1]->kind == keyword::values)
                        values(*s[i][1], at + 1, role);
                    else
                        define(*s[i][1], at + 1, role);
                    break;
                case keyword::input:
                case keyword::state: declare(*r, at, role); break;
                case keyword::update:
                case keyword::output: break;
                case keyword::on: on(*r, at, role); break;
                case keyword::after: after(*r, at, role); break;
                case keyword::mesh: meshes_.push({r, at, named_role(role)}); break;
                case keyword::malformed: refuse(*r, at); break;
                case keyword::roles: roles(*r, at, role); break;
                default:
                    if (dsl::has_statements(*r) && r->kind != keyword::graph)
                        statements(*r, at, role);
                    else if (i != 0 || (parent.kind != keyword::on && parent.kind != keyword::after))
                        d_.fail(make_fault(no_statement(*r, parent), at));
            }
            at += r->positions;
        }
    }

    static constexpr fault_kind no_statement(const descriptor& r, const descriptor& parent) {
        switch (r.kind) {
            case keyword::negative_count: return fault_kind::negative_count;
            case keyword::too_many_indices: return fault_kind::too_many_indices;
            case keyword::other_arity: return fault_kind::body_arity;
            case keyword::pipeline_size: return fault_kind::pipeline_size;
            case keyword::unknown_schedule: return fault_kind::unknown_schedule;
            case keyword::body_count: return fault_kind::body_count;
            case keyword::uneven_micro_batches: return fault_kind::uneven_micro_batches;
            default: return parent.kind == keyword::repeat ? fault_kind::body_not_a_statement : fault_kind::not_a_statement;
        }
    }

    constexpr void on(const descriptor& r, int source_position, int outer) {
        if (outer >= 0) return d_.fail(make_fault(fault_kind::on_in_on, source_position + 1));
        if ((*r.statements[0])->kind != keyword::name) return d_.fail(make_fault(fault_kind::not_a_role, source_position + 1));
        const tag& name = (*r.statements[0])->id;
        int role = d_.find_role(name);
        if (role < 0) {
            role = d_.roles.size();
            d_.roles.push({&name, 0, 0, source_position + 1});
        }
        int statements_in_it = r.child_count - 1;
        for (int i = 1; i < r.child_count; ++i) statements_in_it -= (*r.statements[i])->kind == keyword::mesh ? 1 : 0;
        if (statements_in_it == 0 && without_statements_ < 0) without_statements_ = source_position + 1;
        statements(r, source_position, role);
    }
    constexpr int named_role(int role) const { return role >= 0 && d_.names_roles ? role : -1; }
    constexpr void roles(const descriptor& r, int source_position, int role) {
        if (role != outside) d_.fail(make_fault(fault_kind::not_a_statement, source_position));
        listed_.add(r, source_position);
    }
    // Where the graph lists its roles, they get these numbers, and may be idle.
    constexpr void number_roles() {
        if (listed_.empty()) {
            if (without_statements_ >= 0) d_.fail(make_fault(fault_kind::unused_role, without_statements_));
            return;
        }
        d_.lists_roles = true;
        const vec<int> number = listed_.number(d_);
        if (d_.wrong()) return;
        for (int s = 0; s < d_.symbol_count; ++s)
            if (int& role = d_.symbols[s].role; role >= 0) role = number[role];
        for (found& m : meshes_)
            if (m.of >= 0) m.of = number[m.of];
    }

    constexpr void after(const descriptor& r, int source_position, int role) {
        const keyword held_back = (*r.statements[1])->kind;
        if ((*r.statements[0])->kind != keyword::name) return d_.fail(make_fault(fault_kind::not_a_name, source_position + 1));
        if (held_back != keyword::let && held_back != keyword::update && held_back != keyword::after && held_back != keyword::malformed)
            return d_.fail(make_fault(fault_kind::after_of_another_statement, source_position));
        statements(r, source_position, role);
    }

    // A let or update without an expression.
    constexpr void refuse(const descriptor& r, int source_position) {
        const int name = source_position + (r.children[0]->kind == keyword::values ? 2 : 1);
        const int at = source_position + 1 + r.children[0]->positions;
        if (r.children[1]->kind == keyword::ellipsis)
            d_.fail(make_fault(fault_kind::ellipsis, name, at + 1));
        else
            d_.fail(make_fault(fault_kind::not_an_expression, name, at));
    }

    constexpr void values(const descriptor& names, int source_position, int role) {
        int at = source_position + 1;
        for (int i = 0; i < names.child_count; at += names.children[i]->positions, ++i)
            if (names.children[i]->kind != keyword::discard) define(*names.children[i], at, role);
    }

    constexpr int define(const descriptor& name, int source_position, int role) {
        const int id = d_.symbol_count++;
        symbol& s = d_.symbols[id];
        s.name = &name.id;
        s.role = role < 0 ? -1 : role;
        s.source_position = source_position;
        if (name.kind == keyword::name) {
            if (d_.names.insert(id) != id) d_.fail(make_fault(fault_kind::defined_twice, source_position));
        } else {
            d_.fail(make_fault(fault_kind::not_a_name, source_position));
        }
        return id;
    }

    constexpr void declare(const descriptor& r, int source_position, int role) {
        const tensor_type& type = *r.children[1]->type;
        if (!type.valid())
            return d_.fail(make_fault(r.children[1]->kind == keyword::tensor ? fault_kind::said_already : fault_kind::not_a_statement,
                                      source_position));
        if (type.bytes() < 0) d_.fail(make_fault(fault_kind::size_overflow, source_position + 1).tensor(type));
        if (r.kind == keyword::state && role == outside) d_.fail(make_fault(fault_kind::outside_role, source_position + 1));
        const int id = define(*r.children[0], source_position + 1, role);
        symbol& s = d_.symbols[id];
        s.kind = r.kind == keyword::input ? symbol_kind::input : symbol_kind::state;
        s.type = type;
        int at = source_position + 1 + r.children[0]->positions + r.children[1]->positions;
        for (int i = 2; i < r.child_count; at += r.children[i]->positions, ++i) {
            const descriptor& a = *r.children[i];
            if (a.kind == keyword::pinned && r.kind == keyword::input)
                s.in_host_memory = true;
            else if (a.kind == keyword::replicated)
                replications_.push({&a, at, id});
            else if (r.kind == keyword::state && (a.kind == keyword::from_store || a.kind == keyword::no_shape_rule) && !s.initialised)
                s.initialised = true;  // once
            else
                d_.fail(make_fault(fault_kind::not_a_statement, at));
        }
    }

    // The statements of a role may stand in several places, each with the mesh.
    static constexpr bool same_mesh(const descriptor& a, const descriptor& b) {
        if (a.child_count != b.child_count) return false;
        for (int i = 0; i < a.child_count; ++i) {
            const descriptor &x = *a.children[i], &y = *b.children[i];
            if (!is_axis(x) || x.kind != y.kind || x.number != y.number || !same(&x.children[0]->id, &y.children[0]->id)) return false;
        }
        return true;
    }

    constexpr void place_meshes() {
        std::int64_t ranks_before = 0;
        for (int role = 0; role < d_.roles.size(); ++role) {
            const found* own = nullptr;
            for (const found& m : meshes_) {
                if (own != nullptr && own->of == m.of && !same_mesh(*own->r, *m.r))
                    d_.fail(make_fault(fault_kind::mesh_twice, m.source_position));
                if (m.of == role || (m.of == -1 && own == nullptr)) own = &m;
            }
            if (own == nullptr) continue;
            d_.roles[role].first_axis = d_.mesh.size();
            std::int64_t ranks = 1;
            int at = own->source_position + 1;
            for (int i = 0; i < own->r->child_count; at += own->r->children[i]->positions, ++i) {
                const descriptor& a = *own->r->children[i];
                if (!is_axis(a) || a.number < 0) return d_.fail(make_fault(fault_kind::not_an_axis, at));
                int id = d_.find_axis(a.children[0]->id);
                if (id < 0) {
                    id = d_.axes.size();
                    d_.axes.push({&a.children[0]->id, at + 1});
                    if (id >= 32) return d_.fail(make_fault(fault_kind::too_many_axes, at + 1));
                }
                for (int j = d_.roles[role].first_axis; j < d_.mesh.size(); ++j)
                    if (d_.mesh[j].axis == id) d_.fail(make_fault(fault_kind::axis_twice, at + 1));
                const link between = a.kind == keyword::network_axis ? link::network : link::local;
                d_.mesh.push({id, a.number, between});
                if (a.number > 0) ranks *= a.number;
                if (ranks_before + ranks > most_ranks) return d_.fail(make_fault(fault_kind::too_many_ranks, at + 1));
            }
            ranks_before += ranks;
            d_.roles[role].axes = d_.mesh.size() - d_.roles[role].first_axis;
        }
    }

    constexpr void replicate() {
        for (const found& p : replications_) {
            int at = p.source_position + 1;
            if (p.r->child_count == 0) d_.fail(make_fault(fault_kind::replicated_along_nothing, d_.symbols[p.of].source_position));
            for (int i = 0; i < p.r->child_count; at += p.r->children[i]->positions, ++i) {
                const int axis = d_.find_axis(p.r->children[i]->id);
                const int role = d_.symbols[p.of].role;  // an input outside roles is bound on those that use it
                if (axis < 0 || (role >= 0 && !d_.has_axis(role, axis)))
                    d_.fail(make_fault(fault_kind::unknown_axis, d_.symbols[p.of].source_position, at));
                else
                    d_.symbols[p.of].replicated |= 1u << axis;
            }
        }
    }

    lowering_state& d_;
    listed_roles listed_;
    int without_statements_ = -1;  // the first role that stands in an `on` without statements
    vec<found> meshes_;
    vec<found> replications_;
};

}  // namespace dovetail::ir::detail
