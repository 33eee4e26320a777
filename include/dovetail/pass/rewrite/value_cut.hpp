// How a value is cut into blocks: along which extent, and in which order its rows lie.
//
// A reduce_scatter or all_gather of blocks is not a block of the reduce_scatter or all_gather of the whole: its rows are others. Between a
// reduce_scatter and the all_gather that follows, or the other way round, rows lie in another order, which row-wise operations keep and the
// second of the two ends:
//
//     x, 2 blocks, 2 ranks           reduce_scatter of block 0     of block 1     all_gather of block 0    of block 1
//     rows 0 1 2 3 on both           rank 0: 0   rank 1: 1         0: 2   1: 3    0 1                      2 3
//
//                                    all_gather of block 0         of block 1     reduce_scatter of 0      of 1
//     rows 0 1 on rank 0, 2 3 on 1   0 2 on both                   1 3 on both    rank 0: 0   rank 1: 2    0: 1   1: 3
//
// An all_to_all sends each row to the same rank in blocks as it does as a whole, so that what follows may differ between ranks: its blocks
// have a block of the rows for each member, and what it makes of them has a block of those from each.
//
//     x, 2 blocks, 2 ranks           block 0    block 1            all_to_all of block 0           of block 1
//     rows 0 1 2 3 on rank 0         0 2        1 3                rank 0: 0 4   rank 1: 2 6       0: 1 5   1: 3 7
//     rows 4 5 6 7 on rank 1         4 6        5 7
#pragma once

#include "../../core/vocabulary.hpp"

namespace dovetail::pass {

// How a value of the region is cut.
struct value_cut {
    int extent = whole;
    unsigned scattered = 0;  // the axes of the reduce_scatter whose order the rows have
    unsigned gathered = 0;   // ... of the all_gather
    int exchanged = 0;       // the members of the all_to_all of whose rows each block has a block

    constexpr bool in_order() const { return scattered == 0 && gathered == 0 && exchanged == 0; }

    friend constexpr bool operator==(const value_cut&, const value_cut&) = default;
};

}  // namespace dovetail::pass
