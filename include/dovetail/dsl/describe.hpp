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

// One class for each type that a graph mentions, with as little in it as possible: a large graph has thousands.
template <word Kind, class... C>
struct composite {
    using children = types<C...>;
    static constexpr const record* list[sizeof...(C)] = {&describe<C>::value...};
    static constexpr record value{Kind, &nameless, list, sizeof...(C), count_mentions(list, sizeof...(C))};
};
template <word Kind>
struct composite<Kind> {
    using children = types<>;
    static constexpr record value{Kind};
};

// An operation; its children are the axes, roles and roots it names.
template <class T, class... C>
struct operator_with {
    using children = types<C...>;
    static constexpr const record* list[sizeof...(C)] = {&describe<C>::value...};
    static constexpr record value{word::operation, &tag_of<T>, list, sizeof...(C), count_mentions(list, sizeof...(C))};
};
template <class T>
struct operator_with<T> {
    using children = types<>;
    static constexpr record value{word::operation, &tag_of<T>};
};

constexpr int count_arguments(const record* const* list, int count) {
    int n = 0;
    for (int i = 1; i < count; ++i) n += list[i]->kind == word::all ? list[i]->child_count : 1;
    return n;
}
template <class Op, class... A>
struct expression {
    using children = types<Op, A...>;
    static constexpr const record* list[sizeof...(A) + 1] = {&describe<Op>::value, &describe<A>::value...};
    static constexpr int arguments = count_arguments(list, sizeof...(A) + 1);
    static constexpr record value{word::expression,
                                  &nameless,
                                  list,
                                  sizeof...(A) + 1,
                                  count_mentions(list, sizeof...(A) + 1),
                                  accepts_arguments<Op, arguments>,
                                  find_operation<Op, arguments>()};
};

// Names are types without a definition as a rule: nothing is asked of those.
template <class T>
constexpr word kind_of_tag() {
    if constexpr (!complete<T>)
        return word::name;
    else if constexpr (is_operation<T>)
        return word::operation;
    else if constexpr (has_launch<T>())
        return word::no_shape_rule;
    else
        return word::name;
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

}  // namespace detail

template <class T>
struct describe {
    using children = types<>;
    static constexpr record value{detail::kind_of_tag<T>(), &tag_of<T>};
};
template <class T>
    requires requires { typename T::dovetail_graph; }
struct describe<T> : detail::graph_of<T, typename T::dovetail_graph> {};

template <class T, std::int64_t... E>
struct describe<tensor<T, E...>> {
    using children = types<>;
    static constexpr record value{word::tensor, &nameless, nullptr, 0, 1, false, nullptr, &tensor<T, E...>::type};
};

template <class Op, class... A> struct describe<Op(A...)> : detail::expression<Op, A...> {};
template <class Op, class... A> struct describe<Op (*)(A...)> : detail::expression<Op, A...> {};
template <class Op, class... A> struct describe<Op(A..., ...)> : detail::composite<word::ellipsis, Op> {};
template <class Op, class... A> struct describe<Op (*)(A..., ...)> : detail::composite<word::ellipsis, Op> {};

template <class N, class T, class... A> struct describe<input<N, T, A...>> : detail::composite<word::input, N, T, A...> {};
template <class N, class T, class... A> struct describe<state<N, T, A...>> : detail::composite<word::state, N, T, A...> {};
template <class N, class X> struct describe<let<N, X>> {
    using children = types<N, X>;
    static constexpr const record* list[2] = {&describe<N>::value, &describe<X>::value};
    static constexpr record value{word::let, &nameless, list, 2, 1 + list[0]->mentions + list[1]->mentions};
};
template <class N, class X> struct describe<update<N, X>> : detail::composite<word::update, N, X> {};
template <class... N> struct describe<values<N...>> : detail::composite<word::values, N...> {};
template <> struct describe<discard> : detail::composite<word::discard> {};
template <> struct describe<pinned> : detail::composite<word::pinned> {};
template <> struct describe<from_store> : detail::composite<word::from_store> {};
template <class... A> struct describe<replicated<A...>> : detail::composite<word::replicated, A...> {};
template <class... N> struct describe<output<N...>> : detail::composite<word::output, N...> {};
template <class R, class... S> struct describe<on<R, S...>> : detail::composite<word::on, R, S...> {};
template <class... A> struct describe<mesh<A...>> : detail::composite<word::mesh, A...> {};
template <class N, int W> struct describe<axis<N, W>> {
    using children = types<N>;
    static constexpr const record* list[1] = {&describe<N>::value};
    static constexpr record value{word::axis, &nameless, list, 1, count_mentions(list, 1), false, nullptr, &no_tensor, W};
};
template <class A> struct describe<lane<A>> : detail::composite<word::lane, A> {};
template <class... S> struct describe<group<S...>> : detail::composite<word::group, S...> {};
template <class... S> struct describe<grouped<S...>> : detail::composite<word::grouped, S...> {};
template <class... S> struct describe<graph<S...>> : detail::composite<word::graph, S...> {};
template <template <int...> class B, int... N> struct describe<repeat<B, N...>> : detail::index_space<B, N...>::type {};
template <int N, template <int...> class F>
struct describe<all<N, F>> : detail::family<F, std::make_integer_sequence<int, N>>::template make<word::all> {};

template <> struct describe<ops::to_host> : detail::operator_with<ops::to_host> {};
template <> struct describe<ops::from_host> : detail::operator_with<ops::from_host> {};
template <class R> struct describe<ops::root<R>> : detail::composite<word::root, R> {};
template <int L> struct describe<ops::root_lane<L>> {
    using children = types<>;
    static constexpr record value{word::root_lane, &nameless, nullptr, 0, 1, false, nullptr, &no_tensor, L};
};
template <class... R> struct describe<ops::to<R...>> : detail::composite<word::to, R...> {};
template <class X, class... W> struct describe<ops::all_reduce<X, W...>> : detail::operator_with<ops::all_reduce<X, W...>, W...> {};
template <class X, class... W> struct describe<ops::reduce<X, W...>> : detail::operator_with<ops::reduce<X, W...>, W...> {};
template <class X, class... W> struct describe<ops::reduce_scatter<X, W...>> : detail::operator_with<ops::reduce_scatter<X, W...>, W...> {};
template <class... W> struct describe<ops::broadcast<W...>> : detail::operator_with<ops::broadcast<W...>, W...> {};
template <class... W> struct describe<ops::all_gather<W...>> : detail::operator_with<ops::all_gather<W...>, W...> {};
template <class... W> struct describe<ops::all_to_all<W...>> : detail::operator_with<ops::all_to_all<W...>, W...> {};
template <class... W> struct describe<ops::gather<W...>> : detail::operator_with<ops::gather<W...>, W...> {};
template <class... W> struct describe<ops::scatter<W...>> : detail::operator_with<ops::scatter<W...>, W...> {};
template <class A, int O, class E> struct describe<ops::shift<A, O, E>> : detail::operator_with<ops::shift<A, O, E>, A> {};

}  // namespace dovetail::dsl
