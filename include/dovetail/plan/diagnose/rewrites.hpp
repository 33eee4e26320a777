// The errors of what statements ask of rewrites.
#pragma once

#include "../../error/error.hpp"
#include "fault_types.hpp"

namespace dovetail::plan::detail {

template <class G>
constexpr auto rewrite_error() {
    // Long: a row for each mistake, with the types that its error names.
    using kind = ir::fault_kind;
    constexpr ir::fault f = fault_of<G>::value;
    if constexpr (f.kind == kind::bad_block_count)
        return tell<error::bad_block_count, G>();
    else if constexpr (f.kind == kind::nothing_to_split)
        return tell<error::nothing_to_split, G>();
    else if constexpr (f.kind == kind::split_in_split)
        return tell<error::split_in_split, G>();
    else if constexpr (f.kind == kind::not_row_wise)
        return tell<error::not_row_wise, G>();
    else if constexpr (f.kind == kind::update_in_split)
        return tell<error::update_in_split, G>();
    else if constexpr (f.kind == kind::cut_in_another_way)
        return tell<error::cut_in_another_way, G>();
    else if constexpr (f.kind == kind::differs_by_rank)
        return tell<error::differs_by_rank, G>();
    else if constexpr (f.kind == kind::split_stops)
        return tell<error::split_stops, G>();
    else if constexpr (f.kind == kind::blocks_of_columns)
        return tell<error::blocks_of_columns, G>();
    else if constexpr (f.kind == kind::uneven_blocks)
        return tell<error::uneven_blocks, G>();
    else if constexpr (f.kind == kind::unaligned_blocks)
        return tell<error::unaligned_blocks, G>();
    else if constexpr (f.kind == kind::blocks_of_another_shape)
        return tell<error::blocks_of_another_shape, G>();
    else if constexpr (f.kind == kind::split_on_host)
        return tell<error::split_on_host, G>();
    else if constexpr (f.kind == kind::split_in_place)
        return tell<error::split_in_place, G>();
    else if constexpr (f.kind == kind::nothing_to_decompose)
        return tell<error::nothing_to_decompose, G>();
    else if constexpr (f.kind == kind::not_decomposable)
        return tell<error::not_decomposable, G>();
    else if constexpr (f.kind == kind::decompose_open_width)
        return tell<error::decompose_open_width, G>();
    else if constexpr (f.kind == kind::decompose_uneven)
        return tell<error::decompose_uneven, G>();
    else if constexpr (f.kind == kind::nothing_to_keep)
        return tell<error::nothing_to_keep, G>();
    else if constexpr (f.kind == kind::bad_bucket_size)
        return tell<error::bad_bucket_size, G>();
    else if constexpr (f.kind == kind::nothing_to_move)
        return tell<error::nothing_to_move, G>();
    else if constexpr (f.kind == kind::not_by_copy_engines)
        return tell<error::not_by_copy_engines, G>();
    else if constexpr (f.kind == kind::nothing_to_bucket)
        return tell<error::nothing_to_bucket, G>();
    else if constexpr (f.kind == kind::nothing_to_shard)
        return tell<error::nothing_to_shard, G>();
    else if constexpr (f.kind == kind::update_not_sharded)
        return tell<error::update_not_sharded, G>();
    else
        static_assert(f.kind == kind::none, "dovetail: this kind of fault has no error in plan/diagnose");
}

}  // namespace dovetail::plan::detail
