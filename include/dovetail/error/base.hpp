// What every error template shares. An error is a class template whose own static_assert says what is wrong and whose
// arguments name the guilty: naming one is harmless (diagnose<G> does), making an object of it stops the compilation. All
// arguments are passed to `never`, so that compilers repeat them right under the sentence. The last ones, `More`, are what is not
// always there: the nearest defined name, tensors, and where the statement stands.
#pragma once

#include "../core/tensor.hpp"

namespace dovetail {

namespace detail {
template <class...>
inline constexpr bool never = false;
}  // namespace detail

namespace error {

// Makes an object of an error, so that its own sentence is what the compiler prints; once, whoever asks for it again. The size of
// the error itself is no constant to clang.
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
// Something is wrong that has its error already: a type of the graph, such as a tensor<long double, 8>, has said it itself.
struct said_already {};
// A number in an error's arguments.
template <auto N>
struct number {};
// The role of a graph that names none.
struct the_only_role {};
// The defined name that is spelled most like the missing one.
template <class Name>
struct did_you_mean {};

// Where a statement stands, from the outside in: at<statement<8>, in<layer, 2>, statement<1>> is the first statement of layer<2>,
// which is a body of the repeat that is the eighth statement of the graph.
template <class... Path>
struct at {};
template <int Number>
struct statement {};  // of the graph or of a group, from 1; of an `on`, behind the role
template <template <int...> class Body, int... I>
struct in {};  // a body of a repeat
template <class Role>
struct in_role {};

}  // namespace error
}  // namespace dovetail
