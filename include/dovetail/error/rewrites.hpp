// Mistakes in statements that ask for a rewrite.
#pragma once

#include "base.hpp"

namespace dovetail::error {

// Splits.
template <class Split, class... More>
struct bad_block_count {
    static_assert(detail::never<Split, More...>,
                  "dovetail: the number of blocks of this split (first) is negative; it is at least 1, or dv::automatic");
};
template <class Split, class... More>
struct nothing_to_split {
    static_assert(detail::never<Split, More...>,
                  "dovetail: this split (first) has no statements; write them behind the number of blocks: split<2, let<...>, ...>");
};
template <class Outer, class Inner, class... More>
struct split_in_split {
    static_assert(detail::never<Outer, Inner, More...>,
                  "dovetail: a split (first) contains another one (second); write one split with the product of the two numbers");
};
template <class Statement, class Operation, class... More>
struct not_row_wise {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this statement (first) stands in a split, but its operation (second) does not declare that all of its "
                  "results can be computed in blocks; if they can, write in it static constexpr auto row_wise = dv::by_rows(0), with the "
                  "arguments that go by rows; if not, or if it is rows or concat, move the statement out of the split");
};
template <class Statement, class Operation, class... More>
struct update_in_split {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this statement (first) updates a state inside a split; a state is changed as a whole, so move it out of "
                  "the split");
};
template <class Statement, class Operation, class... More>
struct cut_in_another_way {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: in this statement (first) of a split, the operation (second) takes blocks of an argument that is cut along "
                  "another extent (values from outside are cut along extent 0), or whose rows lie in the order of a reduce_scatter "
                  "or of an all_to_all while those of another argument do not");
};
template <class Statement, class Operation, class... More>
struct differs_by_rank {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this statement (first) of a split stands behind a reduce_scatter, which in blocks gives each rank other rows "
                  "than as a whole, and its operation (second) takes an argument that is not the same on those ranks; declare that "
                  "argument replicated, or end the split before the reduce_scatter");
};
template <class Statement, class Operation, class... More>
struct split_stops {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: in this statement (first) of a split, the operation (second) moves rows along the extent that the split cuts, "
                  "so that its blocks have other rows; put a reduce_scatter and the all_gather that belongs to it both into the split, an "
                  "all_to_all together with what takes its result by rows, or end the split here");
};
template <class Statement, class Operation, class... More>
struct blocks_of_columns {
    static_assert(
        detail::never<Statement, Operation, More...>,
        "dovetail: the result of this statement (first) of a split is used outside of the split, but the operation (second) makes "
        "it in blocks along an extent other than 0, which cannot be put together without a copy; move what uses it into the "
        "split");
};
template <class Statement, class Operation, class Tensor, class... More>
struct uneven_blocks {
    static_assert(detail::never<Statement, Operation, Tensor, More...>,
                  "dovetail: in this statement (first) of a split, a tensor (third) that the operation (second) takes or makes cannot be "
                  "cut into this number of equal blocks (fourth)");
};
template <class Statement, class Operation, class Tensor, class... More>
struct unaligned_blocks {
    static_assert(detail::never<Statement, Operation, Tensor, More...>,
                  "dovetail: in this statement (first) of a split, a tensor (third) of the operation (second) is read or put together in "
                  "blocks of this number of bytes (fourth), which is 0, or no multiple of 256");
};
template <class Statement, class Operation, class Tensor, class... More>
struct blocks_of_another_shape {
    static_assert(detail::never<Statement, Operation, Tensor, More...>,
                  "dovetail: in this statement (first) of a split, the shape rule of the operation (second) does not give the shapes of "
                  "blocks of its results for the shapes of blocks of its arguments, although its row_wise says so, or the blocks are no "
                  "multiples of its in_units_of; the tensor (third) is one of its arguments, the number (fourth) that of the blocks");
};
template <class Statement, class Operation, class... More>
struct split_on_host {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this statement (first) of a split leaves a value in host memory that is used outside of the split; blocks are "
                  "put together in device memory only");
};
template <class Statement, class Operation, class... More>
struct split_in_place {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: the operation (second) of this statement (first) works only in place, which it cannot on blocks of rows of a "
                  "value that exists as a whole outside of the split");
};

// Decompositions.
template <class Decompose, class... More>
struct nothing_to_decompose {
    static_assert(detail::never<Decompose, More...>,
                  "dovetail: this decompose or shard_update (first) contains no all_reduce; put the all_reduce into it, with the row-wise "
                  "statements or the updates behind it, or leave it out");
};
template <class Statement, class Operation, class... More>
struct not_decomposable {
    static_assert(
        detail::never<Statement, Operation, More...>,
        "dovetail: this statement (first) stands in a decompose or shard_update, but its all_reduce (second) updates a state, is a member "
        "of an nccl_group or is over roles; only an all_reduce along axes that makes a new value and is issued by itself becomes a "
        "reduce_scatter and an all_gather, so move the statement out of it");
};
template <class Statement, class Operation, class... More>
struct decompose_open_width {
    static_assert(
        detail::never<Statement, Operation, More...>,
        "dovetail: this statement (first) stands in a decompose or shard_update, but its all_reduce (second) goes along an axis of "
        "open width, and the rows of a shard depend on it; give the axis a width: axis<name, 8>");
};
template <class Statement, class Operation, class Tensor, class Width, class... More>
struct decompose_uneven {
    static_assert(
        detail::never<Statement, Operation, Tensor, Width, More...>,
        "dovetail: this statement (first) stands in a decompose or shard_update, but the number of ranks (fourth) along the axes of its "
        "all_reduce (second) does not divide the rows of its tensor (third); a block of a split has fewer rows than the whole, "
        "and a scalar has none");
};

// Keeps.
template <class Keep, class... More>
struct nothing_to_keep {
    static_assert(detail::never<Keep, More...>,
                  "dovetail: no collective in this keep (first) makes a value that another one in it has made before: the argument, the "
                  "axes, the root and the reduction have to be the same, no update of a state may stand between the two, and outputs, "
                  "members of an nccl_group, parts of a concat and what an operation changes in place are values of their own; move "
                  "both into the keep, or write a group");
};

// Buckets.
template <class Bucket, class... More>
struct bad_bucket_size {
    static_assert(detail::never<Bucket, More...>,
                  "dovetail: the bytes of this bucket (first) are negative; they are at least 1, or dv::automatic");
};
template <class Bucket, class... More>
struct nothing_to_bucket {
    static_assert(detail::never<Bucket, More...>,
                  "dovetail: no two collectives in this bucket (first) can share an NCCL group: they have to be of one role along the same "
                  "axes, with as many operations behind them, fit into its bytes together, and neither update a state nor be members of an "
                  "nccl_group or moved by copy engines; write an nccl_group, or leave the bucket out");
};

// Transports.
template <class MovedBy, class... More>
struct nothing_to_move {
    static_assert(detail::never<MovedBy, More...>,
                  "dovetail: no collective along axes stands in this moved_by (first), and no value that another role takes is made in "
                  "it, so that it moves nothing; what moves collectives over roles is always NCCL");
};
template <class MovedBy, class Statement, class... More>
struct not_by_copy_engines {
    static_assert(detail::never<MovedBy, Statement, More...>,
                  "dovetail: copy engines cannot move this collective (second), as the moved_by around it (first) asks: they move what is "
                  "along axes within one host, for reductions of a fixed width of at most 64, not in an nccl_group, with a result in "
                  "device memory that is no state unless it is a reduction; a reduce to a root of rows that the ranks divide; and along "
                  "axes of the network as well the part within the hosts of an all_reduce, all_gather, reduce_scatter or broadcast, with "
                  "rows that the ranks of a host divide, blocks for each rank of a multiple of 256 bytes, axes of the network before or "
                  "behind the others, and no average of integers; use dv::transport::nccl, or leave it out of the moved_by");
};

// Updates on shards.
template <class ShardUpdate, class... More>
struct nothing_to_shard {
    static_assert(detail::never<ShardUpdate, More...>,
                  "dovetail: this shard_update (first) contains no update of a state by an operation; put the updates into it, with the "
                  "all_reduces of their gradients, or write decompose");
};
template <class Statement, class Operation, class... More>
struct update_not_sharded {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this statement (first) stands in a shard_update, but its update (second) cannot be computed on a rank's block "
                  "of rows: the operation has to declare row_wise, one of its arguments by rows has to be an all_reduce in the "
                  "shard_update, or made of one by row-wise operations in it, and its states and other arguments have to be declared "
                  "replicated along the axes of that all_reduce, with rows that the number of ranks divides");
};

}  // namespace dovetail::error
