// A record: one type of the language as a constant, linked to those it is made of. The tree of a graph's records is what
// `lower` walks; counting a record and all below it numbers every type that the graph mentions, in written order, and
// `mention<G, k>` turns such a number back into the type.
#pragma once

#include "../core/vocabulary.hpp"

namespace dovetail::dsl {

enum class word : unsigned char {
    name,
    operation,
    expression,
    values,
    discard,
    all,
    tensor,
    input,
    pinned,
    replicated,
    state,
    from_store,
    let,
    update,
    output,
    on,
    mesh,
    axis,
    axis_index,
    group,
    nccl_group,
    repeat,
    graph,
    malformed,  // a let or update of what is no expression
    root,
    root_index,
    to,
    ellipsis,
    no_shape_rule,
    // a repeat or all that cannot be counted out
    negative_count,
    too_many_indices,
    other_arity
};

inline constexpr tensor_type no_tensor{};

struct record;

// A statement where it stands: records, of which the first says what it is. That of a let or update is shared by all with the same
// operation and as many arguments; behind it stand name, operation and arguments, without a record for the expression, which is
// counted among the mentions. Any other statement is its record alone.
using statement = const record* const*;

// What stands below a record is what it consists of.
struct record {
    word kind = word::name;
    tag id = nameless;  // of a name, operation or initialiser
    const record* const* children = nullptr;
    int child_count = 0;                    // ... or of its statements; of a let or update, what stands behind its record
    int mentions = 1;                       // itself and all below
    int arguments = 1;                      // how many it stands for as an argument: one, or N for all<N, ...>
    const operation* op = &no_operation;    // of an expression: the facts of its operation, if it takes this number of arguments
    const tensor_type* type = &no_tensor;   // tensor
    int number = 0;                         // width of an axis, index of a root
    const statement* statements = nullptr;  // instead of children: of a graph, on, group, nccl_group or repeat
};

constexpr bool has_statements(const record& r) {
    return r.kind == word::graph || r.kind == word::on || r.kind == word::group || r.kind == word::nccl_group || r.kind == word::repeat;
}

}  // namespace dovetail::dsl
