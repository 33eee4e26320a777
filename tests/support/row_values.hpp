// The values of a graph whose operations are row-wise, of one role or of several without meshes, one word for each row, computed statement
// by statement: a definition of what a rewrite has to keep. A row of a result is a hash of the same row of the arguments that the operation
// takes by rows and of all rows of the others; a reduction is a sum.
#pragma once

#include "values.hpp"

#include <dovetail/ir/graph.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace support {

using rows_of_words = std::vector<word>;

// A row of result k of a compute operation, by what it says of its arguments.
inline word row_of_result(const dv::operation& op, int k, int row, const std::vector<rows_of_words>& arguments) {
    word h = mix(op.name->hash + static_cast<word>(k));
    for (std::size_t a = 0; a < arguments.size(); ++a) {
        if (op.row_wise.of_argument(static_cast<int>(a)) != dv::whole)
            h = mix(h ^ arguments[a][static_cast<std::size_t>(row)]);
        else
            for (const word w : arguments[a]) h = mix(h * 3 ^ w);
    }
    return h;
}
inline int row_count(const dv::tensor_type& t) { return t.rank > 0 ? static_cast<int>(t.extent[0]) : 1; }

class row_values {
public:
    // Of all ranks of the role, in one run: each binds its inputs anew.
    explicit row_values(const dv::ir::graph& g, int run = 0) : g_{g}, run_{run}, value_(g.symbols.size()) {
        for (const dv::ir::mesh_axis& m : g.mesh) ranks_ *= m.width;
        for (int s = 0; s < g.symbols.size(); ++s)
            if (g.symbols[s].kind != dv::ir::symbol_kind::value) bind(s);
        std::vector<char> done(static_cast<std::size_t>(g.nodes.size()), 0);
        for (bool changed = true; changed;) {
            changed = false;
            for (int i = 0; i < g.nodes.size(); ++i) {
                if (done[i] || !ready(g.nodes[i]) || !behind_earlier_uses(i, done)) continue;
                done[i] = changed = true;
                execute(g.nodes[i]);
            }
        }
    }
    // Of a symbol on a rank; empty: never computed.
    const rows_of_words& of(int symbol, int rank) const { return value_[symbol].empty() ? none_ : value_[symbol][rank]; }
    int ranks() const { return ranks_; }

private:
    void bind(int s) {
        const dv::ir::symbol& y = g_.symbols[s];
        for (int rank = 0; rank < ranks_; ++rank) {
            rows_of_words rows;
            for (int i = 0; i < row_count(y.type); ++i)
                rows.push_back(mix(static_cast<word>(s * 1000 + i) + (static_cast<word>(run_) << 16) +
                                   (static_cast<word>(first_of_group(rank, y.replicated) + 1) << 32)));
            value_[s].push_back(rows);
        }
    }
    bool ready(const dv::ir::node& n) const {
        for (const int a : g_.operands.subspan(n.first_argument, n.arguments))
            if (value_[a].empty()) return false;
        return true;
    }
    // Statements on a state take effect in written order.
    bool behind_earlier_uses(int i, const std::vector<char>& done) const {
        for (int s = 0; s < g_.symbols.size(); ++s) {
            if (g_.symbols[s].kind != dv::ir::symbol_kind::state || !uses(g_.nodes[i], s)) continue;
            for (int earlier = 0; earlier < i; ++earlier)
                if (!done[static_cast<std::size_t>(earlier)] && uses(g_.nodes[earlier], s)) return false;
        }
        return true;
    }
    bool uses(const dv::ir::node& n, int symbol) const {
        bool found = false;
        for (const int a : g_.operands.subspan(n.first_argument, n.arguments)) found = found || viewed(a) == symbol;
        for (const int r : g_.operands.subspan(n.first_result, n.results)) found = found || r == symbol;
        return found;
    }
    // What a view is a view of, else the symbol itself.
    int viewed(int symbol) const {
        const int made_by = g_.symbols[symbol].node;
        if (made_by < 0 || g_.nodes[made_by].op->view != dv::view_kind::rows) return symbol;
        return viewed(g_.operands[g_.nodes[made_by].first_argument]);
    }
    void execute(const dv::ir::node& n) {
        compute(n);
        if (!n.update) return;
        // Rows of a state are a place: who reads them later reads what is there then.
        for (const dv::ir::node& x : g_.nodes)
            if (x.op->view == dv::view_kind::rows && !value_[g_.operands[x.first_result]].empty()) compute(x);
    }
    // All results are made before the first one is stored: an update may read what it changes.
    void compute(const dv::ir::node& n) {
        std::vector<std::vector<rows_of_words>> made(static_cast<std::size_t>(n.results));
        for (int k = 0; k < n.results; ++k)
            if (const int s = g_.operands[n.first_result + k]; s >= 0)
                for (int rank = 0; rank < ranks_; ++rank)
                    made[static_cast<std::size_t>(k)].push_back(
                        n.kind == dv::op_kind::all_to_all ? exchanged(n, k, rank) : result(n, k, row_count(g_.symbols[s].type), rank));
        for (int k = 0; k < n.results; ++k)
            if (const int s = g_.operands[n.first_result + k]; s >= 0) value_[s] = made[static_cast<std::size_t>(k)];
    }
    const rows_of_words& argument(const dv::ir::node& n, int k, int rank) const {
        return value_[g_.operands[n.first_argument + k]][rank];
    }

    rows_of_words result(const dv::ir::node& n, int k, int rows, int rank) const {
        rows_of_words made;
        if (n.op->view == dv::view_kind::concat) {
            for (int a = 0; a < n.arguments; ++a) made.insert(made.end(), argument(n, a, rank).begin(), argument(n, a, rank).end());
        } else if (n.op->view == dv::view_kind::rows) {
            const auto first = argument(n, 0, rank).begin() + n.part * rows;
            made.assign(first, first + rows);
        } else if (n.kind == dv::op_kind::compute) {
            std::vector<rows_of_words> arguments;
            for (int a = 0; a < n.arguments; ++a) arguments.push_back(argument(n, a, rank));
            for (int i = 0; i < rows; ++i) made.push_back(row_of_result(*n.op, k, i, arguments));
        } else {
            for (int i = 0; i < rows; ++i) made.push_back(n.role < 0 ? over_roles(n, i) : moved(n, i, rows, rank));
        }
        return made;
    }
    // Of an all_to_all, whose argument and result may be several symbols, one for each member.
    rows_of_words exchanged(const dv::ir::node& n, int k, int rank) const {
        const std::vector<int> group = group_of(rank, n.axes);
        const std::size_t members = group.size();
        const auto index = static_cast<std::size_t>(std::find(group.begin(), group.end(), rank) - group.begin());
        rows_of_words made;
        for (std::size_t from = 0; from < members; ++from) {
            if (n.results > 1 && static_cast<int>(from) != k) continue;
            rows_of_words sent;
            for (int a = 0; a < n.arguments; ++a)
                sent.insert(sent.end(), argument(n, a, group[from]).begin(), argument(n, a, group[from]).end());
            const auto block = static_cast<std::ptrdiff_t>(sent.size() / members);
            const auto first = sent.begin() + static_cast<std::ptrdiff_t>(index) * block;
            made.insert(made.end(), first, first + block);
        }
        return made;
    }
    // The ranks whose coordinates differ from those of a rank along these axes only, itself included; the last axis fastest.
    std::vector<int> group_of(int rank, unsigned axes) const {
        std::vector<int> group;
        for (int other = 0; other < ranks_; ++other) {
            unsigned differ = 0;
            int a = rank, b = other;
            for (int i = g_.mesh.size() - 1; i >= 0; a /= g_.mesh[i].width, b /= g_.mesh[i].width, --i)
                if (a % g_.mesh[i].width != b % g_.mesh[i].width) differ |= 1u << g_.mesh[i].axis;
            if ((differ & ~axes) == 0) group.push_back(other);
        }
        return group;
    }
    int first_of_group(int rank, unsigned axes) const { return group_of(rank, axes)[0]; }

    static word combined(dv::reduction how, const std::vector<word>& words) {
        word all = words[0];
        for (std::size_t i = 1; i < words.size(); ++i) switch (how) {
                case dv::reduction::minimum: all = std::min(all, words[i]); break;
                case dv::reduction::maximum: all = std::max(all, words[i]); break;
                case dv::reduction::product: all *= words[i]; break;
                default: all += words[i];
            }
        return how == dv::reduction::average ? all / words.size() : all;
    }
    // Its result is one value, whatever roles receive it.
    word over_roles(const dv::ir::node& n, int row) const {
        std::vector<word> words;
        for (int k = 0; k < n.arguments; ++k) words.push_back(argument(n, k, 0)[static_cast<std::size_t>(row)]);
        return dv::is_reducing(n.kind) ? combined(n.reduce, words) : words[0];
    }
    word reduced(const dv::ir::node& n, const std::vector<int>& group, int row) const {
        std::vector<word> words;
        for (const int rank : group) words.push_back(argument(n, 0, rank)[static_cast<std::size_t>(row)]);
        return combined(n.reduce, words);
    }
    word reduced_blocks(const dv::ir::node& n, int row, int rows, int rank) const {
        const rows_of_words& all = argument(n, 0, rank);
        std::vector<word> blocks;
        const auto at_most = static_cast<int>(all.size());
        for (int at = row; at < at_most; at += rows) blocks.push_back(all[static_cast<std::size_t>(at)]);
        return combined(n.reduce, blocks);
    }
    word moved(const dv::ir::node& n, int row, int rows, int rank) const {
        using enum dv::op_kind;
        const std::vector<int> group = group_of(rank, n.axes);
        const int members = static_cast<int>(group.size());
        const int index = static_cast<int>(std::find(group.begin(), group.end(), rank) - group.begin());
        const auto given = [&](int member) -> const rows_of_words& { return argument(n, 0, group[static_cast<std::size_t>(member)]); };
        const int each = static_cast<int>(given(0).size());
        switch (n.kind) {
            case all_reduce: return reduced(n, group, row);
            case reduce_scatter: return reduced(n, group, index * rows + row);
            case local_reduce:
                if (n.op->own_block_in_place) rows /= members;  // each block is that of the rank
                return reduced_blocks(n, row % rows, rows, rank);
            case all_gather:
                if (n.op->own_block_in_place) return given(row / (rows / members))[row];
                return given(row / each)[row % each];
            case own_rows: return given(index)[index * rows + row];
            case broadcast: return given(n.root)[row];
            case scatter: return given(n.root)[index * rows + row];
            case shift: return given(((index - n.offset) % members + members) % members)[row];
            default: return 0;
        }
    }

    const dv::ir::graph& g_;
    const int run_;
    int ranks_ = 1;
    std::vector<std::vector<rows_of_words>> value_;  // by symbol and rank
    rows_of_words none_;
};

// The first difference between the outputs and the states of two graphs with the same symbols; empty: none.
inline std::string difference_of_outputs(const dv::ir::graph& a, const dv::ir::graph& b) {
    const row_values x{a}, y{b};
    for (int s = 0; s < a.symbols.size(); ++s)
        for (int rank = 0; (a.symbols[s].output || a.symbols[s].kind == dv::ir::symbol_kind::state) && rank < x.ranks(); ++rank) {
            if (x.of(s, rank).empty()) return "the output " + std::to_string(s) + " has no value";
            if (x.of(s, rank) != y.of(s, rank)) return "the output " + std::to_string(s) + " differs on rank " + std::to_string(rank);
        }
    return "";
}

}  // namespace support
