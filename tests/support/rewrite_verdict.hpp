// What the comparison of a rewritten graph with the written one answers: `rewrite_flaw`, the kind of the first difference, and
// `rewrite_verdict`, that kind with the node it was seen at. A verdict is true where nothing is wrong.
#pragma once

namespace support {

enum class rewrite_flaw : unsigned char {
    none,
    symbol_changed,   // an input, state, output or named value is another, or an output is not made
    node_missing,     // a written operation, or a block of it, is not there
    node_twice,       // ... or is there twice
    node_added,       // an operation that was not written and is no view
    node_changed,     // another operation, role, root, ... than that of the origin
    wrong_argument,   // not the written argument, or not the block of it that row_wise asks for
    differs_by_rank,  // rows in the order of a reduce_scatter meet a value that depends on the rank
    wrong_result,     // not the written result, or not a block of it
    state_order       // an operation reads or changes a state on the other side of an update
};

constexpr const char* name_of(rewrite_flaw f) {
    constexpr const char* names[] = {"none",         "symbol_changed", "node_missing",    "node_twice",   "node_added",
                                     "node_changed", "wrong_argument", "differs_by_rank", "wrong_result", "state_order"};
    return names[static_cast<int>(f)];
}

struct rewrite_verdict {
    rewrite_flaw what = rewrite_flaw::none;
    int node = -1;  // of the rewritten graph; of the written one where the node is missing

    constexpr explicit operator bool() const { return what == rewrite_flaw::none; }
};

}  // namespace support
