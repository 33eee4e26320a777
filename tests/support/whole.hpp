// Programs made by hand in which nobody reads or writes a buffer in part: one leaf for each buffer.
#pragma once

#include <dovetail/ir/program.hpp>

namespace support {

// An access of all of a buffer.
constexpr dovetail::ir::access whole(const dovetail::ir::program_data& p, int buffer, dovetail::access_mode mode) {
    return {buffer, mode, p.buffers[buffer].first_leaf, p.buffers[buffer].leaves};
}

// A buffer behind the others, with its leaf.
constexpr int add_whole(dovetail::ir::program_data& p, dovetail::ir::buffer b) {
    b.first_leaf = p.leaves.size();
    b.leaves = 1;
    p.leaves.push({0, b.bytes});
    p.buffers.push(b);
    return p.buffers.size() - 1;
}

// Gives every buffer its leaf, and every access all of its buffer.
constexpr void make_whole(dovetail::ir::program_data& p) {
    p.leaves.resize(p.buffers.size());
    for (int b = 0; b < p.buffers.size(); ++b) {
        p.buffers[b].first_leaf = b;
        p.buffers[b].leaves = 1;
        p.leaves[b] = {0, p.buffers[b].bytes};
    }
    for (dovetail::ir::access& a : p.accesses) a = whole(p, a.buffer, a.mode);
}

}  // namespace support
