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
#pragma once

#include "../../core/vocabulary.hpp"

namespace dovetail::pass {

// How a value of the region is cut.
struct value_cut {
    int extent = whole;
    unsigned scattered = 0;  // the axes of the reduce_scatter whose order the rows have
    unsigned gathered = 0;   // ... of the all_gather

    constexpr bool in_order() const { return scattered == 0 && gathered == 0; }

    friend constexpr bool operator==(const value_cut&, const value_cut&) = default;
};

}  // namespace dovetail::pass
