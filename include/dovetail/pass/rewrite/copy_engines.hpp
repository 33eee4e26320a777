// Collectives along axes within a host by copy engines. What only moves data is moved as it is: each rank puts its blocks into the results
// of the others. Reductions become movement and a reduction of the blocks that arrived, on the rank that has them:
//
//     y = reduce_scatter(x)    s = all_to_all(x)     y = local_reduce(s)
//     y = all_reduce(x)        s = all_to_all(x)     p = local_reduce(s)    y = all_gather(p)
//     y = reduce(x, root)      s = all_to_all(x)     p = local_reduce(s)    y = gather(p, root)
//
// An all_reduce whose rows cannot be divided among the ranks, or whose result is a state, gathers all arguments: s = all_gather(x),
// y = local_reduce(s). Every rank reduces in the order of the members, so that results are bitwise equal on all ranks and in all runs.
//
// The statement moved_by names what is moved, the options a number of bytes from which on the rest is.
//
// Left to NCCL: members of an NCCL group, what an axis with the network's link takes part in, results that are not in the arena (states,
// pinned memory), reductions along axes of open width, and collectives over roles.
#pragma once

#include "rewritten_nodes.hpp"

namespace dovetail::pass {

namespace detail {

inline constexpr operation local_reduce_operation = added_operation(&tag_of<struct local_reduce>, op_kind::local_reduce),
                           put_blocks_operation = added_operation(&tag_of<struct put_blocks>, op_kind::all_to_all),
                           put_all_operation = added_operation(&tag_of<struct put_all>, op_kind::all_gather),
                           put_to_root_operation = added_operation(&tag_of<struct put_to_root>, op_kind::gather);

// Which communication copy engines can move.
class copyable_communication {
public:
    constexpr explicit copyable_communication(const ir::graph& g) : g_{g} {}

    constexpr bool may_move(const ir::node& n) const {
        if (!collective::passes_between_members(n.kind) || n.role < 0 || n.nccl_group_id >= 0 || !within_host(n)) return false;
        if (result(n) < 0 || width(n) == 1) return false;
        return is_reducing(n.kind) ? width(n) > 0 && stacked(g_.symbols[argument(n)].type, width(n)).bytes() >= 0 : in_arena(result(n));
    }
    // Of argument or result, the larger.
    constexpr std::int64_t payload(const ir::node& n) const {
        const std::int64_t sent = g_.symbols[argument(n)].type.bytes(), received = g_.symbols[result(n)].type.bytes();
        return sent > received ? sent : received;
    }
    constexpr int argument(const ir::node& n) const { return g_.operands[n.first_argument]; }
    constexpr int result(const ir::node& n) const { return g_.operands[n.first_result]; }
    constexpr std::int64_t width(const ir::node& n) const { return ir::width_along(g_, n.role, n.axes); }
    constexpr bool in_arena(int symbol) const {
        return g_.symbols[symbol].kind == ir::symbol_kind::value && !g_.symbols[symbol].in_host_memory;
    }
    // So many tensors one behind the other.
    static constexpr tensor_type stacked(tensor_type t, std::int64_t members) {
        if (t.rank == 0) t.extent[t.rank++] = 1;
        t.extent[0] *= members;
        return t;
    }

private:
    constexpr bool within_host(const ir::node& n) const {
        const ir::role& r = g_.roles[n.role];
        for (const ir::mesh_axis& a : g_.mesh.subspan(r.first_axis, r.axes))
            if ((n.axes >> a.axis & 1u) != 0 && a.link == link::network) return false;
        return true;
    }

    const ir::graph& g_;
};

class copied_communication {
public:
    constexpr copied_communication(const ir::graph_data& g, std::int64_t from_bytes)
        : g_{g}, seen_{ir::view(g)}, rules_{seen_}, from_bytes_{from_bytes}, to_{g} {}

    constexpr ir::graph_data run() {
        for (const ir::node& n : g_.nodes)
            if (!rules_.may_move(n) || !is_asked_for(n))
                push(n);
            else if (is_reducing(n.kind))
                reduce(n);
            else
                move(n);
        return static_cast<ir::graph_data&&>(to_.made);
    }

private:
    // By the statement around it, or by its size.
    constexpr bool is_asked_for(const ir::node& n) const {
        const transport stated = ir::stated_transport(seen_, n);
        const std::int64_t payload = rules_.payload(n);
        return payload > 0 && (stated == transport::automatic ? payload >= from_bytes_ : stated == transport::peer_copy);
    }
    constexpr const tensor_type& type(int symbol) const { return to_.made.symbols[symbol].type; }

    constexpr void push(const ir::node& n) {
        vec<int> arguments, results;
        for (int k = 0; k < n.arguments; ++k) arguments.push(g_.operands[n.first_argument + k]);
        for (int k = 0; k < n.results; ++k) results.push(g_.operands[n.first_result + k]);
        to_.push(n, arguments, results);
    }
    constexpr void move(ir::node n) {
        n.moved_by = transport::peer_copy;
        push(n);
    }
    constexpr void reduce(ir::node n) {
        n.moved_by = transport::peer_copy;
        const int x = rules_.argument(n), y = rules_.result(n);
        const std::int64_t members = rules_.width(n);
        if (n.kind == op_kind::reduce_scatter) return reduce_blocks(n, put(n, put_blocks_operation, x, type(x)), y);
        if (!rules_.in_arena(y) || !has_equal_shards(type(x), members)) return reduce_all(n, x, y, members);
        const int shard = add_value(n, y, shard_of(type(x), members));
        reduce_blocks(n, put(n, put_blocks_operation, x, type(x)), shard);
        to_.derive(starting_now(n), n.kind == op_kind::reduce ? put_to_root_operation : put_all_operation, shard, y);
    }
    constexpr void reduce_all(const ir::node& n, int x, int y, std::int64_t members) {
        reduce_blocks(n, put(n, put_all_operation, x, rules_.stacked(type(x), members)), y);
    }
    // The blocks of all members, of that type as a whole.
    constexpr int put(const ir::node& n, const operation& by, int x, const tensor_type& whole) {
        const int staged = add_value(n, x, whole);
        to_.derive(n, by, x, staged);
        return staged;
    }
    constexpr void reduce_blocks(ir::node n, int staged, int y) {
        const reduction how = n.reduce;
        n = starting_now(n);
        n.axes = 0;
        n.root = -1;
        n.moved_by = transport::nccl;
        to_.derive(n, local_reduce_operation, staged, y, how);
    }
    // What comes behind the first of the nodes that a node becomes: that one waits for what the node starts after.
    static constexpr ir::node starting_now(ir::node n) {
        n.awaited = 0;
        return n;
    }

    constexpr int add_value(const ir::node& n, int like, const tensor_type& of) {
        ir::symbol s = to_.made.symbols[like];
        s.name = &nameless;
        s.kind = ir::symbol_kind::value;
        s.type = of;
        s.role = n.role;
        s.output = s.in_host_memory = s.initialised = s.shard = false;
        s.replicated = s.index_axis = 0;
        to_.made.symbols.push(s);
        return to_.made.symbols.size() - 1;
    }
    static constexpr bool has_equal_shards(const tensor_type& t, std::int64_t members) { return t.rank > 0 && t.extent[0] % members == 0; }
    static constexpr tensor_type shard_of(tensor_type t, std::int64_t members) {
        t.extent[0] /= members;
        return t;
    }

    const ir::graph_data& g_;
    const ir::graph seen_;
    const copyable_communication rules_;
    const std::int64_t from_bytes_;
    rewritten_nodes to_;
};

}  // namespace detail

// Collectives whose argument or result has so many bytes or more, and those that statements say.
constexpr ir::graph_data rewrite_copy_engines(ir::graph_data g, std::int64_t from_bytes) {
    bool stated = false;
    for (const ir::region& r : g.regions) stated = stated || r.kind == rewrite::copy_engines;
    if ((from_bytes == INT64_MAX && !stated) || g.single_rank) return g;
    return detail::copied_communication{g, from_bytes}.run();
}

}  // namespace dovetail::pass
