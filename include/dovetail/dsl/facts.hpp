// The facts that an operation declares, as a constant of type `operation`, for an operation type and a number of arguments.
#pragma once

#include "../collective/table.hpp"
#include "../error/operations.hpp"
#include "communication_facts.hpp"
#include "trial_calls.hpp"
#include "views.hpp"

#include <type_traits>
#include <utility>

namespace dovetail::dsl {

namespace detail {

template <int>
using one_tensor_type = tensor_type;

// The types that a shape rule may return.
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

// Detects a member by its name even if it is private or a template: a member with the same name in a second base class makes the name
// ambiguous.
struct fact_names {
    void result();
    void cost();
    void tiles();
    void workspace();
    void launch();
    void in_place();
    void in_place_only();
    void row_wise();
    void has_effect();
    void sms();
};
template <class Op>
struct fact_probe : Op, fact_names {};
template <class Op>
concept complete = requires { sizeof(Op); };
template <class Op>
constexpr bool can_be_probed() {
    if constexpr (complete<Op>)
        return std::is_class_v<Op> && !std::is_final_v<Op>;
    else
        return false;
}
// Whether Op has a member of this name; false where Op cannot be a base class.
template <class Op>
concept names_result = can_be_probed<Op>() && !requires { &fact_probe<Op>::result; };
template <class Op>
concept names_cost = can_be_probed<Op>() && !requires { &fact_probe<Op>::cost; };
template <class Op>
concept names_tiles = can_be_probed<Op>() && !requires { &fact_probe<Op>::tiles; };
template <class Op>
concept names_workspace = can_be_probed<Op>() && !requires { &fact_probe<Op>::workspace; };
template <class Op>
concept names_launch = can_be_probed<Op>() && !requires { &fact_probe<Op>::launch; };
template <class Op>
concept names_in_place = can_be_probed<Op>() && !requires { &fact_probe<Op>::in_place; };
template <class Op>
concept names_in_place_only = can_be_probed<Op>() && !requires { &fact_probe<Op>::in_place_only; };
template <class Op>
concept names_row_wise = can_be_probed<Op>() && !requires { &fact_probe<Op>::row_wise; };
template <class Op>
concept names_has_effect = can_be_probed<Op>() && !requires { &fact_probe<Op>::has_effect; };
template <class Op>
concept names_sms = can_be_probed<Op>() && !requires { &fact_probe<Op>::sms; };

// Whether Op has the fact as a constant of the class: a function of its name would be true as well. (g++ refuses the value of a member of
// objects, even in a requirement, so its address is asked first.)
template <class Pointer>
inline constexpr bool to_number = std::is_pointer_v<Pointer> && std::is_integral_v<std::remove_cv_t<std::remove_pointer_t<Pointer>>>;
template <class Op>
concept declares_in_place = to_number<decltype(&Op::in_place)> && requires { typename std::integral_constant<int, Op::in_place>; };
template <class Op>
concept declares_in_place_only = to_number<decltype(&Op::in_place_only)> && requires { typename std::bool_constant<Op::in_place_only>; };
template <class Op>
concept declares_row_wise = std::is_pointer_v<decltype(&Op::row_wise)> && std::is_convertible_v<decltype(Op::row_wise), row_wise_extents> &&
                            requires { typename std::bool_constant<Op::row_wise.declared>; };
template <class Op>
concept declares_effect = to_number<decltype(&Op::has_effect)> && requires { typename std::bool_constant<Op::has_effect>; };
template <class Op>
concept declares_sms = to_number<decltype(&Op::sms)> && requires { typename std::integral_constant<int, Op::sms>; };
// Something else than the extents of rows.
template <class Op>
concept declares_other_row_wise = requires { Op::row_wise; } && !std::is_convertible_v<decltype(Op::row_wise), row_wise_extents>;

template <class Op>
constexpr bool has_shape_rule() {
    if constexpr (!complete<Op>)
        return false;
    else if constexpr (requires { &Op::result; })
        return true;
    else
        return accepts_some<Op>(std::make_integer_sequence<int, 9>{}) || names_result<Op>;
}

// At most max_rank extents, of an element type.
constexpr bool is_right(const tensor_type& t) { return t.valid() && t.rank >= 0 && t.rank <= max_rank; }
constexpr int put(tensor_type t, tensor_type* to) {
    to[0] = t;
    return is_right(t) ? 1 : 0;
}
constexpr int put(const results& r, tensor_type* to) {
    for (int i = 0; i < r.count; ++i) {  // count is -1 for too many results, which dv::results has reported already
        if (!is_right(r.list[i])) return 0;
        to[i] = r.list[i];
    }
    return r.count;
}

template <class T, class Wanted>
concept gives = std::is_convertible_v<T, Wanted>;

template <class Op, class Indices>
struct rules;
template <class Op, int... I>
struct rules<Op, std::integer_sequence<int, I...>> {
    static constexpr int infer([[maybe_unused]] const tensor_type* a, tensor_type* to) { return put(Op::result(a[I]...), to); }
    static constexpr cost work([[maybe_unused]] const tensor_type* a, const tensor_type*) { return Op::cost(a[I]...); }
    static constexpr tiles tiling([[maybe_unused]] const tensor_type* a) { return Op::tiles(a[I]...); }
    static constexpr std::int64_t workspace([[maybe_unused]] const tensor_type* a) { return Op::workspace(a[I]...); }
    static constexpr bool has_work = requires(tensor_type t) {
        { Op::cost((static_cast<void>(I), t)...) } -> gives<cost>;
    };
    static constexpr bool has_tiles = requires(tensor_type t) {
        { Op::tiles((static_cast<void>(I), t)...) } -> gives<tiles>;
    };
    static constexpr bool has_workspace = requires(tensor_type t) {
        { Op::workspace((static_cast<void>(I), t)...) } -> gives<std::int64_t>;
    };
    // Calls with equal tensors for all arguments.
    static constexpr bool infers_from([[maybe_unused]] tensor_type t) {
        return static_cast<void>(Op::result((static_cast<void>(I), t)...)), true;
    }
    // With tensors unlike each other.
    static constexpr bool infers_from_unlike([[maybe_unused]] bool of_other_ranks) {
        return static_cast<void>(Op::result(unlike_to_try(I, of_other_ranks)...)), true;
    }
    static constexpr bool works_in([[maybe_unused]] tensor_type t) {
        return static_cast<void>(Op::workspace((static_cast<void>(I), t)...)), true;
    }
    static constexpr bool works_on([[maybe_unused]] tensor_type t) {
        return static_cast<void>(Op::cost((static_cast<void>(I), t)...)), true;
    }
    static constexpr bool divides([[maybe_unused]] tensor_type t) {
        return static_cast<void>(Op::tiles((static_cast<void>(I), t)...)), true;
    }
};

// Reports mistakes in the facts that Op declares besides its shape rule. A wrong fact is then ignored.
template <class Op, class Rules>
constexpr void check_facts() {
    if constexpr (!Rules::has_work && names_cost<Op>) error::report<error::bad_cost<Op>>();
    if constexpr (!Rules::has_tiles && names_tiles<Op>) error::report<error::bad_tiles<Op>>();
    if constexpr (!Rules::has_workspace && names_workspace<Op>) error::report<error::bad_workspace<Op>>();
    if constexpr ((names_in_place<Op> && !declares_in_place<Op>) || (names_in_place_only<Op> && !declares_in_place_only<Op>) ||
                  (names_row_wise<Op> && !declares_row_wise<Op> && !declares_other_row_wise<Op>) ||
                  (names_has_effect<Op> && !declares_effect<Op>) || (names_sms<Op> && !declares_sms<Op>))
        error::report<error::private_fact<Op>>();
}

template <class Op, int N>
constexpr bool right_row_wise() {
    if constexpr (declares_row_wise<Op>)
        return Op::row_wise.declared && Op::row_wise.arguments <= N && Op::row_wise.unit > 0;
    else
        return false;
}

template <class Op, int N>
constexpr operation facts_of_compute() {
    operation o;
    o.name = &tag_of<Op>;
    o.arguments = N;
    using rule = rules<Op, std::make_integer_sequence<int, N>>;
    check_facts<Op, rule>();
    o.infer = &rule::infer;
    o.doubtful_rule = !refuses_by_value<&rule::infers_from_unlike> || doubtful<&rule::infers_from>();
    o.has_work = rule::has_work;
    o.has_workspace = rule::has_workspace;
    if constexpr (rule::has_work) {
        o.work = &rule::work;
        o.doubtful_cost = doubtful<&rule::works_on>();
    }
    if constexpr (rule::has_tiles) {
        o.has_tiles = true;
        o.tiling = &rule::tiling;
        o.doubtful_cost = o.doubtful_cost || doubtful<&rule::divides>();
    }
    if constexpr (rule::has_workspace) {
        o.workspace = &rule::workspace;
        o.doubtful_workspace = doubtful<&rule::works_in>();
    }
    if constexpr (declares_in_place<Op>) {
        if constexpr (Op::in_place < N)
            o.in_place = Op::in_place;
        else
            error::report<error::bad_in_place<Op>>();
    }
    if constexpr (declares_in_place_only<Op>) {
        if constexpr (!Op::in_place_only || N > 0)
            o.in_place_only = Op::in_place_only;
        else
            error::report<error::bad_in_place<Op>>();
    }
    if constexpr (declares_row_wise<Op> || declares_other_row_wise<Op>) {
        if constexpr (right_row_wise<Op, N>())
            o.row_wise = Op::row_wise;
        else
            error::report<error::bad_row_wise<Op>>(), o.row_wise.refused = true;
    } else {
        o.row_wise.refused = names_row_wise<Op>;
    }
    if constexpr (declares_effect<Op>) o.has_effect = Op::has_effect;
    if constexpr (declares_sms<Op>) o.sms = Op::sms;
    return o;
}

template <class Op, int N>
constexpr operation facts() {
    if constexpr (!communication_operation<Op>) {
        operation o = facts_of_compute<Op, N>();
        o.view = view_of<Op>.kind;
        o.block = view_of<Op>.block;
        o.blocks = view_of<Op>.blocks;
        return o;
    } else {
        using c = communication<Op>;
        operation o;
        o.name = &tag_of<Op>;
        o.kind = c::kind;
        o.arguments = N;
        o.reduce = c::reduce;
        o.offset = c::offset;
        o.zero_edge = c::zero_edge;
        o.pairs = c::pairs;
        o.pair_count = c::pair_count;
        if (collective::of(c::kind).in_place) o.in_place = 0;  // halves the memory, and saves a copy on an axis of one position
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

// Whether Op accepts any number of arguments below 64.
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

// The facts of Op with N arguments; no_operation if it does not accept N.
template <class Op, int N>
inline constexpr const operation* operation_for = detail::find_operation<Op, N>();

}  // namespace dovetail::dsl
