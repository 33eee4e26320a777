// Views that rewrites add to a graph under construction: blocks of rows of a value, and a value that its blocks of rows make up.
#pragma once

#include "../../ir/graph.hpp"
#include "../../ir/table.hpp"

namespace dovetail::pass::detail {

constexpr operation view_operation(const tag* name, view_kind view) {
    operation o;
    o.name = name;
    o.view = view;
    return o;
}
inline constexpr operation rows_operation = view_operation(&tag_of<struct rows>, view_kind::rows),
                           concat_operation = view_operation(&tag_of<struct concat>, view_kind::concat);

constexpr void add_view(ir::graph_data& to, const ir::node& beside, const operation& op, const vec<int>& from, int made, int part = 0,
                        int parts = 0) {
    ir::node n;
    n.op = &op;
    n.role = beside.role;
    n.statement = beside.statement;
    n.source_position = beside.source_position;
    n.region = beside.region;
    n.part = part;
    n.parts = parts;
    n.first_argument = to.operands.size();
    n.arguments = from.size();
    for (const int s : from) to.operands.push(s);
    n.first_result = to.operands.size();
    n.results = 1;
    to.operands.push(made);
    to.symbols[made].node = to.nodes.size();
    to.nodes.push(n);
    to.views = true;
}

// Block `part` of `parts` equal blocks of rows of a symbol, for a node beside it. Returns the symbol of the block.
constexpr int add_rows(ir::graph_data& to, const ir::node& beside, int whole, int part, int parts) {
    const ir::symbol& of = to.symbols[whole];
    ir::symbol block;
    block.type = of.type;
    block.type.extent[0] /= parts;
    block.role = of.role;
    block.in_host_memory = of.in_host_memory;
    block.sent_by = of.sent_by;
    block.source_position = of.source_position;
    to.symbols.push(block);
    vec<int> from;
    from.push(whole);
    add_view(to, beside, rows_operation, from, to.symbols.size() - 1, part, parts);
    return to.symbols.size() - 1;
}

// A value whose blocks of rows are these symbols.
constexpr void add_concat(ir::graph_data& to, const ir::node& beside, const vec<int>& blocks, int whole) {
    add_view(to, beside, concat_operation, blocks, whole);
}

}  // namespace dovetail::pass::detail
