// Damages of how buffers are cut, and of which rows are touched: the tables stay in form.
#pragma once

#include "damaged_rows.hpp"

namespace support {

// An access of a whole buffer is of its first 256 bytes, or of what is behind them, and all others are of both.
inline bool touch_half(subject& s, int site) {
    if (site >= 2 * s.program.accesses.size()) return false;
    const int at = site / 2, buffer = s.program.accesses[at].buffer;
    dv::ir::buffer& x = s.program.buffers[buffer];
    if (x.leaves > 1 || x.bytes <= 256) return touch_half(s, site + 1);
    const int leaf = x.first_leaf;
    x.leaves = 2;
    s.program.leaves[leaf].bytes = 256;
    detail::insert(s.program.leaves, leaf + 1, dv::ir::leaf{256, x.bytes - 256});
    for (dv::ir::buffer& b : s.program.buffers)
        if (b.first_leaf > leaf) ++b.first_leaf;
    for (int a = 0; a < s.program.accesses.size(); ++a) {
        dv::ir::access& touched = s.program.accesses[a];
        if (touched.leaf > leaf) ++touched.leaf;
        if (touched.buffer != buffer) continue;
        touched.leaves = a == at ? 1 : 2;
        if (a == at) touched.leaf = leaf + site % 2;
    }
    return true;
}
// All buffers of one number lose it.
inline bool forget_number(subject& s, int site) {
    if (site >= s.program.symmetric_sets) return false;
    for (dv::ir::buffer& b : s.program.buffers)
        if (b.symmetric_set == site) b.symmetric_set = -1;
    return true;
}
// An in-place result is cut elsewhere than its argument, and its accesses cover what they did.
inline bool cut_elsewhere(subject& s, int site) {
    const int at = detail::nth(s.program.buffers, site, [&](const dv::ir::buffer& x) {
        return x.alias >= 0 && x.leaves == 3 && s.program.leaves[x.first_leaf + 2].begin == 2 * s.program.leaves[x.first_leaf + 1].begin &&
               x.bytes == 1024;
    });
    if (at < 0) return false;
    const int first = s.program.buffers[at].first_leaf;
    s.program.leaves[first] = {0, 512};
    s.program.leaves[first + 1] = {512, 256};
    s.program.leaves[first + 2] = {768, 256};
    for (dv::ir::access& a : s.program.accesses) {
        if (a.buffer != at || a.leaves == 3) continue;
        const bool second = a.leaf == first + 2;
        a.leaf = second ? first + 1 : first;
        a.leaves = second ? 2 : 1;
    }
    return true;
}

}  // namespace support
