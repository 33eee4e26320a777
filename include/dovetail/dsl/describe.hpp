// describe<T>: the record of a type of the language, and the types it is made of. Takes any type that may stand in a graph,
// gives `value` and `children`. A type that is no word of the language is a name.
#pragma once

#include "facts.hpp"
#include "record.hpp"
#include "words.hpp"

namespace dovetail::dsl {

template <class... T>
struct types {
    static constexpr int count = sizeof...(T);
};

template <class T>
struct describe;

namespace detail {

template <class... C>
struct linked {
    using children = types<C...>;
    static constexpr int count = sizeof...(C);
    static constexpr const record* list[sizeof...(C) + 1] = {&describe<C>::value..., nullptr};
    static constexpr int mentions = count_mentions(list, count);
};
template <>
struct linked<> {
    using children = types<>;
    static constexpr int count = 0;
    static constexpr const record* const* list = nullptr;
    static constexpr int mentions = 1;
};

template <word Kind, class... C>
struct composite : linked<C...> {
    static constexpr record value{Kind, &nameless, linked<C...>::list, linked<C...>::count, linked<C...>::mentions, false, nullptr, {}, 0};
};

// A name or an operation; an operation's children are the axes, roles and roots it names.
template <class T, word Kind, class... C>
struct tagged : linked<C...> {
    static constexpr record value{Kind, &tag_of<T>, linked<C...>::list, linked<C...>::count, linked<C...>::mentions, false, nullptr, {}, 0};
};

template <class A>
inline constexpr int argument_count = 1;
template <int N, template <int...> class F>
inline constexpr int argument_count<all<N, F>> = N;

template <class Op, class... A>
struct expression : linked<Op, A...> {
    static constexpr int arguments = (0 + ... + argument_count<A>);
    static constexpr record value{word::expression, &nameless, linked<Op, A...>::list, linked<Op, A...>::count, linked<Op, A...>::mentions,
                                  accepts_arguments<Op, arguments>, find_operation<Op, arguments>(), {}, 0};
};

template <class T>
constexpr word kind_of_tag() {
    if constexpr (is_operation<T>) return word::operation;
    else if constexpr (has_launch<T>()) return word::no_shape_rule;
    else return word::name;
}

template <template <int...> class Family, class Indices>
struct family;
template <template <int...> class Family, int... I>
struct family<Family, std::integer_sequence<int, I...>> {
    template <word Kind>
    using make = composite<Kind, Family<I>...>;
};

// body<0, ...> to body<N - 1, ...>, the last index fastest. Indices are written out: a pack of them cannot be expanded into
// an alias template that takes a fixed number.
template <template <int...> class Body, int... N>
struct index_space;
template <template <int...> class Body, int N>
struct index_space<Body, N> {
    template <int... P>
    static auto all(std::integer_sequence<int, P...>) -> composite<word::repeat, Body<P>...>;
    using type = decltype(all(std::make_integer_sequence<int, N>{}));
};
template <template <int...> class Body, int N, int M>
struct index_space<Body, N, M> {
    template <int... P>
    static auto all(std::integer_sequence<int, P...>) -> composite<word::repeat, Body<P / M, P % M>...>;
    using type = decltype(all(std::make_integer_sequence<int, N * M>{}));
};
template <template <int...> class Body, int N, int M, int K>
struct index_space<Body, N, M, K> {
    template <int... P>
    static auto all(std::integer_sequence<int, P...>) -> composite<word::repeat, Body<P / (M * K), P / K % M, P % K>...>;
    using type = decltype(all(std::make_integer_sequence<int, N * M * K>{}));
};

template <class T, class Graph>
struct graph_of;
template <class T, class... S>
struct graph_of<T, graph<S...>> : composite<word::graph, S...> {};

template <class T>
struct plain : tagged<T, kind_of_tag<T>()> {};
template <class T>
    requires requires { typename T::dovetail_graph; }
struct plain<T> : graph_of<T, typename T::dovetail_graph> {};

}  // namespace detail

template <class T>
struct describe : detail::plain<T> {};

template <class T, std::int64_t... E>
struct describe<tensor<T, E...>> : detail::linked<> {
    static constexpr record value{word::tensor, &nameless, nullptr, 0, 1, false, nullptr, tensor<T, E...>::type, 0};
};

template <class Op, class... A> struct describe<Op(A...)> : detail::expression<Op, A...> {};
template <class Op, class... A> struct describe<Op (*)(A...)> : detail::expression<Op, A...> {};
template <class Op, class... A> struct describe<Op(A..., ...)> : detail::composite<word::ellipsis, Op> {};
template <class Op, class... A> struct describe<Op (*)(A..., ...)> : detail::composite<word::ellipsis, Op> {};

template <class N, class T, class... A> struct describe<input<N, T, A...>> : detail::composite<word::input, N, T, A...> {};
template <class N, class T, class... A> struct describe<state<N, T, A...>> : detail::composite<word::state, N, T, A...> {};
template <class N, class X> struct describe<let<N, X>> : detail::composite<word::let, N, X> {};
template <class N, class X> struct describe<update<N, X>> : detail::composite<word::update, N, X> {};
template <class... N> struct describe<values<N...>> : detail::composite<word::values, N...> {};
template <> struct describe<discard> : detail::composite<word::discard> {};
template <> struct describe<pinned> : detail::composite<word::pinned> {};
template <> struct describe<from_store> : detail::composite<word::from_store> {};
template <class... A> struct describe<replicated<A...>> : detail::composite<word::replicated, A...> {};
template <class... N> struct describe<output<N...>> : detail::composite<word::output, N...> {};
template <class R, class... S> struct describe<on<R, S...>> : detail::composite<word::on, R, S...> {};
template <class... A> struct describe<mesh<A...>> : detail::composite<word::mesh, A...> {};
template <class N, int W> struct describe<axis<N, W>> : detail::linked<N> {
    static constexpr record value{word::axis, &nameless, detail::linked<N>::list, 1, detail::linked<N>::mentions, false, nullptr, {}, W};
};
template <class A> struct describe<lane<A>> : detail::composite<word::lane, A> {};
template <class... S> struct describe<group<S...>> : detail::composite<word::group, S...> {};
template <class... S> struct describe<grouped<S...>> : detail::composite<word::grouped, S...> {};
template <class... S> struct describe<graph<S...>> : detail::composite<word::graph, S...> {};
template <template <int...> class B, int... N> struct describe<repeat<B, N...>> : detail::index_space<B, N...>::type {};
template <int N, template <int...> class F>
struct describe<all<N, F>> : detail::family<F, std::make_integer_sequence<int, N>>::template make<word::all> {};

template <class R> struct describe<ops::root<R>> : detail::composite<word::root, R> {};
template <int L> struct describe<ops::root_lane<L>> : detail::linked<> {
    static constexpr record value{word::root_lane, &nameless, nullptr, 0, 1, false, nullptr, {}, L};
};
template <class... R> struct describe<ops::to<R...>> : detail::composite<word::to, R...> {};
template <class X, class... W> struct describe<ops::all_reduce<X, W...>> : detail::tagged<ops::all_reduce<X, W...>, word::operation, W...> {};
template <class X, class... W> struct describe<ops::reduce<X, W...>> : detail::tagged<ops::reduce<X, W...>, word::operation, W...> {};
template <class X, class... W> struct describe<ops::reduce_scatter<X, W...>> : detail::tagged<ops::reduce_scatter<X, W...>, word::operation, W...> {};
template <class... W> struct describe<ops::broadcast<W...>> : detail::tagged<ops::broadcast<W...>, word::operation, W...> {};
template <class... W> struct describe<ops::all_gather<W...>> : detail::tagged<ops::all_gather<W...>, word::operation, W...> {};
template <class... W> struct describe<ops::all_to_all<W...>> : detail::tagged<ops::all_to_all<W...>, word::operation, W...> {};
template <class... W> struct describe<ops::gather<W...>> : detail::tagged<ops::gather<W...>, word::operation, W...> {};
template <class... W> struct describe<ops::scatter<W...>> : detail::tagged<ops::scatter<W...>, word::operation, W...> {};
template <class A, int O, class E> struct describe<ops::shift<A, O, E>> : detail::tagged<ops::shift<A, O, E>, word::operation, A> {};

}  // namespace dovetail::dsl
