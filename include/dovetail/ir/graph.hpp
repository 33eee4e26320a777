// The graph as the user wrote it, in arrays: symbols (names that hold a tensor), nodes (operations in written order), roles
// and axes. Ids are indices. Filled by lower (and by tests), read by the passes up to `expand`.
#pragma once

#include "../collective/movement.hpp"
#include "../core/vec.hpp"
#include "fault.hpp"

namespace dovetail::ir {

enum class symbol_kind : unsigned char { value, input, state, axis_index };

struct symbol {
    const tag* name = &nameless;  // nameless: a nested expression
    symbol_kind kind = symbol_kind::value;
    tensor_type type = {};  // per position
    int role = -1;          // home; -1: an input bound on every role that uses it, or the result of a collective over roles
    int node = -1;          // what computes a value
    bool output = false;
    bool in_host_memory = false;               // pinned: written by to_host or bound as a host input
    bool initialised = false;                  // a state with an initialiser, or one that the store supplies
    bool shard = false;                        // a state that a rewrite added: this rank's rows of the one of this name, during a run
    transport sent_by = transport::automatic;  // to other roles, where a statement says it
    unsigned replicated = 0;                   // axes along which the positions are declared to agree
    unsigned index_axis = 0;                   // axis_index: the axis (as a mask)
    int source_position = -1;                  // where it was declared
};

struct node {
    const operation* op = nullptr;
    op_kind kind = op_kind::compute;
    int role = -1;           // -1: a collective over roles
    int first_argument = 0;  // symbol ids in graph.operands
    int arguments = 0;
    int first_result = 0;  // symbol ids in graph.operands; -1 for discard
    int results = 0;
    int first_target = 0;  // a collective over roles: the receiving roles in graph.operands
    int targets = 0;
    int first_awaited = 0;  // symbol ids in graph.operands: values that it starts after, and is not passed
    int awaited = 0;
    bool update = false;  // results are states, changed in place
    reduction reduce = reduction::none;
    unsigned axes = 0;  // mask of axis ids; 0 for a collective over roles
    int root = -1;      // position along the axis, or role id for a collective over roles
    int offset = 0;     // of a shift
    bool zero_edge = false;
    transport moved_by = transport::nccl;     // of communication between ranks
    transport stated = transport::automatic;  // once rewritten: what a statement or an option has said that it is moved by
    int nccl_group_id = -1;                   // statements of one `nccl_group` share this number
    int statement = 0;                        // written order, nested expressions counted with their statement
    int source_position = -1;                 // of the expression
    int part = 0, parts = 0;                  // of a view: block `part` of `parts` equal blocks of rows
    int region = -1;                          // the innermost statement around it that asks for a rewrite, in graph.regions
    int origin = -1;                          // once rewritten: the node of the written graph that it comes from; -1: a rewrite added it
    int block = 0, blocks = 0;                // of an operation in a split: it is block `block` of `blocks` of its origin
};

struct role {
    const tag* name = &nameless;  // nameless: the only role
    int first_axis = 0;           // in graph.mesh
    int axes = 0;
    int source_position = -1;
};

struct axis {
    const tag* name = &nameless;
    int source_position = -1;
};

// Of axes of fixed width, in all meshes of a graph together.
inline constexpr std::int64_t most_ranks = std::int64_t{1} << 20;

// One axis of one role's mesh. Width 0 is open: known when the executor is made. The link is for the prediction, and says what
// copy engines may move.
struct mesh_axis {
    int axis = 0;
    int width = 0;
    dovetail::link link = dovetail::link::local;
};

// A statement that asks for a rewrite of the statements in it.
struct region {
    rewrite kind = rewrite::identity;
    int number = 0;   // of a split: the blocks; of a bucket: its most bytes; or `automatic`; of copy_engines: a transport
    int parent = -1;  // the region around it
    int source_position = -1;
};

template <class Store>
struct basic_graph {
    typename Store::template of<symbol, 0> symbols;
    typename Store::template of<node, 1> nodes;
    typename Store::template of<int, 2> operands;
    typename Store::template of<role, 3> roles;
    typename Store::template of<axis, 4> axes;
    typename Store::template of<mesh_axis, 5> mesh;
    typename Store::template of<region, 6> regions;
    bool single_rank = false;  // one rank plays all roles
    bool lists_roles = false;  // by roles<...>
    bool views = false;        // some symbol is a block of rows of another one, see parts.hpp
    fault wrong = {};          // the first mistake found, if any; the arrays are complete only without one

    static constexpr int tables = 7;
};

// Calls f on each pair of corresponding arrays.
template <class A, class B, class F>
constexpr void zip(A& a, B& b, F f)
    requires(A::tables == 7 && requires { a.symbols; })
{
    f(a.symbols, b.symbols);
    f(a.nodes, b.nodes);
    f(a.operands, b.operands);
    f(a.roles, b.roles);
    f(a.axes, b.axes);
    f(a.mesh, b.mesh);
    f(a.regions, b.regions);
    b.single_rank = a.single_rank;
    b.views = a.views;
    b.lists_roles = a.lists_roles;
    b.wrong = a.wrong;
}

using graph = basic_graph<viewing>;
using graph_data = basic_graph<owning>;

// Width of an axis on a role: 0 where open, 1 where the role does not have it.
constexpr int width_of(const graph& g, int role, int axis) {
    for (const mesh_axis& m : g.mesh.subspan(g.roles[role].first_axis, g.roles[role].axes))
        if (m.axis == axis) return m.width;
    return 1;
}

// Whether two roles have the same axes with the same widths, open ones among them: the roles that a channel may join.
template <class Graph>
constexpr bool same_mesh(const Graph& g, int a, int b) {
    const role &x = g.roles.first[a], &y = g.roles.first[b];
    if (x.axes != y.axes) return false;
    for (int i = 0; i < x.axes; ++i) {
        const mesh_axis &m = g.mesh.first[x.first_axis + i], &k = g.mesh.first[y.first_axis + i];
        if (m.axis != k.axis || m.width != k.width) return false;
    }
    return true;
}

// Whether a role receives the result of a collective over roles.
template <class Graph>
constexpr bool receives(const Graph& g, const node& n, int role) {
    for (int i = n.first_target; i < n.first_target + n.targets; ++i)
        if (g.operands.first[i] == role) return true;
    return false;
}
// The region of this kind around a node; -1: none.
template <class Graph>
constexpr int region_around(const Graph& g, const node& n, rewrite kind) {
    int r = n.region;
    while (r >= 0 && g.regions[r].kind != kind) r = g.regions[r].parent;
    return r;
}

// Whether a node stands in a region, or in one inside of it.
template <class Graph>
constexpr bool stands_in(const Graph& g, const node& n, int region) {
    int r = n.region;
    while (r >= 0 && r != region) r = g.regions[r].parent;
    return r == region;
}

// Product of the widths of the axes in `mask` on a role; 0 where one is open.
template <class Graph>
constexpr std::int64_t width_along(const Graph& g, int role, unsigned mask) {
    std::int64_t n = 1;
    for (const mesh_axis& m : g.mesh.view().subspan(g.roles[role].first_axis, g.roles[role].axes))
        if ((mask >> m.axis & 1u) != 0) n *= m.width;
    return n;
}

}  // namespace dovetail::ir
