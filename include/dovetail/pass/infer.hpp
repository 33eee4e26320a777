// infer: gives every value its type, by calling the operations' shape rules in an order in which arguments come first.
// Takes a lowered graph, gives the same graph with types, or with the first cycle or mismatch in `wrong`.
#pragma once

#include "edges.hpp"

namespace dovetail::pass {

namespace detail {

// Product of the widths of the axes in `mask` on a role; 0 where one is open.
constexpr std::int64_t lanes_along(const ir::graph& g, int role, unsigned mask) {
    std::int64_t n = 1;
    for (const ir::mesh_axis& m : g.mesh.part(g.roles[role].first_axis, g.roles[role].axes))
        if ((mask >> m.axis & 1u) != 0) n *= m.width;
    return n;
}

class inference {
public:
    constexpr explicit inference(const ir::graph& g) : g_{g} {
        zip(g, typed_, [](const auto& from, auto& to) {
            to.resize(from.size());
            copy_elements(from, to);
        });
    }

    constexpr ir::graph_data run() {
        const int n = g_.nodes.size();
        vec<int> missing(n);                 // arguments of a node that have no type yet
        vec<int> first(g_.nodes.size() + 1);  // users of each node's results
        for (const ir::node& u : g_.nodes)
            for (int a : g_.operands.part(u.first_argument, u.arguments))
                if (g_.symbols[a].node >= 0) ++first[g_.symbols[a].node + 1];
        for (int i = 0; i < n; ++i) first[i + 1] += first[i];
        vec<int> users(first[n]);
        vec<int> at(n);
        for (int i = 0; i < n; ++i) {
            const ir::node& u = g_.nodes[i];
            for (int a : g_.operands.part(u.first_argument, u.arguments))
                if (const int d = g_.symbols[a].node; d >= 0) {
                    users[first[d] + at[d]++] = i;
                    ++missing[i];
                }
        }
        vec<int> ready;
        ready.reserve(n);
        for (int i = 0; i < n; ++i)
            if (missing[i] == 0) ready.push(i);
        for (int k = 0; k < ready.size() && !typed_.wrong; ++k) {
            const int i = ready[k];
            type(g_.nodes[i]);
            for (int u = first[i]; u < first[i + 1]; ++u)
                if (--missing[users[u]] == 0) ready.push(users[u]);
        }
        if (!typed_.wrong && ready.size() < n) report_cycle();
        return static_cast<ir::graph_data&&>(typed_);
    }

private:
    constexpr ir::symbol& argument(const ir::node& n, int i) { return typed_.symbols[g_.operands[n.first_argument + i]]; }

    constexpr ir::fault& fail(const ir::fault& f) {
        if (!typed_.wrong) typed_.wrong = f;
        return typed_.wrong;
    }
    // The mention of the node's operation type stands right behind its expression's.
    constexpr ir::fault& fail(ir::fault_kind kind, const ir::node& n) { return fail(ir::make_fault(kind, n.statement, n.mention + 1)); }

    constexpr void type(const ir::node& n) {
        tensor_type arguments[64] = {};
        tensor_type results[max_results] = {};
        const int count = n.arguments < 64 ? n.arguments : 64;
        for (int i = 0; i < count; ++i) arguments[i] = argument(n, i).type;
        int given = 1;
        bool host = false;
        if (n.kind == op_kind::compute) {
            given = n.op->infer(arguments, results);
            if (given == 0) return refuse(n, arguments, count);
        } else if (n.kind == op_kind::to_host || n.kind == op_kind::from_host) {
            results[0] = arguments[0];
            host = n.kind == op_kind::to_host;
        } else {
            results[0] = communicated(n, arguments);
            if (typed_.wrong) return;
        }
        if (given != n.results) {
            fail(ir::fault_kind::wrong_result_count, n).number = given;
            return;
        }
        for (int r = 0; r < n.results; ++r) {
            if (results[r].bytes() < 0) {
                fail(ir::make_fault(ir::fault_kind::size_overflow, n.statement)).tensor(results[r]);
                return;
            }
            const int s = g_.operands[n.first_result + r];
            if (s < 0) continue;
            ir::symbol& to = typed_.symbols[s];
            if (n.update) {
                if (to.type != results[r]) fail(ir::make_fault(ir::fault_kind::update_mismatch, to.mention, n.mention + 1)).tensor(to.type).tensor(results[r]);
            } else {
                to.type = results[r];
                to.in_host_memory = host;
            }
        }
    }

    constexpr void refuse(const ir::node& n, const tensor_type* arguments, int count) {
        ir::fault& f = fail(ir::fault_kind::shape_mismatch, n);
        for (int i = 0; i < count; ++i) f.tensor(arguments[i]);
    }

    constexpr tensor_type communicated(const ir::node& n, const tensor_type* arguments) {
        const bool over_roles = n.role < 0;
        tensor_type t = arguments[0];
        for (int i = 1; i < n.arguments; ++i)
            if (arguments[i] != t) {
                fail(ir::fault_kind::member_mismatch, n).tensor(t).tensor(arguments[i]);
                return t;
            }
        const bool scattered = n.kind == op_kind::scatter || n.kind == op_kind::broadcast;
        const std::int64_t width = !over_roles ? lanes_along(g_, n.role, n.axes) : scattered ? n.targets : n.arguments;
        if (!over_roles && n.root >= 0 && width > 0 && n.root >= width) {
            fail(ir::fault_kind::bad_root, n).name(n.mention + 1).number = width;
            return t;
        }
        const bool gathers = n.kind == op_kind::all_gather || n.kind == op_kind::gather;
        const bool splits = n.kind == op_kind::reduce_scatter || n.kind == op_kind::scatter;
        if (!gathers && !splits && n.kind != op_kind::all_to_all) return t;
        if (width == 0) {
            fail(ir::fault_kind::open_width, n);
            return t;
        }
        if (gathers) {
            if (t.rank == 0) return t.with_extents(width);
            t.extent[0] *= width;
            return t;
        }
        if (t.rank == 0 || t.extent[0] % width != 0) {
            fail(ir::fault_kind::indivisible, n).tensor(t).number = width;
            return t;
        }
        if (splits) t.extent[0] /= width;
        return t;
    }

    // Some node waits for itself. The error names the statements along the arrows, from the first written to itself.
    constexpr void report_cycle() {
        vec<ir::edge> uses;
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const ir::node& u = g_.nodes[i];
            for (int a : g_.operands.part(u.first_argument, u.arguments))
                if (const int d = g_.symbols[a].node; d >= 0) uses.push({d, i, 0, 0, ir::edge_kind::flow});
        }
        ir::fault f = ir::make_fault(ir::fault_kind::cycle);
        int last = -1;
        for (int i : find_cycle(g_.nodes.size(), uses.view())) {
            if (g_.nodes[i].statement != last) f.name(g_.nodes[i].statement);
            last = g_.nodes[i].statement;
        }
        if (f.count == 1 || last != f.mention[0]) f.name(f.mention[0]);
        fail(f);
    }

    const ir::graph& g_;
    ir::graph_data typed_;
};

}  // namespace detail

constexpr ir::graph_data infer(const ir::graph& g) {
    return detail::inference{g}.run();
}

}  // namespace dovetail::pass
