// Compile-time checks of what a program asks of an executor: the names and arguments of its calls, against its graph. A mistake is reported
// as an error; if the graph itself has a mistake, only that one is reported.
#pragma once

#include "../../core/view.hpp"
#include "../../cost/options.hpp"
#include "../../plan/planned.hpp"
#include "../axis_width.hpp"
#include "../binding/binding.hpp"
#include "../binding/external_tensor.hpp"
#include "name_argument.hpp"

namespace dovetail::detail {

template <class Rank>
concept rank_of_a_world = requires { typename Rank::stream; };
template <class... Arguments>
inline constexpr bool starts_with_a_rank = false;
template <class First, class... More>
inline constexpr bool starts_with_a_rank<First, More...> = rank_of_a_world<First>;

// Whether the graph has no mistake and the argument of the call is a name.
template <class G, class Name>
constexpr bool askable() {
    if constexpr (plan::is_valid_graph<G>())
        return is_name<Name>;
    else
        return false;
}

struct is_input {
    constexpr bool operator()(const ir::symbol& s) const { return s.kind == ir::symbol_kind::input; }
};
struct is_state {
    constexpr bool operator()(const ir::symbol& s) const { return s.kind == ir::symbol_kind::state; }
};

template <class Is>
constexpr int find_symbol_that(const ir::graph& g, const tag& name, Is is) {
    const int s = plan::find_symbol(g, name);
    return s >= 0 && is(g.symbols[s]) ? s : -1;
}
template <template <class...> class Error, class Is, class G, class Name>
constexpr int symbol_asked() {
    if constexpr (askable<G, Name>()) {
        using N = name_of_constant<Name>;
        constexpr int symbol = find_symbol_that(plan::typed<G>::value, tag_of<N>, Is{});
        if constexpr (symbol < 0) plan::refuse_symbol<Error, G, N>(Is{});
        return symbol;
    } else {
        return -1;
    }
}

// The id of the name in a call; -1 if there is none, which is reported.
template <class G, class Name>
inline constexpr int input_asked = symbol_asked<error::not_an_input, is_input, G, Name>();
template <class G, class Name>
inline constexpr int output_asked = symbol_asked<error::not_an_output, plan::is_output, G, Name>();
template <class G, class Name>
inline constexpr int state_asked = symbol_asked<error::unknown_state, is_state, G, Name>();
template <class G, class Name>
constexpr int find_role_asked() {
    if constexpr (askable<G, Name>()) {
        using R = name_of_constant<Name>;
        if constexpr (plan::role_of<G, R> < 0) plan::refuse_role<G, R>();
        return plan::role_of<G, R>;
    } else {
        return -1;
    }
}
template <class G, class Name>
inline constexpr int role_asked = find_role_asked<G, Name>();

// Whether V is a container of elements of type T; `holds` also compares the number of elements, if the type of V has one.
template <class V, class T>
inline constexpr bool contains = false;
template <sequence V, class T>
inline constexpr bool contains<V, T> = std::is_same_v<element_in<V>, T>;
template <class V, class T, std::int64_t Count>
inline constexpr bool holds = contains<V, T> && (static_count<V> < 0 || static_count<V> == Count);

// Reports a value that cannot be bound to an input.
template <class Name, class Tensor, class V>
constexpr void refuse_binding() {
    if constexpr (Tensor::size == 0 && (contains<V, typename Tensor::element_type> || std::is_same_v<V, typename Tensor::element_type>))
        error::report<error::empty_input<Name, Tensor, V>>();
    else
        error::report<error::wrong_binding<Name, Tensor, V>>();
}
// The binding of an input of type Tensor to a value, a container, the result of dv::borrowed or dv::device_pointer, or a tensor of
// another library; void if it cannot be bound.
template <class Tensor, class V>
constexpr auto binding_to([[maybe_unused]] const V& value) {
    using T = typename Tensor::element_type;
    constexpr bool borrowed = std::is_same_v<V, borrowed_memory<T>> || std::is_same_v<V, borrowed_memory<T, Tensor::size>>;
    if constexpr (std::is_same_v<V, T> && Tensor::size == 1)
        return binding{&value, 1, binding_source::copied};
    else if constexpr (std::is_same_v<V, device_pointer<T>>)
        return binding{value.data, value.count, binding_source::in_place};
    else if constexpr (borrowed)
        return binding{value.data, value.count, binding_source::borrowed};
    else if constexpr (holds<V, T, Tensor::size>)
        return binding{std::data(value), static_cast<std::int64_t>(std::size(value)), binding_source::copied};
    else if constexpr (external_fits<V, Tensor>())
        return describe(value);
}
template <class Tensor, class V>
inline constexpr bool is_bindable = !std::is_void_v<decltype(binding_to<Tensor>(std::declval<const V&>()))>;
// A pointer to elements, with which the call passes their number, or to a tensor of DLPack.
template <class Tensor, class T>
inline constexpr bool is_bindable<Tensor, T*> = std::is_same_v<T, typename Tensor::element_type> || managed_tensor<T*>;
template <class V>
inline constexpr bool needs_count = std::is_pointer_v<V> && !managed_tensor<V>;

template <class G, class Name, class V, bool Counted>
constexpr bool check_binding() {
    if constexpr (input_asked<G, Name> >= 0) {
        using N = name_of_constant<Name>;
        using tensor = plan::tensor_of<G, N>;
        if constexpr (!is_bindable<tensor, V> || Counted != needs_count<V>) refuse_binding<N, tensor, V>();
    }
    return true;
}
// Always true; reports a binding that the input cannot have. A pointer needs a number of elements, and nothing else may have one.
template <class G, class Name, class V, bool Counted = false>
inline constexpr bool binding_asked = check_binding<G, Name, V, Counted>();

// Whether runs can write an output of type Tensor there.
template <class Tensor, class V>
inline constexpr bool is_writable = external_fits<V, Tensor>() && !mdspan_of_const<V>;
template <class Tensor, class T>
inline constexpr bool is_writable<Tensor, T*> = std::is_same_v<T, typename Tensor::element_type> || managed_tensor<T*>;

template <class G, class Name, class V, bool Counted>
constexpr bool check_output_binding() {
    if constexpr (output_asked<G, Name> >= 0) {
        using N = name_of_constant<Name>;
        using tensor = plan::tensor_of<G, N>;
        if constexpr (!is_writable<tensor, V> || Counted != needs_count<V>) error::report<error::wrong_output_binding<N, tensor, V>>();
    }
    return true;
}
// The same of memory to which an output is bound.
template <class G, class Name, class V, bool Counted = false>
inline constexpr bool output_binding_asked = check_output_binding<G, Name, V, Counted>();

template <class G, class Name, class Values>
constexpr bool check_state_values() {
    if constexpr (state_asked<G, Name> >= 0) {
        using N = name_of_constant<Name>;
        using tensor = plan::tensor_of<G, N>;
        if constexpr (!holds<Values, typename tensor::element_type, tensor::size> && !external_fits<Values, tensor>())
            error::report<error::wrong_state_values<N, tensor, Values>>();
    }
    return true;
}
// Always true; reports values that the state cannot have.
template <class G, class Name, class Values>
inline constexpr bool state_values_asked = check_state_values<G, Name, Values>();

// Reports an argument after the rank that no executor accepts.
template <class A>
constexpr void refuse_argument() {
    if constexpr (plan_option<A> || machine<A> || wrapped_in_options<A>)
        error::report<error::option_of_the_plan<A>>();
    else
        error::report<error::not_an_executor_argument<A>>();
}
// Reports a width for a name that is no axis of the graph.
template <class G, class A>
constexpr void check_width() {
    if constexpr (requires { typename A::of_axis; })
        if constexpr (plan::axis_of<G, typename A::of_axis> < 0 && plan::is_valid_graph<G>())
            plan::refuse_axis<error::width_of_no_axis, G, typename A::of_axis>();
}

}  // namespace dovetail::detail
