// Which symbols are blocks of rows of others: those of rows<I, N>(x), and the values that a concat is made of. Takes a graph with types
// and without cycles, gives for each symbol the value that holds its bytes and which of that value's bytes they are.
//
//     y = concat<a, b>          a: y, 0      b: y, bytes of a
//     rows<1, 2>(b)             y, bytes of a + half the bytes of b
#pragma once

#include "graph.hpp"
#include "program.hpp"

namespace dovetail::ir {

struct location {
    int whole = -1;          // a symbol that is no part of another one; often the symbol itself
    std::int64_t begin = 0;  // bytes
    std::int64_t bytes = 0;
    int same = -1;  // the first symbol with the same location
};

// By symbol; empty for a graph without views.
class locations {
public:
    constexpr locations() = default;
    template <class Graph>
    constexpr explicit locations(const Graph& g) {
        if (!g.views) return;
        const int symbols = g.symbols.size();
        of_.resize(symbols);
        vec<int> part_of(symbols, -1);
        for (int s = 0; s < symbols; ++s) {
            const std::int64_t bytes = g.symbols[s].type.bytes();
            of_[s] = {s, 0, bytes < 0 ? 0 : bytes, s};
        }
        for (int i = 0; i < g.nodes.size(); ++i) {
            const node& n = g.nodes[i];
            if (n.op->view == view_kind::none) continue;
            const int y = g.operands[n.first_result];
            std::int64_t begin = 0;
            for (int a = n.first_argument; a < n.first_argument + n.arguments; ++a) {
                const int part = n.op->view == view_kind::rows ? y : g.operands[a];
                part_of[part] = n.op->view == view_kind::rows ? g.operands[a] : y;
                of_[part].begin = n.op->view == view_kind::rows ? n.part * of_[y].bytes : begin;
                begin += of_[part].bytes;
            }
        }
        for (int s = 0; s < symbols; ++s) resolve(s, part_of);
        find_same();
    }

    constexpr bool empty() const { return of_.empty(); }
    constexpr const location& operator[](int symbol) const { return of_[symbol]; }
    // Whether a symbol is a block of rows of another one.
    constexpr bool is_part(int symbol) const { return !of_.empty() && symbol >= 0 && of_[symbol].whole != symbol; }
    constexpr int whole_of(int symbol) const { return of_.empty() ? symbol : of_[symbol].whole; }
    // Whether two symbols have bytes in common.
    constexpr bool overlap(int a, int b) const {
        if (of_.empty()) return a == b;
        const location &x = of_[a], &y = of_[b];
        return x.whole == y.whole && x.begin < y.begin + y.bytes && y.begin < x.begin + x.bytes;
    }

    // The symbol whose value an access is, of several that are the same rows one that has a name; -1: workspace.
    template <class Graph, class Program>
    constexpr int symbol_of(const Graph& g, const Program& p, const access& a) const {
        const int held = p.buffers[a.buffer].symbol;
        if (held < 0 || a.leaves == p.buffers[a.buffer].leaves) return held;
        int found = held;
        for (int s = 0; s < of_.size(); ++s)
            if (of_[s].whole == of_[held].whole && of_[s].begin == of_[held].begin + offset_of(p, a) && of_[s].bytes == bytes_of(p, a) &&
                (found == held || named(g.symbols[s].name)))
                found = s;
        return found;
    }

private:
    // Follows a symbol up to the whole; of those on the way the same is known then.
    constexpr void resolve(int s, vec<int>& part_of) {
        int top = s;
        std::int64_t begin = 0;
        for (; part_of[top] >= 0; top = part_of[top]) begin += of_[top].begin;
        begin += of_[top].begin;
        top = of_[top].whole;
        while (part_of[s] >= 0) {
            const int next = part_of[s];
            const std::int64_t own = of_[s].begin;
            of_[s].whole = top;
            of_[s].begin = begin;
            part_of[s] = -1;
            begin -= own;
            s = next;
        }
    }
    constexpr void find_same() {
        vec<int> first(of_.size(), -1), next(of_.size(), -1);  // the parts of each whole met so far
        for (int s = 0; s < of_.size(); ++s) {
            location& mine = of_[s];
            if (mine.whole == s) continue;
            if (mine.bytes == of_[mine.whole].bytes) mine.same = mine.whole;
            for (int other = first[mine.whole]; other >= 0 && mine.same == s; other = next[other])
                if (of_[other].begin == mine.begin && of_[other].bytes == mine.bytes) mine.same = other;
            if (mine.same != s) continue;
            next[s] = first[mine.whole];
            first[mine.whole] = s;
        }
    }

    vec<location> of_;
};

}  // namespace dovetail::ir
