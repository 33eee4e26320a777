// Mistakes with names and with the form of statements.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Statement, class Missing, class... Nearest>
struct unknown_name {
    static_assert(detail::never<Statement>,
                  "dovetail: this statement (first) uses a name (second) that nothing in the graph defines; the nearest defined name follows");
};
template <class Name>
struct defined_twice {
    static_assert(detail::never<Name>, "dovetail: this name is defined more than once; a value is assigned once, a state is updated once in a statement");
};
template <class... Names>
struct cycle {
    static_assert(detail::never<Names...>, "dovetail: these statements need one another in a circle, so none can be first");
};
template <class Name>
struct unused {
    static_assert(detail::never<Name>,
                  "dovetail: nothing uses this name: no output, update or operation with an effect needs it; use it, output it or remove it");
};
template <class Operation>
struct all_discarded {
    static_assert(detail::never<Operation>,
                  "dovetail: all results of this operation are discarded, and it declares no effect: name one, remove the statement or declare has_effect");
};
template <class Name>
struct output_twice {
    static_assert(detail::never<Name>, "dovetail: this name stands in the outputs twice");
};
template <class Name, class... Nearest>
struct unknown_output {
    static_assert(detail::never<Name>, "dovetail: an output names something that nothing in the graph defines; the nearest defined name follows");
};
template <class Name>
struct output_not_a_value {
    static_assert(detail::never<Name>,
                  "dovetail: an output is a value that the graph computes; for an input or a state write let<copy_of_it, copy(it)> and output that");
};
template <class Graph>
struct empty_graph {
    static_assert(detail::never<Graph>, "dovetail: this graph has no operation");
};
template <class Statement, class Name>
struct not_an_operation {
    static_assert(
        detail::never<Statement>,
        "dovetail: this statement (first) uses as an operation something (second) that is none: an operation is a complete type with a shape rule `result`");
};
template <class Statement, class Given>
struct not_an_expression {
    static_assert(detail::never<Statement>, "dovetail: this statement (first) takes an expression, operation(arguments...), not this (second)");
};
template <class Statement, class Argument>
struct not_an_argument {
    static_assert(
        detail::never<Statement>,
        "dovetail: this statement (first) is given an argument (second) that is none: an argument is a name, an expression, lane<axis> or all<N, family>");
};
template <class Type>
struct not_a_name {
    static_assert(
        detail::never<Type>,
        "dovetail: an operation or a word of the language stands where a name belongs; a name is a type of your own, which needs no definition: struct y;");
};
template <class Statement, class Operation>
struct operation_as_value {
    static_assert(
        detail::never<Statement>,
        "dovetail: this statement (first) uses an operation (second) as a value: is an argument undeclared, or hidden by a function of the same name? gelu(relu(typo)) means gelu(relu) to C++");
};
template <class Statement, class Operation>
struct ellipsis {
    static_assert(detail::never<Statement>, "dovetail: an argument list ends in an ellipsis");
};
template <class Operation>
struct no_shape_rule {
    static_assert(detail::never<Operation>,
                  "dovetail: this operation has a launch but no shape rule: add static constexpr dv::tensor_type result(dv::tensor_type...)");
};
template <class Type>
struct not_a_statement {
    static_assert(
        detail::never<Type>,
        "dovetail: this type has no meaning where it stands in the graph: a statement is an input, state, let, update, output, on, mesh, group, grouped or repeat; a tensor is dv::tensor<T, extents...>");
};

}  // namespace dovetail::error
