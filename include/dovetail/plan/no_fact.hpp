// The value of a fact if the graph, the options or the arguments of the fact have a mistake, which is reported. Every comparison with it is
// true, so that a static_assert adds no further error.
#pragma once

#include <cstdint>
#include <type_traits>

namespace dovetail::plan {

struct no_fact {
    constexpr operator std::int64_t() const { return 0; }
};

namespace detail {
template <class A, class B>
concept with_no_fact = std::is_same_v<A, no_fact> || std::is_same_v<B, no_fact>;
}  // namespace detail

template <class A, class B>
    requires detail::with_no_fact<A, B>
constexpr bool operator<(A, B) {
    return true;
}
template <class A, class B>
    requires detail::with_no_fact<A, B>
constexpr bool operator>(A, B) {
    return true;
}
template <class A, class B>
    requires detail::with_no_fact<A, B>
constexpr bool operator<=(A, B) {
    return true;
}
template <class A, class B>
    requires detail::with_no_fact<A, B>
constexpr bool operator>=(A, B) {
    return true;
}
template <class A, class B>
    requires detail::with_no_fact<A, B>
constexpr bool operator==(A, B) {
    return true;
}
template <class A, class B>
    requires detail::with_no_fact<A, B>
constexpr bool operator!=(A, B) {
    return true;
}
template <class A, class B>
    requires detail::with_no_fact<A, B>
constexpr no_fact operator+(A, B) {
    return {};
}
template <class A, class B>
    requires detail::with_no_fact<A, B>
constexpr no_fact operator-(A, B) {
    return {};
}
template <class A, class B>
    requires detail::with_no_fact<A, B>
constexpr no_fact operator*(A, B) {
    return {};
}
template <class A, class B>
    requires detail::with_no_fact<A, B>
constexpr no_fact operator/(A, B) {
    return {};
}

}  // namespace dovetail::plan
