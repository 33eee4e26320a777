// Mistakes with states, buffers, memory limits and options.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Name>
struct not_a_state {
    static_assert(detail::never<Name>, "dovetail: update changes states; this is not one. A new value is written let<name, op(...)>");
};
template <class State, class Reader>
struct uninitialised {
    static_assert(detail::never<State>,
                  "dovetail: this state (first) is read (second) before anything sets it: give it an initialiser, from_store, or an update above");
};
template <class State, class Axis>
struct diverging_replicas {
    static_assert(
        detail::never<State>,
        "dovetail: this state (first) is declared replicated along an axis (second) but updated from a value that differs between its lanes: is an all_reduce missing?");
};
template <class Statement, class Operation, class Value>
struct in_place_shared {
    static_assert(
        detail::never<Statement>,
        "dovetail: this operation (second) works in place on a value (third) that something else reads too, or that is no value of this role; copy it first");
};
template <class Statement, class Operation, class Argument, class Result>
struct in_place_mismatch {
    static_assert(
        detail::never<Statement>,
        "dovetail: this operation (second) works in place only, and its first result (fourth) has not as many bytes as the argument (third) that it replaces");
};
template <class State>
struct state_crosses_roles {
    static_assert(detail::never<State>, "dovetail: a state belongs to its role; to use it on another role write let<value, copy(state)> on its own");
};
template <class Name, class Reader>
struct host_value {
    static_assert(detail::never<Name>,
                  "dovetail: this value (first) is in pinned host memory and only from_host on its own role reads it, not this statement (second)");
};
template <class Name, class Reader>
struct device_value {
    static_assert(detail::never<Name>, "dovetail: from_host (second) reads a value (first) that is not in host memory");
};
template <class Role, class Limit, class Needed, class... Largest>
struct memory_exceeded {
    static_assert(
        detail::never<Role>,
        "dovetail: none of the schedules that were tried for this role (first) keeps within the memory limit (second, bytes); the best of them needs (third); the largest values alive follow");
};
template <class Option>
struct unknown_option {
    static_assert(detail::never<Option>, "dovetail: this is no option of a plan and no machine description: see dovetail/cost/machine.hpp");
};
template <class Graph, class Flaw>
struct unproven {
    static_assert(detail::never<Graph>, "dovetail: the prover refuses the plan of this graph; this is a defect of dovetail, please report it with the graph");
};

}  // namespace dovetail::error
