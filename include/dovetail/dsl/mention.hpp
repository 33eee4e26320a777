// mention<T, k>: the k-th type that T mentions, in written order, T itself being 0. One of the bridges from ids to types.
#pragma once

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

struct place {
    int child = 0;
    int offset = 0;  // of the mention within the child
};
constexpr place find_child(const record& r, int mention) {
    int rest = mention - 1;
    for (int i = 0; i < r.child_count; ++i) {
        const int mentions = has_statements(r) ? (*r.statements[i])->mentions : r.children[i]->mentions;
        if (rest < mentions) return {i, rest};
        rest -= mentions;
    }
    return {};
}

template <class T>
struct unadjusted {
    using type = T;
};
template <class R, class... A>
struct unadjusted<R (*)(A...)> {  // an expression as a function's parameter
    using type = R(A...);
};

template <class T, int K>
struct mentioned {
    static constexpr place at = find_child(describe<T>, K);
    using type = typename mentioned<typename nth<at.child, made_of<T>>::type, at.offset>::type;
};
template <class G, int K>
    requires(is_graph<G> && K > 0)
struct mentioned<G, K> {
    static constexpr place at = find_child(describe_graph<G>, K);
    using type = typename mentioned<typename nth<at.child, decltype(statements_in(static_cast<const G*>(nullptr)))>::type, at.offset>::type;
};
// The expression of a statement is mentioned but has no record below the statement's.
template <class N, class X, int K>
using mentioned_of_two = mentioned<std::conditional_t<(K <= describe<N>.mentions), N, X>, (K <= describe<N>.mentions ? K - 1 : K - 1 - describe<N>.mentions)>;
template <class N, class X, int K>
    requires(K > 0)
struct mentioned<let<N, X>, K> : mentioned_of_two<N, X, K> {};
template <class S, class X, int K>
    requires(K > 0)
struct mentioned<update<S, X>, K> : mentioned_of_two<S, X, K> {};
template <class T>
struct mentioned<T, 0> : unadjusted<T> {};

}  // namespace detail

template <class T, int K>
using mention = typename detail::mentioned<T, K>::type;

}  // namespace dovetail::dsl
