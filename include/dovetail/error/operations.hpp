// Mistakes in what an operation declares: its shape rule, its other facts and its launch.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Operation, class... More>
struct no_shape_rule {
    static_assert(detail::never<Operation, More...>,
                  "dovetail: this operation has a launch but no shape rule: add static constexpr dv::tensor_type result(dv::tensor_type...)");
};
template <class Statement, class Operation, class... More>
struct bad_shape_rule {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: the shape rule, result, of this operation (second) is private, is not static, takes no tensors or returns none: write in public "
                  "static constexpr dv::tensor_type result(dv::tensor_type...), or return dv::results");
};
template <class Statement, class Operation, class... More>
struct rule_not_constexpr {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: the shape rule, result, of this operation (second) cannot be called while compiling: write static constexpr dv::tensor_type "
                  "result(dv::tensor_type...), and return dv::tensor_type{} for arguments that it refuses");
};
template <class Operation>
struct bad_cost {
    static_assert(detail::never<Operation>,
                  "dovetail: the cost of this operation is private, takes other tensors than its shape rule or returns no dv::cost: write in public "
                  "static constexpr dv::cost cost(dv::tensor_type...), with as many arguments as result");
};
template <class Operation>
struct cost_not_constexpr {
    static_assert(detail::never<Operation>,
                  "dovetail: the cost of this operation cannot be called while compiling: write static constexpr dv::cost cost(dv::tensor_type...)");
};
template <class Operation>
struct bad_workspace {
    static_assert(
        detail::never<Operation>,
        "dovetail: the workspace of this operation is private, takes other tensors than its shape rule or returns no number of bytes: write in public "
        "static constexpr std::int64_t workspace(dv::tensor_type...), with as many arguments as result");
};
template <class Operation>
struct bad_in_place {
    static_assert(
        detail::never<Operation>,
        "dovetail: in_place of this operation names an argument that it is not given, and the first is 0; or it works in place only, and is given none");
};
template <class Operation>
struct private_fact {
    static_assert(detail::never<Operation>,
                  "dovetail: a fact that this operation declares is private: in_place, in_place_only, row_wise, has_effect and sms are public and constexpr");
};
template <class Name, class Operation, class Stream, class... Views>
struct no_launch {
    static_assert(detail::never<Name, Operation, Stream, Views...>,
                  "dovetail: this name's operation (second) has no launch; for this backend's stream (third) and these arguments write in public "
                  "static void launch(stream, in<X>..., out<Y>...)");
};
template <class Name, class Operation, class Stream, class... Views>
struct launch_mismatch {
    static_assert(
        detail::never<Name, Operation, Stream, Views...>,
        "dovetail: this name's operation (second) has a launch, but none that is public and takes this backend's stream (third) and these arguments: "
        "static void launch(stream, in<X>..., out<Y>...); a state that its own update reads is inout, or where in_place names that argument, in and out");
};
template <class Name, class Operation, class Returned>
struct launch_returns {
    static_assert(
        detail::never<Name, Operation, Returned>,
        "dovetail: the launch of this operation (second) returns something (third), and nobody looks at it: a launch returns void and throws where it fails");
};

}  // namespace dovetail::error
