// The graph while it is lowered: arrays with room for what it needs at most, the names defined so far and the first mistake.
// Shared by the two walks over its descriptors: `symbol_resolution` and `connections`.
#pragma once

#include "../dsl/descriptor.hpp"
#include "graph.hpp"
#include "names.hpp"

namespace dovetail::ir::detail {

using dsl::descriptor;
using dsl::keyword;
using dsl::statement;

inline constexpr int outside = -2;  // outside every role, in a graph that has roles

// What is wrong with an all<N, family>, which has no members then; `otherwise` of anything else.
constexpr fault_kind uncountable(const descriptor& r, fault_kind otherwise) {
    if (r.kind == keyword::negative_count) return fault_kind::negative_count;
    if (r.kind == keyword::too_many_indices) return fault_kind::too_many_indices;
    return r.kind == keyword::other_arity ? fault_kind::family_arity : otherwise;
}

struct lowering_state {
    symbol* symbols;
    node* nodes;
    int* operands;
    int symbol_count = 0, node_count = 0, operand_count = 0;
    vec<role> roles;
    vec<axis> axes;
    vec<mesh_axis> mesh;
    vec<region> regions;
    vec<int> axis_indices;  // symbols
    fault mistake;
    name_table names;
    bool names_roles = false;
    bool views = false;
    bool lists_roles = false;

    // Takes the room for symbols, nodes and operands from a table that has all it needs at most.
    template <class Table>
    constexpr explicit lowering_state(Table& to)
        : symbols{to.symbols.begin()}, nodes{to.nodes.begin()}, operands{to.operands.begin()}, names{to.symbols.size(), symbols} {}
    lowering_state(const lowering_state&) = delete;
    lowering_state& operator=(const lowering_state&) = delete;

    template <class Table>
    constexpr void finish(Table& to) const {
        to.symbols.cut(symbol_count);
        to.nodes.cut(node_count);
        to.operands.cut(operand_count);
        copy_elements(roles, to.roles);
        to.roles.cut(roles.size());
        copy_elements(axes, to.axes);
        to.axes.cut(axes.size());
        copy_elements(mesh, to.mesh);
        to.mesh.cut(mesh.size());
        copy_elements(regions, to.regions);
        to.regions.cut(regions.size());
        to.wrong = mistake;
        to.views = views;
        to.lists_roles = lists_roles;
    }

    constexpr bool wrong() const { return mistake.kind != fault_kind::none; }
    constexpr void fail(const fault& f) {
        if (!wrong()) mistake = f;
    }
    constexpr void arity(int name, int op, int given) { fail(make_fault(fault_kind::wrong_arity, name, op).count_of(given)); }

    constexpr int find_role(const tag& name) const {
        for (int i = 0; i < roles.size(); ++i)
            if (same(roles[i].name, &name)) return i;
        return -1;
    }
    constexpr int find_axis(const tag& name) const {
        for (int i = 0; i < axes.size(); ++i)
            if (same(axes[i].name, &name)) return i;
        return -1;
    }
    constexpr bool has_axis(int role, int axis) const {
        const ir::role& r = roles[role];
        for (int i = 0; i < r.axes; ++i)
            if (mesh[r.first_axis + i].axis == axis) return true;
        return false;
    }
    // The symbol of the rank's index along an axis, one for all its uses.
    constexpr int index_along(int axis, const tag& name, int source_position) {
        for (int i = 0; i < axis_indices.size(); ++i)
            if (symbols[axis_indices[i]].index_axis == 1u << axis) return axis_indices[i];
        const int id = symbol_count++;
        symbol& s = symbols[id];
        s.name = &name;
        s.kind = symbol_kind::axis_index;
        s.type = scalar<std::int32_t>::type;
        s.index_axis = 1u << axis;
        s.source_position = source_position;
        axis_indices.push(id);
        return id;
    }
    // Of the one axis in `mask`, on a role that has it; 0: open.
    constexpr int width_of(int role, unsigned mask) const {
        int width = 0;
        for (int i = 0; i < roles[role].axes; ++i)
            if (const mesh_axis& m = mesh[roles[role].first_axis + i]; (mask >> m.axis & 1u) != 0) width = m.width;
        return width;
    }
};

}  // namespace dovetail::ir::detail
