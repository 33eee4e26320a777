// Who gives to whom in one communication, and whose results are equal: what the flow in a row means. A communication is anything that
// has `kind`, `op`, `root` (a member's number), `offset` and `zero_edge`: a node along axes, a member of the program, an exchange of
// the host.
#pragma once

#include "table.hpp"

namespace dovetail::collective {

// Of a kind in which each member gives to one other at most: the member that gets what member `from` of `members` gives; -1: none.
template <class Communication>
constexpr int target_of(const Communication& c, int from, int members) {
    if (of(c.kind).moves == flow::paired) {
        for (int i = 0; i < c.op->pair_count; ++i)
            if (c.op->pairs[i].source == from) return c.op->pairs[i].target;
        return -1;
    }
    const int to = from + c.offset;
    if (to >= 0 && to < members) return to;
    return c.zero_edge ? -1 : (to % members + members) % members;
}

// Whether what member `from` of `members` gives, or a block of it, reaches member `to`.
template <class Communication>
constexpr bool reaches(const Communication& c, int from, int to, int members) {
    switch (of(c.kind).moves) {
        case flow::none: return false;
        case flow::channel: return from == 0 && to == 1;
        case flow::shifted:
        case flow::paired: return target_of(c, from, members) == to;
        case flow::from_root: return from == c.root;
        case flow::to_root: return to == c.root;
        case flow::everyone: return true;
    }
    __builtin_unreachable();  // no constant expression: see the assertion below
}

// Whether a member has a result: the others' memory for one is left as it is.
template <class Communication>
constexpr bool gets_result(const Communication& c, int member) {
    switch (of(c.kind).moves) {
        case flow::none: return false;
        case flow::channel: return member == 1;
        case flow::to_root: return member == c.root;
        case flow::shifted:
        case flow::paired:
        case flow::from_root:
        case flow::everyone: return true;
    }
    __builtin_unreachable();  // no constant expression: see the assertion below
}

namespace detail {

struct any_communication {
    op_kind kind;
    const operation* op;
    int root, offset;
    bool zero_edge;
};
// What member 0, the root, gives reaches member 1 wherever that one gets a result. A flow without a case stops the evaluation, and
// the compiler.
constexpr bool has_cases(const row& r) {
    constexpr int root = 0, offset = 1;
    constexpr position_pair next{0, 1};
    operation op;
    op.pairs = &next;
    op.pair_count = 1;
    const any_communication c{r.kind, &op, root, offset, false};
    return reaches(c, 0, 1, 2) == gets_result(c, 1);
}

}  // namespace detail

static_assert(each_row(detail::has_cases), "dovetail: `reaches` and `gets_result` agree on each flow");

// Whether nothing reaches some member, which gets zeros. `members` is 0 where the width of the axis is open.
template <class Communication>
constexpr bool leaves_zeros(const Communication& c, std::int64_t members) {
    const flow moves = of(c.kind).moves;
    return (moves == flow::shifted && c.zero_edge) || (moves == flow::paired && c.op->pair_count != members);
}

// All members get the same: everybody reads the same, whole.
constexpr bool gives_equal_results(op_kind k) {
    const row& r = of(k);
    return r.gives == pieces::one && (r.moves == flow::everyone || r.moves == flow::from_root);
}

// Only the root gets a result.
constexpr bool ends_at_root(op_kind k) { return of(k).moves == flow::to_root; }

// Only the root gives.
constexpr bool begins_at_root(op_kind k) { return of(k).moves == flow::from_root; }

// One call of NCCL on a communicator of these members; else sends and receives on that of all ranks.
constexpr bool by_one_call(op_kind k) { return of(k).call != nccl_call::none && of(k).call != nccl_call::send_recv; }

// A root that gives and gets nothing passes its argument where the others pass their results: the one call takes a receive buffer of all.
constexpr bool passes_argument_as_result(op_kind k) { return by_one_call(k) && begins_at_root(k); }

}  // namespace dovetail::collective
