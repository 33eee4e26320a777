// What every error template shares. An error is a class template whose own static_assert says what is wrong and whose
// arguments name the guilty: naming one is harmless (diagnose<G> does), making an object of it stops the compilation.
#pragma once

#include "../core/tensor.hpp"

namespace dovetail {

namespace detail {
template <class...>
inline constexpr bool never = false;
}  // namespace detail

namespace error {

// No error.
struct none {};
// A number in an error's arguments.
template <auto N>
struct number {};
// The role of a graph that names none.
struct the_only_role {};
// The defined name that is spelled most like the missing one.
template <class Name>
struct did_you_mean {};

}  // namespace error
}  // namespace dovetail
