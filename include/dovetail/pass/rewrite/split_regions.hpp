// Which statements can be split without being asked: the largest sets of connected operations that go by blocks and communicate. Each
// becomes a region of the graph, whose number of blocks is automatic.
#pragma once

#include "../../ir/table.hpp"
#include "split_analysis.hpp"

namespace dovetail::pass {

namespace detail {

class split_regions {
public:
    constexpr split_regions(ir::graph_data& g, int blocks) : g_{g}, first_{g.regions.size()}, set_(g.nodes.size()) {
        g.regions.push({rewrite::split, automatic});
        for (int i = 0; i < g.nodes.size(); ++i) {
            set_[i] = i;
            if (may_be_cut(g.nodes[i])) g.nodes[i].region = first_;
        }
        take_out_the_rest(blocks);
        connect();
        number_the_sets();
    }

private:
    constexpr bool inside(int node) const { return node >= 0 && g_.nodes[node].region == first_; }
    static constexpr bool may_be_cut(const ir::node& n) {
        if (n.region >= 0 || n.update || n.op->view != view_kind::none || n.nccl_group_id >= 0) return false;
        return n.kind == op_kind::compute ? n.op->row_wise.declared && !n.op->in_place_only && !n.op->has_effect : is_communication(n.kind);
    }
    // Until the analysis finds nothing that does not go by blocks.
    constexpr void take_out_the_rest(int blocks) {
        vec<int> blocks_of_regions(g_.regions.size());
        blocks_of_regions[first_] = blocks;
        for (bool all = false; !all;) {
            const ir::graph seen = ir::view(g_);
            const split_analysis how{seen, blocks_of_regions, split_analysis::finding::all};
            for (const int node : how.not_cut()) g_.nodes[node].region = -1;
            all = how.not_cut().empty();
        }
    }

    constexpr int root(int node) {
        while (set_[node] != node) node = set_[node] = set_[set_[node]];
        return node;
    }
    // Nodes of which one takes what the other makes belong together.
    constexpr void connect() {
        for (int i = 0; i < g_.nodes.size(); ++i) {
            if (!inside(i)) continue;
            for (int k = 0; k < g_.nodes[i].arguments; ++k)
                if (const int from = g_.symbols[g_.operands[g_.nodes[i].first_argument + k]].node; inside(from)) set_[root(from)] = root(i);
        }
    }
    constexpr bool communicates(const ir::node& n) const {
        if (is_communication(n.kind)) return true;
        for (int k = 0; k < n.arguments; ++k)
            if (const ir::symbol& s = g_.symbols[g_.operands[n.first_argument + k]]; s.role >= 0 && s.role != n.role) return true;
        return false;
    }
    // A region for each set that computes and communicates.
    constexpr void number_the_sets() {
        vec<char> computes(g_.nodes.size()), moves(g_.nodes.size());
        vec<int> region(g_.nodes.size(), -1);
        for (int i = 0; i < g_.nodes.size(); ++i) {
            if (!inside(i)) continue;
            if (g_.nodes[i].kind == op_kind::compute) computes[root(i)] = 1;
            if (communicates(g_.nodes[i])) moves[root(i)] = 1;
        }
        int regions = first_;
        for (int i = 0; i < g_.nodes.size(); ++i) {
            if (!inside(i)) continue;
            const int set = root(i);
            if (computes[set] != 0 && moves[set] != 0 && region[set] < 0) region[set] = regions++;
            region[i] = region[set];
        }
        for (int i = 0; i < g_.nodes.size(); ++i)
            if (inside(i)) g_.nodes[i].region = region[i];
        g_.regions.cut(first_);
        for (int r = first_; r < regions; ++r) g_.regions.push({rewrite::split, automatic});
    }

    ir::graph_data& g_;
    const int first_;
    vec<int> set_;  // by node: the next one on the way to that which stands for its set
};

}  // namespace detail

constexpr void find_split_regions(ir::graph_data& g, int blocks) { detail::split_regions{g, blocks}; }

}  // namespace dovetail::pass
