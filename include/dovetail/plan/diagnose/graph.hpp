// diagnose<G>: the first mistake in a graph as a type: error::none, or an error template with the names concerned. Nothing is reported
// until the type is instantiated, which everything that needs a valid graph does.
#pragma once

#include "../../error/error.hpp"
#include "nearest_name.hpp"
#include "rewrites.hpp"

namespace dovetail::plan {

namespace detail {

template <class G>
constexpr auto tell_arity() {
    if constexpr (dsl::accepts_any<named<G, 1>>)
        return tell<error::wrong_arity, G>();
    else
        return std::type_identity<error::bad_shape_rule<named<G, 0>, named<G, 1>, standing<G>>>{};
}

template <class G>
constexpr auto graph_error() {
    // Long: a row for each mistake, with the types that its error names.
    using kind = ir::fault_kind;
    constexpr ir::fault f = fault_of<G>::value;
    if constexpr (f.kind == kind::none)
        return std::type_identity<error::none>{};
    else if constexpr (f.kind == kind::said_already)
        return std::type_identity<error::said_already>{};
    else if constexpr (f.kind == kind::unknown_name)
        return tell_nearest<error::unknown_name, G, named<G, 0>>();
    else if constexpr (f.kind == kind::unknown_output)
        return tell_nearest<error::unknown_output, G>();
    else if constexpr (f.kind == kind::defined_twice)
        return tell<error::defined_twice, G>();
    else if constexpr (f.kind == kind::role_as_value)
        return tell<error::role_as_value, G>();
    else if constexpr (f.kind == kind::axis_as_value)
        return tell<error::axis_as_value, G>();
    else if constexpr (f.kind == kind::cycle)
        return tell<error::cycle, G>();
    else if constexpr (f.kind == kind::unused)
        return tell<error::unused, G>();
    else if constexpr (f.kind == kind::all_discarded)
        return tell<error::all_discarded, G>();
    else if constexpr (f.kind == kind::output_twice)
        return tell<error::output_twice, G>();
    else if constexpr (f.kind == kind::output_not_a_value)
        return tell<error::output_not_a_value, G>();
    else if constexpr (f.kind == kind::output_elsewhere)
        return tell<error::output_elsewhere, G>();
    else if constexpr (f.kind == kind::empty_graph)
        return std::type_identity<error::empty_graph<G>>{};
    else if constexpr (f.kind == kind::not_an_operation)
        return tell<error::not_an_operation, G>();
    else if constexpr (f.kind == kind::not_an_expression)
        return tell<error::not_an_expression, G>();
    else if constexpr (f.kind == kind::not_an_argument)
        return tell<error::not_an_argument, G>();
    else if constexpr (f.kind == kind::not_a_name)
        return tell<error::not_a_name, G>();
    else if constexpr (f.kind == kind::operation_as_value)
        return tell<error::operation_as_value, G>();
    else if constexpr (f.kind == kind::ellipsis)
        return tell<error::ellipsis, G>();
    else if constexpr (f.kind == kind::no_shape_rule)
        return tell<error::no_shape_rule, G>();
    else if constexpr (f.kind == kind::rule_not_constexpr)
        return tell<error::rule_not_constexpr, G>();
    else if constexpr (f.kind == kind::workspace_not_constexpr)
        return tell<error::workspace_not_constexpr, G>();
    else if constexpr (f.kind == kind::not_a_statement)
        return tell<error::not_a_statement, G>();
    else if constexpr (f.kind == kind::body_not_a_statement)
        return tell<error::body_not_a_statement, G>();
    else if constexpr (f.kind == kind::body_arity)
        return tell<error::body_arity, G>();
    else if constexpr (f.kind == kind::too_many_indices)
        return tell<error::too_many_indices, G>();
    else if constexpr (f.kind == kind::family_arity)
        return tell<error::family_arity, G>();
    else if constexpr (f.kind == kind::negative_count)
        return tell<error::negative_count, G>();
    else if constexpr (f.kind == kind::pipeline_size)
        return tell<error::pipeline_size, G>();
    else if constexpr (f.kind == kind::unknown_schedule)
        return tell<error::unknown_schedule, G>();
    else if constexpr (f.kind == kind::body_count)
        return tell<error::body_count, G>();
    else if constexpr (f.kind == kind::uneven_micro_batches)
        return tell<error::uneven_micro_batches, G>();
    else if constexpr (f.kind == kind::wrong_arity)
        return tell_arity<G>();
    else if constexpr (f.kind == kind::shape_mismatch)
        return tell<error::shape_mismatch, G>();
    else if constexpr (f.kind == kind::zero_extent)
        return tell<error::zero_extent, G>();
    else if constexpr (f.kind == kind::wrong_result_count)
        return tell<error::wrong_result_count, G>();
    else if constexpr (f.kind == kind::update_mismatch)
        return tell<error::update_mismatch, G>();
    else if constexpr (f.kind == kind::size_overflow)
        return tell<error::size_overflow, G>();
    else if constexpr (f.kind == kind::workspace_size)
        return tell<error::workspace_size, G>();
    else if constexpr (f.kind == kind::rows_of_target)
        return tell<error::rows_of_target, G>();
    else if constexpr (f.kind == kind::target_as_two_arguments)
        return tell<error::target_as_two_arguments, G>();
    else if constexpr (f.kind == kind::targets_in_another_order)
        return tell<error::targets_in_another_order, G>();
    else if constexpr (f.kind == kind::after_of_another_statement)
        return tell<error::after_of_another_statement, G>();
    else if constexpr (f.kind == kind::after_elsewhere)
        return tell<error::after_elsewhere, G>();
    else if constexpr (f.kind == kind::part_in_place)
        return tell<error::part_in_place, G>();
    else if constexpr (f.kind == kind::part_twice)
        return tell<error::part_twice, G>();
    else if constexpr (f.kind == kind::part_elsewhere)
        return tell<error::part_elsewhere, G>();
    else if constexpr (f.kind == kind::not_a_part)
        return tell<error::not_a_part, G>();
    else if constexpr (f.kind == kind::rows_by_themselves)
        return tell<error::rows_by_themselves, G>();
    else if constexpr (f.kind == kind::unaligned_rows)
        return tell<error::unaligned_rows, G>();
    else if constexpr (f.kind == kind::uneven_rows)
        return tell<error::uneven_rows, G>();
    else if constexpr (f.kind == kind::no_such_block)
        return tell<error::no_such_block, G>();
    else if constexpr (f.kind == kind::unused_role)
        return tell<error::unused_role, G>();
    else if constexpr (f.kind == kind::role_not_listed)
        return tell<error::role_not_listed, G>();
    else if constexpr (f.kind == kind::role_listed_twice)
        return tell<error::role_listed_twice, G>();
    else if constexpr (f.kind == kind::not_a_role)
        return tell<error::not_a_role, G>();
    else if constexpr (f.kind == kind::on_in_on)
        return tell<error::on_in_on, G>();
    else if constexpr (f.kind == kind::outside_role)
        return tell<error::outside_role, G>();
    else if constexpr (f.kind == kind::collective_inside_role)
        return tell<error::collective_inside_role, G>();
    else if constexpr (f.kind == kind::axis_outside_role)
        return tell<error::axis_outside_role, G>();
    else if constexpr (f.kind == kind::argument_of_no_role)
        return tell<error::argument_of_no_role, G>();
    else if constexpr (f.kind == kind::mesh_mismatch)
        return tell<error::mesh_mismatch, G>();
    else if constexpr (f.kind == kind::single_rank_mismatch)
        return tell<error::single_rank_mismatch, G>();
    else if constexpr (f.kind == kind::off_root_read)
        return tell<error::off_root_read, G>();
    else if constexpr (f.kind == kind::off_root_update)
        return tell<error::off_root_update, G>();
    else if constexpr (f.kind == kind::role_twice)
        return tell<error::role_twice, G>();
    else if constexpr (f.kind == kind::unknown_role)
        return tell<error::unknown_role, G>();
    else if constexpr (f.kind == kind::unknown_axis)
        return tell<error::unknown_axis, G>();
    else if constexpr (f.kind == kind::replicated_along_nothing)
        return tell<error::replicated_along_nothing, G>();
    else if constexpr (f.kind == kind::not_an_axis)
        return tell<error::not_an_axis, G>();
    else if constexpr (f.kind == kind::axis_twice)
        return tell<error::axis_twice, G>();
    else if constexpr (f.kind == kind::too_many_ranks)
        return tell<error::too_many_ranks, G>();
    else if constexpr (f.kind == kind::too_many_axes)
        return tell<error::too_many_axes, G>();
    else if constexpr (f.kind == kind::mesh_twice)
        return tell<error::mesh_twice, G>();
    else if constexpr (f.kind == kind::member_mismatch)
        return tell<error::member_mismatch, G>();
    else if constexpr (f.kind == kind::member_count)
        return tell<error::member_count, G>();
    else if constexpr (f.kind == kind::open_width)
        return tell<error::open_width, G>();
    else if constexpr (f.kind == kind::indivisible)
        return tell<error::indivisible, G>();
    else if constexpr (f.kind == kind::bad_reduction)
        return tell<error::bad_reduction, G>();
    else if constexpr (f.kind == kind::swapped_reduction)
        return tell<error::swapped_reduction, G>();
    else if constexpr (f.kind == kind::bad_root)
        return tell<error::bad_root, G>();
    else if constexpr (f.kind == kind::bad_pairs)
        return tell<error::bad_pairs, G>();
    else if constexpr (f.kind == kind::bad_position)
        return tell<error::bad_position, G>();
    else if constexpr (f.kind == kind::source_twice)
        return tell<error::source_twice, G>();
    else if constexpr (f.kind == kind::target_twice)
        return tell<error::target_twice, G>();
    else if constexpr (f.kind == kind::not_communication)
        return tell<error::not_communication, G>();
    else if constexpr (f.kind == kind::group_dependence)
        return tell<error::group_dependence, G>();
    else if constexpr (f.kind == kind::not_a_state)
        return tell<error::not_a_state, G>();
    else if constexpr (f.kind == kind::uninitialised)
        return tell<error::uninitialised, G>();
    else if constexpr (f.kind == kind::diverging_replicas)
        return tell<error::diverging_replicas, G>();
    else if constexpr (f.kind == kind::in_place_shared)
        return tell<error::in_place_shared, G>();
    else if constexpr (f.kind == kind::in_place_mismatch)
        return tell<error::in_place_mismatch, G>();
    else if constexpr (f.kind == kind::state_crosses_roles)
        return tell<error::state_crosses_roles, G>();
    else if constexpr (f.kind == kind::host_value)
        return tell<error::host_value, G>();
    else if constexpr (f.kind == kind::device_value)
        return tell<error::device_value, G>();
    else if constexpr (f.kind == kind::state_on_host)
        return tell<error::state_on_host, G>();
    else
        return rewrite_error<G>();
}

// For a single-rank graph, a mistake in the graph itself is reported before a mistake of its use on one rank.
template <class G>
constexpr auto error_of() {
    if constexpr (!dsl::detail::is_graph<written<G>>)
        return std::type_identity<error::not_a_graph<written<G>>>{};
    else if constexpr (fault_of<G>::value.kind != ir::fault_kind::single_rank_mismatch)
        return graph_error<G>();
    else if constexpr (fault_of<written<G>>::value)
        return graph_error<written<G>>();
    else
        return graph_error<G>();
}

}  // namespace detail

// error::none, or the first mistake in the graph. Naming it reports nothing.
template <class G>
using diagnose = typename decltype(detail::error_of<G>())::type;

// Whether a graph has no mistake. A mistake is reported here, so callers do not report it again. True in device passes, where nothing is
// checked, planned or proven again unless device code uses it.
template <class G>
constexpr bool is_valid_graph() {
    if constexpr (device_pass) {
        return true;
    } else {
        error::report<diagnose<G>>();
        return std::is_same_v<diagnose<G>, error::none>;
    }
}

}  // namespace dovetail::plan
