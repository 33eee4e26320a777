// Mistakes with roles, axes and the communication over them.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Role, class... More>
struct unused_role {
    static_assert(detail::never<Role, More...>, "dovetail: this role has no statement");
};
template <class Role, class... More>
struct not_a_role {
    static_assert(
        detail::never<Role, More...>,
        "dovetail: on<role, statements...> takes the name of one role first, and this is none; for several roles repeat the on: repeat<body, 3>, where "
        "body<I> is on<role<I>, ...>");
};
template <class Role, class... More>
struct on_in_on {
    static_assert(detail::never<Role, More...>, "dovetail: placement does not nest: this role's on<...> stands inside another");
};
template <class Name, class... More>
struct outside_role {
    static_assert(
        detail::never<Name, More...>,
        "dovetail: in a graph with roles this stands outside every on<role, ...>; only inputs, outputs and collectives with one argument per role may");
};
template <class Statement, class Operation, class... More>
struct collective_inside_role {
    static_assert(
        detail::never<Statement, Operation, More...>,
        "dovetail: this collective (first) is over roles, with one value of each, so it stands outside every on<role, ...>; inside one it is over axes of "
        "the role's mesh and takes one value");
};
template <class Statement, class Axis, class... More>
struct axis_outside_role {
    static_assert(
        detail::never<Statement, Axis, More...>,
        "dovetail: this communication (first) is along an axis (second), so it stands inside the on<role, ...> whose mesh has it; outside it is over roles");
};
template <class Statement, class Argument, class... More>
struct argument_of_no_role {
    static_assert(detail::never<Statement, Argument, More...>,
                  "dovetail: this collective over roles (first) takes one value of each, and this argument (second) is not of one role: an input outside every "
                  "on<role, ...> or the result of such a collective goes in as let<value, copy(it)> of a role");
};
template <class Name, class From, class To, class... More>
struct mesh_mismatch {
    static_assert(detail::never<Name, From, To, More...>,
                  "dovetail: this value (first) joins two roles (second, third) whose meshes differ; a channel joins equal positions");
};
template <class Role, class Other, class... More>
struct single_rank_mismatch {
    static_assert(detail::never<Role, Other, More...>,
                  "dovetail: single_rank<graph> plays all roles on one rank, so they have one mesh; those of these two differ");
};
template <class Name, class Reader, class... More>
struct off_root_read {
    static_assert(detail::never<Name, Reader, More...>,
                  "dovetail: this result (first) exists at the collective's root or receivers only, and a statement (second) reads it elsewhere");
};
template <class State, class Operation, class... More>
struct off_root_update {
    static_assert(
        detail::never<State, Operation, More...>,
        "dovetail: this state (first) is on every position, and the result of this operation (second) at its root only; update it with a broadcast of that");
};
template <class Statement, class Argument, class... More>
struct role_twice {
    static_assert(detail::never<Statement, Argument, More...>,
                  "dovetail: this collective over roles (first) names a role twice, here (second); it takes one argument per role");
};
template <class Statement, class Role, class... More>
struct unknown_role {
    static_assert(detail::never<Statement, Role, More...>,
                  "dovetail: this communication (first) names a role (second) that the graph does not have or that does not take part");
};
template <class Statement, class Axis, class... More>
struct unknown_axis {
    static_assert(detail::never<Statement, Axis, More...>, "dovetail: this statement (first) names an axis (second) that the role's mesh does not have");
};
template <class Type, class... More>
struct not_an_axis {
    static_assert(detail::never<Type, More...>,
                  "dovetail: a mesh is made of axis<name> and axis<name, width>, with a width of 0 (the executor tells it) or more, and this is none");
};
template <class Axis, class... More>
struct axis_twice {
    static_assert(detail::never<Axis, More...>, "dovetail: this axis stands twice in a mesh or a communication");
};
template <class Axis, class... More>
struct too_many_axes {
    static_assert(detail::never<Axis, More...>, "dovetail: this axis is one too many: the meshes of a graph have at most 32");
};
template <class Mesh, class... More>
struct mesh_twice {
    static_assert(detail::never<Mesh, More...>, "dovetail: this mesh differs from another one of the same role, or of the graph; a role has one mesh");
};
template <class Statement, class Operation, class First, class Other, class... More>
struct member_mismatch {
    static_assert(detail::never<Statement, Operation, First, Other, More...>,
                  "dovetail: the members of this collective (first) differ in element type or extents (third, fourth)");
};
template <class Statement, class Operation, class... More>
struct member_count {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this communication (first) has too few members: give it an axis of a mesh, or one argument for each of several roles");
};
template <class Statement, class Operation, class... More>
struct open_width {
    static_assert(
        detail::never<Statement, Operation, More...>,
        "dovetail: this collective (first) changes or divides the shape by the width of its axes, which is open: none is given, or 0; give the axis a width: axis<name, 8>");
};
template <class Statement, class Operation, class Tensor, class Width, class... More>
struct indivisible {
    static_assert(
        detail::never<Statement, Operation, Tensor, Width, More...>,
        "dovetail: this collective (first) divides extent 0 of its tensor (third) by a number of members (fourth) that does not divide it; a scalar has no extent 0");
};
template <class Statement, class Operation, class... More>
struct bad_reduction {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this reduction (in the second) is none that NCCL has: sum, product, minimum, maximum, average");
};
template <class Statement, class Operation, class... More>
struct swapped_reduction {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: in this communication (second) the reduction stands first, in front of the axes: all_reduce<sum, dp>");
};
template <class Edge>
struct shift_edge {
    static_assert(detail::never<Edge>, "dovetail: the edge of a shift is periodic, shift<axis, offset>, or gets zeros, shift<axis, offset, zero_edge>");
};
template <class Statement, class Operation, class... Root>
struct bad_root {
    static_assert(
        detail::never<Statement, Operation, Root...>,
        "dovetail: the root or the members of this communication (first) are missing, do not exist or do not fit its form: along axes root_index<k> below the width, over roles root<role> or to<roles...>");
};
template <class Statement, class Operation, class... More>
struct bad_pairs {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this communication (first) takes one axis and behind it pairs of positions, at least one: permute<axis, pair<source, target>>");
};
template <class Statement, class Operation, class Pair, class Width, class... More>
struct bad_position {
    static_assert(detail::never<Statement, Operation, Pair, Width, More...>,
                  "dovetail: a position in this pair (third) is none of the axis: they go from 0 to one below its width (fourth; 0 where it is open)");
};
template <class Statement, class Operation, class Pair, class... More>
struct source_twice {
    static_assert(detail::never<Statement, Operation, Pair, More...>,
                  "dovetail: the source of this pair (third) is that of a pair before it: a position gives to one other at most");
};
template <class Statement, class Operation, class Pair, class... More>
struct target_twice {
    static_assert(detail::never<Statement, Operation, Pair, More...>,
                  "dovetail: the target of this pair (third) is that of a pair before it: a position gets from one other at most");
};
template <class Statement, class Operation, class... More>
struct not_communication {
    static_assert(detail::never<Statement, Operation, More...>, "dovetail: nccl_group<...> makes one NCCL group and takes communication only");
};
template <class... Names>
struct group_dependence {
    static_assert(
        detail::never<Names...>,
        "dovetail: this group cannot be issued as one: its members need one another, directly or through these statements, or belong to different roles");
};

}  // namespace dovetail::error
