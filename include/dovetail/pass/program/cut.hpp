// Cuts buffers into leaves: at both ends of every block of rows that an access reads or writes. Takes a program whose accesses are of
// whole buffers, and the blocks of those that are of a part; gives every buffer its leaves and every access its run of them.
#pragma once

#include "../../ir/schedule.hpp"
#include "../sort.hpp"

namespace dovetail::pass {

// Of an access: the bytes of its buffer that it touches.
struct touched_block {
    int access = 0;
    std::int64_t begin = 0;
    std::int64_t bytes = 0;
};

namespace detail {

// Where a buffer is cut, as a number that sorts by buffer, then by place. An in-place result is cut where the value is that it replaces.
inline constexpr int cut_bits = 42;  // of a place, counted in alignments
constexpr std::int64_t cut_at(int buffer, std::int64_t place) { return (std::int64_t{buffer} << cut_bits) + place / ir::alignment; }

template <class Table>
constexpr vec<std::int64_t> list_cuts(const Table& p, const vec<touched_block>& blocks) {
    vec<std::int64_t> cuts;
    for (const touched_block& x : blocks) {
        const int b = p.accesses[x.access].buffer, owner = ir::owner_of(p, b);
        if (x.begin > 0) cuts.push(cut_at(owner, x.begin));
        if (x.begin + x.bytes < p.buffers[b].bytes) cuts.push(cut_at(owner, x.begin + x.bytes));
    }
    sort(cuts);
    int count = 0;
    for (int i = 0; i < cuts.size(); ++i)
        if (count == 0 || cuts[count - 1] != cuts[i]) cuts[count++] = cuts[i];
    cuts.cut(count);
    return cuts;
}

// The first cut of a buffer, or of one behind it.
constexpr int first_cut(const vec<std::int64_t>& cuts, int buffer) {
    int low = 0, high = cuts.size();
    while (low < high) {
        const int middle = (low + high) / 2;
        if (cuts[middle] < cut_at(buffer, 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

}  // namespace detail

template <class Table>
constexpr void cut(const vec<touched_block>& blocks, Table& p) {
    const vec<std::int64_t> cuts = detail::list_cuts(p, blocks);
    vec<ir::leaf> leaves;
    for (int b = 0; b < p.buffers.size(); ++b) {
        ir::buffer& x = p.buffers[b];
        const int owner = ir::owner_of(p, b);
        x.first_leaf = leaves.size();
        std::int64_t begin = 0;
        for (int i = detail::first_cut(cuts, owner), end = detail::first_cut(cuts, owner + 1); i <= end; ++i) {
            const std::int64_t next = i == end ? x.bytes : (cuts[i] - detail::cut_at(owner, 0)) * ir::alignment;
            leaves.push({begin, next - begin});
            begin = next;
        }
        x.leaves = leaves.size() - x.first_leaf;
    }
    p.leaves.resize(leaves.size());
    copy_elements(leaves, p.leaves);
    for (ir::access *a = p.accesses.begin(), *end = a + p.accesses.size(); a != end; ++a) {
        a->leaf = p.buffers[a->buffer].first_leaf;
        a->leaves = p.buffers[a->buffer].leaves;
    }
    for (const touched_block& x : blocks) {
        ir::access& a = p.accesses[x.access];
        while (p.leaves[a.leaf].begin < x.begin) ++a.leaf;
        a.leaves = 1;
        while (ir::bytes_of(p, a) < x.bytes) ++a.leaves;
    }
}

}  // namespace dovetail::pass
