// The rewrite that changes nothing: the pattern of a rewrite, and the test of the rewrite stage of the pipeline.
#pragma once

#include "../../ir/graph.hpp"
#include "../../ir/table.hpp"

namespace dovetail::pass {

// A rewrite returns a graph that is valid like the one it takes.
constexpr ir::graph_data rewrite_identity(ir::graph_data g) { return g; }

}  // namespace dovetail::pass
