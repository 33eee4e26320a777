// Mistakes in names and in the form of statements.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Graph>
struct not_a_graph {
    static_assert(detail::never<Graph>,
                  "dovetail: this type is no graph, because of an error that stands above, or because it does not "
                  "derive from dv::graph<statements...>");
};
template <class Statement, class Missing, class... More>
struct unknown_name {
    static_assert(detail::never<Statement, Missing, More...>,
                  "dovetail: this statement (first) uses a name (second) that nothing in the graph defines; the "
                  "nearest defined name follows");
};
template <class Role, class... More>
struct role_as_value {
    static_assert(detail::never<Role, More...>,
                  "dovetail: this name (first) is a role, but it is used as a value, in this statement (second) or in the outputs");
};
template <class Axis, class... More>
struct axis_as_value {
    static_assert(detail::never<Axis, More...>,
                  "dovetail: this name (first) is an axis of a mesh, but it is used as a value; the index of a rank along the axis "
                  "is axis_index<axis>");
};
template <class Name, class... More>
struct defined_twice {
    static_assert(detail::never<Name, More...>,
                  "dovetail: this name is defined more than once; a value is assigned once, and a statement updates a state once");
};
template <class... Names>
struct cycle {
    static_assert(detail::never<Names...>, "dovetail: these statements depend on each other in a cycle, so none of them can run first");
};
template <class Name, class... More>
struct unused {
    static_assert(detail::never<Name, More...>,
                  "dovetail: nothing uses this name: it is not an output, and no update or operation with an effect needs it; use "
                  "it, output it or remove it");
};
template <class Operation, class... More>
struct all_discarded {
    static_assert(detail::never<Operation, More...>,
                  "dovetail: all results of this operation are discarded, and it declares no effect: name a result, remove the "
                  "statement or declare has_effect");
};
template <class Name, class... More>
struct output_twice {
    static_assert(detail::never<Name, More...>, "dovetail: this name is listed twice in the outputs");
};
template <class Name, class... More>
struct unknown_output {
    static_assert(detail::never<Name, More...>,
                  "dovetail: an output names something that nothing in the graph "
                  "defines; the nearest defined name follows");
};
template <class Name, class... More>
struct output_not_a_value {
    static_assert(detail::never<Name, More...>,
                  "dovetail: an output must be a value that the graph computes; to output an input or a state, write "
                  "let<copy_of_it, copy(it)> and output that");
};
template <class Name, class Role, class... More>
struct output_elsewhere {
    static_assert(detail::never<Name, Role, More...>,
                  "dovetail: this output (first) stands in the statements of a role (second) that does not make the value; output it where "
                  "it is made, or write let<here, copy(it)> on this role and output that");
};
template <class Graph>
struct empty_graph {
    static_assert(detail::never<Graph>, "dovetail: this graph has no operation");
};
template <class Statement, class Name, class... More>
struct not_an_operation {
    static_assert(detail::never<Statement, Name, More...>,
                  "dovetail: this statement (first) uses a type (second) as an operation, and it is not one: an operation is a "
                  "complete type with a shape rule, a static function named result");
};
template <class Statement, class Given, class... More>
struct not_an_expression {
    static_assert(detail::never<Statement, Given, More...>,
                  "dovetail: this statement (first) needs an expression, operation(arguments...), and this (second) is not one");
};
template <class Statement, class Argument, class... More>
struct not_an_argument {
    static_assert(detail::never<Statement, Argument, More...>,
                  "dovetail: this statement (first) has an argument (second) that cannot be one: an argument is a name, an "
                  "expression, axis_index<axis> or all<N, family>");
};
template <class Type, class... More>
struct not_a_name {
    static_assert(detail::never<Type, More...>,
                  "dovetail: an operation or a keyword of the language is used where a name is expected; a name is a type of your "
                  "own, which needs no definition: struct y;");
};
template <class Statement, class Operation, class... More>
struct operation_as_value {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: this statement (first) uses an operation (second) as a value: is an argument undeclared, or hidden "
                  "by a function of the same name? gelu(relu(typo)) means gelu(relu) to C++");
};
template <class Statement, class Operation, class... More>
struct ellipsis {
    static_assert(detail::never<Statement, Operation, More...>, "dovetail: an argument list must not end in an ellipsis");
};
template <class Type, class... More>
struct not_a_statement {
    static_assert(
        detail::never<Type, More...>,
        "dovetail: this type is not allowed where it appears in the graph: a statement is an input, state, let, update, "
        "output, on, mesh, group, nccl_group, when, repeat, pipeline, split, decompose, shard_update, bucket, keep, moved_by, after or "
        "roles; a tensor is dv::tensor<T, extents...>");
};
template <class After, class... More>
struct after_of_another_statement {
    static_assert(detail::never<After, More...>,
                  "dovetail: the second argument of this after is not a let or an update whose operation is executed; only such an "
                  "operation can start after a value: after<name, let<y, op(x)>>");
};
template <class Type, class... More>
struct body_not_a_statement {
    static_assert(detail::never<Type, More...>,
                  "dovetail: the body of repeat<body, N> must be a template of statements, and this is what it is for one index: "
                  "template <int I> using body = let<...>");
};
template <class Repeat, class... More>
struct body_arity {
    static_assert(detail::never<Repeat, More...>,
                  "dovetail: the body of this repeat or pipeline has another number of parameters than it needs: repeat<body, N> "
                  "needs template <int I>, repeat<body, N, M> needs template <int I, int J>, pipeline needs roles template <int S> "
                  "and bodies template <int Chunk, int MicroBatch>");
};
template <class Type, class... More>
struct too_many_indices {
    static_assert(detail::never<Type, More...>,
                  "dovetail: this has one, two or three counts, each an int or dv::down<N>: repeat<body, N, M>, "
                  "all<dv::counts<N, M>, family>");
};
template <class All, class... More>
struct family_arity {
    static_assert(detail::never<All, More...>,
                  "dovetail: the family of this all has another number of parameters than the all has counts: all<N, family> needs "
                  "template <int I>, all<dv::counts<N, M>, family> needs template <int I, int J>");
};
template <class Type, class... More>
struct negative_count {
    static_assert(detail::never<Type, More...>, "dovetail: a count of a repeat or an all is negative; 0 is allowed and means none");
};

// Pipelines.
template <class Pipeline, class... More>
struct pipeline_size {
    static_assert(detail::never<Pipeline, More...>,
                  "dovetail: a pipeline has one stage, one micro-batch and one chunk of the model on each stage at least: "
                  "pipeline<stages, micro_batches, schedule, ...>, interleaved<chunks>");
};
template <class Pipeline, class... More>
struct unknown_schedule {
    static_assert(detail::never<Pipeline, More...>,
                  "dovetail: the third argument of a pipeline is its schedule: gpipe, one_f_one_b, interleaved<chunks>, zero_bubble "
                  "or v_half");
};
template <class Pipeline, class... More>
struct body_count {
    static_assert(detail::never<Pipeline, More...>,
                  "dovetail: a pipeline ends with its bodies: forward and backward; for zero_bubble and v_half forward, backward of "
                  "the input and backward of the weights");
};
template <class Pipeline, class... More>
struct uneven_micro_batches {
    static_assert(detail::never<Pipeline, More...>,
                  "dovetail: an interleaved schedule needs a number of micro-batches that is a multiple of its stages");
};

}  // namespace dovetail::error
