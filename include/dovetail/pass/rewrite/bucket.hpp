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

// A set of collectives of one region and role along the same axes with equal slack: as many operations lie before and behind each of them.
// None of them then depends on another one, and no two buckets on each other, since an edge leads to more operations from the start.
struct bucket {
    int region = 0;
    int role = 0;
    unsigned axes = 0;
    int to_end = 0;
    std::int64_t bytes = 0;
    int members = 0;
    int nccl_group_id = -1;
    int next = -1;  // the next bucket that is as far from the start

    constexpr bool suits(int around, const ir::node& n, int end) const {
        return region == around && role == n.role && axes == n.axes && to_end == end;
    }
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

// First fit, in written order.
constexpr ir::graph_data rewrite_bucket(ir::graph_data g, scope of) {
    const ir::graph seen = ir::view(g);
    const regions_of_kind regions{seen, rewrite::bucket, of};
    const node_levels levels = levels_of(g);
    if (!levels.acyclic) return g;  // the stage `cycle` names the mistake
    vec<detail::bucket> buckets;
    vec<int> first_bucket(g.nodes.size(), -1);  // by operations from the start; the others follow by `next`
    vec<int> bucket_of(g.nodes.size(), -1);
    int groups = 0;
    for (int i = 0; i < g.nodes.size(); ++i) {
        const ir::node& n = g.nodes[i];
        if (n.nccl_group_id >= groups) groups = n.nccl_group_id + 1;
        const int region = regions.around(n);
        if (region < 0 || !detail::can_be_bucketed(n)) continue;
        const std::int64_t most_bytes =
            of == scope::graph || g.regions[region].number == automatic ? bucket_bytes : g.regions[region].number;
        const int end = levels.to_end[i];
        const std::int64_t bytes = detail::bytes_of_collective(g, n);
        int* at = &first_bucket[levels.from_start[i]];
        while (*at >= 0 && !(buckets[*at].suits(region, n, end) && buckets[*at].bytes + bytes <= most_bytes)) at = &buckets[*at].next;
        const int b = *at >= 0 ? *at : buckets.size();
        *at = b;
        if (b == buckets.size()) buckets.push({region, n.role, n.axes, end});
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
