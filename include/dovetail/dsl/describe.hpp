// describe<T>: the descriptor of a type in a graph, with a row for each keyword of the language; describe_graph<G>: the descriptor of the
// graph itself. A type that is not a keyword is a name. Descriptors are variable templates, not members of classes, and descriptors that a
// large graph has by the thousand instantiate no function: these two choices determine the compile time of a statement.
#pragma once

#include "constituents.hpp"
#include "descriptor.hpp"
#include "facts.hpp"

namespace dovetail::dsl {

namespace detail {

template <class T>
concept is_graph = requires { typename T::dovetail_graph; };

// The kind of a type that is not a keyword. A name is usually an incomplete type, for which the primary template decides without a look
// at members.
template <class T, class = std::size_t>
inline constexpr keyword kind_of = keyword::name;
template <class T>
inline constexpr keyword kind_of<T, decltype(sizeof(T))> = is_operation<T>   ? keyword::operation
                                                           : names_launch<T> ? keyword::no_shape_rule
                                                                             : keyword::name;

}  // namespace detail

template <class T>
inline constexpr descriptor describe{detail::kind_of<T>, dovetail::detail::tag_from(dovetail::detail::pretty<T>())};
template <template <int> class F, int I>
#if defined(__clang__) || !defined(__CUDACC__)
    requires dovetail::detail::counted<F>
#endif
inline constexpr descriptor describe<F<I>>{detail::kind_of<F<I>>, dovetail::detail::numbered(dovetail::detail::family<F>, I)};

namespace detail {

// The children of a descriptor. The terminating null pointer avoids an array of size 0.
template <class... C>
inline constexpr const descriptor* below[sizeof...(C) + 1] = {&describe<C>..., nullptr};

// Loops, not folds: clang folds no more than 256.
constexpr int count_positions(const descriptor* const* list, int count) {
    int n = 1;
    for (const descriptor* const* end = list + count; list != end; ++list) n += (*list)->positions;
    return n;
}
constexpr int count_arguments(const descriptor* const* list, int count) {
    int n = 0;
    for (const descriptor* const* end = list + count; list != end; ++list) n += (*list)->arguments;
    return n;
}

// The first descriptor of a let or update with this operation, number of arguments and number of positions below it.
template <keyword Kind, class Op, int Parts, int Arguments, int Below>
inline constexpr descriptor head{Kind, nameless, nullptr, Parts, Below + 2, 1, operation_for<Op, Arguments>};

// A statement as an array of descriptors (see `statement`).
template <class S>
inline constexpr const descriptor* stated[] = {&describe<S>};
template <class N, class Op, class... A>
inline constexpr const descriptor* stated<let<N, Op(A...)>>[] = {
    &head<keyword::let, Op, sizeof...(A) + 2, (describe<A>.arguments + ... + 0),
          (describe<A>.positions + ... + (describe<N>.positions + describe<Op>.positions))>,
    &describe<N>, &describe<Op>, &describe<A>...};
template <class S, class Op, class... A>
inline constexpr const descriptor* stated<update<S, Op(A...)>>[] = {
    &head<keyword::update, Op, sizeof...(A) + 2, count_arguments(below<A...>, sizeof...(A)),
          count_positions(below<S, Op, A...>, sizeof...(A) + 2) - 1>,
    &describe<S>, &describe<Op>, &describe<A>...};

// concat<a, b> is written as a type, and is the expression concat<>(a, b).
template <class N, class A, class... B>
inline constexpr const descriptor* stated<let<N, ops::concat<A, B...>>>[] = {
    &head<keyword::let, ops::concat<>, sizeof...(B) + 3, count_arguments(below<A, B...>, sizeof...(B) + 1),
          count_positions(below<N, ops::concat<>, A, B...>, sizeof...(B) + 3) - 1>,
    &describe<N>, &describe<ops::concat<>>, &describe<A>, &describe<B>...};

// The statements that an on, group or repeat is made of, and those of a graph. A list is a default initialiser, and a graph known
// by its own name, not as graph<...>: compilers spell out the names of all variables and functions, and g++ compares each part of
// one with all before it, which took an eighth of the compile of a thousand statements.
template <class Types>
struct statement_list;
template <class... S>
struct statement_list<types<S...>> {
    statement of[sizeof...(S) + 1] = {stated<S>..., nullptr};  // the null pointer avoids an array of size 0
};
template <class T>
inline constexpr statement_list<typename constituents<T>::type> statements{};
template <class... S>
auto statements_in(const graph<S...>*) -> types<S...>;
template <is_graph G>
inline constexpr statement_list<decltype(statements_in(static_cast<const G*>(nullptr)))> graph_statements{};

template <class... C>
constexpr descriptor composed(keyword kind, types<C...>, tag id = nameless) {
    return {kind, id, below<C...>, sizeof...(C), count_positions(below<C...>, sizeof...(C))};
}
// The descriptor of a type that consists of statements. The role of an `on` and the name of an `after` count as one of them.
template <std::size_t Size>
constexpr descriptor stating(keyword kind, const statement (&list)[Size], int number = 0) {
    int positions = 1;
    for (const statement *s = list, *end = s + Size - 1; s != end; ++s) positions += (**s)->positions;
    return {kind, nameless, nullptr, Size - 1, positions, 1, &no_operation, &no_tensor, number, list};
}
// The descriptor of a type that stands for several arguments: one for each of its types.
template <class... C>
constexpr descriptor listed(keyword kind, types<C...> list) {
    descriptor r = composed(kind, list);
    r.arguments = sizeof...(C);
    return r;
}
// An operation and the axes, roles or root that it names.
template <class T, class... C>
constexpr descriptor operating(types<C...> where) {
    return composed(keyword::operation, where, tag_of<T>);
}

}  // namespace detail

// Expressions and statements. A well-formed let or update has its descriptors in `stated`; the primary form here, of one without an
// expression or outside of a list of statements, is malformed.
template <class Op, class... A>
inline constexpr descriptor describe<Op(A...)>{keyword::expression,
                                               nameless,
                                               detail::below<Op, A...>,
                                               sizeof...(A) + 1,
                                               detail::count_positions(detail::below<Op, A...>, sizeof...(A) + 1),
                                               1,
                                               operation_for<Op, detail::count_arguments(detail::below<Op, A...> + 1, sizeof...(A))>};
template <class Op, class... A>
inline constexpr descriptor describe<Op (*)(A...)> = describe<Op(A...)>;  // a function type decays as a parameter of another
template <class Op, class... A>
inline constexpr descriptor describe<Op(A..., ...)> = detail::composed(keyword::ellipsis, types<Op>{});
template <class Op, class... A>
inline constexpr descriptor describe<Op (*)(A..., ...)> = describe<Op(A..., ...)>;
template <class A, class... B>
inline constexpr descriptor describe<ops::concat<A, B...>> = describe<ops::concat<>(A, B...)>;
template <class N, class X>
inline constexpr descriptor describe<let<N, X>> = detail::composed(keyword::malformed, types<N, X>{});
template <class S, class X>
inline constexpr descriptor describe<update<S, X>> = detail::composed(keyword::malformed, types<S, X>{});
template <class N, class T, class... A>
inline constexpr descriptor describe<input<N, T, A...>> = detail::composed(keyword::input, types<N, T, A...>{});
template <class N, class T, class... A>
inline constexpr descriptor describe<state<N, T, A...>> = detail::composed(keyword::state, types<N, T, A...>{});
template <class... C>
inline constexpr descriptor describe<output<C...>> = detail::composed(keyword::output, types<C...>{});
template <class... C>
inline constexpr descriptor describe<mesh<C...>> = detail::composed(keyword::mesh, types<C...>{});
template <class... C>
inline constexpr descriptor describe<roles<C...>> = detail::composed(keyword::roles, types<C...>{});
template <class R, class... C>
inline constexpr descriptor describe<on<R, C...>> = detail::stating(keyword::on, detail::statements<on<R, C...>>.of);
template <class N, class S>
inline constexpr descriptor describe<after<N, S>> = detail::stating(keyword::after, detail::statements<after<N, S>>.of);
template <class... C>
inline constexpr descriptor describe<group<C...>> = detail::stating(keyword::group, detail::statements<group<C...>>.of);
template <bool Holds, class... C>
inline constexpr descriptor describe<when<Holds, C...>> = detail::stating(keyword::group, detail::statements<when<Holds, C...>>.of);
template <class... C>
inline constexpr descriptor describe<nccl_group<C...>> = detail::stating(keyword::nccl_group, detail::statements<nccl_group<C...>>.of);
template <int Blocks, class... C>
inline constexpr descriptor describe<split<Blocks, C...>> =
    detail::stating(keyword::split, detail::statements<split<Blocks, C...>>.of, Blocks);
// Without statements, it has the form of a name of a family, too.
template <int Blocks>
inline constexpr descriptor describe<split<Blocks>> = detail::stating(keyword::split, detail::statements<split<Blocks>>.of, Blocks);
template <class... C>
inline constexpr descriptor describe<decompose<C...>> = detail::stating(keyword::decompose, detail::statements<decompose<C...>>.of);
template <class... C>
inline constexpr descriptor describe<keep<C...>> = detail::stating(keyword::keep, detail::statements<keep<C...>>.of);
template <int Bytes, class... C>
inline constexpr descriptor describe<bucket<Bytes, C...>> =
    detail::stating(keyword::bucket, detail::statements<bucket<Bytes, C...>>.of, Bytes);
template <int Bytes>
inline constexpr descriptor describe<bucket<Bytes>> = detail::stating(keyword::bucket, detail::statements<bucket<Bytes>>.of, Bytes);
template <transport By, class... C>
inline constexpr descriptor describe<moved_by<By, C...>> =
    detail::stating(keyword::moved_by, detail::statements<moved_by<By, C...>>.of, static_cast<int>(By));
template <class... C>
inline constexpr descriptor describe<shard_update<C...>> =
    detail::stating(keyword::shard_update, detail::statements<shard_update<C...>>.of);
template <template <int...> class B, int... N>
inline constexpr descriptor describe<repeat<B, N...>> =
    detail::stating(detail::counting<keyword::repeat, B, N...>(), detail::statements<repeat<B, N...>>.of);
template <int P, int M, class S, template <int...> class R, template <int...> class... B>
inline constexpr descriptor describe<pipeline<P, M, S, R, B...>> =
    detail::stating(detail::pipelining<P, M, S, R, B...>(), detail::statements<pipeline<P, M, S, R, B...>>.of);
template <detail::is_graph G>
inline constexpr descriptor describe_graph = detail::stating(keyword::graph, detail::graph_statements<G>.of);
template <class... C>
inline constexpr descriptor describe<graph<C...>> = describe_graph<graph<C...>>;

// The types within statements.
template <class... C>
inline constexpr descriptor describe<values<C...>> = detail::composed(keyword::values, types<C...>{});
template <> inline constexpr descriptor describe<discard>{keyword::discard};
template <auto N, template <int...> class F>
inline constexpr descriptor describe<all<N, F>> =
    detail::listed(detail::members_of_all<N, F>::kind, typename detail::members_of_all<N, F>::type{});
template <class A>
inline constexpr descriptor describe<axis_index<A>> = detail::composed(keyword::axis_index, types<A>{});
template <class T, std::int64_t... E>
inline constexpr descriptor describe<tensor<T, E...>>{keyword::tensor, nameless, nullptr, 0, 1, 1, &no_operation, &tensor<T, E...>::type};
template <> inline constexpr descriptor describe<pinned>{keyword::pinned};
template <class... A>
inline constexpr descriptor describe<replicated<A...>> = detail::composed(keyword::replicated, types<A...>{});
template <> inline constexpr descriptor describe<from_store>{keyword::from_store};
template <class N, int W, link L>
inline constexpr descriptor describe<axis<N, W, L>>{L == link::network ? keyword::network_axis : keyword::axis,
                                                    nameless,
                                                    detail::below<N>,
                                                    1,
                                                    1 + describe<N>.positions,
                                                    1,
                                                    &no_operation,
                                                    &no_tensor,
                                                    W};

// Operations that name axes, roles or a root.
template <template <class...> class Op, class... W>
    requires detail::communication_operation<Op<W...>>
inline constexpr descriptor describe<Op<W...>> = detail::operating<Op<W...>>(typename detail::communication<Op<W...>>::where{});
template <class A, int O, class E>
inline constexpr descriptor describe<ops::shift<A, O, E>> = detail::operating<ops::shift<A, O, E>>(types<A>{});
template <> inline constexpr descriptor describe<ops::to_host>{keyword::operation, tag_of<ops::to_host>};
template <> inline constexpr descriptor describe<ops::from_host>{keyword::operation, tag_of<ops::from_host>};
template <class R>
inline constexpr descriptor describe<ops::root<R>> = detail::composed(keyword::root, types<R>{});
template <int L>
inline constexpr descriptor describe<ops::root_index<L>>{keyword::root_index, nameless, nullptr, 0, 1, 1, &no_operation, &no_tensor, L};
template <int S, int T>
inline constexpr descriptor describe<ops::pair<S, T>>{keyword::pair};
template <class... R>
inline constexpr descriptor describe<ops::to<R...>> = detail::composed(keyword::to, types<R...>{});

}  // namespace dovetail::dsl
