// The rows of graph and program that a verdict refers to, and those that follow from them, for errors (unproven.hpp) and texts
// (verdict_text.hpp). Every index is checked before it is used, because the refused tables may contain any number.
#pragma once

#include "../../ir/program.hpp"
#include "../prove/verdict.hpp"

namespace dovetail::plan {

// An operation of the program in terms of the graph.
struct named_operation {
    int node = -1;    // node of the graph; -1: a transfer or an input
    int symbol = -1;  // its result or the value that it moves; -1: not known
    op_kind kind = op_kind::compute;

    constexpr bool known() const { return node >= 0 || symbol >= 0; }
};

namespace detail {

constexpr bool within_rows(int i, int count) { return i >= 0 && i < count; }

constexpr bool touches_buffer(const ir::program& p, const ir::task& v, int buffer, bool writing) {
    for (int i = v.first_participation; i < v.first_participation + v.participations; ++i) {
        if (!within_rows(i, p.participations.count)) return false;
        const ir::participation& x = p.participations[i];
        for (int k = x.first_access; k < x.first_access + x.touches(); ++k)
            if (within_rows(k, p.accesses.count) && p.accesses[k].buffer == buffer && (!writing || writes(p.accesses[k].mode))) return true;
    }
    return false;
}

constexpr int first_to_touch(const ir::program& p, int buffer, bool writing) {
    for (int v = 0; v < p.tasks.count; ++v)
        if (touches_buffer(p, p.tasks[v], buffer, writing)) return v;
    return -1;
}

// The role of a task, if exactly one participates, or -1.
constexpr int role_of_task(const ir::program& p, const ir::task& v) {
    int role = -1;
    for (int i = v.first_participation; i < v.first_participation + v.participations; ++i) {
        if (!within_rows(i, p.participations.count) || (role >= 0 && p.participations[i].role != role)) return -1;
        role = p.participations[i].role;
    }
    return role;
}

}  // namespace detail

// The verdict, completed by what follows from it: the role of a buffer or an operation, and the operation that writes a buffer or, if there
// is none, reads it.
constexpr verdict completed(verdict bad, const ir::program& p) {
    if (!detail::within_rows(bad.task, p.tasks.count)) bad.task = -1;
    if (!detail::within_rows(bad.other, p.tasks.count)) bad.other = -1;
    if (!detail::within_rows(bad.buffer, p.buffers.count)) bad.buffer = -1;
    if (bad.task < 0 && bad.buffer >= 0) bad.task = detail::first_to_touch(p, bad.buffer, true);
    if (bad.task < 0 && bad.buffer >= 0) bad.task = detail::first_to_touch(p, bad.buffer, false);
    if (bad.role < 0 && bad.buffer >= 0) bad.role = p.buffers[bad.buffer].role;
    if (bad.role < 0 && bad.task >= 0) bad.role = detail::role_of_task(p, p.tasks[bad.task]);
    if (!detail::within_rows(bad.role, p.roles)) bad.role = -1;
    return bad;
}

// The operation of a task, from its first member.
constexpr named_operation operation_of(const ir::graph& g, const ir::program& p, int task) {
    named_operation named;
    if (!detail::within_rows(task, p.tasks.count) || !detail::within_rows(p.tasks[task].first_member, p.members.count)) return named;
    const ir::member& m = p.members[p.tasks[task].first_member];
    named.kind = m.kind;
    if (detail::within_rows(m.node, g.nodes.count)) named.node = m.node;
    if (detail::within_rows(m.symbol, g.symbols.count)) named.symbol = m.symbol;
    return named;
}
constexpr named_operation operation_of(const ir::graph& g, const ir::program& p, const verdict& bad) {
    if (!detail::within_rows(bad.node, g.nodes.count)) return operation_of(g, p, bad.task);
    const ir::node& n = g.nodes[bad.node];
    const int result = n.results > 0 && detail::within_rows(n.first_result, g.operands.count) ? g.operands[n.first_result] : -1;
    return {bad.node, detail::within_rows(result, g.symbols.count) ? result : -1, n.kind};
}

// The symbol whose value a buffer holds, or -1.
constexpr int value_of(const ir::graph& g, const ir::program& p, int buffer) {
    if (!detail::within_rows(buffer, p.buffers.count)) return -1;
    const int symbol = p.buffers[buffer].symbol;
    return detail::within_rows(symbol, g.symbols.count) ? symbol : -1;
}

}  // namespace dovetail::plan
