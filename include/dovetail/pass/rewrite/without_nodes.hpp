// A copy of a graph without its nodes: what a rewrite that makes all nodes anew starts from.
#pragma once

#include "../../ir/graph.hpp"
#include "../../ir/table.hpp"

namespace dovetail::pass {

// The graph but for its nodes and their operands.
constexpr ir::graph_data without_nodes(const ir::graph_data& g) {
    ir::graph_data rest = g;
    rest.nodes.clear();
    rest.operands.clear();
    return rest;
}

}  // namespace dovetail::pass
