// type_at<T, k>: the type at source position k of T, counted in written order, T itself being 0. located<T, k>: its path, for errors. The
// tables of a graph hold numbers; this header and plan/diagnose turn them back into types.
#pragma once

#include "../error/base.hpp"
#include "describe.hpp"

namespace dovetail::dsl {

namespace detail {

template <int I, class T>
struct indexed {
    using type = T;
};
template <class Indices, class... T>
struct indexed_types;
template <int... I, class... T>
struct indexed_types<std::integer_sequence<int, I...>, T...> : indexed<I, T>... {};
template <int I, class T>
indexed<I, T> select(indexed<I, T>*);

template <int I, class List>
struct nth;
template <int I, class... T>
struct nth<I, types<T...>> {
    using all = indexed_types<std::make_integer_sequence<int, sizeof...(T)>, T...>;
    using type = typename decltype(select<I>(static_cast<all*>(nullptr)))::type;
};

struct child_position {
    int child = 0;
    int offset = 0;  // of the source position within the child
};
constexpr child_position find_child(const descriptor& r, int source_position) {
    int rest = source_position - 1;
    for (int i = 0; i < r.child_count; ++i) {
        const int positions = has_statements(r) ? (*r.statements[i])->positions : r.children[i]->positions;
        if (rest < positions) return {i, rest};
        rest -= positions;
    }
    return {};
}

template <class T>
struct unadjusted {
    using type = T;
};
template <class R, class... A>
struct unadjusted<R (*)(A...)> {  // an expression, which decays to a pointer as a parameter of another
    using type = R(A...);
};

template <class T, int K>
struct find_type {
    static constexpr child_position at = find_child(describe<T>, K);
    using type = typename find_type<typename nth<at.child, made_of<T>>::type, at.offset>::type;
};
template <class G, int K>
    requires(is_graph<G> && K > 0)
struct find_type<G, K> {
    static constexpr child_position at = find_child(describe_graph<G>, K);
    using type = typename find_type<typename nth<at.child, decltype(statements_in(static_cast<const G*>(nullptr)))>::type, at.offset>::type;
};
// The expression of a let or update has a source position, but no descriptor.
template <class N, class X, int K>
using find_type_of_two =
    find_type<std::conditional_t<(K <= describe<N>.positions), N, X>, (K <= describe<N>.positions ? K - 1 : K - 1 - describe<N>.positions)>;
template <class N, class X, int K>
    requires(K > 0)
struct find_type<let<N, X>, K> : find_type_of_two<N, X, K> {};
template <class S, class X, int K>
    requires(K > 0)
struct find_type<update<S, X>, K> : find_type_of_two<S, X, K> {};
template <class T>
struct find_type<T, 0> : unadjusted<T> {};

// The descriptor of T and the types that T consists of, for a graph too.
template <class T>
struct parts_of {
    static constexpr const descriptor& described = describe<T>;
    using type = made_of<T>;
};
template <is_graph G>
struct parts_of<G> {
    static constexpr const descriptor& described = describe_graph<G>;
    using type = decltype(statements_in(static_cast<const G*>(nullptr)));
};

// The path extended by the I-th type of T; not extended for the role of an `on`, nor by an `after`, which has one statement.
template <class Path, class T, int I>
struct path_to;
template <class... Path, class T, int I>
struct path_to<error::at<Path...>, T, I> {
    using type = error::at<Path..., error::statement<I + 1>>;
};
template <class... Path, class R, class... S, int I>
struct path_to<error::at<Path...>, on<R, S...>, I> {
    using type = std::conditional_t<I == 0, error::at<Path...>, error::at<Path..., error::in_role<R>, error::statement<I>>>;
};
template <class... Path, class N, class S, int I>
struct path_to<error::at<Path...>, after<N, S>, I> {
    using type = error::at<Path...>;
};
template <class... Path, template <int...> class B, int N, int I>
struct path_to<error::at<Path...>, repeat<B, N>, I> {
    using type = error::at<Path..., error::in<B, index_at(N, I)>>;
};
template <class... Path, template <int...> class B, int N, int M, int I>
struct path_to<error::at<Path...>, repeat<B, N, M>, I> {
    using type = error::at<Path..., error::in<B, index_at(N, I / indices_of(M)), index_at(M, I % indices_of(M))>>;
};
template <class... Path, template <int...> class B, int N, int M, int K, int I>
struct path_to<error::at<Path...>, repeat<B, N, M, K>, I> {
    static constexpr int m = indices_of(M), k = indices_of(K);
    using type = error::at<Path..., error::in<B, index_at(N, I / (m * k)), index_at(M, I / k % m), index_at(K, I % k)>>;
};

template <class... Path, int P, int M, class S, template <int...> class R, template <int...> class... B, int I>
struct path_to<error::at<Path...>, pipeline<P, M, S, R, B...>, I> {
    using type = error::at<Path..., typename pipeline_statements<pipeline<P, M, S, R, B...>>::template place<I>>;
};

template <class Path, class T, int K>
struct locating {
    using type = Path;
};
template <class Path, class T, int K>
    requires(K > 0 && has_statements(parts_of<T>::described))
struct locating<Path, T, K> {
    static constexpr child_position at = find_child(parts_of<T>::described, K);
    using type = typename locating<typename path_to<Path, T, at.child>::type, typename nth<at.child, typename parts_of<T>::type>::type,
                                   at.offset>::type;
};

}  // namespace detail

template <class T, int K>
using type_at = typename detail::find_type<T, K>::type;

// The path from T to the statement at source position k: error::at<error::statement<8>, error::in<layer, 2>>.
template <class T, int K>
using located = typename detail::locating<error::at<>, T, K>::type;

}  // namespace dovetail::dsl
