// Mistakes with names and with the form of statements.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Graph>
struct not_a_graph {
    static_assert(detail::never<Graph>,
                  "dovetail: this type is no graph, because of an error that stands above, or because it does not derive from dv::graph<statements...>");
};
template <class Statement, class Missing, class... More>
struct unknown_name {
    static_assert(detail::never<Statement, Missing, More...>,
                  "dovetail: this statement (first) uses a name (second) that nothing in the graph defines; the nearest defined name follows");
};
template <class Role, class... More>
struct role_as_value {
    static_assert(detail::never<Role, More...>,
                  "dovetail: this name (first) is a role and stands where the name of a value belongs, in this statement (second) or in the outputs");
};
template <class Axis, class... More>
struct axis_as_value {
    static_assert(
        detail::never<Axis, More...>,
        "dovetail: this name (first) is an axis of a mesh and stands where the name of a value belongs; the index of a rank along it is axis_index<axis>");
};
template <class Name, class... More>
struct defined_twice {
    static_assert(detail::never<Name, More...>,
                  "dovetail: this name is defined more than once; a value is assigned once, a state is updated once in a statement");
};
template <class... Names>
struct cycle {
    static_assert(detail::never<Names...>, "dovetail: these statements need one another in a circle, so none can be first");
};
template <class Name, class... More>
struct unused {
    static_assert(detail::never<Name, More...>,
                  "dovetail: nothing uses this name: no output, update or operation with an effect needs it; use it, output it or remove it");
};
template <class Operation, class... More>
struct all_discarded {
    static_assert(detail::never<Operation, More...>,
                  "dovetail: all results of this operation are discarded, and it declares no effect: name one, remove the statement or declare has_effect");
};
template <class Name, class... More>
struct output_twice {
    static_assert(detail::never<Name, More...>, "dovetail: this name stands in the outputs twice");
};
template <class Name, class... More>
struct unknown_output {
    static_assert(detail::never<Name, More...>, "dovetail: an output names something that nothing in the graph defines; the nearest defined name follows");
};
template <class Name, class... More>
struct output_not_a_value {
    static_assert(detail::never<Name, More...>,
                  "dovetail: an output is a value that the graph computes; for an input or a state write let<copy_of_it, copy(it)> and output that");
};
template <class Graph>
struct empty_graph {
    static_assert(detail::never<Graph>, "dovetail: this graph has no operation");
};
template <class Statement, class Name, class... More>
struct not_an_operation {
    static_assert(
        detail::never<Statement, Name, More...>,
        "dovetail: this statement (first) uses as an operation something (second) that is none: an operation is a complete type with a shape rule, result");
};
template <class Statement, class Given, class... More>
struct not_an_expression {
    static_assert(detail::never<Statement, Given, More...>, "dovetail: this statement (first) takes an expression, operation(arguments...), not this (second)");
};
template <class Statement, class Argument, class... More>
struct not_an_argument {
    static_assert(
        detail::never<Statement, Argument, More...>,
        "dovetail: this statement (first) is given an argument (second) that is none: an argument is a name, an expression, axis_index<axis> or all<N, family>");
};
template <class Type, class... More>
struct not_a_name {
    static_assert(
        detail::never<Type, More...>,
        "dovetail: an operation or a word of the language stands where a name belongs; a name is a type of your own, which needs no definition: struct y;");
};
template <class Statement, class Operation, class... More>
struct operation_as_value {
    static_assert(
        detail::never<Statement, Operation, More...>,
        "dovetail: this statement (first) uses an operation (second) as a value: is an argument undeclared, or hidden by a function of the same name? gelu(relu(typo)) means gelu(relu) to C++");
};
template <class Statement, class Operation, class... More>
struct ellipsis {
    static_assert(detail::never<Statement, Operation, More...>, "dovetail: an argument list ends in an ellipsis");
};
template <class Type, class... More>
struct not_a_statement {
    static_assert(
        detail::never<Type, More...>,
        "dovetail: this type has no meaning where it stands in the graph: a statement is an input, state, let, update, output, on, mesh, group, nccl_group or repeat; a tensor is dv::tensor<T, extents...>");
};
template <class Type, class... More>
struct body_not_a_statement {
    static_assert(
        detail::never<Type, More...>,
        "dovetail: repeat<body, N> takes a template of statements, and this is what its body is for one index: template <int I> using body = let<...>");
};
template <class Repeat, class... More>
struct body_arity {
    static_assert(detail::never<Repeat, More...>,
                  "dovetail: the body of this repeat takes another number of indices than the repeat counts over: repeat<body, N> with template <int I>, "
                  "repeat<body, N, M> with template <int I, int J>");
};
template <class Repeat, class... More>
struct too_many_indices {
    static_assert(detail::never<Repeat, More...>, "dovetail: repeat<body, N...> counts over one, two or three indices");
};
template <class All, class... More>
struct family_arity {
    static_assert(detail::never<All, More...>,
                  "dovetail: all<N, family> stands for family<0> to family<N - 1>, and this family takes another number of indices than one");
};
template <class Type, class... More>
struct negative_count {
    static_assert(detail::never<Type, More...>, "dovetail: a number of repeat<body, N...> or all<N, family> is negative; 0 stands for none");
};

}  // namespace dovetail::error
