// The work that an operation declares for one node: its cost and its tiles, for the types of the node's arguments and results.
#pragma once

#include "../ir/graph.hpp"

namespace dovetail::cost_model {

template <class Graph>
class declared_facts {
public:
    constexpr explicit declared_facts(const Graph& g) : g_{g} {}

    // Of an operation with a cost.
    constexpr cost work(const operation& op, const ir::node& n) {
        take_arguments(n);
        const auto& ids = g_.operands.first;
        tensor_type results[max_results] = {};
        bool discarded = false;
        for (int i = 0; i < n.results && i < max_results; ++i) {
            const int symbol = ids[n.first_result + i];
            if (symbol >= 0)
                results[i] = g_.symbols.first[symbol].type;
            else
                discarded = true;
        }
        // A discarded result has no symbol, so its type comes from the shape rule.
        if (discarded) op.infer(arguments_.begin(), results);
        return op.work(arguments_.begin(), results);
    }
    // Of any operation; none by default.
    constexpr tiles tiling(const operation& op, const ir::node& n) {
        if (!op.has_tiles) return {};
        take_arguments(n);
        return op.tiling(arguments_.begin());
    }

private:
    constexpr void take_arguments(const ir::node& n) {
        arguments_.resize(n.arguments);
        for (int i = 0; i < n.arguments; ++i) arguments_[i] = g_.symbols.first[g_.operands.first[n.first_argument + i]].type;
    }

    const Graph& g_;
    vec<tensor_type> arguments_;
};

}  // namespace dovetail::cost_model
