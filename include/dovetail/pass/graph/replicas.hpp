// Equality of replicas: takes a typed graph, finds for each value along which axes of the mesh its copies may differ, and gives the first
// update after which a state that is declared `replicated` along an axis could differ along it.
#pragma once

#include "../../collective/movement.hpp"
#include "../../ir/graph.hpp"

namespace dovetail::pass::detail {

class replicas {
public:
    constexpr explicit replicas(const ir::graph& g) : g_{g}, varies_(g.symbols.size()) {}

    // The axes along which the positions of a symbol may hold different values.
    constexpr unsigned varies_along(int symbol) {
        if (!found_) find_variation();
        return varies_[symbol];
    }

    constexpr ir::fault first_diverging() {
        find_variation();
        for (const ir::node& n : g_.nodes) {
            if (!n.update) continue;
            const unsigned v = variation(n);
            for (int r : results(n)) {
                if (r < 0) continue;
                const unsigned both = v & g_.symbols[r].replicated;
                for (int axis = 0; axis < g_.axes.size(); ++axis)
                    if ((both >> axis & 1u) != 0)
                        return ir::make_fault(ir::fault_kind::diverging_replicas, g_.symbols[r].source_position,
                                              g_.axes[axis].source_position)
                            .in(n.statement);
            }
        }
        return ir::fault{};
    }

private:
    constexpr span<const int> results(const ir::node& n) const { return g_.operands.subspan(n.first_result, n.results); }

    // Axes along which an operation's result may differ.
    constexpr unsigned variation(const ir::node& n) const {
        unsigned v = 0;
        for (int a : g_.operands.subspan(n.first_argument, n.arguments)) v |= varies_[a];
        if (collective::has_equal_results(n.kind)) return v & ~n.axes;
        const std::int64_t members = n.role < 0 ? 0 : ir::width_along(g_, n.role, n.axes);
        return collective::tells_members_apart(n, members) ? v | n.axes : v;
    }

    // Starts from what is declared and follows the operations; values may be used above their definition, so it repeats until nothing
    // changes.
    constexpr void find_variation() {
        found_ = true;
        for (int s = 0; s < g_.symbols.size(); ++s) {
            const ir::symbol& y = g_.symbols[s];
            if (y.kind == ir::symbol_kind::axis_index)
                varies_[s] = y.index_axis;
            else if (y.kind != ir::symbol_kind::value)
                varies_[s] = ~y.replicated;
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (const ir::node& n : g_.nodes) {
                const unsigned v = variation(n);
                for (int r : results(n)) {
                    if (r < 0 || n.update || (varies_[r] | v) == varies_[r]) continue;
                    varies_[r] |= v;
                    changed = true;
                }
            }
        }
    }

    const ir::graph& g_;
    vec<unsigned> varies_;  // by symbol: the axes along which its positions may differ, one bit each
    bool found_ = false;
};

}  // namespace dovetail::pass::detail
