// The graph after expansion: tasks (one per operation, transfer or group, shared by all roles that take part), their
// participations (what one role does in a task), accesses of buffers, and buffers (a value's memory on one role). Every edge is
// between two tasks that touch the same buffer of one role.
#pragma once

#include "graph.hpp"

namespace dovetail::ir {

enum class storage : unsigned char {
    arena,      // in the role's device arena
    host,       // in the role's pinned host arena
    input,      // where the caller bound it, or staging memory
    state,      // in the store
    workspace,  // in the device arena, for one task only
    constant    // an axis index, written when the executor is made
};

struct buffer {
    storage where = storage::arena;
    int role = 0;
    int symbol = -1;  // the symbol whose value it holds; -1: workspace
    tensor_type type = {};
    std::int64_t bytes = 0;
    int slots = 1;        // copies, used by successive runs in turn
    bool output = false;  // read by the caller after the run
    int alias = -1;       // the buffer whose bytes it re-uses (an in-place result); that one has no alias itself
    int symmetric_set =
        -1;              // buffers with equal numbers lie at equal offsets (collectives over roles): one of a role, equal bytes and slots
    int first_leaf = 0;  // in program.leaves; its leaves follow each other there and tile it
    int leaves = 1;      // more than one if an access reads or writes a part of it
};

// A block of rows of a buffer. Dependencies, waits and the values that the prover follows are by leaf; lifetime, offset and slots are
// those of the buffer.
struct leaf {
    std::int64_t begin = 0;  // bytes from the start of its buffer
    std::int64_t bytes = 0;
};

// A run of leaves of one buffer: all of it, or a block of its rows.
struct access {
    int buffer = 0;
    access_mode mode = access_mode::read;
    int leaf = 0;  // the first, in program.leaves
    int leaves = 1;
};

// What one role does in one member of a task. Accesses: arguments in order, then results in order (an update target that
// is also an argument stands once, as `update`), then workspace. Behind them, reads that order it and are not passed to the launch.
struct participation {
    int role = 0;
    int member = 0;       // index into program.members
    int group_index = 0;  // its place among those of its member: a transfer's sender is 0, its receiver 1
    int first_access = 0;
    int accesses = 0;  // that are passed
    int awaited = 0;   // the accesses behind those: values that it starts after

    constexpr int touches() const { return accesses + awaited; }
};

// One operation. More than one in a task make an NCCL group.
struct member {
    op_kind kind = op_kind::compute;
    const operation* op = nullptr;
    int node = -1;    // of the graph; -1: a derived transfer or an input
    int symbol = -1;  // what a transfer or input moves; else the first result
    reduction reduce = reduction::none;
    int communicator = -1;  // also of a local_reduce that makes the rank's own block in place: of whose blocks it is one
    int root = -1;          // group index (collective over roles) or index along the communicator's axes
    int offset = 0;
    bool zero_edge = false;
    bool local = false;  // one rank plays all roles (a single-rank graph): no communication
};

struct task {
    int first_participation = 0;  // those of one role are adjacent, roles ascending
    int participations = 0;
    int first_member = 0;
    int members = 0;
    stream_kind stream = stream_kind::compute;  // in the overlapped plan
    op_kind kind = op_kind::compute;            // of its first member
    transport moved_by = transport::nccl;       // of communication between ranks
};

// Which ranks communicate: for each coordinate of the axes outside the mask, the positions along `axes` of the roles listed, or, with no
// axes, the ranks of the listed roles with equal coordinates. Role lists are in program.communicator_roles, in group index order.
struct communicator {
    unsigned axes = 0;
    int first_role = 0;
    int roles = 0;
};

enum class edge_kind : unsigned char { flow, anti, output };

// `to` starts after `from` of the same run, on `role`, because both touch `buffer`. Waits on earlier runs:
// pass/sync/waits_across_runs.hpp.
struct edge {
    int from = 0;
    int to = 0;
    int role = 0;
    int buffer = 0;
    edge_kind kind = edge_kind::flow;
};

template <class Store>
struct basic_program {
    typename Store::template of<buffer, 0> buffers;
    typename Store::template of<access, 1> accesses;
    typename Store::template of<participation, 2> participations;
    typename Store::template of<member, 3> members;
    typename Store::template of<task, 4> tasks;
    typename Store::template of<communicator, 5> communicators;
    typename Store::template of<int, 6> communicator_roles;
    typename Store::template of<leaf, 7> leaves;
    int roles = 1;           // distinct ranks' programs: 1 when single_rank
    int symmetric_sets = 0;  // number of distinct buffer.symmetric_set values

    static constexpr int tables = 8;
};

template <class A, class B, class F>
constexpr void zip(A& a, B& b, F f)
    requires(A::tables == 8 && requires { a.buffers; })
{
    f(a.buffers, b.buffers);
    f(a.accesses, b.accesses);
    f(a.participations, b.participations);
    f(a.members, b.members);
    f(a.tasks, b.tasks);
    f(a.communicators, b.communicators);
    f(a.communicator_roles, b.communicator_roles);
    f(a.leaves, b.leaves);
    b.roles = a.roles;
    b.symmetric_sets = a.symmetric_sets;
}

// The buffer whose bytes a buffer has.
template <class Program>
constexpr int owner_of(const Program& program, int buffer) {
    const int alias = program.buffers[buffer].alias;
    return alias < 0 ? buffer : alias;
}

// Whether some buffer is read or written in part. Where none is, a leaf has the number of its buffer.
template <class Program>
constexpr bool has_parts(const Program& program) {
    return program.leaves.size() != program.buffers.size();
}

// Where an access begins, in bytes from the start of its buffer.
template <class Program>
constexpr std::int64_t offset_of(const Program& program, const access& a) {
    return program.leaves.first[a.leaf].begin;
}
template <class Program>
constexpr std::int64_t bytes_of(const Program& program, const access& a) {
    const leaf& last = program.leaves.first[a.leaf + a.leaves - 1];
    return last.begin + last.bytes - program.leaves.first[a.leaf].begin;
}
// Whether a member makes, or moves, the rank's own block where it is among all blocks. (The operations of members without a node are null,
// which under -fsanitize=undefined is nothing to ask in a constant expression.)
constexpr bool has_own_block_in_place(const member& m) { return m.node >= 0 && m.op->own_block_in_place; }
// Whether a member touches a block of what it accesses: a reduction within a rank, and what moves its result from its place.
constexpr bool touches_blocks(const member& m) { return m.kind == op_kind::local_reduce || has_own_block_in_place(m); }
// The bytes that a participation touches of its access `k`. A local_reduce reads of its second argument the block that it does not read of
// the first.
template <class Graph, class Program>
constexpr std::int64_t touched_bytes(const Graph& g, const Program& program, const participation& x, int k) {
    const member& m = program.members.first[x.member];
    const access& a = program.accesses.first[x.first_access + k];
    const bool reduces = m.kind == op_kind::local_reduce;
    if (reduces && k == 1) return 0;
    if (!has_own_block_in_place(m) || !(reduces ? writes(a.mode) : reads(a.mode))) return bytes_of(program, a);
    const node& n = g.nodes.first[m.node];
    return bytes_of(program, a) / width_along(g, n.role, n.axes);
}
// The tensor that an operation sees: the rows that the access covers.
template <class Program>
constexpr tensor_type type_of(const Program& program, const access& a) {
    const buffer& whole = program.buffers.first[a.buffer];
    tensor_type type = whole.type;
    if (a.leaves != whole.leaves) type.extent[0] = bytes_of(program, a) / (whole.bytes / type.extent[0]);
    return type;
}

// Whether a participation sends and does not receive. In a broadcast its argument is also passed as its result.
template <class Program>
constexpr bool only_sends(const Program& program, const participation& x) {
    return x.accesses == 1 && program.accesses[x.first_access].mode == access_mode::read;
}

// Whether a task writes a symbol's value, or a part of it.
template <class Program>
constexpr bool writes_symbol(const Program& program, const task& v, int symbol) {
    const auto& participations = program.participations.first;
    const auto& accesses = program.accesses.first;
    for (int i = v.first_participation, last = i + v.participations; i < last; ++i)
        for (int a = participations[i].first_access, end = a + participations[i].accesses; a < end; ++a)
            if (writes(accesses[a].mode) && program.buffers.first[accesses[a].buffer].symbol == symbol) return true;
    return false;
}

using program = basic_program<viewing>;
using program_data = basic_program<owning>;

}  // namespace dovetail::ir
