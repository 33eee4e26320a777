// Damages of the placement of buffers, of the bytes that they share and of their kind of memory.
#pragma once

#include "damaged_rows.hpp"

namespace support {

inline bool shrink_arena(subject& s, int site) {
    if (site >= s.plan.roles.size()) return false;
    std::int64_t end = 0;
    for (int b = 0; b < s.program.buffers.size(); ++b) {
        const dv::ir::buffer& x = s.program.buffers[b];
        const dv::ir::placement& m = s.plan.placements[b];
        if (x.role == site && (detail::in_arena(x) || x.where == dv::ir::storage::workspace) &&
            m.offset + (x.slots - 1) * m.stride + x.bytes > end)
            end = m.offset + (x.slots - 1) * m.stride + x.bytes;
    }
    if (end == 0) return false;
    s.plan.roles[site].arena_bytes = end - 1;
    return true;
}
inline bool misalign(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, detail::in_arena);
    if (b < 0) return false;
    s.plan.placements[b].offset += 8;
    s.plan.roles[s.program.buffers[b].role].arena_bytes += 256;
    return true;
}
inline bool move_one_of_a_collective(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, [&](const dv::ir::buffer& x) {
        int others = 0;
        for (const dv::ir::buffer& y : s.program.buffers) others += x.symmetric_set >= 0 && y.symmetric_set == x.symmetric_set ? 1 : 0;
        return others > 1;
    });
    if (b < 0) return false;
    std::int64_t& size = s.plan.roles[s.program.buffers[b].role].arena_bytes;
    s.plan.placements[b].offset = dv::ir::aligned(size);
    size = dv::ir::aligned(size) + dv::ir::aligned(s.program.buffers[b].bytes);
    return true;
}
// The same, and the buffer belongs to no symmetric set any more.
inline bool move_one_of_a_collective_away(subject& s, int site) {
    const dv::plan::plan_data placed = s.plan;
    if (!move_one_of_a_collective(s, site)) return false;
    for (int b = 0; b < s.program.buffers.size(); ++b)
        if (s.plan.placements[b].offset != placed.placements[b].offset) s.program.buffers[b].symmetric_set = s.program.symmetric_sets++;
    return true;
}
// A buffer joins the symmetric set of a collective that does not use it.
inline bool lie_with_others(subject& s, int site) {
    for (int b = 0; b < s.program.buffers.size(); ++b)
        for (int other = 0; other < s.program.buffers.size(); ++other) {
            dv::ir::buffer& x = s.program.buffers[b];
            const int symmetric_set = s.program.buffers[other].symmetric_set;
            bool joined = x.symmetric_set < 0 || symmetric_set < 0;
            for (const dv::ir::buffer& y : s.program.buffers) joined = joined || (y.symmetric_set == symmetric_set && y.role == x.role);
            if (joined || site-- != 0) continue;
            x.symmetric_set = symmetric_set;
            s.plan.placements[b] = s.plan.placements[other];
            std::int64_t& size = s.plan.roles[x.role].arena_bytes;
            const std::int64_t end = s.plan.placements[b].offset + (x.slots - 1) * s.plan.placements[b].stride + dv::ir::aligned(x.bytes);
            if (size < end) size = end;
            return true;
        }
    return false;
}
// A buffer in another kind of memory that has enough room.
inline bool lie_elsewhere(subject& s, int site) {
    constexpr int others = 5;
    if (site / others >= s.program.buffers.size()) return false;
    dv::ir::buffer& x = s.program.buffers[site / others];
    const int where = site % others + (site % others >= static_cast<int>(x.where) ? 1 : 0);
    x.where = static_cast<dv::ir::storage>(where);
    x.alias = -1;
    dv::ir::placement& at = s.plan.placements[site / others];
    if (x.where == dv::ir::storage::input || x.where == dv::ir::storage::state || x.where == dv::ir::storage::constant) {
        at = {};
        if (x.where == dv::ir::storage::state) s.plan.roles[x.role].state_bytes += dv::ir::aligned(x.bytes);
        return true;
    }
    std::int64_t& size = x.where == dv::ir::storage::host ? s.plan.roles[x.role].host_arena_bytes : s.plan.roles[x.role].arena_bytes;
    at = {dv::ir::aligned(size), dv::ir::aligned(x.bytes)};
    size = at.offset + x.slots * at.stride;
    return true;
}
// The slots of a buffer have a larger stride, with enough room.
inline bool stretch(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site,
                              [](const dv::ir::buffer& x) { return x.slots > 1 && x.alias < 0 && x.where == dv::ir::storage::arena; });
    if (b < 0) return false;
    const dv::ir::buffer& x = s.program.buffers[b];
    std::int64_t& size = s.plan.roles[x.role].arena_bytes;
    s.plan.placements[b].stride += 256;
    for (int a = 0; a < s.program.buffers.size(); ++a)
        if (s.program.buffers[a].alias == b) s.plan.placements[a].stride += 256;
    size += 256 * x.slots;
    return true;
}
inline bool one_slot_for_all_runs(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, [](const dv::ir::buffer& x) {
        return x.slots > 1 && x.bytes > 0 && (x.where == dv::ir::storage::arena || x.where == dv::ir::storage::host);
    });
    if (b >= 0) s.plan.placements[b].stride = 0;
    return b >= 0;
}
// A result at the bytes of an argument, or of the rows that it is, of the same operation.
inline bool result_over_argument(subject& s, int site) {
    for (const dv::ir::participation& x : s.program.participations) {
        const auto list = s.program.accesses.view().subspan(x.first_access, x.accesses);
        for (const dv::ir::access& a : list)
            for (const dv::ir::access& b : list) {
                const dv::ir::buffer &from = s.program.buffers[a.buffer], &to = s.program.buffers[b.buffer];
                if (a.mode != dv::access_mode::read || b.mode != dv::access_mode::write || !detail::in_arena(from) ||
                    !detail::in_arena(to) || to.alias >= 0 || a.buffer == b.buffer)
                    continue;
                const std::int64_t at =
                    s.plan.placements[a.buffer].offset + s.program.leaves[a.leaf].begin - s.program.leaves[b.leaf].begin;
                if (at < 0 || site-- != 0) continue;
                s.plan.placements[b.buffer].offset = at;
                std::int64_t& size = s.plan.roles[x.role].arena_bytes;
                size += to.slots * dv::ir::aligned(to.bytes);
                return true;
            }
    }
    return false;
}
// A buffer at the bytes of an output.
inline bool share_with_output(subject& s, int site) {
    for (int o = 0; o < s.program.buffers.size(); ++o)
        for (int b = 0; b < s.program.buffers.size(); ++b) {
            const dv::ir::buffer &x = s.program.buffers[o], &y = s.program.buffers[b];
            if (!x.output || !detail::in_arena(x) || !detail::in_arena(y) || x.role != y.role || b == o || b == x.alias || y.alias >= 0 ||
                x.slots == 1 || site-- != 0)
                continue;
            s.plan.placements[b].offset = s.plan.placements[o].offset;
            s.plan.roles[x.role].arena_bytes += y.slots * dv::ir::aligned(y.bytes);
            return true;
        }
    return false;
}
// An in-place result elsewhere than its argument.
inline bool participation_from_argument(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, [](const dv::ir::buffer& x) { return x.alias >= 0; });
    if (b < 0) return false;
    std::int64_t& size = s.plan.roles[s.program.buffers[b].role].arena_bytes;
    s.plan.placements[b].offset = dv::ir::aligned(size);
    size = dv::ir::aligned(size) + s.program.buffers[b].slots * dv::ir::aligned(s.program.buffers[b].bytes);
    return true;
}
// A result aliases an argument that its operation does not overwrite in place.
inline bool take_over_unoffered(subject& s, int site) {
    for (const dv::ir::participation& x : s.program.participations) {
        const auto list = s.program.accesses.view().subspan(x.first_access, x.accesses);
        const dv::operation* op = s.program.members[x.member].op;
        if (op != nullptr && (op->in_place >= 0 || op->in_place_only)) continue;
        for (const dv::ir::access& a : list)
            for (const dv::ir::access& b : list) {
                dv::ir::buffer &from = s.program.buffers[a.buffer], &to = s.program.buffers[b.buffer];
                if (a.mode != dv::access_mode::read || b.mode != dv::access_mode::write || !detail::in_arena(from) ||
                    !detail::in_arena(to) || from.slots != to.slots || from.alias >= 0 || to.alias >= 0 || site-- != 0)
                    continue;
                to.alias = a.buffer;
                s.plan.placements[b.buffer] = s.plan.placements[a.buffer];
                return true;
            }
    }
    return false;
}
// A result aliases its argument, whatever that is and whatever else reads it.
inline bool take_over_argument(subject& s, int site) {
    for (const dv::ir::participation& x : s.program.participations) {
        const auto list = s.program.accesses.view().subspan(x.first_access, x.accesses);
        for (const dv::ir::access& a : list)
            for (const dv::ir::access& b : list) {
                dv::ir::buffer& to = s.program.buffers[b.buffer];
                const int from = s.program.buffers[a.buffer].alias >= 0 ? s.program.buffers[a.buffer].alias : a.buffer;
                if (a.mode != dv::access_mode::read || b.mode != dv::access_mode::write || to.alias == from ||
                    to.slots != s.program.buffers[from].slots || site-- != 0)
                    continue;
                to.alias = from;
                s.plan.placements[b.buffer] = s.plan.placements[from];
                return true;
            }
    }
    return false;
}
inline bool forget_output(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, [](const dv::ir::buffer& x) { return x.output; });
    if (b >= 0) s.program.buffers[b].output = false;
    return b >= 0;
}
inline bool forget_symmetric_set(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, [](const dv::ir::buffer& x) { return x.symmetric_set >= 0; });
    if (b >= 0) s.program.buffers[b].symmetric_set = -1;
    return b >= 0;
}
// A buffer without accesses that is wrong: without a role, with a negative size, in the store without a name, beyond the end of an arena.
inline bool add_strange_buffer(subject& s, int site) {
    dv::ir::buffer x;
    dv::ir::placement at;
    switch (site) {
        case 0: x.role = s.program.roles; break;
        case 1: x.role = -1; break;
        case 2: x.bytes = INT64_MIN, at.offset = 0; break;
        case 3: x.where = dv::ir::storage::state; break;
        case 4: x.where = dv::ir::storage::input; break;
        case 5: x.output = true, at.offset = 0; break;
        case 6: x.bytes = 1, at.offset = s.plan.roles[0].arena_bytes; break;
        default: return false;
    }
    add_whole(s.program, x);
    s.plan.placements.push(at);
    return true;
}

}  // namespace support
