// Shared parts of the error templates. An error is a class template: its static_assert holds a sentence, and its template arguments are
// the names that the sentence is about. Naming an error has no effect (diagnose<G> does); instantiating it stops the compilation. All
// arguments are passed to `never`, because compilers then repeat them directly below the sentence. The last ones, `More`, are optional:
// the nearest defined name, tensors, and the position of the statement.
#pragma once

#include "../core/tensor.hpp"

namespace dovetail {

namespace detail {
template <class...>
inline constexpr bool never = false;
}  // namespace detail

namespace error {

// Instantiates an error, so that the compiler prints its sentence; once, however often it is reported. A class of its own, because clang
// does not accept the size of an ill-formed class as a constant expression.
template <class Error>
struct reported {
    static_assert(sizeof(Error) > 0);
};
template <class Error>
constexpr void report() {
    static_cast<void>(sizeof(reported<Error>));
}

// No error.
struct none {};
// The mistake has been reported already, by the static_assert of a type in the graph such as tensor<long double, 8>.
struct said_already {};
// A number in an error's arguments.
template <auto N>
struct number {};
// In place of those names of a long cycle that are not listed.
struct names_left_out {};
// The role of a graph without `on`.
struct the_only_role {};
// The defined name whose spelling is nearest to the missing one.
template <class Name>
struct did_you_mean {};

// The position of a statement, outermost first: at<statement<8>, in<layer, 2>, statement<1>> is the first statement of layer<2>, a body
// of the repeat that is the eighth statement of the graph.
template <class... Path>
struct at {};
template <int Number>
struct statement {};  // of the graph or of a group, counted from 1; of an `on`, counted after the role
template <template <int...> class Body, int... I>
struct in {};  // the body of a repeat for these indices
template <class Role>
struct in_role {};

}  // namespace error
}  // namespace dovetail
