// Mistakes with states and buffers.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Name, class... More>
struct not_a_state {
    static_assert(detail::never<Name, More...>, "dovetail: update changes states; this is not one. A new value is written let<name, op(...)>");
};
template <class State, class Reader, class... More>
struct uninitialised {
    static_assert(detail::never<State, Reader, More...>,
                  "dovetail: this state (first) is read (second) before anything sets it: give it an initialiser, from_store, or an update above");
};
template <class State, class Axis, class... More>
struct diverging_replicas {
    static_assert(
        detail::never<State, Axis, More...>,
        "dovetail: this state (first) is declared replicated along an axis (second) but updated from a value that differs between its positions: is an all_reduce missing?");
};
template <class Statement, class Operation, class Value, class... More>
struct in_place_shared {
    static_assert(
        detail::never<Statement, Operation, Value, More...>,
        "dovetail: this operation (second) works in place on a value (third) that something else reads too, or that is no value of this role; copy it first");
};
template <class Statement, class Operation, class Argument, class Result, class... More>
struct in_place_mismatch {
    static_assert(
        detail::never<Statement, Operation, Argument, Result, More...>,
        "dovetail: this operation (second) works in place only, and its first result (fourth) has not as many bytes as the argument (third) that it replaces");
};
template <class State, class... More>
struct state_crosses_roles {
    static_assert(detail::never<State, More...>, "dovetail: a state belongs to its role; to use it on another role write let<value, copy(state)> on its own");
};
template <class Name, class Reader, class... More>
struct host_value {
    static_assert(detail::never<Name, Reader, More...>,
                  "dovetail: this value (first) is in pinned host memory and only from_host on its own role reads it, not this statement (second)");
};
template <class Name, class Reader, class... More>
struct device_value {
    static_assert(detail::never<Name, Reader, More...>, "dovetail: from_host (second) reads a value (first) that is not in host memory");
};
template <class Concat, class Part, class... More>
struct not_a_part {
    static_assert(
        detail::never<Concat, Part, More...>,
        "dovetail: the parts of a concat (first) are made where it lies, and this one (second) is made elsewhere: it is an input, a state, an output, in "
        "host memory, or rows of another value; copy it first");
};
template <class Concat, class Part, class... More>
struct part_elsewhere {
    static_assert(
        detail::never<Concat, Part, More...>,
        "dovetail: the parts of a concat (first) are made where it lies, and this one (second) is a value of another role or of several; write let<part, "
        "copy(value)> on the concat's own role");
};
template <class Concat, class Part, class... More>
struct part_twice {
    static_assert(detail::never<Concat, Part, More...>,
                  "dovetail: this value (second) is a part of two concats, or twice of one (first): it lies in one place; copy it first");
};
template <class Concat, class Part, class Operation, class... More>
struct part_in_place {
    static_assert(
        detail::never<Concat, Part, Operation, More...>,
        "dovetail: this part (second) of a concat (first) is made in place of an argument (by third), and so cannot be made where the concat lies; copy it "
        "first");
};
template <class Statement, class State, class Argument, class... More>
struct rows_of_target {
    static_assert(
        detail::never<Statement, State, Argument, More...>,
        "dovetail: this update (first) overwrites a state (second) of which it reads rows (third) by themselves; pass the whole state, or copy the rows first");
};
}  // namespace dovetail::error
