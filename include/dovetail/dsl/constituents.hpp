// made_of<T>: the types that a type in a graph consists of. A repeat, an all or a pipeline consists of what it stands for, and of nothing
// if it is malformed.
#pragma once

#include "families.hpp"
#include "pipeline.hpp"
#include "views.hpp"

namespace dovetail::dsl {

namespace detail {

template <class T>
struct constituents {
    using type = typename communication<T>::where;
};
template <template <class...> class W, class... C>
    requires(!communication_operation<W<C...>>)
struct constituents<W<C...>> {
    using type = types<C...>;
};
template <class Op, class... A>
struct constituents<Op(A...)> {
    using type = types<Op, A...>;
};
template <class Op, class... A>
struct constituents<Op(A..., ...)> {
    using type = types<Op>;
};
template <class T>
struct constituents<T*> : constituents<T> {};
template <class A, class... B>
struct constituents<ops::concat<A, B...>> : constituents<ops::concat<>(A, B...)> {};
template <class N, int W, link L>
struct constituents<axis<N, W, L>> {
    using type = types<N>;
};
template <template <int...> class B, int... N>
struct constituents<repeat<B, N...>>
    : std::conditional_t<counting<keyword::repeat, B, N...>() == keyword::repeat, index_space<B, N...>, no_indices> {};
template <int P, int M, class S, template <int...> class R, template <int...> class... B>
struct constituents<pipeline<P, M, S, R, B...>>
    : std::conditional_t<pipelining<P, M, S, R, B...>() == keyword::group, pipeline_statements<pipeline<P, M, S, R, B...>>, no_indices> {};
template <bool Holds, class... C>
struct constituents<when<Holds, C...>> : std::conditional_t<Holds, constituents<group<C...>>, no_indices> {};
template <int Blocks, class... C>
struct constituents<split<Blocks, C...>> : constituents<group<C...>> {};
template <transport By, class... C>
struct constituents<moved_by<By, C...>> : constituents<group<C...>> {};
template <int Bytes, class... C>
struct constituents<bucket<Bytes, C...>> : constituents<group<C...>> {};
template <auto N, template <int...> class F>
struct constituents<all<N, F>> : members_of_all<N, F> {};

}  // namespace detail

// The types that T consists of, in written order.
template <class T>
using made_of = typename detail::constituents<T>::type;

}  // namespace dovetail::dsl
