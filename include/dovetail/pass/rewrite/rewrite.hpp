// Applies a list of rewrites to a checked graph, one after the other. The result is a checked graph.
#pragma once

#include "../../cost/decisions.hpp"
#include "bucket.hpp"
#include "identity.hpp"

namespace dovetail::pass {

namespace detail {

constexpr ir::graph_data copy_of(const ir::graph& g) {
    ir::graph_data copy;
    ir::zip(g, copy, [](const auto& from, auto& to) { to = std::remove_reference_t<decltype(to)>(from.view()); });
    return copy;
}

constexpr ir::graph_data rewrite_once(rewrite kind, ir::graph_data g) {
    switch (kind) {
        case rewrite::identity: return rewrite_identity(static_cast<ir::graph_data&&>(g));
        case rewrite::bucket: return rewrite_bucket(static_cast<ir::graph_data&&>(g));
    }
    __builtin_unreachable();  // a rewrite without a case is no constant expression
}

constexpr ir::sizes<ir::graph::tables> largest_once(rewrite kind, const ir::sizes<ir::graph::tables>& before) {
    switch (kind) {
        case rewrite::identity: return largest_identity(before);
        case rewrite::bucket: return largest_bucketed(before);
    }
    __builtin_unreachable();
}

}  // namespace detail

// The upper bounds of the table sizes of the rewritten graph.
template <class Graph>
constexpr ir::sizes<ir::graph::tables> largest_rewritten(const Graph& g, const rewrite_list& list) {
    ir::sizes<ir::graph::tables> most{{g.symbols.size(), g.nodes.size(), g.operands.size(), g.roles.size(), g.axes.size(), g.mesh.size()}};
    for (int i = 0; i < list.count; ++i) most = detail::largest_once(list.kind[i], most);
    return most;
}

// Writes the rewritten graph to tables that are large enough, or grow.
template <class Table>
constexpr void rewrite_graph(const ir::graph& g, const rewrite_list& list, Table& to) {
    ir::graph_data now = detail::copy_of(g);
    for (int i = 0; i < list.count; ++i) now = detail::rewrite_once(list.kind[i], static_cast<ir::graph_data&&>(now));
    ir::zip(now, to, [](const auto& from, auto& rows) {
        rows.resize(from.size());
        copy_elements(from, rows);
    });
}

}  // namespace dovetail::pass
