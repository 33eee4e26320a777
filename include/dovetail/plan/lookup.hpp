// From a name to the ids of a graph: symbol_of, role_of, axis_of, and the tensor type of a name. An unknown name is reported together with
// the nearest known one. In a graph with a mistake no name is found, and only the mistake is reported.
#pragma once

#include "diagnose/graph.hpp"
#include "diagnose/nearest_name.hpp"

namespace dovetail::plan {

// The symbol of that name, or -1.
constexpr int find_symbol(const ir::graph& g, const tag& name) {
    for (int s = 0; s < g.symbols.size(); ++s)
        if (same(g.symbols[s].name, &name) && g.symbols[s].kind != ir::symbol_kind::axis_index) return s;
    return -1;
}

struct is_output {
    constexpr bool operator()(const ir::symbol& s) const { return s.output; }
};

namespace detail {
template <class Row>
constexpr int find_named(span<const Row> rows, const tag& name) {
    for (int i = 0; i < rows.size(); ++i)
        if (same(rows[i].name, &name)) return i;
    return -1;
}
// Of a graph with a mistake, which is reported, nothing is found.
template <class G, class Name>
constexpr int symbol_in() {
    if constexpr (is_valid_graph<G>())
        return find_symbol(typed<G>::value, tag_of<Name>);
    else
        return -1;
}
template <class G, class Name>
constexpr int role_in() {
    if constexpr (is_valid_graph<G>())
        return find_named(typed<G>::value.roles, tag_of<Name>);
    else
        return -1;
}
template <class G, class Name>
constexpr int axis_in() {
    if constexpr (is_valid_graph<G>())
        return find_named(typed<G>::value.axes, tag_of<Name>);
    else
        return -1;
}
}  // namespace detail

// The id of a name's symbol in the graph, or -1.
template <class G, class Name>
inline constexpr int symbol_of = detail::symbol_in<G, Name>();

// The id of a role, or -1.
template <class G, class Role>
inline constexpr int role_of = detail::role_in<G, Role>();

// The id of an axis, or -1.
template <class G, class Axis>
inline constexpr int axis_of = detail::axis_in<G, Axis>();

// What calls and facts are given that the graph does not have is reported with the name that is nearest among those they take.
template <template <class...> class Error, class G, class Name, class Fits>
constexpr void refuse_symbol(Fits) {
    constexpr int near = detail::nearest(typed<G>::value.symbols, tag_of<Name>, Fits{});
    error::report<typename decltype(detail::tell_near<Error, G, near, Name>())::type>();
}
template <class G, class Role>
constexpr void refuse_role() {
    constexpr int near = detail::nearest(typed<G>::value.roles, tag_of<Role>, detail::any_row{});
    error::report<typename decltype(detail::tell_near<error::no_such_role, G, near, Role>())::type>();
}
template <template <class...> class Error, class G, class Axis>
constexpr void refuse_axis() {
    constexpr int near = detail::nearest(typed<G>::value.axes, tag_of<Axis>, detail::any_row{});
    error::report<typename decltype(detail::tell_near<Error, G, near, Axis>())::type>();
}

// A tensor's type from its description.
template <const tensor_type& T>
using tensor_at = tensor_from<T.type, T.rank, T.extent[0], T.extent[1], T.extent[2], T.extent[3], T.extent[4], T.extent[5]>;

namespace detail {
template <class G, int Symbol>
struct symbol_tensor {
    static constexpr tensor_type value = typed<G>::value.symbols[Symbol].type;
    using type = tensor_at<value>;
};
// For an unknown name: any type, so that no further error follows.
template <class G>
struct symbol_tensor<G, -1> {
    using type = scalar<float>;
};
template <class G, class Name>
constexpr int tensor_symbol() {
    if constexpr (symbol_of<G, Name> < 0 && is_valid_graph<G>()) refuse_symbol<error::no_such_tensor, G, Name>(any_row{});
    return symbol_of<G, Name>;
}
}  // namespace detail

// The tensor type of a name.
template <class G, class Name>
using tensor_of = typename detail::symbol_tensor<G, detail::tensor_symbol<G, Name>()>::type;

}  // namespace dovetail::plan
