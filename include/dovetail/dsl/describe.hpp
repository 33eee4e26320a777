// describe<T>: the descriptor of a type in a graph; describe_graph<G>: the descriptor of the graph itself; made_of<T>: the types that T
// consists of. A type that is not a keyword of the language is a name. Descriptors are variable templates, not members of classes, and
// descriptors that a large graph has by the thousand instantiate no function: these two choices determine the compile time of a statement.
// Long: one row for each keyword of the language, read side by side.
#pragma once

#include "descriptor.hpp"
#include "facts.hpp"
#include "pipeline.hpp"

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
template <class T>
struct constituents;
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

// 0, 1, ... up to the product of the counts: one number for each combination of indices.
template <int... N>
using numbers_below = std::make_integer_sequence<int, (indices_of(N) * ...)>;

// How many indices a family has, tested on its first member. A pack expansion cannot be tested, because an alias template with a fixed
// number of parameters does not accept one. These are variables, because nvcc's front end fails if a function evaluates the same
// expression.
template <template <int...> class Family>
inline constexpr bool takes_one = requires { typename types<Family<0>>; };
template <template <int...> class Family>
inline constexpr bool takes_two = requires { typename types<Family<0, 0>>; };
template <template <int...> class Family>
inline constexpr bool takes_three = requires { typename types<Family<0, 0, 0>>; };
// Whether a family has another number of indices than this. If its first member is ill-formed for another reason, the compiler reports
// that.
template <template <int...> class Family, int Indices>
inline constexpr bool takes_another = !takes_three<Family> && (takes_one<Family> || takes_two<Family>);
template <template <int...> class Family>
inline constexpr bool takes_another<Family, 1> = !takes_one<Family> && (takes_two<Family> || takes_three<Family>);
template <template <int...> class Family>
inline constexpr bool takes_another<Family, 2> = !takes_two<Family> && (takes_one<Family> || takes_three<Family>);
// The keyword of a repeat or all with these counts: itself, or a kind of malformed one.
template <keyword Kind, template <int...> class Family, int... N>
constexpr keyword counting() {
    if constexpr (sizeof...(N) < 1 || sizeof...(N) > 3)
        return keyword::too_many_indices;
    else if constexpr (((indices_of(N) < 0) || ...))
        return keyword::negative_count;
    else
        return takes_another<Family, sizeof...(N)> ? keyword::other_arity : Kind;
}

// The keyword of a pipeline: a group of its cells, or a kind of malformed one.
template <int Stages, int MicroBatches, class Schedule, template <int...> class Role, template <int...> class... Bodies>
constexpr keyword pipelining() {
    constexpr pipeline_shape s = schedule_shape<Schedule>;
    if constexpr (s.schedule == pipeline_schedule::unknown)
        return keyword::unknown_schedule;
    else if constexpr (Stages < 1 || MicroBatches < 1 || s.chunks_per_stage < 1)
        return keyword::pipeline_size;
    else if constexpr (sizeof...(Bodies) != s.phases())
        return keyword::body_count;
    else if constexpr (s.schedule == pipeline_schedule::interleaved && MicroBatches % Stages != 0)
        return keyword::uneven_micro_batches;
    else
        return (takes_another<Bodies, 2> || ...) || takes_another<Role, 1> ? keyword::other_arity : keyword::group;
}

// body<0, ...> to body<N - 1, ...>, the last index fastest. There is one specialisation for each number of indices, because a pack cannot
// be expanded into an alias template with a fixed number of parameters. A function's signature would not do: nvcc's front end treats an
// alias there as a distinct type.
struct no_indices {
    using type = types<>;
};
template <template <int...> class Body, int... N>
struct index_space;
template <template <int...> class Body, int N>
struct index_space<Body, N> {
    template <class Places>
    struct all;
    template <int... P>
    struct all<std::integer_sequence<int, P...>> {
        using type = types<Body<index_at(N, P)>...>;
    };
    using type = typename all<numbers_below<N>>::type;
};
template <template <int...> class Body, int N, int M>
struct index_space<Body, N, M> {
    static constexpr int m = indices_of(M);
    template <class Places>
    struct all;
    template <int... P>
    struct all<std::integer_sequence<int, P...>> {
        using type = types<Body<index_at(N, P / m), index_at(M, P % m)>...>;
    };
    using type = typename all<numbers_below<N, M>>::type;
};
template <template <int...> class Body, int N, int M, int K>
struct index_space<Body, N, M, K> {
    static constexpr int m = indices_of(M), k = indices_of(K);
    template <class Places>
    struct all;
    template <int... P>
    struct all<std::integer_sequence<int, P...>> {
        using type = types<Body<index_at(N, P / (m * k)), index_at(M, P / k % m), index_at(K, P % k)>...>;
    };
    using type = typename all<numbers_below<N, M, K>>::type;
};

// The counts of an all as a list. nvcc's front end takes decltype of a template parameter of class type for a reference.
template <auto Counts, class Type = std::remove_cvref_t<decltype(Counts)>>
struct counts_of {
    using type = Type;
};
template <auto Counts, class Type>
    requires std::is_integral_v<Type>
struct counts_of<Counts, Type> {
    using type = count_list<Counts>;
};
// The members of a family that an all stands for, and its keyword: itself, or a kind of malformed one.
template <template <int...> class Family, class Counts>
struct family_members : no_indices {
    static constexpr keyword kind = keyword::too_many_indices;
};
template <template <int...> class Family, int... N>
struct family_members<Family, count_list<N...>>
    : std::conditional_t<counting<keyword::all, Family, N...>() == keyword::all, index_space<Family, N...>, no_indices> {
    static constexpr keyword kind = counting<keyword::all, Family, N...>();
};
template <auto Counts, template <int...> class Family>
using members_of_all = family_members<Family, typename counts_of<Counts>::type>;

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
template <class... C>
inline constexpr descriptor describe<decompose<C...>> = detail::stating(keyword::decompose, detail::statements<decompose<C...>>.of);
template <class... C>
inline constexpr descriptor describe<keep<C...>> = detail::stating(keyword::keep, detail::statements<keep<C...>>.of);
template <int Bytes, class... C>
inline constexpr descriptor describe<bucket<Bytes, C...>> =
    detail::stating(keyword::bucket, detail::statements<bucket<Bytes, C...>>.of, Bytes);
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
