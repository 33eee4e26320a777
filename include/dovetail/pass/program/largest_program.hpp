// Upper bounds of the numbers of rows of a program's tables, counted on the graph that it is expanded from.
#pragma once

#include "../../core/vec.hpp"
#include "../../ir/graph.hpp"
#include "../../ir/table.hpp"

namespace dovetail::pass {

namespace detail {

// The bounds in the order of the program's tables; for leaves, one for each buffer.
template <class Graph>
constexpr ir::sizes<8> largest_tables(const Graph& g) {
    const int symbols = g.symbols.count;
    const auto& operands = g.operands.first;
    const auto& nodes = g.nodes.first;
    const bool alone = g.roles.count == 1;
    vec<int> read_by(alone ? 0 : symbols, -2);
    int* reader = read_by.begin();  // the role that brought a symbol to itself last
    int brought = 0, values = 0, ends = 0, touches = 0, scratch = 0, communications = 0, awaited = 0;
    const int statements = g.nodes.count;
    // Of the statement at hand; declared once, see plan/compile/README.md.
    const ir::node* n = nullptr;
    const ir::symbol* y = nullptr;
    int r = 0, end = 0, a = 0, role = 0;
    for (int i = 0; i < statements; ++i) {
        n = &nodes[i];
        touches += n->arguments + n->results;
        awaited += n->awaited;
        if (!alone)
            for (r = n->first_argument, end = r + n->arguments; r < end; ++r) {
                a = operands[r];
                y = &g.symbols.first[a];
                role = n->role < 0 ? y->role : n->role;
                if ((y->role == role && y->kind != ir::symbol_kind::input) || reader[a] == role) continue;
                reader[a] = role;
                brought += y->role >= 0 && y->role != role && y->kind == ir::symbol_kind::input
                               ? 2
                               : 1;  // an input of another role comes to that role first
            }
        if (n->op->has_workspace) ++scratch;
        for (r = n->first_result, end = r + n->results; r < end; ++r)
            if (operands[r] < 0)
                ++scratch;
            else if (!n->update)
                ++values;
        if (n->kind == op_kind::compute || !is_communication(n->kind)) continue;
        ++communications;
        if (n->role < 0) {
            ends += n->arguments + n->targets;
            touches += n->arguments + n->targets;
        }
    }
    // A single role brings nothing but inputs, each once.
    if (alone) brought = symbols - values;
    awaited *= g.roles.count;  // a collective over roles may wait on each of them
    brought += 2 * awaited;    // an input of another role comes to that role first
    return {{symbols + brought + scratch + ends, touches + scratch + awaited + 2 * brought, statements + ends + 2 * brought,
             statements + brought, statements + brought, communications + brought, communications + ends + 2 * brought,
             symbols + brought + scratch + ends}};
}

// The same where copies may go over other roles: each value may come to each role.
template <class Graph>
constexpr ir::sizes<8> largest_tables_with_relays(const Graph& g) {
    ir::sizes<8> most = largest_tables(g);
    const int copies = g.roles.count * g.symbols.count,
              more[] = {copies, 2 * copies, 2 * copies, copies, copies, copies, 2 * copies, copies};
    for (int table = 0; table < 8; ++table) most.of[table] += more[table];
    return most;
}

}  // namespace detail

}  // namespace dovetail::pass
