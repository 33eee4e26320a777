// The graph while it is lowered: arrays with room for what it needs at most, the names defined so far and the first mistake.
// Shared by the two walks over its records: `definitions` and `connections`.
#pragma once

#include "../dsl/record.hpp"
#include "graph.hpp"
#include "names.hpp"
#include "table.hpp"

namespace dovetail::ir::detail {

using dsl::record;
using dsl::statement;
using dsl::word;

inline constexpr int outside = -2;  // outside every role, in a graph that has roles

struct draft {
    graph_data graph;  // has its sizes once it is finished
    symbol* symbols;
    node* nodes;
    int* operands;
    int symbol_count = 0, node_count = 0, operand_count = 0;
    name_table names;
    bool names_roles = false;

    constexpr explicit draft(const sizes<6>& most)
        : graph{vec<symbol>(most.of[0]), vec<node>(most.of[1]), vec<int>(most.of[2], unset{}), {}, {}, {}},
          symbols{graph.symbols.begin()},
          nodes{graph.nodes.begin()},
          operands{graph.operands.begin()},
          names{most.of[0], symbols} {}
    draft(const draft&) = delete;
    draft& operator=(const draft&) = delete;

    constexpr graph_data take() {
        graph.symbols.resize(symbol_count);
        graph.nodes.resize(node_count);
        graph.operands.resize(operand_count);
        return static_cast<graph_data&&>(graph);
    }

    constexpr bool wrong() const { return graph.wrong.kind != fault_kind::none; }
    constexpr void fail(const fault& f) {
        if (!wrong()) graph.wrong = f;
    }
    constexpr void arity(int name, int op, int given) {
        fault f = make_fault(fault_kind::wrong_arity, name, op);
        f.number = given;
        fail(f);
    }

    constexpr int find_role(const tag& name) const {
        for (int i = 0; i < graph.roles.size(); ++i)
            if (same(graph.roles[i].name, &name)) return i;
        return -1;
    }
    constexpr int find_axis(const tag& name) const {
        for (int i = 0; i < graph.axes.size(); ++i)
            if (same(graph.axes[i].name, &name)) return i;
        return -1;
    }
    constexpr bool has_axis(int role, int axis) const {
        const ir::role& r = graph.roles[role];
        for (int i = 0; i < r.axes; ++i)
            if (graph.mesh[r.first_axis + i].axis == axis) return true;
        return false;
    }
};

}  // namespace dovetail::ir::detail
