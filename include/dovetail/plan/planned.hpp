// planned<G, O>: graph, program and plan as constants, for a graph type and options. Each stage of the pipeline is a separate evaluation
// (compile/). The plan is proven; a plan that is not proven does not compile.
#pragma once

#include "diagnose/plan.hpp"
#include "lookup.hpp"

namespace dovetail::plan {

namespace detail {

// Whether the graph has this output; if not, that is reported with the nearest one.
template <class G, class Name>
constexpr bool has_output() {
    constexpr bool found = find_output(typed<G>::value, tag_of<Name>) >= 0;
    if constexpr (!found) refuse_symbol<error::no_such_output, G, Name>(is_output{});
    return found;
}
// Whether the graph has the output that the objective names.
template <class G, class O>
constexpr bool right_objective() {
    if constexpr (O::value.objective == objective_kind::finish)
        return has_output<G, typename O::finished>();
    else
        return true;
}

struct is_copied_input {
    constexpr bool operator()(const ir::symbol& s) const { return s.kind == ir::symbol_kind::input && !s.in_host_memory; }
};
// Whether the graph has the inputs that an option lists; the first that it does not have is reported.
template <class G, class Name>
constexpr bool has_input() {
    constexpr int symbol = find_symbol(typed<G>::value, tag_of<Name>);
    constexpr bool found = symbol >= 0 && is_copied_input{}(typed<G>::value.symbols[symbol < 0 ? 0 : symbol]);
    if constexpr (!found) refuse_symbol<error::no_such_input, G, Name>(is_copied_input{});
    return found;
}
template <class G, class... Name>
constexpr bool has_inputs(dovetail::detail::listed_names<Name...>) {
    return (has_input<G, Name>() && ...);
}
template <class G, class... List>
constexpr bool right_inputs(dovetail::detail::listed_names<List...>) {
    return (has_inputs<G>(List{}) && ...);
}

// Whether the order of roles is said once.
template <class G, class O>
constexpr bool right_role_order() {
    constexpr bool twice = O::value.roles_by_links && typed<G>::value.lists_roles;
    if constexpr (twice) error::report<error::roles_listed_and_by_links<G, O>>();
    return !twice;
}
// Whether the graph has the axes that an option lists; the first that it does not have is reported.
template <class G, class Name>
constexpr bool has_axis() {
    constexpr bool found = find_named(typed<G>::value.axes, tag_of<Name>) >= 0;
    if constexpr (!found) refuse_axis<error::transport_of_no_axis, G, Name>();
    return found;
}
template <class G, class... Name>
constexpr bool has_axes(dovetail::detail::listed_names<Name...>) {
    return (has_axis<G, Name>() && ...);
}
template <class G, class... List>
constexpr bool right_axes(dovetail::detail::listed_names<List...>) {
    return (has_axes<G>(List{}) && ...);
}

// Whether no statement has copy engines send a value over the network; the first such value is reported.
template <class G, class O>
constexpr bool right_channels() {
    if constexpr (O::value.between_roles == link::local || !rewrites_asked<G>) {
        return true;
    } else {
        constexpr int sent = pass::first_sent_by_copies(typed<G>::value);
        if constexpr (sent >= 0)
            error::report<error::value_over_network<dsl::type_at<written<G>, typed<G>::value.symbols[sent].source_position>, O>>();
        return sent < 0;
    }
}

template <class G>
inline constexpr std::uint64_t graph_key_of = cost_model::graph_key(typed<G>::value);
// Whether a profile of the options was measured in runs of this graph.
template <class G, class O>
constexpr bool right_profile() {
    if constexpr (O::value.profile.rows.count == 0) {
        return true;
    } else {
        constexpr bool right = O::value.profile.graph_key == graph_key_of<G>;
        if constexpr (!right) error::report<error::profile_of_another_graph<G, O>>();
        return right;
    }
}

// Whether graph and plan are valid; a mistake is reported, as by is_valid_graph.
template <class G, class O>
constexpr bool plan_right() {
    if constexpr (!is_valid_graph<G>()) {
        return false;
    } else if constexpr (!dovetail::detail::right_options<O>()) {
        return false;
    } else if constexpr (!right_objective<G, O>() || !right_inputs<G>(typename O::host_inputs{}) || !right_profile<G, O>()) {
        return false;
    } else if constexpr (!right_axes<G>(typename O::axes{}) || !right_channels<G, O>() || !right_role_order<G, O>()) {
        return false;
    } else {
        using wrong = typename decltype(plan_error<G, O>())::type;
        error::report<wrong>();
        return std::is_same_v<wrong, error::none>;
    }
}

template <class G, class O, bool Right = plan_right<G, O>()>
struct planning {
    static constexpr bool made = false;
    static constexpr ir::graph graph{};
    static constexpr ir::program program{};
    static constexpr dovetail::plan::plan plan{};
    static constexpr const plan_options& options = O::value;
    static constexpr rewrite_trials rewrites{};
};
template <class G, class O>
struct planning<G, O, true> {
    static constexpr bool made = true;
    static constexpr ir::graph graph = found_plan<G, O>::graph;
    static constexpr ir::program program = found_plan<G, O>::program;
    static constexpr dovetail::plan::plan plan = found_plan<G, O>::value;
    static constexpr const plan_options& options = found_plan<G, O>::options::value;  // with the rewrites that were decided
    static constexpr const rewrite_trials& rewrites = decided<G, O>::trials;
};

}  // namespace detail

// A mistake in the graph, the options or the plan is reported; then `made` is false and the tables are empty.
template <class G, class O = options<>>
struct planned : detail::planning<G, O> {};

}  // namespace dovetail::plan
