// Upper bounds of the sizes of a graph's tables. Takes its root descriptor, gives the sizes in the order of `graph`.
#pragma once

#include "../collective/table.hpp"
#include "../dsl/descriptor.hpp"
#include "table.hpp"

namespace dovetail::ir {

namespace detail {

struct size_bounds {
    int symbols = 0, nodes = 0, operands = 0, roles = 1, axes = 0, regions = 0;
    bool doubtful = false;  // a shape rule, or a workspace, may not be callable while compiling
};

constexpr bool is_doubtful(const operation& o) { return o.doubtful_rule || o.doubtful_workspace; }
constexpr bool has_doubtful_rule(const dsl::descriptor& r) {
    if (is_doubtful(*r.op)) return true;
    for (int i = 0; i < r.child_count; ++i)
        if (has_doubtful_rule(*r.children[i])) return true;
    return false;
}

// Of a let or update.
constexpr void add_bounds(dsl::statement s, size_bounds& to) {
    const dsl::descriptor& r = **s;
    to.doubtful |= is_doubtful(*r.op);
    if (r.positions == r.child_count + 2 && r.op->kind == op_kind::compute) {  // of names alone, as most are
        ++to.symbols;
        ++to.nodes;
        to.operands += r.child_count - 1;
        return;
    }
    const dsl::descriptor &names = *s[1], &op = *s[2];
    const int count = names.kind == dsl::keyword::values ? names.child_count : 1;
    const int arguments = r.child_count - 2;
    for (int i = 0; i < arguments && !to.doubtful; ++i)
        if (s[3 + i]->positions > 1) to.doubtful = has_doubtful_rule(*s[3 + i]);
    // What stands below an argument may be an expression, an axis index or another argument each.
    const int below = r.positions - 2 - names.positions - op.positions - arguments;
    to.symbols += count + below;
    to.nodes += 1 + below;
    to.operands += count + arguments + 2 * below;
    if (is_communication(r.op->kind)) to.operands += r.positions;
}

// Of all statements below one, or below the graph.
constexpr void add_bounds_below(const dsl::descriptor& parent, size_bounds& to) {
    using dsl::keyword;
    for (const dsl::statement *s = parent.statements, *end = s + parent.child_count; s != end; ++s) {
        switch ((**s)->kind) {
            case keyword::let:
            case keyword::update: add_bounds(*s, to); break;
            case keyword::input:
            case keyword::state: ++to.symbols; break;
            case keyword::mesh: to.axes += (**s)->child_count; break;
            case keyword::on:
                ++to.roles;
                add_bounds_below(***s, to);
                break;
            case keyword::roles: to.roles += (**s)->positions; break;
            case keyword::after:
                ++to.operands;
                add_bounds_below(***s, to);
                break;
            case keyword::group:
            case keyword::nccl_group:
            case keyword::repeat: add_bounds_below(***s, to); break;
            default:
                if (!dsl::asks_for_rewrite(***s)) break;
                ++to.regions;
                add_bounds_below(***s, to);
        }
    }
}

}  // namespace detail

struct graph_sizes : sizes<7> {
    bool doubtful = false;
};
constexpr graph_sizes largest_graph(const dsl::descriptor& root) {
    detail::size_bounds r;
    detail::add_bounds_below(root, r);
    return {{{r.symbols, r.nodes, r.operands, r.roles, r.axes, r.axes * r.roles, r.regions}}, r.doubtful};
}

}  // namespace dovetail::ir
