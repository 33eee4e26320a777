// Mistakes with shapes, element types and numbers of arguments.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Statement, class Operation, class... Given>
struct wrong_arity {
    static_assert(detail::never<Statement>,
                  "dovetail: in this statement (first) the operation (second) is given a number of arguments that it does not take: an operation takes "
                  "as many as its shape rule, communication one, or one for each role");
};
template <class Statement, class Operation>
struct bad_shape_rule {
    static_assert(detail::never<Statement>,
                  "dovetail: the shape rule `result` of this operation (second) takes no tensors or returns none: write static constexpr dv::tensor_type "
                  "result(dv::tensor_type...), or return dv::results");
};
template <class Statement, class Operation, class... Tensors>
struct shape_mismatch {
    static_assert(detail::never<Statement>,
                  "dovetail: in this statement (first) the operation's (second) shape rule refuses the arguments; their tensors follow");
};
template <class Statement, class Operation, class Given>
struct wrong_result_count {
    static_assert(
        detail::never<Statement>,
        "dovetail: this statement (first) names another number of results than the operation (second) has; discard stands for one that is not wanted");
};
template <class State, class Operation, class Declared, class Given>
struct update_mismatch {
    static_assert(detail::never<State>,
                  "dovetail: the operation (second) that updates this state (first) gives another tensor (fourth) than the state is declared with (third)");
};
template <class Name, class... Tensor>
struct size_overflow {
    static_assert(detail::never<Name>, "dovetail: this tensor takes more than 2^50 bytes, or has a negative extent");
};

}  // namespace dovetail::error
