// The table of communication: the row of a kind of operation says which members send to which, how the shape changes, which traffic it
// causes and which NCCL call performs it. All other properties of a kind are computed from its row. README.md tells how to add one.
#pragma once

#include "../core/vocabulary.hpp"

namespace dovetail::collective {

// Which members send to which. The members are the positions along axes, or the roles, in order.
enum class flow : unsigned char {
    none,       // no communication
    channel,    // member 0 to member 1: from role to role, derived where a value crosses roles
    shifted,    // each member to the one `offset` behind it along one axis
    paired,     // the members at the sources of the operation's pairs to those at the targets, along one axis
    from_root,  // the root to every member
    to_root,    // every member to the root
    everyone,   // every member to every member
    itself      // each member to itself: a copy within its memory
};

// The form of an argument or a result: one tensor, or equal blocks of extent 0, one for each member. Block i of an argument goes to member
// i; block i of a result comes from member i. A kind that reduces combines what it receives.
enum class pieces : unsigned char { one, one_per_member };

// The bytes over the slowest link, for the usual algorithm with n members and a payload (the larger of argument and result).
enum class traffic : unsigned char {
    none,
    link,            // the payload, from one rank to one other
    bus,             // the payload, over the links of all members at once
    bus_less_own,    // (n - 1) / n of the payload: a member keeps its own block
    twice_less_own,  // twice (n - 1) / n of the payload: reduce_scatter, then all_gather
    own              // nothing: a member reads and writes 1 / n of the payload in its memory
};

// The NCCL call. send_recv: a send and a receive for each pair of members, in one NCCL group.
enum class nccl_call : unsigned char { none, send_recv, all_reduce, reduce, broadcast, all_gather, reduce_scatter };

struct row {
    op_kind kind;
    const char* name;
    flow moves = flow::none;
    pieces sends = pieces::one;
    pieces receives = pieces::one;
    bool reduces = false;
    traffic passes = traffic::none;
    nccl_call call = nccl_call::none;
    bool in_place = false;  // the result may use the memory of the argument; false needs more memory and is always correct
};

// clang-format off
inline constexpr row table[] = {
    {op_kind::compute,        "compute"},
    {op_kind::input,          "input"},
    {op_kind::to_host,        "to_host"},
    {op_kind::from_host,      "from_host"},
    //                                          moves            sends                   receives                reduces  passes
    {op_kind::transfer,       "transfer",       flow::channel,   pieces::one,            pieces::one,            false, traffic::link,           nccl_call::send_recv},
    {op_kind::shift,          "shift",          flow::shifted,   pieces::one,            pieces::one,            false, traffic::link,           nccl_call::send_recv},
    {op_kind::all_reduce,     "all_reduce",     flow::everyone,  pieces::one,            pieces::one,            true,  traffic::twice_less_own, nccl_call::all_reduce, true},
    {op_kind::reduce,         "reduce",         flow::to_root,   pieces::one,            pieces::one,            true,  traffic::bus,            nccl_call::reduce},
    {op_kind::broadcast,      "broadcast",      flow::from_root, pieces::one,            pieces::one,            false, traffic::bus,            nccl_call::broadcast},
    {op_kind::all_gather,     "all_gather",     flow::everyone,  pieces::one,            pieces::one_per_member, false, traffic::bus_less_own,   nccl_call::all_gather},
    {op_kind::reduce_scatter, "reduce_scatter", flow::everyone,  pieces::one_per_member, pieces::one,            true,  traffic::bus_less_own,   nccl_call::reduce_scatter},
    {op_kind::all_to_all,     "all_to_all",     flow::everyone,  pieces::one_per_member, pieces::one_per_member, false, traffic::bus_less_own,   nccl_call::send_recv},
    {op_kind::gather,         "gather",         flow::to_root,   pieces::one,            pieces::one_per_member, false, traffic::bus_less_own,   nccl_call::send_recv},
    {op_kind::scatter,        "scatter",        flow::from_root, pieces::one_per_member, pieces::one,            false, traffic::bus_less_own,   nccl_call::send_recv},
    {op_kind::permute,        "permute",        flow::paired,    pieces::one,            pieces::one,            false, traffic::link,           nccl_call::send_recv},
    {op_kind::own_rows,       "own_rows",       flow::itself,    pieces::one_per_member, pieces::one,            false, traffic::own,            nccl_call::send_recv},
    {op_kind::local_reduce,   "local_reduce"},
};
// clang-format on

inline constexpr int rows = static_cast<int>(sizeof(table) / sizeof(*table));

constexpr const row& of(op_kind k) { return table[static_cast<int>(k)]; }

// Whether f(row) is true for every row. Functions over kinds use it to assert that they handle all of them.
template <class F>
constexpr bool each_row(F f) {
    for (const row& r : table)
        if (!f(r)) return false;
    return true;
}

namespace detail {

// Whether K is one of the enumerators: compilers print "[K = op_kind::scatter]" for those and "[K = (op_kind)14]" for any other value.
template <op_kind K>
constexpr bool is_enumerator() {
    const char* text = __PRETTY_FUNCTION__;
    while (*text != '=') ++text;
    while (*text != '(' && *text != '\0') ++text;
    return *text == '\0';
}
constexpr bool stands_at_its_kind(const row& r) { return &of(r.kind) == &r; }
constexpr bool is_complete(const row& r) {
    const bool moves = r.moves != flow::none;
    return moves == (r.passes != traffic::none) && moves == (r.call != nccl_call::none) && (moves || !r.reduces);
}

}  // namespace detail

static_assert(each_row(detail::stands_at_its_kind), "dovetail: the rows of the table of communication stand in the order of op_kind");
static_assert(!detail::is_enumerator<static_cast<op_kind>(rows)>(),
              "dovetail: the last kind of op_kind has no row in the table of communication");
static_assert(each_row(detail::is_complete), "dovetail: a kind that moves something has traffic and a call, and no other has");

}  // namespace dovetail::collective

namespace dovetail {

constexpr const char* name_of(op_kind k) { return collective::of(k).name; }

constexpr bool is_communication(op_kind k) { return collective::of(k).moves != collective::flow::none; }
constexpr bool is_rooted(op_kind k) {
    return collective::of(k).moves == collective::flow::from_root || collective::of(k).moves == collective::flow::to_root;
}
// A communication of all members, with or without a root, along axes or over roles. The other kinds move data between pairs.
constexpr bool is_collective(op_kind k) { return collective::of(k).moves == collective::flow::everyone || is_rooted(k); }
constexpr bool is_reducing(op_kind k) { return collective::of(k).reduces; }

}  // namespace dovetail
