// The data movement of one communication, from the `moves` column of its row: which member sends to which, and which results are equal. A
// communication is any object with `kind`, `op`, `root` (number of a member), `offset` and `zero_edge`: a node along axes, a member of the
// program, an exchange of the host backend.
#pragma once

#include "table.hpp"

namespace dovetail::collective {

// For a kind in which each member sends to at most one: the receiver of the data of member `from`; -1: none.
template <class Communication>
constexpr int target_of(const Communication& c, int from, int members) {
    if (of(c.kind).moves == flow::paired) {
        for (int i = 0; i < c.op->pair_count; ++i)
            if (c.op->pairs[i].source == from) return c.op->pairs[i].target;
        return -1;
    }
    const std::int64_t to = std::int64_t{from} + c.offset;
    if (to >= 0 && to < members) return static_cast<int>(to);
    return c.zero_edge ? -1 : static_cast<int>((to % members + members) % members);
}

// Whether member `to` receives the data of member `from`, or a block of it.
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
        case flow::itself: return from == to;
    }
    __builtin_unreachable();  // not a constant expression: see the assertion below
}

// Whether a member has a result. The result memory of the others is not written.
template <class Communication>
constexpr bool receives_result(const Communication& c, int member) {
    switch (of(c.kind).moves) {
        case flow::none: return false;
        case flow::channel: return member == 1;
        case flow::to_root: return member == c.root;
        case flow::shifted:
        case flow::paired:
        case flow::from_root:
        case flow::everyone:
        case flow::itself: return true;
    }
    __builtin_unreachable();  // not a constant expression: see the assertion below
}

namespace detail {

struct any_communication {
    op_kind kind;
    const operation* op;
    int root, offset;
    bool zero_edge;
};
// With member 0 as root, some data reaches member 1 exactly if it has a result. For a flow without a case the evaluation, and so the
// compilation, fails.
constexpr bool has_cases(const row& r) {
    constexpr int root = 0, offset = 1;
    constexpr position_pair next{0, 1};
    operation op;
    op.pairs = &next;
    op.pair_count = 1;
    const any_communication c{r.kind, &op, root, offset, false};
    return (reaches(c, 0, 1, 2) || reaches(c, 1, 1, 2)) == receives_result(c, 1);
}

}  // namespace detail

static_assert(each_row(detail::has_cases), "dovetail: `reaches` and `receives_result` agree on each flow");

// Whether some member receives nothing, so that its result is zeros. `members` is 0 for an axis of open width.
template <class Communication>
constexpr bool leaves_zeros(const Communication& c, std::int64_t members) {
    const flow moves = of(c.kind).moves;
    return (moves == flow::shifted && c.zero_edge) || (moves == flow::paired && c.op->pair_count != members);
}

// Whether members with equal arguments may get different results.
template <class Communication>
constexpr bool tells_members_apart(const Communication& c, std::int64_t members) {
    const flow moves = of(c.kind).moves;
    const bool equal = moves == flow::none || moves == flow::channel || moves == flow::shifted || moves == flow::paired;
    return !equal || leaves_zeros(c, members);
}

// Whether all members get the same result: each gets the whole data of the same senders.
constexpr bool has_equal_results(op_kind k) {
    const row& r = of(k);
    return r.sends == pieces::one && (r.moves == flow::everyone || r.moves == flow::from_root);
}

// Whether data goes from one member to another.
constexpr bool passes_between_members(op_kind k) { return is_communication(k) && of(k).moves != flow::itself; }

// Whether only the root gets a result.
constexpr bool ends_at_root(op_kind k) { return of(k).moves == flow::to_root; }

// Whether only the root sends.
constexpr bool begins_at_root(op_kind k) { return of(k).moves == flow::from_root; }

// Whether one NCCL call on a communicator of the members does it; otherwise sends and receives on the communicator of all ranks.
constexpr bool by_one_call(op_kind k) { return of(k).call != nccl_call::none && of(k).call != nccl_call::send_recv; }

// Whether a root without a result passes its argument as its receive buffer, because the NCCL call needs a receive buffer on every member.
constexpr bool passes_argument_as_result(op_kind k) { return by_one_call(k) && begins_at_root(k); }

}  // namespace dovetail::collective
