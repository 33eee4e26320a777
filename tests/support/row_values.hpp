// The values of a graph of one role whose operations are row-wise, one word for each row, computed statement by statement: a
// definition of what a rewrite has to keep. A row of a result is a hash of the same row of the arguments that the operation takes by rows
// and of all rows of the others; a reduction is a sum.
#pragma once

#include "hash_ops.hpp"
#include "values.hpp"

#include <dovetail/collective/table.hpp>
#include <dovetail/ir/graph.hpp>
#include <dovetail/pass/graph/infer.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace support {

using rows_of_words = std::vector<word>;

class row_values {
public:
    // Of all ranks of the role.
    explicit row_values(const dv::ir::graph& g) : g_{g}, value_(g.symbols.size()) {
        for (const dv::ir::mesh_axis& m : g.mesh) ranks_ *= m.width;
        for (int s = 0; s < g.symbols.size(); ++s)
            if (g.symbols[s].kind != dv::ir::symbol_kind::value) bind(s);
        std::vector<char> done(static_cast<std::size_t>(g.nodes.size()), 0);
        for (bool changed = true; changed;) {
            changed = false;
            for (int i = 0; i < g.nodes.size(); ++i) {
                if (done[i] || !ready(g.nodes[i])) continue;
                done[i] = changed = true;
                execute(g.nodes[i]);
            }
        }
    }
    // Of a symbol on a rank; empty: never computed.
    const rows_of_words& of(int symbol, int rank) const { return value_[symbol].empty() ? none_ : value_[symbol][rank]; }
    int ranks() const { return ranks_; }

private:
    static int row_count(const dv::tensor_type& t) { return t.rank > 0 ? static_cast<int>(t.extent[0]) : 1; }

    void bind(int s) {
        const dv::ir::symbol& y = g_.symbols[s];
        for (int rank = 0; rank < ranks_; ++rank) {
            rows_of_words rows;
            for (int i = 0; i < row_count(y.type); ++i)
                rows.push_back(mix(static_cast<word>(s * 1000 + i) + (static_cast<word>(first_of_group(rank, y.replicated) + 1) << 32)));
            value_[s].push_back(rows);
        }
    }
    bool ready(const dv::ir::node& n) const {
        for (const int a : g_.operands.subspan(n.first_argument, n.arguments))
            if (value_[a].empty()) return false;
        return true;
    }
    void execute(const dv::ir::node& n) {
        for (int k = 0; k < n.results; ++k) {
            const int s = g_.operands[n.first_result + k];
            if (s < 0) continue;
            for (int rank = 0; rank < ranks_; ++rank) value_[s].push_back(result(n, k, row_count(g_.symbols[s].type), rank));
        }
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
        } else {
            for (int i = 0; i < rows; ++i)
                made.push_back(n.kind == dv::op_kind::compute ? computed(n, k, i, rank) : moved(n, i, rows, rank));
        }
        return made;
    }
    word computed(const dv::ir::node& n, int k, int row, int rank) const {
        word h = mix(n.op->name->hash + static_cast<word>(k));
        for (int a = 0; a < n.arguments; ++a) {
            const rows_of_words& given = argument(n, a, rank);
            if (n.op->row_wise.of_argument(a) != dv::whole)
                h = mix(h ^ given[row]);
            else
                for (const word w : given) h = mix(h * 3 ^ w);
        }
        return h;
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

    word reduced(const dv::ir::node& n, const std::vector<int>& group, int row) const {
        word all = argument(n, 0, group[0])[row];
        for (std::size_t i = 1; i < group.size(); ++i) {
            const word w = argument(n, 0, group[i])[row];
            switch (n.reduce) {
                case dv::reduction::minimum: all = std::min(all, w); break;
                case dv::reduction::maximum: all = std::max(all, w); break;
                case dv::reduction::product: all *= w; break;
                default: all += w;
            }
        }
        return n.reduce == dv::reduction::average ? all / group.size() : all;
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
            case all_gather: return given(row / each)[row % each];
            case shard: return given(index)[index * rows + row];
            case all_to_all: return given(row / (rows / members))[index * (rows / members) + row % (rows / members)];
            case broadcast: return given(n.root)[row];
            case shift: return given(((index - n.offset) % members + members) % members)[row];
            default: return 0;
        }
    }

    const dv::ir::graph& g_;
    int ranks_ = 1;
    std::vector<std::vector<rows_of_words>> value_;  // by symbol and rank
    rows_of_words none_;
};

// The first difference between the outputs of two graphs with the same symbols; empty: none.
inline std::string difference_of_outputs(const dv::ir::graph& a, const dv::ir::graph& b) {
    const row_values x{a}, y{b};
    for (int s = 0; s < a.symbols.size(); ++s)
        for (int rank = 0; a.symbols[s].output && rank < x.ranks(); ++rank) {
            if (x.of(s, rank).empty()) return "the output " + std::to_string(s) + " has no value";
            if (x.of(s, rank) != y.of(s, rank)) return "the output " + std::to_string(s) + " differs on rank " + std::to_string(rank);
        }
    return "";
}

// A random graph of that kind on a mesh of one or two axes: row-wise operations, others and collectives on tensors of one row length, in
// written order. Some of its statements stand in regions; one with a parent stands behind it in the list, and in its statements.
class random_rows {
public:
    random_rows(word seed, const std::vector<dv::ir::region>& regions) : r_{mix(seed)} {
        graph.roles.push({&dv::nameless, 0, 0});
        for (int axis = 0, axes = r_.between(1, 2); axis < axes; ++axis) {
            graph.axes.push({});
            graph.mesh.push({axis, 1 << r_.below(axis == 0 ? 3 : 2)});
            graph.roles[0].axes = axis + 1;
        }
        const int inputs = r_.between(1, 3);
        for (int i = 0; i < inputs; ++i) input();
        const int statements = r_.between(3, 14);
        for (const dv::ir::region& r : regions) add_region(r, statements);
        for (int i = 0; i < statements; ++i) {
            region_ = r_.chance(95) ? innermost(i) : -1;
            statement();
        }
        region_ = -1;
        for (int s = 0; s < inputs; ++s)
            if (!read_[static_cast<std::size_t>(s)]) compute({s}, dv::by_rows(0));
        for (dv::ir::symbol& s : graph.symbols)
            if (s.kind == dv::ir::symbol_kind::value && (!read_[&s - graph.symbols.begin()] || r_.chance(10))) s.output = true;
        graph = dv::pass::infer(dv::ir::view(graph));
    }
    dv::ir::graph_data graph;

private:
    struct range {
        int first, last;
    };
    void add_region(const dv::ir::region& region, int statements) {
        const range around = region.parent < 0 ? range{0, statements} : ranges_[static_cast<std::size_t>(region.parent)];
        const int first = r_.between(around.first, std::max(around.first, around.last - 1));
        graph.regions.push(region);
        ranges_.push_back({first, r_.between(first, around.last)});
    }
    int innermost(int statement) const {
        for (int r = graph.regions.size() - 1; r >= 0; --r)
            if (const range& in = ranges_[static_cast<std::size_t>(r)]; statement >= in.first && statement < in.last) return r;
        return -1;
    }
    bool in_a_split() const {
        for (int r = region_; r >= 0; r = graph.regions[r].parent)
            if (graph.regions[r].kind == dv::rewrite::split) return true;
        return false;
    }

    unsigned some_axes() { return static_cast<unsigned>(r_.between(1, (1 << graph.axes.size()) - 1)); }
    void input() {
        dv::ir::symbol s;
        s.kind = dv::ir::symbol_kind::input;
        s.type = {dv::element::uint64, 2, {16, 32}};
        s.role = 0;
        s.replicated = r_.chance(50) ? some_axes() : 0u;
        add(s, 16);
    }
    void add(const dv::ir::symbol& s, std::int64_t rows) {
        graph.symbols.push(s);
        rows_.push_back(rows);
        read_.push_back(false);
    }
    std::int64_t rows_of(int s) const { return rows_[static_cast<std::size_t>(s)]; }
    int any() {
        const int s = r_.chance(60) ? graph.symbols.size() - 1 : r_.below(graph.symbols.size());
        return read_[static_cast<std::size_t>(s)] = true, s;
    }
    // A value with as many rows, the same if there is no other.
    int like(int s) {
        for (int tries = 0; tries < 4; ++tries)
            if (const int other = r_.below(graph.symbols.size()); rows_of(other) == rows_of(s))
                return read_[static_cast<std::size_t>(other)] = true, other;
        return s;
    }

    void statement() {
        if (r_.chance(40)) return collective();
        const int x = any();
        std::vector<int> arguments{x};
        if (r_.chance(40)) arguments.push_back(like(x));
        dv::row_wise_extents by = arguments.size() == 1 ? dv::by_rows(0) : dv::by_rows(0, 1);
        if (r_.chance(30))
            arguments.push_back(any());
        else if (r_.chance(50))
            by = dv::elementwise();
        if (!in_a_split() && r_.chance(30)) by = {};
        compute(arguments, by);
    }
    template <int Results>
    static int like_first(const dv::tensor_type* arguments, dv::tensor_type* to) {
        std::fill(to, to + Results, arguments[0]);
        return Results;
    }
    void compute(const std::vector<int>& arguments, const dv::row_wise_extents& by) {
        dv::operation* op = names_.operation("f" + std::to_string(graph.nodes.size()));
        op->arguments = static_cast<int>(arguments.size());
        const int results = r_.chance(15) ? 2 : 1;
        op->infer = results == 1 ? &like_first<1> : &like_first<2>;
        op->row_wise = by;
        push(op, dv::op_kind::compute, arguments, rows_of(arguments[0]), 0, results);
    }
    void collective() {
        using enum dv::op_kind;
        const int x = any();
        const std::int64_t rows = rows_of(x);
        const unsigned axes = some_axes();
        const std::int64_t width = dv::ir::width_along(dv::ir::view(graph), 0, axes);
        const int drawn = r_.below(100);
        const dv::op_kind kind = drawn < 40   ? all_reduce
                                 : drawn < 60 ? reduce_scatter
                                 : drawn < 80 ? all_gather
                                 : drawn < 85 ? shard
                                 : drawn < 90 ? broadcast
                                 : drawn < 95 ? shift
                                              : all_to_all;
        if ((kind == reduce_scatter || kind == shard) && rows % width == 0) push(&moves_, kind, {x}, rows / width, axes);
        else if (kind == all_gather && rows * width <= 64) push(&moves_, kind, {x}, rows * width, axes);
        else if (kind == all_to_all && rows % width == 0 && !in_a_split()) push(&moves_, kind, {x}, rows, axes);
        else if (kind == shift) push(&moves_, kind, {x}, rows, axes == 3 ? 1 : axes);
        else push(&moves_, kind == broadcast ? kind : all_reduce, {x}, rows, axes);
    }
    void push(const dv::operation* op, dv::op_kind kind, const std::vector<int>& arguments, std::int64_t rows, unsigned axes = 0,
              int results = 1) {
        dv::ir::node n;
        n.op = op;
        n.kind = kind;
        n.role = 0;
        n.statement = n.source_position = graph.nodes.size();
        n.region = region_;
        n.axes = axes;
        if (dv::is_reducing(kind)) n.reduce = static_cast<dv::reduction>(r_.between(1, 5));
        if (kind == dv::op_kind::broadcast) n.root = r_.below(static_cast<int>(dv::ir::width_along(dv::ir::view(graph), 0, axes)));
        if (kind == dv::op_kind::shift) n.offset = r_.chance(50) ? 1 : -1;
        n.first_argument = graph.operands.size();
        n.arguments = static_cast<int>(arguments.size());
        for (const int a : arguments) graph.operands.push(a);
        n.first_result = graph.operands.size();
        n.results = results;
        dv::ir::symbol made;
        made.role = 0;
        made.node = graph.nodes.size();
        graph.nodes.push(n);
        for (int k = 0; k < results; ++k) {
            graph.operands.push(graph.symbols.size());
            add(made, rows);
        }
    }

    chooser r_;
    int region_ = -1;  // of the statement being drawn
    std::vector<range> ranges_;  // of statements, by region
    dv::operation moves_;
    std::vector<std::int64_t> rows_;  // by symbol
    std::vector<bool> read_;
    names names_;
};

}  // namespace support
