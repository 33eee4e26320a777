// A descriptor is a constant that describes one type of the language and points to the descriptors of the types it consists of. `lower`
// walks the tree of a graph's descriptors. Counted in written order, each descriptor has a number, its source position; `type_at<G, k>`
// (source_position.hpp) turns the number back into the type.
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
    network_axis,
    axis_index,
    group,
    nccl_group,
    split,
    decompose,
    keep,
    bucket,
    shard_update,
    moved_by,
    repeat,
    after,
    roles,
    graph,
    malformed,  // a let or update whose second argument is not an expression
    root,
    root_index,
    pair,
    to,
    ellipsis,
    no_shape_rule,
    // a repeat or all that cannot be expanded
    negative_count,
    too_many_indices,
    other_arity,
    // a pipeline that cannot be ordered
    pipeline_size,
    unknown_schedule,
    body_count,
    uneven_micro_batches
};

inline constexpr tensor_type no_tensor{};

struct descriptor;

// A statement in a list: an array of descriptors, the first of which has its keyword. All lets (or updates) with the same operation and
// number of arguments share that first descriptor; name, operation and arguments follow. The expression has a source position but no
// descriptor of its own. Any other statement is an array of its one descriptor.
using statement = const descriptor* const*;

// The children of a descriptor describe the types that its type consists of.
struct descriptor {
    keyword kind = keyword::name;
    tag id = nameless;  // of a name, operation or initialiser
    const descriptor* const* children = nullptr;
    int child_count = 0;                    // number of children or of statements; of a let or update, of the descriptors that follow
    int positions = 1;                      // source positions: this type and all below it
    int arguments = 1;                      // arguments that it stands for: one, or N for all<N, ...>
    const operation* op = &no_operation;    // of an expression: the facts of its operation, if that accepts this number of arguments
    const tensor_type* type = &no_tensor;   // tensor
    int number = 0;                         // width of an axis, index of a root, blocks of a split
    const statement* statements = nullptr;  // instead of children: of a graph and of every statement that holds others
};

constexpr bool is_axis(const descriptor& r) { return r.kind == keyword::axis || r.kind == keyword::network_axis; }

// Of the statements in it.
constexpr bool asks_for_rewrite(const descriptor& r) {
    return r.kind == keyword::split || r.kind == keyword::decompose || r.kind == keyword::keep || r.kind == keyword::bucket ||
           r.kind == keyword::shard_update || r.kind == keyword::moved_by;
}

constexpr bool has_statements(const descriptor& r) {
    return r.kind == keyword::graph || r.kind == keyword::on || r.kind == keyword::group || r.kind == keyword::nccl_group ||
           r.kind == keyword::repeat || r.kind == keyword::after || asks_for_rewrite(r);
}

}  // namespace dovetail::dsl
