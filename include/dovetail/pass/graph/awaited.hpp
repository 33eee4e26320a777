// check_awaited: the values that a statement starts after. Takes a typed graph and one of its nodes, gives the first mistake, or none.
#pragma once

#include "../../collective/table.hpp"
#include "../../ir/graph.hpp"

namespace dovetail::pass::detail {

// A collective over roles waits on those of its roles that have the value.
constexpr bool some_role_has(const ir::graph& g, const ir::node& collective, const ir::symbol& s) {
    const auto has = [&](int role) { return s.role >= 0 ? s.role == role : s.node < 0 || ir::receives(g, g.nodes[s.node], role); };
    for (int role : g.operands.subspan(collective.first_target, collective.targets))
        if (has(role)) return true;
    for (int a : g.operands.subspan(collective.first_argument, collective.arguments))
        if (has(g.symbols[a].role)) return true;
    return false;
}

// One of another role is brought over a channel, as an argument is.
constexpr ir::fault check_awaited_elsewhere(const ir::graph& g, const ir::node& n, const ir::symbol& s) {
    if (!ir::same_mesh(g, s.role, n.role))
        return ir::make_fault(ir::fault_kind::mesh_mismatch, s.source_position, g.roles[s.role].source_position,
                              g.roles[n.role].source_position)
            .in(n.statement);
    if (s.node >= 0 && collective::ends_at_root(g.nodes[s.node].kind))
        return ir::make_fault(ir::fault_kind::off_root_read, s.source_position, n.statement).in(n.statement);
    if (s.in_host_memory) return ir::make_fault(ir::fault_kind::host_value, s.source_position, n.statement).in(n.statement);
    return ir::fault{};
}

constexpr ir::fault check_awaited(const ir::graph& g, const ir::node& n, const ir::symbol& s) {
    if (n.role < 0) {
        if (some_role_has(g, n, s)) return ir::fault{};
        return ir::make_fault(ir::fault_kind::after_elsewhere, n.statement, s.source_position).in(n.statement);
    }
    if (s.role >= 0) return s.role == n.role ? ir::fault{} : check_awaited_elsewhere(g, n, s);
    if (s.node < 0 || collective::has_equal_results(g.nodes[s.node].kind) || ir::receives(g, g.nodes[s.node], n.role)) return ir::fault{};
    return ir::make_fault(ir::fault_kind::off_root_read, s.source_position, n.statement).in(n.statement);
}

constexpr ir::fault check_awaited(const ir::graph& g, const ir::node& n) {
    for (int a : g.operands.subspan(n.first_awaited, n.awaited))
        if (const ir::fault wrong = check_awaited(g, n, g.symbols[a])) return wrong;
    return ir::fault{};
}

}  // namespace dovetail::pass::detail
