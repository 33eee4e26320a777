// Mistakes in the use of an executor: its type, its constructor, and the names in its calls. For an unknown name, the nearest known name
// follows as a template argument.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Graph>
struct no_rank {
    static_assert(detail::never<Graph>,
                  "dovetail: an executor is constructed on a rank, which is its first argument: world.run([](auto& rank) { "
                  "dv::executor<model> step{rank}; })");
};
template <class Option>
struct option_of_the_plan {
    static_assert(detail::never<Option>,
                  "dovetail: this option belongs to the plan, so it is part of the executor's type and not an argument of its "
                  "constructor: dv::executor<model, dv::options<...>>");
};
template <class Argument>
struct not_an_executor_argument {
    static_assert(detail::never<Argument>,
                  "dovetail: the constructor of an executor does not accept an argument of this type; after the rank it accepts a "
                  "dv::store, dv::width<axis>(n), a std::chrono duration, dv::record_times, dv::check_finite, dv::tuned, dv::replay or "
                  "dv::replay_or_streams");
};
template <class Argument>
struct argument_given_twice {
    static_assert(detail::never<Argument>,
                  "dovetail: the constructor of an executor is given two arguments of one kind (one store, one time limit, one of "
                  "dv::replay and dv::replay_or_streams, one width of each axis)");
};
template <class Axis, class... More>
struct width_of_no_axis {
    static_assert(detail::never<Axis, More...>,
                  "dovetail: dv::width<axis>(n) sets the width of an axis, and the graph of this executor has no axis of this name");
};
template <class Type>
struct not_a_name_constant {
    static_assert(detail::never<Type>, "dovetail: this call expects a name as a value, dv::name<y>, and this type is not one");
};
template <class Name, class... More>
struct not_an_input {
    static_assert(detail::never<Name, More...>, "dovetail: a value is bound to this name, which is not an input of the executor's graph");
};
template <class Name, class... More>
struct not_an_output {
    static_assert(detail::never<Name, More...>,
                  "dovetail: this name is read from a ticket or bound as an output, and it is not an output of the graph");
};
template <class Name, class... More>
struct unknown_state {
    static_assert(detail::never<Name, More...>,
                  "dovetail: read_state or write_state is called with this name, which is not a state of the executor's graph; "
                  "outputs are read from a ticket");
};
template <class Name, class Declared, class Given>
struct wrong_binding {
    static_assert(detail::never<Name, Declared, Given>,
                  "dovetail: the value bound to this input (first) differs in element type or size from the tensor that the input "
                  "is declared with (second)");
};
template <class Name, class Declared, class Given>
struct wrong_output_binding {
    static_assert(detail::never<Name, Declared, Given>,
                  "dovetail: this output (first) of this tensor (second) cannot be written there: it is bound to a pointer to its "
                  "elements with their number, or to a DLTensor, a DLManagedTensor* or an mdspan of its elements and extents");
};
template <class Name, class Declared, class Given>
struct empty_input {
    static_assert(detail::never<Name, Declared, Given>,
                  "dovetail: this input (first) is declared with a tensor without elements (second), since an extent is zero, and "
                  "the value bound to it has elements");
};
template <class Name, class Declared, class Given>
struct wrong_state_values {
    static_assert(detail::never<Name, Declared, Given>,
                  "dovetail: the value written to this state (first) differs in element type or size from the tensor that the state "
                  "is declared with (second)");
};

}  // namespace dovetail::error
