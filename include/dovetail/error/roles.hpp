// Mistakes in roles, meshes, axes and communication.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Role, class... More>
struct unused_role {
    static_assert(
        detail::never<Role, More...>,
        "dovetail: this role has no statement; a role of the world that the graph does not use is listed: roles<prefill, decode>");
};
template <class Role, class... More>
struct role_not_listed {
    static_assert(detail::never<Role, More...>,
                  "dovetail: the graph uses this role, and its roles<...> does not list it; all roles of the world are listed there");
};
template <class Role, class... More>
struct role_listed_twice {
    static_assert(detail::never<Role, More...>, "dovetail: this role is listed twice; a graph has one roles<...>, with each role once");
};
template <class Role, class... More>
struct not_a_role {
    static_assert(detail::never<Role, More...>,
                  "dovetail: the first argument of on<role, statements...> must be the name of one role, and this is not one; for "
                  "several roles repeat the on: repeat<body, 3>, where body<I> is on<role<I>, ...>");
};
template <class Role, class... More>
struct on_in_on {
    static_assert(detail::never<Role, More...>, "dovetail: on<...> cannot be nested: the on<...> of this role is inside another one");
};
template <class Name, class... More>
struct outside_role {
    static_assert(detail::never<Name, More...>,
                  "dovetail: in a graph with roles this must be inside an on<role, ...>; only inputs, outputs and collectives with "
                  "one argument per role may be outside");
};
template <class Statement, class Operation, class... More>
struct collective_inside_role {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this collective (first) is over roles, with one argument of each, so it must be outside every on<role, "
                  "...>; inside one, a collective is over axes of the role's mesh and has one argument");
};
template <class Statement, class Axis, class... More>
struct axis_outside_role {
    static_assert(detail::never<Statement, Axis, More...>,
                  "dovetail: this communication (first) is along an axis (second), so it must be inside the on<role, ...> whose "
                  "mesh has that axis; outside, communication is over roles");
};
template <class Statement, class Argument, class... More>
struct argument_of_no_role {
    static_assert(detail::never<Statement, Argument, More...>,
                  "dovetail: this collective over roles (first) needs one argument of each role, and this argument (second) belongs "
                  "to none: for an input outside every on<role, ...> or the result of such a collective, write let<value, copy(it)> "
                  "on a role and pass value");
};
template <class Name, class From, class To, class... More>
struct mesh_mismatch {
    static_assert(detail::never<Name, From, To, More...>,
                  "dovetail: this value (first) is used by two roles (second, third) whose meshes differ; a channel connects equal "
                  "positions of two roles");
};
template <class Role, class Other, class... More>
struct single_rank_mismatch {
    static_assert(detail::never<Role, Other, More...>,
                  "dovetail: single_rank<graph> runs all roles on one rank, so that they need equal meshes; those of these two "
                  "roles differ");
};
template <class Name, class Reader, class... More>
struct off_root_read {
    static_assert(detail::never<Name, Reader, More...>,
                  "dovetail: this result (first) exists only at the root or the receivers of its collective, and a statement "
                  "(second) reads it elsewhere");
};
template <class Statement, class Name, class... More>
struct after_elsewhere {
    static_assert(detail::never<Statement, Name, More...>,
                  "dovetail: this collective over roles (first) starts after a value (second) that none of its roles has; a value of one "
                  "of its roles is needed");
};
template <class State, class Operation, class... More>
struct off_root_update {
    static_assert(detail::never<State, Operation, More...>,
                  "dovetail: this state (first) exists on every position, but the result of this operation (second) only at the "
                  "root; broadcast the result and update the state with that");
};
template <class Statement, class Argument, class... More>
struct role_twice {
    static_assert(detail::never<Statement, Argument, More...>,
                  "dovetail: this collective over roles (first) names a role twice, here (second); it has one argument per role");
};
template <class Statement, class Role, class... More>
struct unknown_role {
    static_assert(detail::never<Statement, Role, More...>,
                  "dovetail: this communication (first) names a role (second) that the graph does not have or that is not a member "
                  "of the communication");
};
template <class Statement, class Axis, class... More>
struct unknown_axis {
    static_assert(detail::never<Statement, Axis, More...>,
                  "dovetail: this statement (first) names an axis (second) "
                  "that the role's mesh does not have");
};
template <class Symbol, class... More>
struct replicated_along_nothing {
    static_assert(detail::never<Symbol, More...>,
                  "dovetail: replicated<> of this state or input lists no axis; name those along which it is equal on all ranks, or leave "
                  "it out");
};
template <class Type, class... More>
struct not_an_axis {
    static_assert(detail::never<Type, More...>,
                  "dovetail: a mesh consists of axis<name> and axis<name, width>, with a width of at least 0 (0: the executor sets "
                  "it), and this is not such an axis");
};
template <class Axis, class... More>
struct axis_twice {
    static_assert(detail::never<Axis, More...>, "dovetail: this axis appears twice in a mesh or a communication");
};
template <class Axis, class... More>
struct too_many_ranks {
    static_assert(detail::never<Axis, More...>, "dovetail: with the width of this axis the meshes of the graph have more than 2^20 ranks");
};
template <class Axis, class... More>
struct too_many_axes {
    static_assert(detail::never<Axis, More...>, "dovetail: the meshes of a graph have at most 32 axes, and this axis is one more");
};
template <class Mesh, class... More>
struct mesh_twice {
    static_assert(detail::never<Mesh, More...>,
                  "dovetail: this mesh differs from another one of the same role, or of "
                  "the graph; a role has one mesh");
};
template <class Statement, class Operation, class First, class Other, class... More>
struct member_mismatch {
    static_assert(detail::never<Statement, Operation, First, Other, More...>,
                  "dovetail: the arguments of this collective (first) differ in element type or extents (third, fourth) between its "
                  "members");
};
template <class Statement, class Operation, class... More>
struct member_count {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this communication (first) has too few members: name an axis of a mesh, or pass one argument for each "
                  "of several roles");
};
template <class Statement, class Operation, class... More>
struct open_width {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: the shape of the result or of the blocks of this collective (first) depends on the width of its axes, "
                  "which is open: none is given, or 0; give the axis a width: axis<name, 8>");
};
template <class Statement, class Operation, class Tensor, class Width, class... More>
struct indivisible {
    static_assert(detail::never<Statement, Operation, Tensor, Width, More...>,
                  "dovetail: this collective (first) splits extent 0 of its tensor (third) between its members, and their number "
                  "(fourth) does not divide it; a scalar has no extent 0");
};
template <class Statement, class Operation, class... More>
struct bad_reduction {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this communication (second) has a reduction that NCCL does not have; the reductions are sum, product, "
                  "minimum, maximum and average");
};
template <class Statement, class Operation, class... More>
struct swapped_reduction {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: the reduction of this communication (second) is written first, before the axes: all_reduce<sum, dp>");
};
template <class Edge>
struct shift_edge {
    static_assert(detail::never<Edge>,
                  "dovetail: the edge of a shift is periodic, shift<axis, offset>, or filled "
                  "with zeros, shift<axis, offset, zero_edge>");
};
template <class Statement, class Operation, class... Root>
struct bad_root {
    static_assert(detail::never<Statement, Operation, Root...>,
                  "dovetail: the root or the receivers of this communication (first) are missing, do not exist or do not fit its "
                  "form: along axes root_index<k> below the width, over roles root<role> or to<roles...>");
};
template <class Statement, class Operation, class... More>
struct bad_pairs {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this communication (first) needs one axis, followed by at least one pair of positions: permute<axis, "
                  "pair<source, target>>");
};
template <class Statement, class Operation, class Pair, class Width, class... More>
struct bad_position {
    static_assert(detail::never<Statement, Operation, Pair, Width, More...>,
                  "dovetail: a position in this pair (third) is not on the axis: positions are at least 0 and below the width "
                  "(fourth; 0 where it is open)");
};
template <class Statement, class Operation, class Pair, class... More>
struct source_twice {
    static_assert(detail::never<Statement, Operation, Pair, More...>,
                  "dovetail: this pair (third) has the same source as a pair before it: each position sends to one position at most");
};
template <class Statement, class Operation, class Pair, class... More>
struct target_twice {
    static_assert(detail::never<Statement, Operation, Pair, More...>,
                  "dovetail: this pair (third) has the same target as a pair before it: each position receives from one position at most");
};
template <class Statement, class Operation, class... More>
struct not_communication {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: nccl_group<...> issues communication as one NCCL group, and this operation (second) is not communication");
};
template <class... Names>
struct group_dependence {
    static_assert(detail::never<Names...>,
                  "dovetail: this group cannot be issued as one: its members depend on each other, directly or through these "
                  "statements, or belong to different roles");
};

}  // namespace dovetail::error
