// What moves collectives and values where a statement (moved_by) or an option (axis_transport) says it: noted on them in front of all other
// rewrites, which keep it. A statement counts before an option.
#pragma once

#include "../../cost/decisions.hpp"
#include "../../ir/table.hpp"
#include "../graph/awaited.hpp"
#include "copyable_communication.hpp"

namespace dovetail::pass {

namespace detail {

// What the innermost moved_by around a node says; `automatic` where there is none.
template <class Graph>
constexpr transport stated_around(const Graph& g, const ir::node& n) {
    const int region = ir::region_around(g, n, rewrite::copy_engines);
    return region < 0 ? transport::automatic : static_cast<transport>(g.regions[region].number);
}
// ... and, where that leaves it open, what options say of its axes.
template <class Graph>
constexpr transport stated_of(const Graph& g, const ir::node& n, const rewrite_list& list) {
    if (const transport around = stated_around(g, n); around != transport::automatic) return around;
    if ((n.axes & list.copied_axes) != 0) return transport::peer_copy;
    return (n.axes & list.nccl_axes) != 0 ? transport::nccl : transport::automatic;
}

constexpr void note_transports(ir::graph_data& g, const rewrite_list& list) {
    for (ir::node& n : g.nodes) {
        n.stated = stated_of(g, n, list);
        for (int k = 0; k < n.results && !n.update; ++k)
            if (const int s = g.operands[n.first_result + k]; s >= 0) g.symbols[s].sent_by = stated_around(g, n);
    }
    for (const ir::node& n : g.nodes)  // rows are sent as the value that they are of
        if (n.op->view == view_kind::rows) g.symbols[g.operands[n.first_result]].sent_by = g.symbols[g.operands[n.first_argument]].sent_by;
}

// The same of collectives that other rewrites have made of computations: decompose gathers what they make of shards.
constexpr void note_derived_collectives(ir::graph_data& g, const rewrite_list& list) {
    for (ir::node& n : g.nodes)
        if (n.stated == transport::automatic) n.stated = stated_of(g, n, list);
}

// Whether a node takes, or starts after, a value of another role.
constexpr bool takes_from_elsewhere(const ir::graph& g, const ir::node& n, int value) {
    const ir::symbol& s = g.symbols[value];
    if (n.role < 0 || (s.role >= 0 ? s.role == n.role : ir::receives(g, g.nodes[s.node], n.role))) return false;
    for (const int a : g.operands.subspan(n.first_argument, n.arguments))
        if (a == value) return true;
    for (const int a : g.operands.subspan(n.first_awaited, n.awaited))
        if (a == value) return true;
    return false;
}
// The first value that a node makes and another role takes; -1: none. Rows of a value are none of their own.
constexpr int sent_value(const ir::graph& g, const ir::node& maker) {
    if (maker.op->view == view_kind::rows) return -1;
    for (const int s : g.operands.subspan(maker.first_result, maker.update ? 0 : maker.results))
        for (const ir::node& n : g.nodes)
            if (s >= 0 && takes_from_elsewhere(g, n, s)) return s;
    return -1;
}

// The first collective of several ranks that copy engines cannot move although a statement or an option says so; -1: none.
constexpr int first_unmovable(const ir::graph& g) {
    const copyable_communication rules{g};
    for (int i = 0; i < g.nodes.size(); ++i) {
        const ir::node& n = g.nodes[i];
        if (n.stated == transport::peer_copy && n.moved_by != transport::peer_copy && collective::passes_between_members(n.kind) &&
            (n.role < 0 || rules.width(n, n.axes) != 1) && !rules.may_move(n))
            return i;
    }
    return -1;
}
// The first collective along two axes of which options say different transports; -1: none.
constexpr int first_conflicting(const ir::graph& g, const rewrite_list& list) {
    for (int i = 0; i < g.nodes.size(); ++i) {
        const ir::node& n = g.nodes[i];
        if ((n.axes & list.copied_axes) != 0 && (n.axes & list.nccl_axes) != 0 && stated_around(g, n) == transport::automatic &&
            collective::passes_between_members(n.kind))
            return i;
    }
    return -1;
}

}  // namespace detail

// The statement of the first collective that is not moved as options say: its source position; -1: none.
constexpr int first_not_as_stated(const ir::graph& written, const ir::graph& rewritten, const rewrite_list& list) {
    if (written.single_rank) return -1;
    if (const int found = detail::first_conflicting(written, list); found >= 0) return written.nodes[found].statement;
    const int left = detail::first_unmovable(rewritten);
    return left < 0 ? -1 : rewritten.nodes[left].statement;
}

// The first value that a statement has copy engines send to another role; -1: none.
constexpr int first_sent_by_copies(const ir::graph& written) {
    for (const ir::node& n : written.nodes)
        if (detail::stated_around(written, n) == transport::peer_copy)
            if (const int s = detail::sent_value(written, n); s >= 0) return s;
    return -1;
}

}  // namespace dovetail::pass
