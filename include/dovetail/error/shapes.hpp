// Mistakes in shapes, element types and numbers of arguments or results.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Statement, class Operation, class... Given>
struct wrong_arity {
    static_assert(detail::never<Statement, Operation, Given...>,
                  "dovetail: in this statement (first) the operation (second) has a wrong number of arguments: an operation has as "
                  "many as its shape rule, communication one, or one for each role; without a comma matmul(y w) is matmul(y) to C++");
};
template <class Statement, class Operation, class... Tensors>
struct shape_mismatch {
    static_assert(detail::never<Statement, Operation, Tensors...>,
                  "dovetail: in this statement (first) the shape rule of the operation (second) refuses the arguments; their "
                  "tensors follow");
};
template <class Statement, class Operation, class... Tensors>
struct zero_extent {
    static_assert(detail::never<Statement, Operation, Tensors...>,
                  "dovetail: in this statement (first) the shape rule of the operation (second) refuses the arguments, one of which "
                  "has no elements, since an extent is zero; their tensors follow");
};
template <class Statement, class Operation, class Given, class... More>
struct wrong_result_count {
    static_assert(detail::never<Statement, Operation, Given, More...>,
                  "dovetail: this statement (first) names another number of results than the operation (second) has; write discard "
                  "for a result that is not needed");
};
template <class State, class Operation, class Declared, class Given, class... More>
struct update_mismatch {
    static_assert(detail::never<State, Operation, Declared, Given, More...>,
                  "dovetail: the operation (second) that updates this state (first) has a result of another type (fourth) than the "
                  "state is declared with (third)");
};
template <class Name, class... Tensor>
struct size_overflow {
    static_assert(detail::never<Name, Tensor...>, "dovetail: this tensor has more than 2^50 bytes, or a negative extent");
};
template <class Statement, class Operation, class... More>
struct workspace_size {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: the operation (second) of this statement (first) asks for a workspace of more than 2^50 bytes, or of a "
                  "negative number of bytes");
};

// Blocks of rows.
template <class Statement, class View, class... More>
struct no_such_block {
    static_assert(detail::never<Statement, View, More...>,
                  "dovetail: this statement (first) asks for a block of rows (second) that is not there: rows<I, N> is block I of N, from "
                  "0 to N - 1");
};
template <class Statement, class View, class Tensor, class... More>
struct uneven_rows {
    static_assert(detail::never<Statement, View, Tensor, More...>,
                  "dovetail: this statement (first) asks for one of several equal blocks of rows (second), but their number does not "
                  "divide the rows of the "
                  "tensor (third), its extent 0");
};
template <class Statement, class View, class Tensor, class... More>
struct unaligned_rows {
    static_assert(detail::never<Statement, View, Tensor, More...>,
                  "dovetail: in this statement (first) the blocks of rows (second) of a tensor (third) are empty, or no multiples of 256 "
                  "bytes, as every buffer is; their bytes follow");
};
template <class Statement, class View, class... More>
struct rows_by_themselves {
    static_assert(
        detail::never<Statement, View, More...>,
        "dovetail: this statement (first) consists of a view (second), which is not an operation: rows<I, N>(x) is an argument of "
        "an operation, and "
        "concat<a, b> the one value of a let");
};

}  // namespace dovetail::error
