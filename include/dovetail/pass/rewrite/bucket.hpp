// Puts small collectives that may run at the same time into one NCCL group, so that they pay one latency: all of a graph, or those in a
// statement `bucket`.
#pragma once

#include "../../collective/table.hpp"
#include "../../ir/table.hpp"
#include "node_levels.hpp"
#include "regions_of_kind.hpp"

namespace dovetail::pass {

// The most bytes of a bucket of which nothing is said: a collective of more takes longer than its latency (10 us at 300 GB/s are 3 MB), and
// what waits for one member waits for all.
inline constexpr std::int64_t bucket_bytes = 4 << 20;

namespace detail {

// Collectives of one region and role along the same axes that have as many operations behind them. None of them then depends on another
// one, and no two buckets on each other, since an edge leads to fewer operations behind. A member that waits for a later one lies on a
// path of fewer operations than that one, so that no path gets more operations than the longest had.
struct bucket {
    int region = 0;
    int role = 0;
    unsigned axes = 0;
    int next = -1;  // another one that is open and has as many operations behind it
    std::int64_t bytes = 0;
    int members = 0;
    int nccl_group_id = -1;

    constexpr bool suits(int around, const ir::node& n) const { return region == around && role == n.role && axes == n.axes; }
};

// What is stated to be moved by copy engines is in no group of NCCL.
constexpr bool can_be_bucketed(const ir::node& n) {
    return is_collective(n.kind) && n.role >= 0 && n.nccl_group_id < 0 && !n.update && n.stated != transport::peer_copy;
}
// The larger of what the collective takes and makes.
constexpr std::int64_t bytes_of_collective(const ir::graph_data& g, const ir::node& n) {
    std::int64_t most = 0;
    for (int k = 0; k < n.arguments; ++k) {
        const std::int64_t bytes = g.symbols[g.operands[n.first_argument + k]].type.bytes();
        if (bytes > most) most = bytes;
    }
    for (int k = 0; n.first_result >= 0 && k < n.results; ++k)
        if (const int s = g.operands[n.first_result + k]; s >= 0 && g.symbols[s].type.bytes() > most) most = g.symbols[s].type.bytes();
    return most;
}

}  // namespace detail

// In written order: a collective that does not fit into the open bucket begins another one, and that of the two with more room stays open.
// So the gradients of a backward pass fill one bucket after the other, and small ones between large ones share theirs.
constexpr ir::graph_data rewrite_bucket(ir::graph_data g, scope of) {
    const ir::graph seen = ir::view(g);
    const regions_of_kind regions{seen, rewrite::bucket, of};
    const node_levels levels = levels_of(g);
    if (!levels.acyclic) return g;  // the stage `cycle` names the mistake
    vec<detail::bucket> buckets;
    vec<int> open(g.nodes.size(), -1);  // by operations behind; the others follow by `next`
    vec<int> bucket_of(g.nodes.size(), -1);
    int groups = 0;
    for (int i = 0; i < g.nodes.size(); ++i) {
        const ir::node& n = g.nodes[i];
        if (n.nccl_group_id >= groups) groups = n.nccl_group_id + 1;
        const int region = regions.around(n);
        if (region < 0 || !detail::can_be_bucketed(n)) continue;
        const std::int64_t most_bytes =
            of == scope::graph || g.regions[region].number == automatic ? bucket_bytes : g.regions[region].number;
        const std::int64_t bytes = detail::bytes_of_collective(g, n);
        int* at = &open[levels.to_end[i]];
        while (*at >= 0 && !buckets[*at].suits(region, n)) at = &buckets[*at].next;
        int b = *at;
        if (b < 0 || buckets[b].bytes + bytes > most_bytes) {
            const int next = b < 0 ? -1 : buckets[b].next;
            const bool has_more_room = b < 0 || bytes <= buckets[b].bytes;
            b = buckets.size();
            if (has_more_room) *at = b;
            buckets.push({region, n.role, n.axes, next});
        }
        buckets[b].bytes += bytes;
        ++buckets[b].members;
        bucket_of[i] = b;
    }
    for (int i = 0; i < g.nodes.size(); ++i) {
        if (bucket_of[i] < 0 || buckets[bucket_of[i]].members == 1) continue;
        int& id = buckets[bucket_of[i]].nccl_group_id;
        if (id < 0) id = groups++;
        g.nodes[i].nccl_group_id = id;
    }
    return g;
}

}  // namespace dovetail::pass
