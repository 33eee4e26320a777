// Where buffers lie: aligned, inside their arena, slots apart, in-place results at their argument's bytes, buffers of a
// collective over roles at equal places. Gives the memory of one role as `cells` for the replay.
#pragma once

#include "../plan.hpp"
#include "verdict.hpp"

#include <utility>

namespace dovetail::plan::detail {

constexpr bool in_an_arena(ir::storage s) { return s == ir::storage::arena || s == ir::storage::workspace || s == ir::storage::host; }

// Where buffers have one number, size and offset are equal.
constexpr verdict check_symmetric(const ir::program& p, const plan& made) {
    if (p.symmetric_sets == 0) return {};  // Only for speed
    vec<int> first_of(p.symmetric_sets, -1);
    for (int b = 0; b < p.buffers.count; ++b) {
        const ir::buffer& x = p.buffers.first[b];
        if (x.symmetric_set < 0) continue;
        int& first = first_of[x.symmetric_set];
        if (first < 0) first = b;
        const ir::buffer& y = p.buffers.first[first];
        const ir::placement &m = made.placements.first[b], &n = made.placements.first[first];
        if (x.bytes != y.bytes || x.slots != y.slots || m.offset != n.offset || (x.slots > 1 && m.stride != n.stride))
            return {flaw::symmetric_offset, x.role, -1, -1, b};
    }
    return {};
}

// The buffers of each role, ascending. A role's proof looks at no others of the table, which is as long as all roles together.
class owned {
public:
    // After check_program_bounds: every role is one of the program's.
    constexpr explicit owned(const ir::program& p) : list_(p.buffers.count, unset{}), first_(p.roles + 1) {
        int *list = list_.begin(), *first = first_.begin();
        const ir::buffer* buffers = p.buffers.begin();
        for (const ir::buffer *x = buffers, *end = p.buffers.end(); x != end; ++x) ++first[x->role];
        for (int r = 0, sum = 0; r <= p.roles; ++r) first[r] = sum += first[r];
        for (int b = p.buffers.count - 1; b >= 0; --b) list[--first[buffers[b].role]] = b;
    }
    constexpr span<const int> by(int role) const { return list_.view().subspan(first_[role], first_[role + 1] - first_[role]); }

private:
    vec<int> list_;  // those of role r stand at [first_[r], first_[r + 1])
    vec<int> first_;
};

// Whether two buffers are cut at the same places.
constexpr bool same_leaves(const ir::program& p, const ir::buffer& x, const ir::buffer& y) {
    if (x.leaves != y.leaves) return false;  // Only for names: else the tags of the replay differ
    for (int i = 1; i < x.leaves; ++i)
        if (p.leaves.first[x.first_leaf + i].begin != p.leaves.first[y.first_leaf + i].begin) return false;
    return true;
}

// An alias lies where the other buffer does, which has a turn of its own.
constexpr bool lies_with_alias(const ir::program& p, const plan& made, int buffer) {
    const ir::buffer &x = p.buffers.first[buffer], &y = p.buffers.first[x.alias];
    const ir::placement &m = made.placements.first[buffer], &n = made.placements.first[x.alias];
    return in_an_arena(x.where) && y.role == x.role && y.where == x.where && y.alias < 0 && y.slots == x.slots && y.bytes >= x.bytes &&
           n.offset == m.offset && (x.slots <= 1 || m.stride == n.stride) && same_leaves(p, x, y);
}

// What is wrong with a buffer's place in an arena of `size` bytes: it and all its copies lie inside, aligned and apart.
constexpr flaw flaw_in_arena(const ir::buffer& x, const ir::placement& m, std::int64_t size) {
    const std::int64_t offset = m.offset;
    if (offset < 0) return flaw::out_of_arena;
    if (offset % ir::alignment != 0 || (x.slots > 1 && m.stride % ir::alignment != 0)) return flaw::misaligned;
    if (x.bytes > size - offset) return flaw::out_of_arena;
    if (x.slots > 1) {
        if (m.stride < x.bytes) return flaw::slot_not_dedicated;
        if (m.stride > 0 && (size - offset - x.bytes) / m.stride < x.slots - 1) return flaw::out_of_arena;
    }
    return flaw::none;
}

// `own`: the role's buffers.
constexpr verdict check_placement(const ir::program& p, const plan& made, int role, span<const int> own) {
    const ir::role_plan& r = made.roles.first[role];
    std::int64_t states = 0;
    for (const int *next = own.begin(), *end = own.end(); next != end; ++next) {
        const int b = *next;
        const ir::buffer& x = p.buffers.first[b];
        const ir::placement& placed = made.placements.first[b];
        if (x.alias >= 0) {
            if (!lies_with_alias(p, made, b)) return {flaw::alias_wrong, role, -1, -1, b};
        } else if (!in_an_arena(x.where)) {
            if (placed.offset >= 0) return {flaw::out_of_arena, role, -1, -1, b};  // a backend would look for it in one
            if (x.where == ir::storage::state) states += ir::aligned(x.bytes);
        } else {
            const flaw wrong = flaw_in_arena(x, placed, x.where == ir::storage::host ? r.host_arena_bytes : r.arena_bytes);
            if (wrong != flaw::none) return {wrong, role, -1, -1, b};
        }
    }
    if (states > r.state_bytes) return {flaw::out_of_arena, role};
    return {};
}

// A role's arenas cut where its leaves begin and end. Two leaves share bytes exactly where they share a cell, because whatever
// reaches into a cell covers its beginning. Copies for several runs lie beside each other: each leaf of such a buffer has the cells of
// all of it.
struct cells {
    vec<int> low, high;  // by leaf of the role: [low, high); -2 and 0 where it has none of its own
    int count = 0;
};

struct cut {
    std::int64_t at;  // twice the place; one more where a leaf begins
    int leaf;
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

// Where the leaves of a role's buffers begin and end, two cuts each; those without cells of their own are marked in `to`. After
// check_placement: offsets are multiples of the alignment, and so sizes may be rounded up to it.
constexpr vec<cut> cuts_of(const ir::program& p, const plan& made, int role, span<const int> own, cells& to) {
    const std::int64_t host_base = ir::aligned(made.roles.first[role].arena_bytes) / ir::alignment;
    int leaves = 0;
    for (const int b : own) leaves += p.buffers.first[b].leaves;
    vec<cut> cuts(2 * leaves, unset{});
    cut* next = cuts.begin();
    // Of the buffer or leaf at hand; declared once, see plan/compile/README.md.
    const ir::buffer *buffers = p.buffers.begin(), *x = nullptr;
    const ir::placement* m = nullptr;
    const ir::leaf* y = nullptr;
    int leaf = 0, last = 0, *low = to.low.begin(), *high = to.high.begin();
    std::int64_t begin = 0, bytes = 0, copies = 0;
    bool placed = false;
    for (const int *mine = own.begin(), *end = own.end(); mine != end; ++mine) {
        x = buffers + *mine;
        placed = x->alias < 0 && in_an_arena(x->where);
        if (placed) {
            m = made.placements.begin() + *mine;
            begin = m->offset / ir::alignment + (x->where == ir::storage::host ? host_base : 0);
            copies = x->slots == 1 ? 0 : (x->slots - 1) * m->stride + x->bytes;
        }
        for (leaf = x->first_leaf, last = leaf + x->leaves; leaf < last; ++leaf) {
            if (!placed) {
                low[leaf] = -2;
                high[leaf] = 0;
                continue;
            }
            y = p.leaves.begin() + leaf;
            bytes = x->slots == 1 ? y->begin + y->bytes : copies;
            next[0] = {2 * (begin + (x->slots == 1 ? y->begin / ir::alignment : 0)) + 1, leaf};
            next[1] = {2 * (begin + (bytes + ir::alignment - 1) / ir::alignment), leaf};
            next += 2;
        }
    }
    cuts.cut(static_cast<int>(next - cuts.begin()));
    return cuts;
}

constexpr cells cells_of(const ir::program& p, const plan& made, int role, span<const int> own) {
    cells made_cells;
    made_cells.low = vec<int>(p.leaves.count, unset{});
    made_cells.high = vec<int>(p.leaves.count, unset{});
    vec<cut> cuts = cuts_of(p, made, role, own, made_cells);
    sort(cuts);
    // An end that is also a beginning stands before it, so that its cell is not counted.
    std::int64_t last = -1;
    int count = 0, *low = made_cells.low.begin(), *high = made_cells.high.begin();
    for (const cut *c = cuts.begin(), *end = cuts.end(); c != end; ++c)
        if ((c->at & 1) == 0) {
            high[c->leaf] = count;
        } else {
            count += c->at != last ? 1 : 0;
            last = c->at;
            low[c->leaf] = count - 1;
        }
    made_cells.count = count;
    return made_cells;
}

}  // namespace dovetail::plan::detail
