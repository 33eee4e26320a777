// Copies of rows that rewrites add to a graph under construction, where a view cannot hold them. A copy is an own_rows along no axis: of
// all of its argument, in the memory of the rank.
#pragma once

#include "rewritten_nodes.hpp"

namespace dovetail::pass::detail {

inline constexpr operation copy_rows_operation = added_operation(&tag_of<struct copy_rows>, op_kind::own_rows);

// The symbols of the parts of a value, equal blocks of its rows. Returns the first one.
constexpr int add_parts(ir::graph_data& to, int whole, int parts) {
    ir::symbol part;
    part.type = to.symbols[whole].type;
    part.type.extent[0] /= parts;
    part.role = to.symbols[whole].role;
    part.source_position = to.symbols[whole].source_position;
    for (int i = 0; i < parts; ++i) to.symbols.push(part);
    return to.symbols.size() - parts;
}

constexpr void add_copy(ir::graph_data& to, const ir::node& beside, int from, int made) {
    ir::node n;
    n.op = &copy_rows_operation;
    n.kind = op_kind::own_rows;
    n.role = beside.role;
    n.statement = beside.statement;
    n.source_position = beside.source_position;
    n.region = beside.region;
    n.first_argument = to.operands.size();
    n.arguments = n.results = 1;
    to.operands.push(from);
    n.first_result = to.operands.size();
    to.operands.push(made);
    to.symbols[made].node = to.nodes.size();
    to.nodes.push(n);
}

}  // namespace dovetail::pass::detail
