// Mistakes where a graph meets an executor. Where a name is not known, the nearest follows.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Graph>
struct no_rank {
    static_assert(detail::never<Graph>,
                  "dovetail: an executor is made on a rank, its first argument: world.run([](auto& rank) { dv::executor<model> step{rank}; })");
};
template <class Option>
struct option_of_the_plan {
    static_assert(
        detail::never<Option>,
        "dovetail: this option is one of the plan and is given to the executor's constructor; it stands in its type: dv::executor<model, dv::options<...>>");
};
template <class Argument>
struct not_an_executor_argument {
    static_assert(
        detail::never<Argument>,
        "dovetail: an executor does not take an argument of this type: behind the rank it takes a dv::store, dv::width<axis>(n), a std::chrono duration, "
        "dv::record_times, dv::check_finite, dv::replay or dv::replay_or_streams");
};
template <class Axis, class... More>
struct width_of_no_axis {
    static_assert(detail::never<Axis, More...>, "dovetail: an executor is given a width for what is no axis of its graph");
};
template <class Type>
struct not_a_name_constant {
    static_assert(detail::never<Type>, "dovetail: calls take a name as a value, dv::name<y>, and this type is none");
};
template <class Name, class... More>
struct not_an_input {
    static_assert(detail::never<Name, More...>, "dovetail: an executor is given a value for a name that is no input of its graph");
};
template <class Name, class... More>
struct not_an_output {
    static_assert(detail::never<Name, More...>, "dovetail: this name is read from a ticket, and the outputs of the graph do not have it");
};
template <class Name, class... More>
struct unknown_state {
    static_assert(detail::never<Name, More...>,
                  "dovetail: read_state or write_state is given a name that is no state of the executor's graph; a ticket reads outputs");
};
template <class Name, class Declared, class Given>
struct wrong_binding {
    static_assert(detail::never<Name, Declared, Given>,
                  "dovetail: what is bound to this input (first) has another element type or another size than the input is declared with (second)");
};
template <class Name, class Declared, class Given>
struct empty_input {
    static_assert(detail::never<Name, Declared, Given>,
                  "dovetail: this input (first) is declared without elements (second), since an extent is zero, and is bound to something that has some");
};
template <class Name, class Declared, class Given>
struct wrong_state_values {
    static_assert(detail::never<Name, Declared, Given>,
                  "dovetail: what is written to this state (first) has another element type or another size than the state is declared with (second)");
};

}  // namespace dovetail::error
