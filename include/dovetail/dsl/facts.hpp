// An operation's declared facts as a constant `operation`. Takes an operation type and the number of its arguments.
#pragma once

#include "../core/vocabulary.hpp"
#include "communication.hpp"

#include <type_traits>
#include <utility>

namespace dovetail::dsl {

template <class... T>
struct types {};

namespace detail {

template <int>
using one_tensor_type = tensor_type;

// What a shape rule may return.
template <class T>
concept shapes = std::is_base_of_v<tensor_type, std::remove_cvref_t<T>> || std::is_base_of_v<results, std::remove_cvref_t<T>>;

template <class Op, int... I>
constexpr bool takes(std::integer_sequence<int, I...>) {
    return requires {
        { Op::result(one_tensor_type<I>{}...) } -> shapes;
    };
}
template <class Op, int N>
inline constexpr bool accepts = takes<Op>(std::make_integer_sequence<int, N>{});

template <class Op, int... N>
constexpr bool accepts_some(std::integer_sequence<int, N...>) {
    return (accepts<Op, N> || ...);
}

// A member of this name makes that of a base ambiguous: how a member template is found without knowing its arguments.
struct named_launch {
    void launch();
};
template <class Op>
struct launch_probe : Op, named_launch {};
template <class Op>
concept complete = requires { sizeof(Op); };
template <class Op>
constexpr bool has_launch() {
    if constexpr (complete<Op>) {
        if constexpr (std::is_class_v<Op> && !std::is_final_v<Op>) return !requires { &launch_probe<Op>::launch; };
    }
    return false;
}

template <class Op>
constexpr bool has_shape_rule() {
    if constexpr (!complete<Op>)
        return false;
    else if constexpr (requires { &Op::result; })
        return true;
    else
        return accepts_some<Op>(std::make_integer_sequence<int, 9>{});
}

constexpr int put(tensor_type t, tensor_type* to) {
    to[0] = t;
    return t.valid() ? 1 : 0;
}
constexpr int put(const results& r, tensor_type* to) {
    for (int i = 0; i < r.count; ++i) {
        if (!r.list[i].valid()) return 0;
        to[i] = r.list[i];
    }
    return r.count;
}

template <class Op, class Indices>
struct rules;
template <class Op, int... I>
struct rules<Op, std::integer_sequence<int, I...>> {
    static constexpr int infer([[maybe_unused]] const tensor_type* a, tensor_type* to) { return put(Op::result(a[I]...), to); }
    static constexpr cost work([[maybe_unused]] const tensor_type* a, const tensor_type*) { return Op::cost(a[I]...); }
    static constexpr std::int64_t workspace([[maybe_unused]] const tensor_type* a) { return Op::workspace(a[I]...); }
    static constexpr bool has_work = requires(tensor_type t) { Op::cost((static_cast<void>(I), t)...); };
    static constexpr bool has_workspace = requires(tensor_type t) { Op::workspace((static_cast<void>(I), t)...); };
};

template <class Op, int N>
constexpr operation facts_of_compute() {
    operation o;
    o.name = &tag_of<Op>;
    o.arguments = N;
    using rule = rules<Op, std::make_integer_sequence<int, N>>;
    static_assert(rule::has_work || !requires { &Op::cost; }, "dovetail: the operation's cost takes another number of tensors than its shape rule");
    static_assert(
        rule::has_workspace || !requires { &Op::workspace; }, "dovetail: the operation's workspace takes another number of tensors than its shape rule");
    o.infer = &rule::infer;
    o.has_work = rule::has_work;
    o.has_workspace = rule::has_workspace;
    if constexpr (rule::has_work) o.work = &rule::work;
    if constexpr (rule::has_workspace) o.workspace = &rule::workspace;
    if constexpr (requires { Op::in_place; }) {
        static_assert(Op::in_place < N, "dovetail: the operation's in_place names an argument that it is not given; the first is 0");
        o.in_place = Op::in_place;
    }
    if constexpr (requires { Op::in_place_only; }) {
        static_assert(!Op::in_place_only || N > 0, "dovetail: the operation works in place only, and is given no argument whose place its result could take");
        o.in_place_only = Op::in_place_only;
    }
    if constexpr (requires { Op::row_wise; }) o.row_wise = Op::row_wise;
    if constexpr (requires { Op::has_effect; }) o.has_effect = Op::has_effect;
    if constexpr (requires { Op::sms; }) o.sms = Op::sms;
    return o;
}

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
template <op_kind Kind, class Where, class Reduction = void, int Offset = 0, bool Open = false>
struct communication_facts {
    static constexpr op_kind kind = Kind;
    using where = Where;
    static constexpr reduction reduce = reduction_of<Reduction>;
    static constexpr int offset = Offset;
    static constexpr bool open = Open;
};
template <class R, class... W> struct communication<ops::all_reduce<R, W...>> : communication_facts<op_kind::all_reduce, types<W...>, R> {};
template <class R, class... W> struct communication<ops::reduce<R, W...>> : communication_facts<op_kind::reduce, types<W...>, R> {};
template <class... W> struct communication<ops::broadcast<W...>> : communication_facts<op_kind::broadcast, types<W...>> {};
template <class... W> struct communication<ops::all_gather<W...>> : communication_facts<op_kind::all_gather, types<W...>> {};
template <class R, class... W> struct communication<ops::reduce_scatter<R, W...>> : communication_facts<op_kind::reduce_scatter, types<W...>, R> {};
template <class... W> struct communication<ops::all_to_all<W...>> : communication_facts<op_kind::all_to_all, types<W...>> {};
template <class... W> struct communication<ops::gather<W...>> : communication_facts<op_kind::gather, types<W...>> {};
template <class... W> struct communication<ops::scatter<W...>> : communication_facts<op_kind::scatter, types<W...>> {};
template <class A, int O, class E>
struct communication<ops::shift<A, O, E>> : communication_facts<op_kind::shift, types<A>, void, O, std::is_same_v<E, ops::open>> {
    static_assert(std::is_same_v<E, ops::open> || std::is_same_v<E, ops::wrap>,
                  "dovetail: at the edge a shift wraps, shift<axis, offset>, or is open, shift<axis, offset, open>");
};
template <> struct communication<ops::to_host> : communication_facts<op_kind::to_host, types<>> {};
template <> struct communication<ops::from_host> : communication_facts<op_kind::from_host, types<>> {};

template <class T>
concept communication_operation = requires { typename communication<T>::where; };

template <class Op, int N>
constexpr operation facts() {
    if constexpr (!communication_operation<Op>) {
        return facts_of_compute<Op, N>();
    } else {
        using c = communication<Op>;
        operation o;
        o.name = &tag_of<Op>;
        o.kind = c::kind;
        o.arguments = N;
        o.reduce = c::reduce;
        o.offset = c::offset;
        o.open = c::open;
        if (c::kind == op_kind::all_reduce) o.in_place = 0;  // half the memory, and no copy on an axis of one lane
        return o;
    }
}

}  // namespace detail

template <class Op>
inline constexpr bool is_operation = detail::communication_operation<Op> || detail::has_shape_rule<Op>();

template <class Op, int N>
inline constexpr operation operation_of = detail::facts<Op, N>();

template <class Op, int N>
constexpr bool accepts_count() {
    if constexpr (detail::communication_operation<Op>)
        return true;
    else if constexpr (!is_operation<Op>)
        return false;
    else
        return detail::accepts<Op, N>;
}
template <class Op, int N>
inline constexpr bool accepts_arguments = accepts_count<Op, N>();

// Whether there is a number of arguments that Op takes.
template <class Op>
inline constexpr bool accepts_any = detail::communication_operation<Op> || detail::accepts_some<Op>(std::make_integer_sequence<int, 64>{});

namespace detail {
template <class Op, int N>
constexpr const operation* find_operation() {
    if constexpr (accepts_arguments<Op, N>)
        return &operation_of<Op, N>;
    else
        return &no_operation;
}
}  // namespace detail

// The facts of Op with N arguments; no_operation where it does not take N.
template <class Op, int N>
inline constexpr const operation* operation_for = detail::find_operation<Op, N>();

}  // namespace dovetail::dsl
