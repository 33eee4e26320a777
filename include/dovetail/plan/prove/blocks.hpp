// Which rows of which value each symbol of a graph stands for, as its views say; and whether an access is of a symbol. Written from the
// language alone: no code is shared with the passes.
#pragma once

#include "../plan.hpp"

namespace dovetail::plan::detail {

// Whether an access covers all of its buffer.
constexpr bool is_whole(const ir::program& p, const ir::access& a) { return a.leaves == p.buffers.first[a.buffer].leaves; }

class symbol_blocks {
public:
    constexpr explicit symbol_blocks(const ir::graph& g) {
        if (!g.views) return;  // Only for speed
        for (int s = 0; s < g.symbols.count; ++s) of_.push({s, 0, g.symbols.first[s].type.bytes()});
        concat_of_ = offset_in_ = vec<int>(g.symbols.count, -1);
        for (int i = 0; i < g.nodes.count; ++i)
            if (g.nodes.first[i].op->view == view_kind::concat)
                for (int k = 0; k < g.nodes.first[i].arguments; ++k) {
                    concat_of_[g.operands.first[g.nodes.first[i].first_argument + k]] = i;
                    offset_in_[g.operands.first[g.nodes.first[i].first_argument + k]] = k;
                }
        vec<bool> done(g.symbols.count);
        for (int s = 0; s < g.symbols.count; ++s) find(g, s, done);
    }

    // Whether the bytes that an access touches are those of the symbol, all of them: its buffer holds a symbol that they are rows of.
    constexpr bool holds(const ir::program& p, const ir::access& a, int symbol) const {
        const int held = p.buffers.first[a.buffer].symbol;
        if (held == symbol) return is_whole(p, a);
        if (of_.empty() || held < 0 || symbol < 0) return false;
        const block &x = of_[held], &y = of_[symbol];
        const ir::leaf &first = p.leaves.first[a.leaf], &last = p.leaves.first[a.leaf + a.leaves - 1];
        return x.value == y.value && x.begin + first.begin == y.begin && last.begin + last.bytes - first.begin == y.bytes;
    }
    // The value whose rows a symbol is.
    constexpr int value_of(int symbol) const { return of_.empty() ? symbol : of_[symbol].value; }

private:
    struct block {
        int value = -1;
        std::int64_t begin = 0, bytes = 0;
    };

    // A block of rows lies where its argument does, a part of a concat where the concat does, behind the parts before it.
    constexpr void find(const ir::graph& g, int s, vec<bool>& done) {
        if (done[s]) return;  // Only for speed
        done[s] = true;
        const int made_by = g.symbols.first[s].node;
        int within = -1;
        std::int64_t begin = 0;
        if (made_by >= 0 && g.nodes.first[made_by].op->view == view_kind::rows) {
            within = g.operands.first[g.nodes.first[made_by].first_argument];
            begin = g.nodes.first[made_by].part * of_[s].bytes;
        } else if (concat_of_[s] >= 0) {
            const ir::node& concat = g.nodes.first[concat_of_[s]];
            within = g.operands.first[concat.first_result];
            for (int k = 0; k < offset_in_[s]; ++k) begin += g.symbols.first[g.operands.first[concat.first_argument + k]].type.bytes();
        }
        if (within < 0) return;
        find(g, within, done);
        of_[s].value = of_[within].value;
        of_[s].begin = of_[within].begin + begin;
    }

    vec<block> of_;                   // by symbol; empty where a graph has no views
    vec<int> concat_of_, offset_in_;  // by symbol: the concat that it is a part of, and which part; -1: none
};

}  // namespace dovetail::plan::detail
