// dv::name<y> as the argument of a call: which name it is, and the error if it is not a name.
#pragma once

#include "../../core/tag.hpp"
#include "../../error/launch.hpp"

#include <type_traits>

namespace dovetail::detail {

template <class T>
struct name_in {
    using type = void;
};
template <class T>
    requires requires { typename T::type; }
struct name_in<T> {
    using type = typename T::type;
};
// The name, or void.
template <class T>
using name_of_constant = typename name_in<T>::type;

// Whether the argument is a name; reports one that is not.
template <class T>
constexpr bool right_name() {
    constexpr bool named = !std::is_void_v<name_of_constant<T>>;
    if constexpr (!named) error::report<error::not_a_name_constant<T>>();
    return named;
}
template <class T>
inline constexpr bool is_name = right_name<T>();
// Always true; reports an argument that is not a name.
template <class T>
inline constexpr bool name_asked = is_name<T> || true;

}  // namespace dovetail::detail
