// Blocks of rows that rewrites add to a graph under construction, beside a node of it: as views, as copies where a view cannot hold them,
// and as the parts that make up a value.
#pragma once

#include "../../ir/table.hpp"
#include "rewritten_nodes.hpp"

namespace dovetail::pass::detail {

constexpr operation view_operation(const tag* name, view_kind view) {
    operation o;
    o.name = name;
    o.view = view;
    return o;
}
inline constexpr operation rows_operation = view_operation(&tag_of<struct rows>, view_kind::rows),
                           concat_operation = view_operation(&tag_of<struct concat>, view_kind::concat),
                           copy_rows_operation = added_operation(&tag_of<struct copy_rows>, op_kind::own_rows);

// A node that makes one symbol from others. `part` of `parts`: of a view.
constexpr void add_beside(ir::graph_data& to, const ir::node& beside, const operation& op, const vec<int>& from, int made, int part = 0,
                          int parts = 0) {
    ir::node n;
    n.op = &op;
    n.kind = op.kind;
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
    if (op.view != view_kind::none) to.views = true;
}

// The symbol of one of `parts` equal blocks of rows of a value.
constexpr int add_block(ir::graph_data& to, int whole, int parts) {
    const ir::symbol& of = to.symbols[whole];
    ir::symbol block;
    block.type = of.type;
    block.type.extent[0] /= parts;
    block.role = of.role;
    block.in_host_memory = of.in_host_memory;
    block.sent_by = of.sent_by;
    block.source_position = of.source_position;
    to.symbols.push(block);
    return to.symbols.size() - 1;
}

// The symbols of all blocks of rows of a value. Returns the first one.
constexpr int add_parts(ir::graph_data& to, int whole, int parts) {
    const int first = to.symbols.size();
    for (int i = 0; i < parts; ++i) add_block(to, whole, parts);
    return first;
}

// Block `part` of `parts` as a view, for a node beside it. Returns its symbol.
constexpr int add_rows(ir::graph_data& to, const ir::node& beside, int whole, int part, int parts) {
    const int block = add_block(to, whole, parts);
    add_beside(to, beside, rows_operation, vec<int>(1, whole), block, part, parts);
    return block;
}

// A value whose blocks of rows are these symbols. What a collective over roles makes is on all its receiving roles.
constexpr void add_concat(ir::graph_data& to, const ir::node& beside, const vec<int>& blocks, int whole, span<const int> receivers = {}) {
    add_beside(to, beside, concat_operation, blocks, whole);
    ir::node& made = to.nodes.back();
    made.first_target = to.operands.size();
    made.targets = receivers.size();
    for (const int role : receivers) to.operands.push(role);
}

// A copy is an own_rows along no axis: of all of its argument, in the memory of the rank.
constexpr void add_copy(ir::graph_data& to, const ir::node& beside, int from, int made) {
    add_beside(to, beside, copy_rows_operation, vec<int>(1, from), made);
}

}  // namespace dovetail::pass::detail
