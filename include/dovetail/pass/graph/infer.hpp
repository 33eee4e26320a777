// infer: computes the type of every value by calling the shape rules, in written order or, if a value is used above its definition, in
// topological order. Writes the types to the symbols of a lowered graph and returns the first cycle or mismatch, if any.
#pragma once

#include "../../collective/shape.hpp"
#include "../../ir/table.hpp"
#include "../program/edges.hpp"

#include <climits>

namespace dovetail::pass {

namespace detail {

class inference {
public:
    constexpr inference(const ir::graph& g, ir::symbol* symbols, int callable) : g_{g}, symbols_{symbols}, callable_{callable} {}

    constexpr ir::fault run() {
        // Most graphs are written in a topological order.
        for (const ir::node *n = g_.nodes.begin(), *end = g_.nodes.end(); n != end && !wrong_; ++n)
            if (!type(*n)) {
                in_order_of_use();
                break;
            }
        return wrong_;
    }

private:
    constexpr void in_order_of_use() {
        const int n = g_.nodes.count;
        const ir::node* nodes = g_.nodes.first;
        const ir::symbol* symbols = g_.symbols.first;
        const int* operands = g_.operands.first;
        vec<int> lists(3 * n + 1);
        int* missing = lists.begin();  // by node: arguments without a type so far
        int* first = missing + n;      // by node: begin of its users in `users`
        int* ready = first + n + 1;
        int readies = 0;
        for (int i = 0; i < n; ++i) {
            int open = 0;
            for (const int *a = operands + nodes[i].first_argument, *end = a + nodes[i].arguments; a != end; ++a)
                if (const int d = symbols[*a].node; d >= 0) {
                    ++open;
                    ++first[d];
                }
            missing[i] = open;
            if (open == 0) ready[readies++] = i;
        }
        for (int i = 0, sum = 0; i <= n; ++i) first[i] = sum += first[i];
        vec<int> user_list(first[n]);
        int* users = user_list.begin();
        for (int i = n - 1; i >= 0; --i)
            for (const int *begin = operands + nodes[i].first_argument, *a = begin + nodes[i].arguments; a != begin;)
                if (const int d = symbols[*--a].node; d >= 0) users[--first[d]] = i;
        for (int k = 0; k < readies && !wrong_; ++k) {
            const int i = ready[k];
            type(nodes[i]);
            for (int u = first[i], end = first[i + 1]; u < end; ++u)
                if (--missing[users[u]] == 0) ready[readies++] = users[u];
        }
        if (!wrong_ && readies < n) report_cycle();
    }

    constexpr ir::fault& fail(const ir::fault& f) {
        if (!wrong_) wrong_ = f;
        return wrong_;
    }
    // The source position of a node's operation follows that of its expression.
    constexpr ir::fault& fail(ir::fault_kind kind, const ir::node& n) {
        return fail(ir::make_fault(kind, n.statement, n.source_position + 1));
    }

    // Types one node; false if an argument has no type yet.
    constexpr bool type(const ir::node& n) {
        const int* operands = g_.operands.first + n.first_argument;
        const int count = n.arguments;
        if (count > argument_list_.size()) argument_list_.resize(count);
        tensor_type* const arguments = argument_list_.begin();
        for (int i = 0; i < count; ++i) {
            arguments[i] = symbols_[operands[i]].type;
            if (!arguments[i].valid()) return false;
        }
        int given = 1;
        if (n.kind == op_kind::compute) {
            if (n.op->view != view_kind::none && !cuts_whole_blocks(n, arguments)) return true;
            if (callable_-- == 0) return refuse_to_call(n), true;
            given = n.op->infer(arguments, results_);
            if (given == 0) return refuse(n, arguments, count), true;
            if (given < 0) return fail(ir::make_fault(ir::fault_kind::said_already)), true;
            if (!has_right_workspace(n, arguments)) return fail(ir::fault_kind::workspace_size, n), true;
        } else if (n.kind == op_kind::to_host || n.kind == op_kind::from_host) {
            results_[0] = arguments[0];
        } else {
            results_[0] = communicated(n, arguments);
            if (wrong_) return true;
        }
        if (given != n.results)
            fail(ir::fault_kind::wrong_result_count, n).count_of(given);
        else
            results(n);
        return true;
    }
    constexpr void results(const ir::node& n) {
        const int* operands = g_.operands.first + n.first_result;
        for (int r = 0; r < n.results; ++r) {
            const int s = operands[r];
            if (results_[r].bytes() < 0) {
                fail(ir::make_fault(ir::fault_kind::size_overflow, n.statement)).tensor(results_[r]);
                return;
            }
            if (s < 0) continue;
            if (!n.update) {
                symbols_[s].type = results_[r];
                if (n.kind == op_kind::to_host) symbols_[s].in_host_memory = true;
                if (n.op->view == view_kind::rows) symbols_[s].in_host_memory = symbols_[g_.operands[n.first_argument]].in_host_memory;
            } else if (symbols_[s].type != results_[r]) {
                fail(ir::make_fault(ir::fault_kind::update_mismatch, symbols_[s].source_position, n.source_position + 1))
                    .in(n.statement)
                    .tensor(symbols_[s].type)
                    .tensor(results_[r]);
            }
        }
    }

    static constexpr bool has_right_workspace(const ir::node& n, const tensor_type* arguments) {
        if (!n.op->has_workspace) return true;
        const std::int64_t bytes = n.op->workspace(arguments);
        return bytes >= 0 && bytes <= most_bytes;
    }
    // Of a view: are its blocks whole numbers of rows, and multiples of what an operation's memory is aligned to?
    constexpr bool cuts_whole_blocks(const ir::node& n, const tensor_type* arguments) {
        const operation& op = *n.op;
        if (op.view == view_kind::rows) {
            if (n.part < 0 || n.part >= n.parts) return fail(ir::fault_kind::no_such_block, n), false;
            if (arguments[0].rank == 0 || arguments[0].extent[0] % n.parts != 0)
                return fail(ir::fault_kind::uneven_rows, n).tensor(arguments[0]).count_of(n.parts), false;
        }
        for (int i = 0; i < n.arguments; ++i) {
            const std::int64_t bytes = arguments[i].bytes();  // less than none: found elsewhere
            if (bytes < 0) continue;
            const std::int64_t block = op.view == view_kind::rows ? bytes / n.parts : bytes;
            if (block == 0 || block % block_alignment != 0)
                return fail(ir::fault_kind::unaligned_rows, n).tensor(arguments[i]).count_of(block), false;
        }
        return true;
    }

    // A workspace is looked at where the shape rule is beyond doubt.
    constexpr void refuse_to_call(const ir::node& n) {
        const bool rule_is_right = n.op->doubtful_workspace && !n.op->doubtful_rule;
        fail(rule_is_right ? ir::fault_kind::workspace_not_constexpr : ir::fault_kind::rule_not_constexpr, n);
    }
    constexpr void refuse(const ir::node& n, const tensor_type* arguments, int count) {
        bool empty = false;
        for (int i = 0; i < count; ++i) empty = empty || arguments[i].size() == 0;
        ir::fault& f = fail(empty ? ir::fault_kind::zero_extent : ir::fault_kind::shape_mismatch, n);
        for (int i = 0; i < count; ++i) f.tensor(arguments[i]);
    }

    // The type of the result of a communication; a fault if the arguments of its members differ or do not fit its form.
    constexpr tensor_type communicated(const ir::node& n, const tensor_type* arguments) {
        const collective::row& row = collective::of(n.kind);
        const tensor_type& given = arguments[0];
        for (int i = 1; i < n.arguments; ++i)
            if (arguments[i] != given) return fail(ir::fault_kind::member_mismatch, n).tensor(given).tensor(arguments[i]), given;
        const std::int64_t members = members_of(n);
        if (n.role >= 0 && n.root >= 0 && members > 0 && n.root >= members)
            return fail(ir::fault_kind::bad_root, n).name(n.source_position + 1), given;
        if (!collective::needs_width(row)) return given;
        if (members == 0) return fail(ir::fault_kind::open_width, n), given;
        if (!collective::is_divisible(row, given, members))
            return fail(ir::fault_kind::indivisible, n).tensor(given).count_of(members), given;
        return collective::result_of(row, given, members);
    }
    // The number of members: positions along the axes (0: a width is open), or roles: receivers if only the root sends, else senders.
    constexpr std::int64_t members_of(const ir::node& n) const {
        if (n.role >= 0) return ir::width_along(g_, n.role, n.axes);
        return collective::begins_at_root(n.kind) ? n.targets : n.arguments;
    }

    // Some node depends on itself. The error names the statements of the cycle, from the first written one back to itself.
    constexpr void report_cycle() {
        vec<ir::edge> uses;
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const ir::node& u = g_.nodes[i];
            for (int a : g_.operands.subspan(u.first_argument, u.arguments))
                if (const int d = g_.symbols[a].node; d >= 0) uses.push({d, i, 0, 0, ir::edge_kind::flow});
        }
        ir::fault f = ir::make_fault(ir::fault_kind::cycle);
        int last = -1;
        for (int i : find_cycle(g_.nodes.size(), uses.view())) {
            if (g_.nodes[i].statement != last) f.name(g_.nodes[i].statement);
            last = g_.nodes[i].statement;
        }
        if (f.count == 1 || last != f.source_position[0]) f.close_cycle();
        fail(f);
    }

    const ir::graph& g_;
    ir::symbol* symbols_;  // the symbols of g_, writable
    int callable_;         // how many more rules can be called
    ir::fault wrong_;
    vec<tensor_type> argument_list_{8};
    tensor_type results_[max_results] = {};
};

}  // namespace detail

// `symbols`: the symbols of g, writable. The rules of so many operations, in the order in which they get types, can be called; the next one
// is a fault.
constexpr ir::fault infer(const ir::graph& g, ir::symbol* symbols, int callable = INT_MAX) {
    return detail::inference{g, symbols, callable}.run();
}

// A copy of g with types. A template, so that it is compiled only where it is called.
template <class Graph>
constexpr ir::graph_data infer(const Graph& g) {
    ir::graph_data typed;
    zip(g, typed, [](const auto& from, auto& to) {
        to.resize(from.size());
        copy_elements(from, to);
    });
    for (ir::symbol& s : typed.symbols)
        if (s.kind == ir::symbol_kind::value) s.type = {};
    if (!typed.wrong) typed.wrong = infer(ir::view(typed), typed.symbols.begin());
    return typed;
}

}  // namespace dovetail::pass
