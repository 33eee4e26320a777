// Which rewrites have changed a graph, read off the rewritten one.
#pragma once

#include <dovetail/ir/graph.hpp>

#include <vector>

namespace support {

namespace dv = dovetail;

struct rewrites_seen {
    bool split = false, decomposed = false, kept = false, bucketed = false, copied = false, within_hosts = false;

    rewrites_seen(const dv::ir::graph& written, const dv::ir::graph& now) {
        int groups = 0;
        for (const dv::ir::node& n : written.nodes) groups -= n.nccl_group_id >= 0 ? 1 : 0;
        std::vector<bool> remains(static_cast<std::size_t>(written.nodes.size()));
        for (const dv::ir::node& n : now.nodes) {
            groups += n.nccl_group_id >= 0 ? 1 : 0;
            copied = copied || n.moved_by == dv::transport::peer_copy;
            split = split || n.blocks > 0;
            if (n.origin < 0) continue;
            remains[static_cast<std::size_t>(n.origin)] = true;
            const dv::ir::node& before = written.nodes[n.origin];
            decomposed = decomposed || (n.kind == dv::op_kind::reduce_scatter && before.kind == dv::op_kind::all_reduce);
            within_hosts = within_hosts || (n.kind == before.kind && n.axes != before.axes);
        }
        for (const bool r : remains) kept = kept || !r;
        bucketed = groups > 0;
    }
};

}  // namespace support
