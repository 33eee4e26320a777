// Mistakes in the declarations of an operation: its shape rule, its cost, its other facts and its launch.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Operation, class... More>
struct no_shape_rule {
    static_assert(detail::never<Operation, More...>,
                  "dovetail: this operation has a launch but no shape rule: add static constexpr dv::tensor_type "
                  "result(dv::tensor_type...)");
};
template <class Statement, class Operation, class... More>
struct bad_shape_rule {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: the shape rule, result, of this operation (second) is private, is not static, does not accept tensors "
                  "or does not return one: write in public static constexpr dv::tensor_type result(dv::tensor_type...), or return "
                  "dv::results");
};
template <class Statement, class Operation, class... More>
struct rule_not_constexpr {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: the shape rule, result, of this operation (second) cannot be evaluated at compile time: write static "
                  "constexpr dv::tensor_type result(dv::tensor_type...), and return dv::tensor_type{} for arguments that it refuses");
};
template <class Statement, class Operation, class... More>
struct workspace_not_constexpr {
    static_assert(detail::never<Statement, Operation, More...>,
                  "dovetail: the function workspace of this operation (second) cannot be evaluated at compile time: write static constexpr "
                  "std::int64_t workspace(dv::tensor_type...)");
};
template <class Operation>
struct bad_cost {
    static_assert(detail::never<Operation>,
                  "dovetail: the function cost of this operation is private, has other parameters than its shape rule or does not "
                  "return dv::cost: write in public static constexpr dv::cost cost(dv::tensor_type...), with as many parameters as "
                  "result");
};
template <class Operation>
struct cost_not_constexpr {
    static_assert(detail::never<Operation>,
                  "dovetail: the function cost, or tiles, of this operation cannot be evaluated at compile time: write static "
                  "constexpr dv::cost cost(dv::tensor_type...), static constexpr dv::tiles tiles(dv::tensor_type...)");
};
template <class Operation>
struct bad_tiles {
    static_assert(detail::never<Operation>,
                  "dovetail: the function tiles of this operation is private, has other parameters than its shape rule or does not "
                  "return dv::tiles: write in public static constexpr dv::tiles tiles(dv::tensor_type...), with as many parameters "
                  "as result");
};
template <class Operation>
struct bad_workspace {
    static_assert(detail::never<Operation>,
                  "dovetail: the function workspace of this operation is private, has other parameters than its shape rule or does "
                  "not return a number of bytes: write in public static constexpr std::int64_t workspace(dv::tensor_type...), with "
                  "as many parameters as result");
};
template <class Operation>
struct bad_in_place {
    static_assert(detail::never<Operation>,
                  "dovetail: in_place of this operation is not the number of one of its arguments (the first is 0), or the "
                  "operation works only in place and has no arguments");
};
template <class Operation>
struct bad_row_wise {
    static_assert(detail::never<Operation>,
                  "dovetail: row_wise of this operation is not dv::by_rows(...), dv::elementwise(...) or dv::by_extents({...}, {...}), "
                  "or names an argument that the operation does not have (the first is 0)");
};
template <class Operation>
struct private_fact {
    static_assert(detail::never<Operation>,
                  "dovetail: a fact that this operation declares is private, or no constant: in_place, in_place_only, row_wise, has_effect "
                  "and sms must be public and static constexpr");
};
template <class Name, class Operation, class Stream, class... Views>
struct no_launch {
    static_assert(detail::never<Name, Operation, Stream, Views...>,
                  "dovetail: the operation (second) of this name (first) has no launch; for this backend's stream (third) and these "
                  "arguments write in public static void launch(stream, in<X>..., out<Y>...)");
};
template <class Name, class Operation, class Stream, class... Views>
struct launch_mismatch {
    static_assert(detail::never<Name, Operation, Stream, Views...>,
                  "dovetail: the operation (second) of this name (first) has a launch, but none that is public and accepts this "
                  "backend's stream (third) and these arguments: static void launch(stream, in<X>..., out<Y>...); a state that its "
                  "own update reads is inout, or where in_place names that argument, in and out");
};
template <class Name, class Operation, class Returned>
struct launch_returns {
    static_assert(detail::never<Name, Operation, Returned>,
                  "dovetail: the launch of this operation (second) returns a value (third), which would be ignored: a launch "
                  "returns void and throws if it fails");
};

}  // namespace dovetail::error
