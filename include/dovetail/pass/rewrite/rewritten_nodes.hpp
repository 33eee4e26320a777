// The graph under construction in a rewrite that writes its nodes anew, in their order.
#pragma once

#include "without_nodes.hpp"

namespace dovetail::pass::detail {

// An operation that rewrites add.
constexpr operation added_operation(const tag* name, op_kind kind, int arguments = 1) {
    operation o;
    o.name = name;
    o.kind = kind;
    o.arguments = arguments;
    return o;
}

class rewritten_nodes {
public:
    constexpr explicit rewritten_nodes(const ir::graph_data& from) : made{without_nodes(from)}, from_{from} {}

    ir::graph_data made;

    // A node of the former graph, or one like it, with these arguments and results.
    constexpr void push(ir::node n, const vec<int>& arguments, const vec<int>& results) {
        const ir::node given = n;
        n.first_argument = made.operands.size();
        for (const int s : arguments) made.operands.push(s);
        n.first_awaited = made.operands.size();
        for (int k = 0; k < n.awaited; ++k) made.operands.push(from_.operands[given.first_awaited + k]);
        n.first_result = made.operands.size();
        for (const int s : results) {
            if (s >= 0 && !n.update) made.symbols[s].node = made.nodes.size();
            made.operands.push(s);
        }
        n.first_target = made.operands.size();
        for (int k = 0; k < n.targets; ++k) made.operands.push(from_.operands[given.first_target + k]);
        made.nodes.push(n);
    }

    // A node of the former graph, or one like it, with its arguments and results.
    constexpr void push_as(const ir::node& n) {
        vec<int> arguments, results;
        for (int k = 0; k < n.arguments; ++k) arguments.push(from_.operands[n.first_argument + k]);
        for (int k = 0; k < n.results; ++k) results.push(from_.operands[n.first_result + k]);
        push(n, arguments, results);
    }

    // A node like `n` that moves, or computes, one symbol from another.
    constexpr void derive(const ir::node& n, const operation& op, int from, int to) {
        vec<int> argument;
        argument.push(from);
        derive(n, op, argument, to, reduction::none);
    }
    constexpr void derive(ir::node n, const operation& op, const vec<int>& from, int to, reduction reduce) {
        n.op = &op;
        n.kind = op.kind;
        n.reduce = reduce;
        n.arguments = from.size();
        n.results = 1;
        n.update = made.symbols[to].kind == ir::symbol_kind::state;
        vec<int> result;
        result.push(to);
        push(n, from, result);
    }

private:
    const ir::graph_data& from_;
};

}  // namespace dovetail::pass::detail
