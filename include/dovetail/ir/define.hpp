// The first walk over a graph's records: what is defined. Takes the root record and an empty draft, leaves in it the roles with
// their meshes and the symbols of inputs, states and results, or the first mistake.
#pragma once

#include "draft.hpp"

namespace dovetail::ir::detail {

class definitions {
public:
    constexpr explicit definitions(draft& d) : d_{d} {}

    constexpr void take(const record& root) {
        d_.names_roles = has_roles(root);
        if (!d_.names_roles) d_.roles.push({});
        statements(root, 0, d_.names_roles ? outside : 0);
        place_meshes();
        replicate();
    }

private:
    struct found {
        const record* r = nullptr;
        int mention = 0;
        int of = -1;  // of a mesh: its role, -1 the graph's; of a replication: the symbol
    };

    static constexpr bool has_roles(const record& parent) {
        for (int i = 0; i < parent.child_count; ++i) {
            const record& r = **parent.statements[i];
            if (r.kind == word::on) return true;
            if ((r.kind == word::group || r.kind == word::repeat || r.kind == word::nccl_group) && has_roles(r)) return true;
        }
        return false;
    }

    constexpr void statements(const record& parent, int mention, int role) {
        const statement* s = parent.statements;
        int at = mention + 1;
        const record* r = nullptr;  // declared once, see pass/predict.hpp
        for (int i = 0, count = parent.child_count; i < count; ++i) {
            r = s[i][0];
            switch (r->kind) {
                case word::let:
                    if (s[i][1]->kind == word::values)
                        values(*s[i][1], at + 1, role);
                    else
                        define(*s[i][1], at + 1, role);
                    break;
                case word::input:
                case word::state: declare(*r, at, role); break;
                case word::update:
                case word::output: break;
                case word::group:
                case word::nccl_group:
                case word::repeat: statements(*r, at, role); break;
                case word::on: on(*r, at, role); break;
                case word::mesh: meshes_.push({r, at, role >= 0 && d_.names_roles ? role : -1}); break;
                case word::malformed: refuse(*r, at); break;
                default:
                    if (i != 0 || parent.kind != word::on) d_.fail(make_fault(no_statement(*r, parent), at));
            }
            at += r->mentions;
        }
    }

    static constexpr fault_kind no_statement(const record& r, const record& parent) {
        switch (r.kind) {
            case word::negative_count: return fault_kind::negative_count;
            case word::too_many_indices: return fault_kind::too_many_indices;
            case word::other_arity: return fault_kind::body_arity;
            default: return parent.kind == word::repeat ? fault_kind::body_not_a_statement : fault_kind::not_a_statement;
        }
    }

    constexpr void on(const record& r, int mention, int outer) {
        if (outer >= 0) return d_.fail(make_fault(fault_kind::on_in_on, mention + 1));
        if ((*r.statements[0])->kind != word::name) return d_.fail(make_fault(fault_kind::not_a_role, mention + 1));
        const tag& name = (*r.statements[0])->id;
        int role = d_.find_role(name);
        if (role < 0) {
            role = d_.roles.size();
            d_.roles.push({&name, 0, 0, mention + 1});
        }
        int statements_in_it = r.child_count - 1;
        for (int i = 1; i < r.child_count; ++i) statements_in_it -= (*r.statements[i])->kind == word::mesh ? 1 : 0;
        if (statements_in_it == 0) d_.fail(make_fault(fault_kind::unused_role, mention + 1));
        statements(r, mention, role);
    }

    // A let or update without an expression.
    constexpr void refuse(const record& r, int mention) {
        const int name = mention + (r.children[0]->kind == word::values ? 2 : 1);
        const int at = mention + 1 + r.children[0]->mentions;
        if (r.children[1]->kind == word::ellipsis)
            d_.fail(make_fault(fault_kind::ellipsis, name, at + 1));
        else
            d_.fail(make_fault(fault_kind::not_an_expression, name, at));
    }

    constexpr void values(const record& names, int mention, int role) {
        int at = mention + 1;
        for (int i = 0; i < names.child_count; at += names.children[i]->mentions, ++i)
            if (names.children[i]->kind != word::discard) define(*names.children[i], at, role);
    }

    constexpr int define(const record& name, int mention, int role) {
        const int id = d_.symbol_count++;
        symbol& s = d_.symbols[id];
        s.name = &name.id;
        s.role = role < 0 ? -1 : role;
        s.mention = mention;
        if (name.kind == word::name) {
            if (d_.names.insert(id) != id) d_.fail(make_fault(fault_kind::defined_twice, mention));
        } else {
            d_.fail(make_fault(fault_kind::not_a_name, mention));
        }
        return id;
    }

    constexpr void declare(const record& r, int mention, int role) {
        const tensor_type& type = *r.children[1]->type;
        if (!type.valid()) return d_.fail(make_fault(r.children[1]->kind == word::tensor ? fault_kind::said_already : fault_kind::not_a_statement, mention));
        if (type.bytes() < 0) d_.fail(make_fault(fault_kind::size_overflow, mention + 1).tensor(type));
        if (r.kind == word::state && role == outside) d_.fail(make_fault(fault_kind::outside_role, mention + 1));
        const int id = define(*r.children[0], mention + 1, role);
        symbol& s = d_.symbols[id];
        s.kind = r.kind == word::input ? symbol_kind::input : symbol_kind::state;
        s.type = type;
        int at = mention + 1 + r.children[0]->mentions + r.children[1]->mentions;
        for (int i = 2; i < r.child_count; at += r.children[i]->mentions, ++i) {
            const record& a = *r.children[i];
            if (a.kind == word::pinned && r.kind == word::input)
                s.in_host_memory = true;
            else if (a.kind == word::replicated)
                replications_.push({&a, at, id});
            else if (r.kind == word::state && (a.kind == word::from_store || a.kind == word::no_shape_rule) && !s.initialised)
                s.initialised = true;  // once
            else
                d_.fail(make_fault(fault_kind::not_a_statement, at));
        }
    }

    // The statements of a role may stand in several places, each with the mesh.
    static constexpr bool same_mesh(const record& a, const record& b) {
        if (a.child_count != b.child_count) return false;
        for (int i = 0; i < a.child_count; ++i) {
            const record &x = *a.children[i], &y = *b.children[i];
            if (x.kind != word::axis || y.kind != word::axis || x.number != y.number || !same(&x.children[0]->id, &y.children[0]->id)) return false;
        }
        return true;
    }

    constexpr void place_meshes() {
        for (int role = 0; role < d_.roles.size(); ++role) {
            const found* own = nullptr;
            for (const found& m : meshes_) {
                if (own != nullptr && own->of == m.of && !same_mesh(*own->r, *m.r)) d_.fail(make_fault(fault_kind::mesh_twice, m.mention));
                if (m.of == role || (m.of == -1 && own == nullptr)) own = &m;
            }
            if (own == nullptr) continue;
            d_.roles[role].first_axis = d_.mesh.size();
            int at = own->mention + 1;
            for (int i = 0; i < own->r->child_count; at += own->r->children[i]->mentions, ++i) {
                const record& a = *own->r->children[i];
                if (a.kind != word::axis || a.number < 0) return d_.fail(make_fault(fault_kind::not_an_axis, at));
                int id = d_.find_axis(a.children[0]->id);
                if (id < 0) {
                    id = d_.axes.size();
                    d_.axes.push({&a.children[0]->id, at + 1});
                    if (id >= 32) return d_.fail(make_fault(fault_kind::too_many_axes, at + 1));
                }
                for (int j = d_.roles[role].first_axis; j < d_.mesh.size(); ++j)
                    if (d_.mesh[j].axis == id) d_.fail(make_fault(fault_kind::axis_twice, at + 1));
                d_.mesh.push({id, a.number});
            }
            d_.roles[role].axes = d_.mesh.size() - d_.roles[role].first_axis;
        }
    }

    constexpr void replicate() {
        for (const found& p : replications_) {
            int at = p.mention + 1;
            for (int i = 0; i < p.r->child_count; at += p.r->children[i]->mentions, ++i) {
                const int axis = d_.find_axis(p.r->children[i]->id);
                const int role = d_.symbols[p.of].role;  // an input outside roles is bound on those that use it
                if (axis < 0 || (role >= 0 && !d_.has_axis(role, axis)))
                    d_.fail(make_fault(fault_kind::unknown_axis, d_.symbols[p.of].mention, at));
                else
                    d_.symbols[p.of].replicated |= 1u << axis;
            }
        }
    }

    draft& d_;
    vec<found> meshes_;
    vec<found> replications_;
};

}  // namespace dovetail::ir::detail
