// Of an update by an operation: which of its arguments are the states that it changes. The first argument that is a target is passed as
// inout, or the result is made there, so a target is passed once, and several stand in the order of the results.
#pragma once

#include "../../ir/fault.hpp"
#include "../../ir/graph.hpp"

namespace dovetail::pass::detail {

// How an update takes one of its targets.
struct taken_target {
    int first = -1;  // the number of the first argument that is the target; -1: none
    int times = 0;
    bool at_its_place = true;  // an element of the result depends on those at its place alone
};
constexpr taken_target taken(const ir::graph& g, const ir::node& n, int target) {
    const row_wise_extents& how = n.op->row_wise;
    taken_target found;
    found.at_its_place = how.elementwise && how.unit == 1;
    for (int k = n.arguments - 1; k >= 0; --k) {
        if (g.operands[n.first_argument + k] != target) continue;
        found.first = k;
        ++found.times;
        found.at_its_place = found.at_its_place && how.of_argument(k) != whole;
    }
    return found;
}

// Communication into a state that it takes lies in scratch memory first, but for what is made in place.
constexpr ir::fault check_targets(const ir::graph& g, const ir::node& n) {
    if (n.kind != op_kind::compute && n.op->in_place < 0) return ir::fault{};
    int last = -1, of_last = -1;
    for (const int r : g.operands.subspan(n.first_result, n.results)) {
        if (r < 0) continue;
        const taken_target target = taken(g, n, r);
        if (target.times > 1 && !target.at_its_place)
            return ir::make_fault(ir::fault_kind::target_as_two_arguments, n.statement, g.symbols[r].source_position,
                                  n.source_position + 1);
        if (target.times == 0) continue;
        if (target.first < last)
            return ir::make_fault(ir::fault_kind::targets_in_another_order, n.statement, g.symbols[of_last].source_position,
                                  g.symbols[r].source_position, n.source_position + 1);
        last = target.first;
        of_last = r;
    }
    return ir::fault{};
}

}  // namespace dovetail::pass::detail
