// Random graphs of one role whose operations are row-wise, as row_values.hpp evaluates them, and the rewrites that they ask for.
#pragma once

#include "hash_ops.hpp"
#include "values.hpp"

#include <dovetail/cost/decisions.hpp>
#include <dovetail/ir/graph.hpp>
#include <dovetail/pass/graph/check.hpp>
#include <dovetail/pass/graph/infer.hpp>
#include <dovetail/pass/rewrite/rewrite.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace support {

template <int Results>
int like_first(const dv::tensor_type* arguments, dv::tensor_type* to) {
    std::fill(to, to + Results, arguments[0]);
    return Results;
}
// An operation of its own, whose results have the type of its first argument.
inline dv::operation* row_wise_operation(names& list, int number, int arguments, const dv::row_wise_extents& by, int results) {
    dv::operation* op = list.operation("f" + std::to_string(number));
    op->arguments = arguments;
    op->infer = results == 1 ? &like_first<1> : &like_first<2>;
    op->row_wise = by;
    return op;
}

// A graph on a mesh of one or two axes: row-wise operations, others and collectives on tensors of one row length, in
// written order. Some of its statements stand in regions; one with a parent stands behind it in the list, and in its statements.
class random_rows {
public:
    // `states`: so many, equal on all ranks, which updates in the regions, or anywhere where there are none, change by what all_reduces
    // make.
    random_rows(word seed, const std::vector<dv::ir::region>& regions, int states = 0) : r_{mix(seed)} {
        chooser links{mix(seed + 1)};
        graph.roles.push({&dv::nameless, 0, 0});
        for (int axis = 0, axes = r_.between(1, 2); axis < axes; ++axis) {
            graph.axes.push({});
            graph.mesh.push({axis, 1 << r_.below(axis == 0 ? 3 : 2), links.chance(50) ? dv::link::network : dv::link::local});
            graph.roles[0].axes = axis + 1;
        }
        const int inputs = r_.between(1, 3);
        for (int i = 0; i < inputs; ++i) input();
        for (int i = 0; i < states; ++i) state();
        const int statements = r_.between(3, 14);
        for (const dv::ir::region& r : regions) add_region(r, statements);
        for (int i = 0; i < statements; ++i) {
            region_ = r_.chance(95) ? innermost(i) : -1;
            if (states > 0 && (region_ >= 0 || regions.empty()) && r_.chance(40)) update(inputs + r_.below(states));
            else statement();
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
    void state() {
        dv::ir::symbol s;
        s.kind = dv::ir::symbol_kind::state;
        s.type = {dv::element::uint64, 2, {16, 32}};
        s.role = 0;
        s.initialised = true;
        s.replicated = (1u << graph.axes.size()) - 1;
        add(s, 16);
        read_.back() = true;
    }
    // By a sum, or by what row-wise work makes of one, and of the state or another one.
    void update(int state) {
        push(&moves_, dv::op_kind::all_reduce, {like(state)}, 16, some_axes());
        if (r_.chance(40)) compute({graph.symbols.size() - 1, like(state)}, dv::elementwise());
        std::vector<int> arguments{graph.symbols.size() - 1};
        read_.back() = true;
        if (r_.chance(75)) arguments.push_back(r_.chance(80) ? state : like(state));
        dv::operation* op = row_wise(arguments, r_.chance(50) ? dv::elementwise() : dv::by_rows(0, 1), 1);
        push(op, dv::op_kind::compute, arguments, 16, 0, 1, state);
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
    void compute(const std::vector<int>& arguments, const dv::row_wise_extents& by) {
        const int results = r_.chance(15) ? 2 : 1;
        push(row_wise(arguments, by, results), dv::op_kind::compute, arguments, rows_of(arguments[0]), 0, results);
    }
    dv::operation* row_wise(const std::vector<int>& arguments, const dv::row_wise_extents& by, int results) {
        return row_wise_operation(names_, graph.nodes.size(), static_cast<int>(arguments.size()), by, results);
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
                                 : drawn < 84 ? own_rows
                                 : drawn < 87 ? broadcast
                                 : drawn < 90 ? shift
                                              : all_to_all;
        if ((kind == reduce_scatter || kind == own_rows) && rows % width == 0) push(&moves_, kind, {x}, rows / width, axes);
        else if (kind == all_gather && rows * width <= 64) push(&moves_, kind, {x}, rows * width, axes);
        else if (kind == all_to_all && rows % width == 0) push(&moves_, kind, {x}, rows, axes);
        else if (kind == shift) push(&moves_, kind, {x}, rows, axes == 3 ? 1 : axes);
        else push(&moves_, kind == broadcast ? kind : all_reduce, {x}, rows, axes);
    }
    void push(const dv::operation* op, dv::op_kind kind, const std::vector<int>& arguments, std::int64_t rows, unsigned axes = 0,
              int results = 1, int target = -1) {
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
        n.update = target >= 0;
        dv::ir::symbol made;
        made.role = 0;
        made.node = graph.nodes.size();
        graph.nodes.push(n);
        if (n.update) return static_cast<void>(graph.operands.push(target));
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

// All rewrites in several orders, by the number of the graph: what the options ask for, and what statements do.
inline dv::rewrite_list drawn_rewrites(long i) {
    using enum dv::rewrite;
    constexpr dv::rewrite orders[][3] = {{keep, decompose, bucket}, {bucket, keep, decompose}, {decompose, bucket, keep}};
    dv::rewrite_list list;
    for (const dv::rewrite r : orders[i % 3]) list.kind[list.count++] = r;
    list.everywhere = i % 2 == 0;
    list.blocks = 2 << (i % 3);
    return list;
}
inline std::vector<dv::ir::region> drawn_regions(long i) {
    if (i % 4 < 2) return {};
    const dv::ir::region blocks{dv::rewrite::split, i % 3 == 0 ? dv::automatic : 2}, inner_decompose{dv::rewrite::decompose, 0, 0};
    if (i % 8 < 4) return {blocks, inner_decompose};
    return {{dv::rewrite::decompose}, {dv::rewrite::split, 2, 0}};
}
// Without those statements where the library refuses them.
inline random_rows rows_to_rewrite(word seed, long i) {
    const random_rows drawn{seed, drawn_regions(i)};
    const bool refused = static_cast<bool>(dv::pass::check_regions(dv::ir::view(drawn.graph)));
    return random_rows{seed, refused ? std::vector<dv::ir::region>{} : drawn_regions(i)};
}
// Every fourth one with a state, unless it gets different on the ranks.
inline random_rows rows_and_states_to_rewrite(word seed, long i) {
    const random_rows drawn{seed, {}, 1};
    const bool refused = i % 4 != 0 || static_cast<bool>(dv::pass::check(dv::ir::view(drawn.graph)));
    return refused ? rows_to_rewrite(seed, i) : random_rows{seed, {}, 1};
}

}  // namespace support
