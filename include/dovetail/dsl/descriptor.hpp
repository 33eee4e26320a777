// A descriptor: one type of the language as a constant, linked to those it is made of. The tree of a graph's descriptors is what
// `lower` walks; counting a descriptor and all below it numbers every type that the graph names, in written order, and
// `source position<G, k>` turns such a number back into the type.
#pragma once

#include "../core/vocabulary.hpp"

namespace dovetail::dsl {

enum class keyword : unsigned char {
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
    pair,
    to,
    ellipsis,
    no_shape_rule,
    // a repeat or all that cannot be counted out
    negative_count,
    too_many_indices,
    other_arity
};

inline constexpr tensor_type no_tensor{};

struct descriptor;

// A statement where it stands: descriptors, of which the first says what it is. That of a let or update is shared by all with the same
// operation and as many arguments; behind it stand name, operation and arguments, without a descriptor for the expression, which is
// counted among the names. Any other statement is its descriptor alone.
using statement = const descriptor* const*;

// What stands below a descriptor is what it consists of.
struct descriptor {
    keyword kind = keyword::name;
    tag id = nameless;  // of a name, operation or initialiser
    const descriptor* const* children = nullptr;
    int child_count = 0;                    // ... or of its statements; of a let or update, what stands behind its descriptor
    int positions = 1;                      // itself and all below
    int arguments = 1;                      // how many it stands for as an argument: one, or N for all<N, ...>
    const operation* op = &no_operation;    // of an expression: the facts of its operation, if it takes this number of arguments
    const tensor_type* type = &no_tensor;   // tensor
    int number = 0;                         // width of an axis, index of a root
    const statement* statements = nullptr;  // instead of children: of a graph, on, group, nccl_group or repeat
};

constexpr bool has_statements(const descriptor& r) {
    return r.kind == keyword::graph || r.kind == keyword::on || r.kind == keyword::group || r.kind == keyword::nccl_group || r.kind == keyword::repeat;
}

}  // namespace dovetail::dsl
