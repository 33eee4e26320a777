// Mistakes where a graph meets a backend or an executor.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Name, class Operation, class Stream, class... Views>
struct no_launch {
    static_assert(detail::never<Operation>,
                  "dovetail: this name's operation (second) has no launch for this backend's stream (third) with these arguments: static void launch(stream, "
                  "in<X>..., out<Y>...); a state that its own update reads is inout, or where in_place names that argument, in and out");
};
template <class Name>
struct not_an_input {
    static_assert(detail::never<Name>, "dovetail: an executor is given a value for a name that is no input of its graph");
};
template <class Name>
struct not_an_output {
    static_assert(detail::never<Name>, "dovetail: a result is read that is no output of the graph");
};
template <class Name>
struct unknown_state {
    static_assert(detail::never<Name>, "dovetail: read_state or write_state is given a name that is no state of the executor's graph; a ticket reads outputs");
};
template <class Name, class Declared, class Given>
struct wrong_binding {
    static_assert(detail::never<Name>,
                  "dovetail: the value bound to this input (first) has another element type or another size than the input is declared with (second)");
};

}  // namespace dovetail::error
