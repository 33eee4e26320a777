// What the type of a communication operation says as constants: its kind, the types it names, reduction, offset and pairs.
#pragma once

#include "../core/vocabulary.hpp"
#include "../error/operations.hpp"
#include "../error/roles.hpp"
#include "communication.hpp"

#include <type_traits>

namespace dovetail::dsl {

template <class... T>
struct types {};

namespace detail {

template <class R>
inline constexpr reduction reduction_of = reduction::none;
template <> inline constexpr reduction reduction_of<ops::sum> = reduction::sum;
template <> inline constexpr reduction reduction_of<ops::product> = reduction::product;
template <> inline constexpr reduction reduction_of<ops::minimum> = reduction::minimum;
template <> inline constexpr reduction reduction_of<ops::maximum> = reduction::maximum;
template <> inline constexpr reduction reduction_of<ops::average> = reduction::average;

// The kind of a communication operation, the types it names and its own facts; nothing of any other type.
template <class Op>
struct communication {};
template <op_kind Kind, class Where, class Reduction = void, int Offset = 0, bool ZeroEdge = false>
struct communication_facts {
    static constexpr op_kind kind = Kind;
    using where = Where;
    static constexpr reduction reduce = reduction_of<Reduction>;
    static constexpr int offset = Offset;
    static constexpr bool zero_edge = ZeroEdge;
    static constexpr const position_pair* pairs = nullptr;
    static constexpr int pair_count = 0;
};
template <class T> inline constexpr position_pair pair_of{};  // of what is no pair, which lower refuses
template <int Source, int Target> inline constexpr position_pair pair_of<ops::pair<Source, Target>>{Source, Target};
template <class R, class... W> struct communication<ops::all_reduce<R, W...>> : communication_facts<op_kind::all_reduce, types<W...>, R> {};
template <class R, class... W> struct communication<ops::reduce<R, W...>> : communication_facts<op_kind::reduce, types<W...>, R> {};
template <class... W> struct communication<ops::broadcast<W...>> : communication_facts<op_kind::broadcast, types<W...>> {};
template <class... W> struct communication<ops::all_gather<W...>> : communication_facts<op_kind::all_gather, types<W...>> {};
template <class R, class... W> struct communication<ops::reduce_scatter<R, W...>>
    : communication_facts<op_kind::reduce_scatter, types<W...>, R> {};
template <class... W> struct communication<ops::all_to_all<W...>> : communication_facts<op_kind::all_to_all, types<W...>> {};
template <class... W> struct communication<ops::own_rows<W...>> : communication_facts<op_kind::own_rows, types<W...>> {};
template <class... W> struct communication<ops::gather<W...>> : communication_facts<op_kind::gather, types<W...>> {};
template <class... W> struct communication<ops::scatter<W...>> : communication_facts<op_kind::scatter, types<W...>> {};
template <class A, int O, class E>
struct communication<ops::shift<A, O, E>> : communication_facts<op_kind::shift, types<A>, void, O, std::is_same_v<E, ops::zero_edge>> {
    static constexpr bool known = std::is_same_v<E, ops::zero_edge> || std::is_same_v<E, ops::periodic>;
    static_assert(sizeof(error::reported<std::conditional_t<known, error::none, error::shift_edge<E>>>) > 0);
};
template <class A, class... P>
struct communication<ops::permute<A, P...>> : communication_facts<op_kind::permute, types<A, P...>> {
    static constexpr position_pair pairs[sizeof...(P) + 1] = {pair_of<P>..., {}};
    static constexpr int pair_count = sizeof...(P);
};
template <> struct communication<ops::to_host> : communication_facts<op_kind::to_host, types<>> {};
template <> struct communication<ops::from_host> : communication_facts<op_kind::from_host, types<>> {};

template <class T>
concept communication_operation = requires { typename communication<T>::where; };

}  // namespace detail

}  // namespace dovetail::dsl
