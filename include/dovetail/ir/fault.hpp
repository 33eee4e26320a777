// What is wrong with a graph, as a value: the kind of mistake and the numbers of the types to name. `plan/diagnose` turns it
// into the error template of the same name.
#pragma once

#include "../core/tensor.hpp"

namespace dovetail::ir {

enum class fault_kind : unsigned char {
    none,
    said_already,
    // names
    unknown_name,
    role_as_value,
    axis_as_value,
    defined_twice,
    cycle,
    unused,
    all_discarded,
    output_twice,
    unknown_output,
    output_not_a_value,
    output_elsewhere,
    empty_graph,
    not_an_operation,
    not_an_expression,
    not_an_argument,
    not_a_name,
    operation_as_value,
    ellipsis,
    no_shape_rule,
    rule_not_constexpr,
    workspace_not_constexpr,
    not_a_statement,
    body_not_a_statement,
    body_arity,
    too_many_indices,
    family_arity,
    negative_count,
    pipeline_size,
    unknown_schedule,
    body_count,
    uneven_micro_batches,
    // shapes
    wrong_arity,
    shape_mismatch,
    zero_extent,
    wrong_result_count,
    update_mismatch,
    size_overflow,
    workspace_size,
    no_such_block,
    uneven_rows,
    unaligned_rows,
    rows_by_themselves,
    not_a_part,
    part_elsewhere,
    part_twice,
    part_in_place,
    rows_of_target,
    target_as_two_arguments,
    targets_in_another_order,
    after_of_another_statement,
    after_elsewhere,
    // roles, axes and collectives
    unused_role,
    role_not_listed,
    role_listed_twice,
    not_a_role,
    on_in_on,
    outside_role,
    collective_inside_role,
    axis_outside_role,
    argument_of_no_role,
    mesh_mismatch,
    single_rank_mismatch,
    off_root_read,
    off_root_update,
    role_twice,
    unknown_role,
    unknown_axis,
    replicated_along_nothing,
    not_an_axis,
    axis_twice,
    too_many_ranks,
    too_many_axes,
    mesh_twice,
    member_mismatch,
    member_count,
    open_width,
    indivisible,
    bad_reduction,
    swapped_reduction,
    bad_root,
    bad_pairs,
    bad_position,
    source_twice,
    target_twice,
    not_communication,
    group_dependence,
    // states and memory
    not_a_state,
    uninitialised,
    diverging_replicas,
    in_place_shared,
    in_place_mismatch,
    state_crosses_roles,
    host_value,
    device_value,
    state_on_host,
    // rewrites
    bad_block_count,
    nothing_to_split,
    split_in_split,
    not_row_wise,
    update_in_split,
    cut_in_another_way,
    differs_by_rank,
    split_stops,
    blocks_of_columns,
    uneven_blocks,
    unaligned_blocks,
    blocks_of_another_shape,
    split_on_host,
    split_in_place,
    nothing_to_decompose,
    not_decomposable,
    decompose_open_width,
    decompose_uneven,
    nothing_to_keep,
    bad_bucket_size,
    nothing_to_bucket,
    nothing_to_move,
    not_by_copy_engines,
    nothing_to_shard,
    update_not_sharded
};

inline constexpr int max_fault_names = 12;
inline constexpr int names_left_out = -2;  // in place of a source position

struct fault {
    fault_kind kind = fault_kind::none;
    int count = 0;  // names to name, in the order of the error's arguments
    int source_position[max_fault_names] = {};
    int types = 0;  // tensors to name behind them
    tensor_type type[4] = {};
    bool counted = false;
    std::int64_t number = 0;  // a count, an extent or a width, where the error shows one
    int where = -1;           // a source position in the statement to look at; -1: the first to name

    constexpr explicit operator bool() const { return kind != fault_kind::none; }
    constexpr fault& name(int m) {
        if (count < max_fault_names) source_position[count++] = m;
        return *this;
    }
    // Names the first name again, behind the last of a cycle. Of a long cycle the names before are left out, and the error says so.
    constexpr fault& close_cycle() {
        if (count == max_fault_names) {
            count = max_fault_names - 1;
            source_position[count - 1] = names_left_out;
        }
        return name(source_position[0]);
    }
    constexpr fault& tensor(const tensor_type& t) {
        if (types < 4) type[types++] = t;
        return *this;
    }
    constexpr fault& count_of(std::int64_t n) {
        counted = true;
        number = n;
        return *this;
    }
    constexpr fault& in(int source_position) {
        where = source_position;
        return *this;
    }
};

// A fault of this kind that names these names.
template <class... M>
constexpr fault make_fault(fault_kind kind, M... positions) {
    fault f;
    f.kind = kind;
    (f.name(positions), ...);
    return f;
}

}  // namespace dovetail::ir
