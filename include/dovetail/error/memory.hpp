// Mistakes in the use of states, of operations that work in place, and of host and device memory.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Name, class... More>
struct not_a_state {
    static_assert(detail::never<Name, More...>,
                  "dovetail: update changes states, and this name is not a state; a new "
                  "value is written let<name, op(...)>");
};
template <class State, class Reader, class... More>
struct uninitialised {
    static_assert(detail::never<State, Reader, More...>,
                  "dovetail: this state (first) is read by a statement (second) before anything initialises it: declare it with an "
                  "initialiser or from_store, or write an update above the statement");
};
template <class State, class Axis, class... More>
struct diverging_replicas {
    static_assert(
        detail::never<State, Axis, More...>,
        "dovetail: this state (first) is declared replicated along an axis (second), but it is updated from a value that "
        "differs between the positions of that axis; an all_reduce may be missing, or an input is not declared replicated along it");
};
template <class Statement, class Operation, class Value, class... More>
struct in_place_shared {
    static_assert(detail::never<Statement, Operation, Value, More...>,
                  "dovetail: this operation (second) works in place, but its argument (third) is also read elsewhere or is not a "
                  "value of this role; pass a copy of it");
};
template <class Statement, class Operation, class Argument, class Result, class... More>
struct in_place_mismatch {
    static_assert(detail::never<Statement, Operation, Argument, Result, More...>,
                  "dovetail: this operation (second) works only in place, so its first result (fourth) must have as many bytes as "
                  "the argument (third) that it replaces");
};
template <class State, class... More>
struct state_crosses_roles {
    static_assert(detail::never<State, More...>,
                  "dovetail: a state can be used only on its own role; to use it on another one, write let<value, copy(state)> on "
                  "the role of the state and use value");
};
template <class Name, class Reader, class... More>
struct host_value {
    static_assert(detail::never<Name, Reader, More...>,
                  "dovetail: this value (first) is in pinned host memory, which only from_host on the role of the value can read, "
                  "not this statement (second)");
};
template <class Name, class Reader, class... More>
struct device_value {
    static_assert(detail::never<Name, Reader, More...>,
                  "dovetail: from_host (second) reads pinned host memory, and "
                  "this value (first) is in device memory");
};
template <class State, class... More>
struct state_on_host {
    static_assert(detail::never<State, More...>,
                  "dovetail: to_host makes a value in pinned host memory, and this state is in device memory: write "
                  "let<value, to_host(state)>");
};
template <class Concat, class Part, class... More>
struct not_a_part {
    static_assert(detail::never<Concat, Part, More...>,
                  "dovetail: the parts of a concat (first) are made where it lies, and this one (second) is made elsewhere: it is an "
                  "input, a state, an output, in "
                  "host memory, or rows of another value; copy it first");
};
template <class Concat, class Part, class... More>
struct part_elsewhere {
    static_assert(detail::never<Concat, Part, More...>,
                  "dovetail: the parts of a concat (first) are made where it lies, and this one (second) is a value of another role or of "
                  "several; write let<part, "
                  "copy(value)> on the concat's own role");
};
template <class Concat, class Part, class... More>
struct part_twice {
    static_assert(detail::never<Concat, Part, More...>,
                  "dovetail: this value (second) is a part of two concats, or twice of one (first): it lies in one place; copy it first");
};
template <class Concat, class Part, class Operation, class... More>
struct part_in_place {
    static_assert(detail::never<Concat, Part, Operation, More...>,
                  "dovetail: this part (second) of a concat (first) is made in place of an argument (by third), and so cannot be made "
                  "where the concat lies; copy it "
                  "first");
};
template <class Statement, class State, class Argument, class... More>
struct rows_of_target {
    static_assert(detail::never<Statement, State, Argument, More...>,
                  "dovetail: this update (first) overwrites a state (second) of which it reads rows (third) by themselves; pass the whole "
                  "state, or copy the rows first");
};
template <class Statement, class State, class Operation, class... More>
struct target_as_two_arguments {
    static_assert(detail::never<Statement, State, Operation, More...>,
                  "dovetail: this update (first) passes its state (second) to an operation (third) as two arguments, and the operation "
                  "changes it in place of the first of them (inout, or in_place), which overwrites what it has not read of the other; "
                  "copy the state first, or declare row_wise = dv::elementwise() if each element of the result depends on those at its "
                  "place alone");
};
template <class Statement, class State, class Other, class Operation, class... More>
struct targets_in_another_order {
    static_assert(detail::never<Statement, State, Other, Operation, More...>,
                  "dovetail: this update (first) lists a state (second) in front of another (third), and its operation (fourth) takes them "
                  "in the other order: it changes both where they are arguments, so that each would get the result of the other; list "
                  "them in the order of the arguments, or pass copies");
};
}  // namespace dovetail::error
