// A plan without ideas: one lane, no memory used twice.
#pragma once
#include <dovetail/pass/edges.hpp>
#include <dovetail/plan/plan.hpp>
namespace support {
inline dovetail::plan::plan_data naive(const dovetail::ir::program& p) {
    namespace dv = dovetail;
    dv::plan::plan_data out;
    const auto list = dv::pass::edges(p);
    std::vector<int> missing(p.vertices.size());
    for (const auto& e : list) ++missing[e.to];
    std::vector<char> done(p.vertices.size());
    for (bool moved = true; moved;) {
        moved = false;
        for (int v = 0; v < p.vertices.size(); ++v) {
            if (done[v] || missing[v]) continue;
            done[v] = 1; moved = true; out.order.push(v);
            for (const auto& e : list) if (e.from == v) --missing[e.to];
        }
    }
    for (int r = 0; r < p.roles; ++r) {
        dv::ir::role_plan role;
        role.first_step = out.steps.size();
        for (int v : out.order) {
            dv::ir::step s{v, -1, 0, 0, 0, 0, -1, 0, 0};
            for (int i = p.vertices[v].first_part; i < p.vertices[v].first_part + p.vertices[v].parts; ++i)
                if (p.parts[i].role == r) { if (s.first_part < 0) s.first_part = i; ++s.parts; }
            if (s.parts) out.steps.push(s), ++role.steps;
        }
        out.roles.push(role);
    }
    for (int b = 0; b < p.buffers.size(); ++b) {
        const auto& x = p.buffers[b];
        dv::ir::placement at;
        const bool host = x.where == dv::ir::storage::host;
        if (host || x.where == dv::ir::storage::arena || x.where == dv::ir::storage::workspace) {
            auto& r = out.roles[x.role];
            auto& end = host ? r.host_arena_bytes : r.arena_bytes;
            at.offset = end; at.stride = dv::ir::aligned(x.bytes);
            end += at.stride * x.slots;
        }
        out.placements.push(at);
    }
    for (int b = 0; b < p.buffers.size(); ++b) if (p.buffers[b].alias >= 0) out.placements[b] = out.placements[p.buffers[b].alias];
    return out;
}
}
