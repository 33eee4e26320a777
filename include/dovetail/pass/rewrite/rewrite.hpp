// Applies a list of rewrites to a checked graph, one after the other. The result is a checked graph.
#pragma once

#include "../../cost/decisions.hpp"
#include "bucket.hpp"
#include "copy_engines.hpp"
#include "decompose.hpp"
#include "identity.hpp"
#include "keep.hpp"
#include "split.hpp"
#include "split_regions.hpp"
#include "stated_transports.hpp"

namespace dovetail::pass {

namespace detail {

constexpr ir::graph_data copy_of(const ir::graph& g) {
    ir::graph_data copy;
    ir::zip(g, copy, [](const auto& from, auto& to) { to = std::remove_reference_t<decltype(to)>(from.view()); });
    return copy;
}

constexpr ir::graph_data rewrite_once(const rewrite_list& list, int i, ir::graph_data g) {
    switch (list.kind[i]) {
        case rewrite::identity: return rewrite_identity(static_cast<ir::graph_data&&>(g));
        case rewrite::bucket: return rewrite_bucket(static_cast<ir::graph_data&&>(g), scope::graph);
        case rewrite::split:
        case rewrite::shard_update:
        case rewrite::copy_engines:
        case rewrite::automatic: break;  // no list has them
        case rewrite::decompose: return rewrite_decompose(static_cast<ir::graph_data&&>(g), rewrite::decompose, scope::graph);
        case rewrite::keep: return rewrite_keep(static_cast<ir::graph_data&&>(g), scope::graph, list.kept);
    }
    __builtin_unreachable();  // a rewrite without a case is no constant expression
}

template <class Graph>
constexpr bool has_regions(const Graph& g, rewrite kind) {
    for (const ir::region& r : g.regions)
        if (r.kind == kind) return true;
    return false;
}

// The blocks of each region; 0: it is no split.
template <class Graph>
constexpr vec<int> blocks_of_splits(const Graph& g, const rewrite_list& list) {
    vec<int> blocks(g.regions.size());
    for (int r = 0, automatic_before = 0; r < g.regions.size(); ++r)
        if (g.regions[r].kind == rewrite::split)
            blocks[r] = g.regions[r].number == automatic ? list.blocks_of(automatic_before++) : g.regions[r].number;
    return blocks;
}
constexpr ir::graph_data rewrite_splits(const rewrite_list& list, ir::graph_data g) {
    const vec<int> blocks = blocks_of_splits(g, list);
    return rewrite_split(static_cast<ir::graph_data&&>(g), blocks);
}

// What statements ask for between the splits and the buckets: of blocks, or of what is not split.
constexpr ir::graph_data rewrite_whole_or_blocks(const rewrite_list& list, ir::graph_data g) {
    if (has_regions(g, rewrite::keep)) g = rewrite_keep(static_cast<ir::graph_data&&>(g), scope::regions, list.kept);
    for (const rewrite kind : {rewrite::shard_update, rewrite::decompose})
        if (has_regions(g, kind)) g = rewrite_decompose(static_cast<ir::graph_data&&>(g), kind);
    return g;
}

// What they asked for is done: a rewritten graph asks for nothing.
constexpr void forget_regions(ir::graph_data& g) {
    g.regions.clear();
    for (ir::node& n : g.nodes) n.region = -1;
}

// The graph with what statements and options say of transports.
constexpr ir::graph_data with_transports(const ir::graph& g, const rewrite_list& list) {
    ir::graph_data now = copy_of(g);
    if ((list.copied_axes | list.nccl_axes) != 0 || has_regions(g, rewrite::copy_engines)) note_transports(now, list);
    return now;
}

constexpr ir::graph_data rewritten(const ir::graph& g, const rewrite_list& list) {
    ir::graph_data now = with_transports(g, list);
    for (int i = 0; i < now.nodes.size(); ++i) now.nodes[i].origin = i;
    if (list.everywhere && list.blocks > 1) find_split_regions(now, list.blocks);
    now = rewrite_splits(list, static_cast<ir::graph_data&&>(now));
    now = rewrite_whole_or_blocks(list, static_cast<ir::graph_data&&>(now));
    if (has_regions(now, rewrite::bucket)) now = rewrite_bucket(static_cast<ir::graph_data&&>(now), scope::regions);
    for (int i = 0; i < list.count; ++i) now = rewrite_once(list, i, static_cast<ir::graph_data&&>(now));
    if ((list.copied_axes | list.nccl_axes) != 0) note_derived_collectives(now, list);
    now = rewrite_copy_engines(static_cast<ir::graph_data&&>(now), list.copied_from);
    forget_regions(now);
    return now;
}

constexpr bool adds_rows(const rewrite_list& list) {
    return list.stated || (list.everywhere && list.blocks > 1) || list.has(rewrite::decompose) || list.copied_from != INT64_MAX ||
           list.copied_axes != 0;
}
}  // namespace detail

// Whether the list leaves every graph as it is.
constexpr bool changes_nothing(const rewrite_list& list) { return list.count == 0 && !detail::adds_rows(list); }

// The axes of a graph for which options say this transport, as a mask.
template <class Graph>
constexpr unsigned axes_moved_by(const Graph& g, const axis_transports& axes, transport by) {
    unsigned mask = 0;
    for (int a = 0; a < g.axes.size() && axes.count > 0; ++a)
        if (axes.of(g.axes[a].name) == by) mask |= 1u << a;
    return mask;
}

// The rewrites of a graph under these options.
template <class Graph>
constexpr rewrite_list rewrites_of(const Graph& g, rewrite_list list, const axis_transports& axes = {}) {
    list.stated = g.regions.size() > 0;
    list.copied_axes = axes_moved_by(g, axes, transport::peer_copy);
    list.nccl_axes = axes_moved_by(g, axes, transport::nccl);
    return list;
}

namespace detail {

constexpr ir::fault check_splits(const ir::graph& g) {
    if (!has_regions(g, rewrite::split)) return ir::fault{};
    const split_analysis how{g, blocks_of_splits(g, {})};
    for (int region = 0; region < g.regions.size(); ++region)
        if (how.fault_of(region)) return how.fault_of(region);
    return ir::fault{};
}
constexpr ir::fault check_decompositions(const ir::graph& g) {
    for (const rewrite kind : {rewrite::shard_update, rewrite::decompose}) {
        if (!has_regions(g, kind)) continue;
        const decompose_analysis how{g, kind};
        if (how.fault()) return how.fault();
    }
    return ir::fault{};
}

// A fault if a region of the kind has none of these nodes.
template <class IsOne>
constexpr ir::fault check_present(const ir::graph& g, rewrite kind, ir::fault_kind missing, IsOne is_one) {
    const int region = regions_of_kind{g, kind, scope::regions}.first_without(is_one);
    return region < 0 ? ir::fault{} : ir::make_fault(missing, g.regions[region].source_position);
}
constexpr ir::fault check_keeps(const ir::graph& g) {
    if (!has_regions(g, rewrite::keep)) return ir::fault{};
    vec<char> repeats(g.nodes.size());
    for (const repetition& r : repetitions(g, scope::regions)) repeats[r.again] = 1;
    return check_present(g, rewrite::keep, ir::fault_kind::nothing_to_keep, [&](int i) { return repeats[i] != 0; });
}
constexpr ir::fault check_buckets(const ir::graph& g) {
    if (!has_regions(g, rewrite::bucket)) return ir::fault{};
    const ir::graph_data bucketed = rewrite_bucket(copy_of(g), scope::regions);
    if (!levels_of(bucketed).acyclic) return ir::fault{};  // the stage `cycle` names the mistake
    const auto is_member = [&](int i) { return g.nodes[i].nccl_group_id != bucketed.nodes[i].nccl_group_id; };
    return check_present(g, rewrite::bucket, ir::fault_kind::nothing_to_bucket, is_member);
}

// There is something that a moved_by moves: a collective, or a value that another role takes.
constexpr ir::fault check_moved(const ir::graph& g) {
    vec<char> moves(g.regions.size());
    for (const ir::node& n : g.nodes)
        if (const int region = ir::region_around(g, n, rewrite::copy_engines);
            region >= 0 && (collective::passes_between_members(n.kind) || sent_value(g, n) >= 0))
            moves[region] = 1;
    for (int r = 0; r < moves.size(); ++r)
        if (g.regions[r].kind == rewrite::copy_engines && moves[r] == 0)
            return ir::make_fault(ir::fault_kind::nothing_to_move, g.regions[r].source_position);
    return ir::fault{};
}
// Copy engines can move all that a moved_by asks them to, also what other rewrites have made of it.
constexpr ir::fault check_movable(const ir::graph& g) {
    const int left = first_unmovable(g);
    if (left < 0) return ir::fault{};
    const ir::node& n = g.nodes[left];
    const int region = ir::region_around(g, n, rewrite::copy_engines);
    return ir::make_fault(ir::fault_kind::not_by_copy_engines, g.regions[region].source_position, n.statement).in(n.statement);
}

}  // namespace detail

// The first mistake in what the statements ask for. Blocks of a split are decomposed, not the whole, and what that makes is bucketed.
constexpr ir::fault check_regions(const ir::graph& g) {
    ir::fault wrong = detail::check_splits(g);
    if (!wrong) wrong = detail::check_keeps(g);
    if (!wrong) wrong = detail::check_moved(g);
    const bool later = detail::has_regions(g, rewrite::bucket) || detail::has_regions(g, rewrite::copy_engines);
    if (wrong || !(later || detail::has_regions(g, rewrite::decompose) || detail::has_regions(g, rewrite::shard_update))) return wrong;
    ir::graph_data now = detail::rewrite_splits({}, detail::with_transports(g, {}));
    wrong = detail::check_decompositions(ir::view(now));
    if (wrong || !later) return wrong;
    now = detail::rewrite_whole_or_blocks({}, static_cast<ir::graph_data&&>(now));
    wrong = detail::check_movable(ir::view(now));
    return wrong ? wrong : detail::check_buckets(ir::view(now));
}

// The upper bounds of the table sizes of the rewritten graph.
template <class Graph>
constexpr ir::sizes<ir::graph::tables> largest_rewritten(const Graph& g, const rewrite_list& list) {
    ir::sizes<ir::graph::tables> most{};
    int table = 0;
    const auto count = [&](const auto& rows, const auto&) { most.of[table++] = rows.size(); };
    if (detail::adds_rows(list)) {
        ir::graph_data made = detail::rewritten(ir::view(g), list);
        ir::zip(made, made, count);
    } else {
        ir::graph unused{};
        ir::zip(g, unused, count);
    }
    return most;
}

// Writes the rewritten graph to tables that are large enough, or grow.
template <class Table>
constexpr void rewrite_graph(const ir::graph& g, const rewrite_list& list, Table& to) {
    ir::graph_data now = detail::rewritten(g, list);
    ir::zip(now, to, [](const auto& from, auto& rows) {
        rows.resize(from.size());
        copy_elements(from, rows);
    });
}

}  // namespace dovetail::pass
