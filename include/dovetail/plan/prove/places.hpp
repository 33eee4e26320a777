// Where buffers lie: aligned, inside their arena, slots apart, in-place results at their argument's bytes, buffers of a
// collective over roles at equal places. Gives the memory of one role as `cells` for the replay.
#pragma once

#include "../plan.hpp"
#include "verdict.hpp"

#include <utility>

namespace dovetail::plan::detail {

constexpr bool in_an_arena(ir::storage s) { return s == ir::storage::arena || s == ir::storage::workspace || s == ir::storage::host; }

// Size and offset are equal on all members, as registered and symmetric buffers demand.
constexpr verdict check_common(const ir::program& p, const plan& made) {
    vec<int> first_of(p.commons, -1);
    for (int b = 0; b < p.buffers.count; ++b) {
        const ir::buffer& x = p.buffers.first[b];
        if (x.common < 0) continue;
        int& first = first_of[x.common];
        if (first < 0) first = b;
        const ir::buffer& y = p.buffers.first[first];
        const ir::placement &m = made.placements.first[b], &n = made.placements.first[first];
        if (x.where != y.where || x.bytes != y.bytes || x.slots != y.slots || m.offset != n.offset || (x.slots > 1 && m.stride != n.stride))
            return {flaw::common_offset, x.role, -1, -1, b};
    }
    return {};
}

constexpr verdict check_places(const ir::program& p, const plan& made, int role) {
    const ir::role_plan& r = made.roles.first[role];
    const ir::buffer* buffers = p.buffers.begin();
    const ir::placement* placements = made.placements.begin();
    const std::int64_t arena_bytes = r.arena_bytes;
    for (int b = 0; b < p.buffers.count; ++b) {
        const ir::buffer& x = buffers[b];
        if (x.role != role) continue;
        const ir::storage where = x.where;
        const bool inside = where == ir::storage::arena || in_an_arena(where);
        if (x.alias >= 0 && (!inside || x.alias == b)) return {flaw::alias_wrong, role, -1, -1, b};
        if (!inside) continue;
        const ir::placement& m = placements[b];
        const std::int64_t size = where == ir::storage::host ? r.host_arena_bytes : arena_bytes;
        if (m.offset < 0) return {flaw::out_of_arena, role, -1, -1, b};
        if (m.offset % ir::alignment != 0 || (x.slots > 1 && m.stride % ir::alignment != 0)) return {flaw::misaligned, role, -1, -1, b};
        if (m.offset > size || x.bytes > size - m.offset) return {flaw::out_of_arena, role, -1, -1, b};
        if (x.slots > 1) {
            if (m.stride < x.bytes) return {flaw::slot_not_dedicated, role, -1, -1, b};
            if (m.stride > 0 && (size - m.offset - x.bytes) / m.stride < x.slots - 1) return {flaw::out_of_arena, role, -1, -1, b};
        }
        if (x.alias >= 0) {
            const ir::buffer& y = buffers[x.alias];
            const ir::placement& n = placements[x.alias];
            if (y.role != role || y.where != x.where || y.alias >= 0 || y.slots != x.slots || y.bytes < x.bytes || m.offset != n.offset ||
                (x.slots > 1 && m.stride != n.stride))
                return {flaw::alias_wrong, role, -1, -1, b};
        }
    }
    return {};
}

// A role's arenas cut at the offsets of its buffers. Two buffers share bytes exactly where they share a cell, because
// whatever reaches into a cell covers its beginning.
struct cells {
    vec<int> low, high;  // by buffer: [low, high); -1 and 0 where it has none of its own
    int count = 0;
};

struct cut {
    std::int64_t at = 0;  // twice the place; one more where a buffer begins
    int buffer = 0;
};

constexpr void sort(vec<cut>& cuts) {
    constexpr int bits = 11, digits = 1 << bits;
    std::int64_t largest = 0;
    for (const cut *c = cuts.begin(), *end = cuts.end(); c != end; ++c) largest |= c->at;
    vec<cut> other(cuts.size(), unset{});
    for (int shift = 0; shift < 63 && (largest >> shift) != 0; shift += bits) {
        const int used = (largest >> shift) < digits ? static_cast<int>(largest >> shift) + 1 : digits;
        vec<int> count(used + 1);
        int* at = count.begin();
        cut* to = other.begin();
        for (const cut *c = cuts.begin(), *end = cuts.end(); c != end; ++c) ++at[((c->at >> shift) & (digits - 1)) + 1];
        for (int d = 1; d < used; ++d) at[d] += at[d - 1];
        for (const cut *c = cuts.begin(), *end = cuts.end(); c != end; ++c) to[at[(c->at >> shift) & (digits - 1)]++] = *c;
        vec<cut> sorted = std::move(other);
        other = std::move(cuts);
        cuts = std::move(sorted);
    }
}

// After check_places: offsets are multiples of the alignment, and so sizes may be rounded up to it.
constexpr cells cells_of(const ir::program& p, const plan& made, int role) {
    cells made_cells;
    made_cells.low = vec<int>(p.buffers.count, -1);
    made_cells.high = vec<int>(p.buffers.count);
    const std::int64_t host_base = ir::aligned(made.roles.first[role].arena_bytes) / ir::alignment;
    vec<cut> cuts(2 * p.buffers.count, unset{});
    cut* next = cuts.begin();
    for (int b = 0; b < p.buffers.count; ++b) {
        const ir::buffer& x = p.buffers.first[b];
        if (x.alias >= 0 || x.role != role || x.bytes == 0 || !in_an_arena(x.where)) continue;
        const ir::placement& m = made.placements.first[b];
        const std::int64_t begin = m.offset / ir::alignment + (x.where == ir::storage::host ? host_base : 0);
        const std::int64_t units = ((x.slots - 1) * m.stride + x.bytes + ir::alignment - 1) / ir::alignment;
        *next++ = {2 * begin + 1, b};
        *next++ = {2 * (begin + units), b};
    }
    cuts.cut(static_cast<int>(next - cuts.begin()));
    sort(cuts);
    // An end that is also a beginning stands before it, so that its cell is not counted.
    std::int64_t last = -1;
    int count = 0, *low = made_cells.low.begin(), *high = made_cells.high.begin();
    for (const cut *c = cuts.begin(), *end = cuts.end(); c != end; ++c)
        if ((c->at & 1) == 0) {
            high[c->buffer] = count;
        } else {
            count += c->at != last ? 1 : 0;
            last = c->at;
            low[c->buffer] = count - 1;
        }
    made_cells.count = count;
    return made_cells;
}

}  // namespace dovetail::plan::detail
