// The keywords of the language: the types that a user writes in a graph. They have no definition, except for graph and single_rank;
// describe.hpp describes them. Names are tag types of the user, an expression is a function type: `matmul(h, w)`.
#pragma once

#include "../core/tensor.hpp"
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
// from_store: loaded from the store, where another graph or `write_state` has initialised it. Without either, an update must come before
// any read.
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

// output<names...>: readable after the run.
template <class... Names>
struct output;

// on<role, statements...>: placement. on<role, mesh<...>, statements...> overrides the graph's mesh.
template <class Role, class... Statements>
struct on;

// mesh<axis<dp>, axis<tp, 8>>: the positions of every role. Width 0 is open: it comes from the executor.
template <class... Axes>
struct mesh;
template <class Name, int Width = 0>
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

// repeat<body, N...>: body<0, ..., 0> to body<N - 1, ...>, the last index fastest; one to three indices. A count that is down<N> goes from
// N - 1 to 0, as a backward pass does.
template <template <int...> class Body, int... N>
struct repeat;
template <int N>
inline constexpr int down = dsl::counting_down(N);

// all<N, family>: family<0>, ..., family<N - 1> in arguments and outputs; all<down<N>, family> in the other order.
template <int N, template <int...> class Family>
struct all;

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
