// describe<T>: the record of a type of the language, and made_of<T>: the types below it. Takes any type that may stand in a
// graph. A type that is no word of the language is a name. Records are variables rather than members of classes, and those
// that a large graph has by the thousand are made in one step: that is most of what the compiler spends on a statement.
#pragma once

#include "facts.hpp"
#include "record.hpp"
#include "words.hpp"

namespace dovetail::dsl {

namespace detail {
template <class T>
constexpr record described();
}  // namespace detail

template <class T>
inline constexpr record describe = detail::described<T>();

namespace detail {

// The records below one; the null behind them is for those without.
template <class... C>
inline constexpr const record* below[sizeof...(C) + 1] = {&describe<C>..., nullptr};

// A loop, not a fold: clang folds no more than 256.
constexpr int count_mentions(const record* const* list, int count) {
    int n = 1;
    for (const record* const* end = list + count; list != end; ++list) n += (*list)->mentions;
    return n;
}

// A word that consists of C.
template <word Kind, class... C>
inline constexpr record composed{Kind, &nameless, below<C...>, sizeof...(C), count_mentions(below<C...>, sizeof...(C))};

// The word that a template is; `name` where it is a user's.
template <template <class...> class W> inline constexpr word word_of = word::name;
template <> inline constexpr word word_of<input> = word::input;
template <> inline constexpr word word_of<replicated> = word::replicated;
template <> inline constexpr word word_of<state> = word::state;
template <> inline constexpr word word_of<let> = word::let;
template <> inline constexpr word word_of<values> = word::values;
template <> inline constexpr word word_of<update> = word::update;
template <> inline constexpr word word_of<output> = word::output;
template <> inline constexpr word word_of<on> = word::on;
template <> inline constexpr word word_of<mesh> = word::mesh;
template <> inline constexpr word word_of<lane> = word::lane;
template <> inline constexpr word word_of<group> = word::group;
template <> inline constexpr word word_of<grouped> = word::grouped;
template <> inline constexpr word word_of<graph> = word::graph;
template <> inline constexpr word word_of<ops::root> = word::root;
template <> inline constexpr word word_of<ops::to> = word::to;

// An operation that names axes, roles or a root: these are below it.
template <class T, class... C>
constexpr record operator_with(types<C...>) {
    return {word::operation, &tag_of<T>, below<C...>, sizeof...(C), count_mentions(below<C...>, sizeof...(C))};
}

template <class T>
concept is_graph = requires { typename T::dovetail_graph; };

// Names are types without a definition as a rule: nothing else is asked of those.
template <class T>
constexpr record described() {
    if constexpr (!complete<T>)
        return {word::name, &tag_of<T>};
    else if constexpr (is_graph<T>)
        return describe<typename T::dovetail_graph>;
    else if constexpr (is_operation<T>)
        return {word::operation, &tag_of<T>};
    else if constexpr (has_launch<T>())
        return {word::no_shape_rule, &tag_of<T>};
    else
        return {word::name, &tag_of<T>};
}
template <word Kind, class T, class... C>
constexpr record described_template() {
    if constexpr (Kind != word::name)
        return composed<Kind, C...>;
    else if constexpr (is_communication_operation<T>)
        return operator_with<T>(typename communication<T>::where{});
    else
        return described<T>();
}

// What several types of the language are made of as one: repeat and all.
template <template <int...> class Family, class Indices>
struct family;
template <template <int...> class Family, int... I>
struct family<Family, std::integer_sequence<int, I...>> {
    using type = types<Family<I>...>;
};

// body<0, ...> to body<N - 1, ...>, the last index fastest. Indices are written out: a pack of them cannot be expanded into
// an alias template that takes a fixed number.
template <template <int...> class Body, int... N>
struct index_space;
template <template <int...> class Body, int N>
struct index_space<Body, N> {
    template <int... P>
    static auto all(std::integer_sequence<int, P...>) -> types<Body<P>...>;
    using type = decltype(all(std::make_integer_sequence<int, N>{}));
};
template <template <int...> class Body, int N, int M>
struct index_space<Body, N, M> {
    template <int... P>
    static auto all(std::integer_sequence<int, P...>) -> types<Body<P / M, P % M>...>;
    using type = decltype(all(std::make_integer_sequence<int, N * M>{}));
};
template <template <int...> class Body, int N, int M, int K>
struct index_space<Body, N, M, K> {
    template <int... P>
    static auto all(std::integer_sequence<int, P...>) -> types<Body<P / (M * K), P / K % M, P % K>...>;
    using type = decltype(all(std::make_integer_sequence<int, N * M * K>{}));
};

template <word Kind, class... C>
constexpr record listed(types<C...>) {
    return {Kind, &nameless, below<C...>, sizeof...(C), count_mentions(below<C...>, sizeof...(C)), sizeof...(C)};
}

}  // namespace detail

template <template <class...> class W, class... C>
inline constexpr record describe<W<C...>> = detail::described_template<detail::word_of<W>, W<C...>, C...>();

template <class N, class X>
inline constexpr record describe<let<N, X>>{word::let, &nameless, detail::below<N, X>, 2, 1 + describe<N>.mentions + describe<X>.mentions};
template <class Op, class... A>
inline constexpr record describe<Op(A...)>{word::expression,
                                           &nameless,
                                           detail::below<Op, A...>,
                                           sizeof...(A) + 1,
                                           (describe<A>.mentions + ... + (1 + describe<Op>.mentions)),
                                           1,
                                           operation_for<Op, (describe<A>.arguments + ... + 0)>};
template <class Op, class... A>
inline constexpr record describe<Op (*)(A...)> = describe<Op(A...)>;
template <class Op, class... A>
inline constexpr record describe<Op(A..., ...)> = detail::composed<word::ellipsis, Op>;
template <class Op, class... A>
inline constexpr record describe<Op (*)(A..., ...)> = detail::composed<word::ellipsis, Op>;

template <class T, std::int64_t... E>
inline constexpr record describe<tensor<T, E...>>{word::tensor, &nameless, nullptr, 0, 1, 1, &no_operation, &tensor<T, E...>::type};
template <class N, int W>
inline constexpr record describe<axis<N, W>>{word::axis, &nameless, detail::below<N>, 1, 1 + describe<N>.mentions, 1, &no_operation, &no_tensor, W};
template <int L>
inline constexpr record describe<ops::root_lane<L>>{word::root_lane, &nameless, nullptr, 0, 1, 1, &no_operation, &no_tensor, L};
template <> inline constexpr record describe<discard>{word::discard};
template <> inline constexpr record describe<pinned>{word::pinned};
template <> inline constexpr record describe<from_store>{word::from_store};
template <> inline constexpr record describe<ops::to_host>{word::operation, &tag_of<ops::to_host>};
template <> inline constexpr record describe<ops::from_host>{word::operation, &tag_of<ops::from_host>};
template <class A, int O, class E>
inline constexpr record describe<ops::shift<A, O, E>> = detail::operator_with<ops::shift<A, O, E>>(types<A>{});
template <template <int...> class B, int... N>
inline constexpr record describe<repeat<B, N...>> = detail::listed<word::repeat>(typename detail::index_space<B, N...>::type{});
template <int N, template <int...> class F>
inline constexpr record describe<all<N, F>> = detail::listed<word::all>(typename detail::family<F, std::make_integer_sequence<int, N>>::type{});

namespace detail {

template <class T>
struct constituents {
    using type = typename communication<T>::where;
};
template <is_graph T>
struct constituents<T> : constituents<typename T::dovetail_graph> {};
template <template <class...> class W, class... C>
    requires(word_of<W> != word::name)
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
struct constituents<T*> : constituents<T> {};  // an expression as a function's parameter
template <class N, int W>
struct constituents<axis<N, W>> {
    using type = types<N>;
};
template <template <int...> class B, int... N>
struct constituents<repeat<B, N...>> : index_space<B, N...> {};
template <int N, template <int...> class F>
struct constituents<all<N, F>> : family<F, std::make_integer_sequence<int, N>> {};

}  // namespace detail

// The types that T consists of, in written order.
template <class T>
using made_of = typename detail::constituents<T>::type;

}  // namespace dovetail::dsl
