// The keywords of the language: the types that a user writes in a graph. They have no definition, except for graph and single_rank;
// describe.hpp describes them. Names are tag types of the user, an expression is a function type: `matmul(h, w)`.
#pragma once

#include "../core/tensor.hpp"
#include "../core/vocabulary.hpp"
#include "counts.hpp"

namespace dovetail {

// input<name, tensor>: bound by the caller before a run. Attributes: pinned (host memory that only from_host reads),
// replicated<axis...> (the caller binds the same data on all positions of those axes).
template <class Name, class Tensor, class... Attributes>
struct input;
struct pinned;
template <class... Axes>
struct replicated;

// state<name, tensor, initialiser>: lives in the rank's store from run to run. The initialiser is an operation that writes one result, or
// from_store: the store must hold it before the first run, from another graph, `write_state` or a file. Without either, an update must come
// before any read.
template <class Name, class Tensor, class... Attributes>
struct state;
struct from_store;

// let<name, op(arguments...)>: a new value. let<values<a, discard, b>, op(...)>: several results.
template <class Names, class Expression>
struct let;
template <class... Names>
struct values;
struct discard;

// update<state, op(arguments...)>: changes states in place. A target that is also an argument is passed once, as inout.
template <class States, class Expression>
struct update;

// after<name, statement>: the operation of the statement, a let or an update, starts after the value `name` is made on the same role: order
// without data, as an argument that is not passed. The value of another role is brought over a channel; of a state, the version that an
// argument would be. A collective over roles waits on those of its roles that have the value. after<a, after<b, statement>>: after both.
template <class Name, class Statement>
struct after;

// output<names...>: readable after the run.
template <class... Names>
struct output;

// on<role, statements...>: placement. on<role, mesh<...>, statements...> overrides the graph's mesh.
template <class Role, class... Statements>
struct on;

// roles<prefill, decode>: the roles of the world, in the order by which ranks are numbered; all<N, family> may stand among them. A role
// without statements is idle: its ranks have an executor whose runs do nothing, so that graphs of several roles run in one world. Its mesh
// is the graph's, or that of an on<role, mesh<...>> without statements. Without it, the roles are those of the graph's `on`s, in order of
// their first appearance.
template <class... Roles>
struct roles;

// mesh<axis<node, 2, dv::link::network>, axis<tp, 8>>: the positions of every role. Width 0 is open: it comes from the executor. The link
// connects positions that differ in this axis alone; predictions depend on it, and what copy engines may move.
template <class... Axes>
struct mesh;
template <class Name, int Width = 0, link Link = link::local>
struct axis;

// axis_index<axis>: the index of the rank along the axis, an int32 scalar.
template <class Axis>
struct axis_index;

// group<statements...>: several statements as one; implies no order and may be empty. nccl_group<statements...>: communication issued as
// one NCCL group, which completes as a whole.
template <class... Statements>
struct group;
template <class... Statements>
struct nccl_group;

// when<condition, statements...>: the statements, or none if the condition is false: for what is different in the first or the last of
// many, when<I == 0, ...> in the body of a repeat.
template <bool Condition, class... Statements>
struct when;

// split<N, statements...>: the statements in N blocks of rows, so that a block is communicated while the next one is computed. Their
// operations declare `row_wise`. Tensors that come from outside are read by blocks of rows, those that are used outside are put together
// again, both without a copy. Collectives that keep rows in their places go by any blocks, a reduce_scatter and an all_gather as a pair, an
// all_to_all by a block of the rows of each rank. split<dv::automatic, ...>: the cost model chooses N, or does not split.
template <int Blocks, class... Statements>
struct split;

// decompose<statements...>: each all_reduce in it becomes a reduce_scatter and an all_gather, and row-wise statements between them are
// computed on a shard, this rank's block of rows, where that does not gather more bytes (sequence parallelism). The axes of the all_reduces
// have a fixed width that divides the rows. Inside of a split, or around one, each block is decomposed.
template <class... Statements>
struct decompose;

// keep<statements...>: a collective along axes whose value another one of these statements has made before it, of the same argument and the
// same version of a state, is left out, and what reads it reads that value: for weights that the forward and the backward pass gather. Not
// left out are outputs, members of an nccl_group and parts of a concat. Error: nothing_to_keep.
template <class... Statements>
struct keep;

// bucket<Bytes, statements...>: collectives in it of one role, along the same axes and with as many operations behind them (the gradients
// of a backward pass) share an NCCL group and its latency, in written order up to so many bytes together. bucket<dv::automatic, ...>: up to
// 4 MiB. Updates by communication and members of an nccl_group are left as they are. Errors: bad_bucket_size, nothing_to_bucket.
template <int Bytes, class... Statements>
struct bucket;

// moved_by<transport, statements...>: what moves the collectives along axes in it, and the values made in it that other roles use, whatever
// the options say: dv::transport::peer_copy, copy engines; dv::transport::nccl; or dv::transport::automatic, as outside. The innermost one
// counts. What is in it is split only where a statement asks for that. Errors: not_by_copy_engines, nothing_to_move, and with options
// value_over_network.
template <transport Transport, class... Statements>
struct moved_by;

// shard_update<statements...>: as decompose; besides, the updates in it are computed on shards: on this rank's block of rows of their
// states and of the gradients, which a reduce_scatter sums, and the new rows of all ranks are gathered into the states. Each update in it
// has an argument that is an all_reduce in it, or made of one by row-wise operations; its operation declares `row_wise`, and its states are
// declared replicated. Every state is whole at the end of a run, as other graphs and the store see it, so that a gather is paid for each;
// states of a shard's shape, which are never whole, are cheaper for an optimizer's moments.
// Errors: nothing_to_shard, update_not_sharded, and those of decompose.
template <class... Statements>
struct shard_update;

// repeat<body, N...>: body<0, ..., 0> to body<N - 1, ...>, the last index fastest; one to three indices. A count that is down<N> goes from
// N - 1 to 0, as a backward pass does.
template <template <int...> class Body, int... N>
struct repeat;
template <int N>
inline constexpr int down = dsl::counting_down(N);

// pipeline<stages, micro_batches, schedule, role, forward, backward>: a model of several chunks on `stages` roles, role<0> to
// role<stages - 1>. forward<C, M> and backward<C, M> stand for the statements of chunk C for micro-batch M, each a statement or a group
// of them, which is computed on the chunk's role; first and last chunks differ by when<C == 0, ...>. Schedules that split the backward pass
// take a third body, weight<C, M>: `backward` then computes the gradient of the chunk's input, `weight` that of its weights.
//
//   gpipe            all forwards, then all backwards; one chunk a role, as in the next
//   one_f_one_b      1F1B: as few forwards as fill the pipeline, then one forward and one backward in turn
//   interleaved<v>   1F1B with v chunks a role, chunk C on role<C % stages>; micro_batches is a multiple of stages
//   zero_bubble      ZB-H1: 1F1B with three bodies, one chunk a role
//   v_half           three bodies, two chunks a role: chunks 0 to stages - 1 on role<0> upwards, the others back on role<stages - 1>
//                    downwards; half of 1F1B's activations, and one more
//
// Statements are written in the order in which the schedule runs them (pipeline_order.hpp): each reads of the states what the one before
// it on its role has left, and the bodies of a chunk come in the order of their micro-batches, so that `update` accumulates gradients and
// when<M == 0, ...> starts a sum. Statements on no state may be reordered by the planner; force_candidate<candidate::written> keeps all of
// them as the schedule has them. Errors: pipeline_size, unknown_schedule, body_count, uneven_micro_batches, body_arity.
template <int Stages, int MicroBatches, class Schedule, template <int...> class Role, template <int...> class... Bodies>
struct pipeline;
struct gpipe;
struct one_f_one_b;
template <int ChunksPerStage>
struct interleaved;
struct zero_bubble;
struct v_half;

// all<N, family>: family<0>, ..., family<N - 1> in arguments and outputs; all<down<N>, family> in the other order.
// all<counts<N, M>, family>: family<0, 0>, ..., family<N - 1, M - 1>, the last index fastest; one to three counts, each of which may be
// down<N>.
template <auto Counts, template <int...> class Family>
struct all;
template <int... N>
inline constexpr dsl::count_list<N...> counts{};

// The graph itself: struct model : dv::graph<statements...> {};
template <class... Statements>
struct graph {
    using dovetail_graph = graph;
};

// The graph G with all its roles on one rank.
template <class G>
struct single_rank {
    using dovetail_single_rank = G;
};

// A name as a value, for calls: step.bind(dv::name<x>, 3.0f).
template <class Name>
struct name_constant {
    using type = Name;
};
template <class Name>
inline constexpr name_constant<Name> name{};

}  // namespace dovetail
