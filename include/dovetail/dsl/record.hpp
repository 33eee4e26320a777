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
    lane,
    group,
    grouped,
    repeat,
    graph,
    malformed,  // a let or update of what is no expression
    root,
    root_lane,
    to,
    ellipsis,
    no_shape_rule
};

inline constexpr tensor_type no_tensor{};

// What stands below a record is what it consists of. A let or update has its expression's parts next to its name rather than the
// expression, so that a statement is one record: name, operation, arguments. The expression is counted among the mentions.
struct record {
    word kind = word::name;
    tag id = nameless;  // of a name, operation or initialiser
    const record* const* children = nullptr;
    int child_count = 0;
    int mentions = 1;                      // itself and all below
    int arguments = 1;                     // how many it stands for as an argument: one, or N for all<N, ...>
    const operation* op = &no_operation;   // of an expression: the facts of its operation, if it takes this number of arguments
    const tensor_type* type = &no_tensor;  // tensor
    int number = 0;                        // width of an axis, lane of a root
};

}  // namespace dovetail::dsl
