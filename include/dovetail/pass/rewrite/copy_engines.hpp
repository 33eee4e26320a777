// Collectives along axes within a host by copy engines. What only moves data is moved as it is: each rank puts its blocks into the results
// of the others. Reductions become movement and a reduction of the blocks that arrived, on the rank that has them:
//
//     y = reduce_scatter(x)    s = all_to_all(x)     y = local_reduce(s, x)
//     y = all_reduce(x)        s = all_to_all(x)     p = local_reduce(s, x)    y = all_gather(p)    in one memory
//     y = reduce(x, root)      s = all_to_all(x)     p = local_reduce(s, x)    y = gather(p, root)
//
// An all_reduce whose rows cannot be divided among the ranks, or whose result is a state, gathers all arguments: s = all_gather(x),
// y = local_reduce(s, x). Every rank reduces in the order of the members, so that results are bitwise equal on all ranks and in all runs.
// A rank's own block stays in x: on a GPU its copy would be a kernel, which waits beside a product until that has room for it. For the same
// reason s, p and y of an all_reduce are one memory: in place of its own block, which s does not get, a rank has p there, and sends it from
// there to the others, whose blocks then come in place of those of s. Not so where y is itself a block of another value, and where the
// network's axes take part.
//
// A local_reduce is such a kernel, too. On its stream are therefore the copies of its result, which wait for it anyhow, or, where a rank
// keeps its block of the result, those of the blocks. All other copies are on the stream of copies.
//
// Of a collective along axes of the network and others, copy engines move the part within the hosts, and NCCL the part between them: each
// rank exchanges with those at its place in the other hosts, and sends 1 / (ranks of a host) of the data over its link to the network.
//
//     y = all_reduce(x)        s = all_to_all<tp>(x)       p = local_reduce(s, x)    q = all_reduce<node>(p)    y = all_gather<tp>(q)
//     y = broadcast(x, root)   p = scatter<tp>(x)          q = broadcast<node>(p)    y = all_gather<tp>(q)
//     y = all_gather(x)        p = all_gather<node>(x)     y = all_gather<tp>(p)
//     y = reduce_scatter(x)    s = all_to_all<tp>(x)       p = local_reduce(s, x)    y = reduce_scatter<node>(p)
//
// The last two lines are for a mesh with the network's axes last. Where they come first, as usual, the rows of a place lie apart: the part
// within the hosts is done for the rows of one host after the other, which are views. (Without views it could be done on the other side of
// NCCL's part, which would then send all of the data over each link.)
//
//     y = all_gather(x)        p = all_gather<node>(x)     y = concat<all_gather<tp>(rows<0, 2>(p)), all_gather<tp>(rows<1, 2>(p))>
//
// Statements and options name what is moved (stated_transports.hpp), or a number of bytes from which on the rest is.
//
// Left to NCCL: members of an NCCL group, results that are not in the arena (states, pinned memory), reductions along axes of open width
// or of more than 64 ranks and those for a root whose rows the ranks cannot divide, collectives over roles, and what crosses the network
// with blocks that are no multiples of 256 bytes, with the network's axes between others, with rows that the ranks of a host cannot
// divide, as an average of integers, or as another kind of collective.
#pragma once

#include "copyable_communication.hpp"
#include "rewritten_nodes.hpp"
#include "row_nodes.hpp"

namespace dovetail::pass {

namespace detail {

// To a local_reduce, which reads the rank's own block where it is.
constexpr operation staging_operation(const tag* name, op_kind kind) {
    operation o = added_operation(name, kind);
    o.own_block_stays = true;
    return o;
}
constexpr operation beside_reduction(operation o) {
    o.beside_reduction = true;
    return o;
}
constexpr operation in_place(operation o) {
    o.own_block_in_place = true;
    o.in_place = 0;
    return o;
}
// Not only where that is possible: it takes no other block from elsewhere.
constexpr operation in_place_only(operation o) {
    o = in_place(o);
    o.in_place_only = true;
    return o;
}
inline constexpr operation local_reduce_operation = added_operation(&tag_of<struct local_reduce>, op_kind::local_reduce, 2),
                           stage_blocks_operation = staging_operation(&tag_of<struct put_blocks>, op_kind::all_to_all),
                           stage_kept_blocks_operation = beside_reduction(stage_blocks_operation),
                           stage_all_operation = staging_operation(&tag_of<struct stage_all>, op_kind::all_gather),
                           put_all_operation = added_operation(&tag_of<struct put_all>, op_kind::all_gather),
                           put_all_reduced_operation = beside_reduction(put_all_operation),
                           reduce_in_place_operation = in_place(local_reduce_operation),
                           put_reduced_in_place_operation = in_place_only(put_all_reduced_operation),
                           put_reduced_to_root_operation = beside_reduction(added_operation(&tag_of<struct put_to_root>, op_kind::gather)),
                           put_from_root_operation = added_operation(&tag_of<struct put_from_root>, op_kind::scatter);

// The nodes that one collective becomes.
class copied_collective {
public:
    constexpr copied_collective(const copyable_communication& rules, const axes_by_link& axes, const ir::node& n, rewritten_nodes& to)
        : rules_{rules},
          axes_{axes},
          n_{n},
          x_{rules.argument(n)},
          y_{rules.result(n)},
          ranks_{rules.width(n, axes.within_hosts)},
          to_{to} {}

    constexpr void run() {
        switch (n_.kind) {
            case op_kind::all_reduce:
            case op_kind::reduce: return reduce();
            case op_kind::reduce_scatter: return reduce_scatter();
            case op_kind::all_gather: return crosses_network() ? all_gather() : move();
            case op_kind::broadcast: return crosses_network() ? broadcast() : move();
            default: break;
        }
        if (is_reducing(n_.kind)) __builtin_unreachable();  // a reduction without a case is no constant expression
        move();
    }

private:
    constexpr bool crosses_network() const { return axes_.between_hosts != 0; }

    constexpr void move() {
        ir::node n = n_;
        n.moved_by = transport::peer_copy;
        to_.push_as(n);
    }
    constexpr void reduce() {
        if (!rules_.in_arena(y_) || !rules_.has_equal_shards(type(x_), ranks_)) return reduce_all();
        const int staged = put(stage_blocks_operation, x_, type(x_));
        if (n_.kind == op_kind::all_reduce && !crosses_network() && !rules_.is_part(y_)) return reduce_in_place(staged);
        const int shard = add_value(y_, block_of(type(x_), ranks_));
        reduce_blocks(staged, x_, shard);
        gather(n_.kind == op_kind::reduce ? put_reduced_to_root_operation : put_all_reduced_operation, between_hosts(shard, type(shard)),
               y_);
    }
    constexpr void reduce_in_place(int staged) {
        const int own = add_value(y_, type(y_));
        reduce_blocks(staged, x_, own, reduce_in_place_operation);
        gather(put_reduced_in_place_operation, own, y_);
    }
    constexpr void reduce_all() { reduce_blocks(put(stage_all_operation, x_, rules_.stacked(type(x_), ranks_)), x_, y_); }
    constexpr void broadcast() {
        const int shard = put(put_from_root_operation, x_, block_of(type(x_), ranks_));
        gather(put_all_operation, between_hosts(shard, type(shard)), y_);
    }
    constexpr void reduce_scatter() {
        const int partial = crosses_network() ? add_value(y_, block_of(type(x_), ranks_)) : y_;
        in_blocks(x_, partial, &copied_collective::reduce_rows);
        if (crosses_network()) pass_between_hosts(behind_first(n_), partial, y_);
    }
    constexpr void all_gather() {
        const int of_place = add_value(x_, rules_.stacked(type(x_), rules_.width(n_, axes_.between_hosts)));
        pass_between_hosts(n_, x_, of_place);
        in_blocks(of_place, y_, &copied_collective::gather_rows);
    }

    // A step for each of the blocks of x and y.
    constexpr void in_blocks(int x, int y, void (copied_collective::*step)(int, int)) {
        const auto blocks = static_cast<int>(rules_.blocks(n_, axes_));
        if (blocks == 1) return (this->*step)(x, y);
        vec<int> made;
        for (int i = 0; i < blocks; ++i) {
            made.push(add_value(y, block_of(type(y), blocks)));
            (this->*step)(add_rows(to_.made, n_, x, i, blocks), made.back());
        }
        add_concat(to_.made, n_, made, y);
    }
    // The steps: from all ranks of a host, and to all of them.
    constexpr void reduce_rows(int x, int y) { reduce_blocks(put(stage_kept_blocks_operation, x, type(x)), x, y); }
    constexpr void gather_rows(int x, int y) { gather(put_all_operation, x, y); }

    // From an argument, or rows of it, to the other ranks of the host; a value of that type arrives.
    constexpr int put(const operation& by, int x, const tensor_type& arriving) {
        const int staged = add_value(x, arriving);
        to_.derive(within_hosts(n_), by, x, staged);
        return staged;
    }
    constexpr void reduce_blocks(int staged, int x, int y, const operation& by = local_reduce_operation) {
        ir::node n = behind_first(n_);
        n.axes = by.own_block_in_place ? axes_.within_hosts : 0;  // tell the rank's block
        n.root = -1;
        vec<int> arguments;
        arguments.push(staged);
        arguments.push(x);
        to_.derive(n, by, arguments, y, n_.reduce);
    }
    constexpr void gather(const operation& by, int shard, int y) { to_.derive(within_hosts(behind_first(n_)), by, shard, y); }

    constexpr int between_hosts(int x, tensor_type arriving) {
        if (!crosses_network()) return x;
        const int y = add_value(x, arriving);
        pass_between_hosts(behind_first(n_), x, y);
        return y;
    }
    // The collective itself, along the network's axes alone.
    constexpr void pass_between_hosts(ir::node n, int x, int y) {
        n.axes = axes_.between_hosts;
        n.stated = transport::automatic;
        if (n.root >= 0) n.root /= static_cast<int>(ranks_);
        to_.push(n, one(x), one(y));
    }
    constexpr ir::node within_hosts(ir::node n) const {
        n.axes = axes_.within_hosts;
        if (crosses_network() && n.root >= 0) n.root %= static_cast<int>(ranks_);
        n.moved_by = transport::peer_copy;
        return n;
    }
    // The first of the nodes waits for what the collective starts after.
    static constexpr ir::node behind_first(ir::node n) {
        n.awaited = 0;
        return n;
    }

    constexpr const tensor_type& type(int symbol) const { return to_.made.symbols[symbol].type; }
    static constexpr tensor_type block_of(tensor_type t, std::int64_t blocks) {
        t.extent[0] /= blocks;
        return t;
    }
    static constexpr vec<int> one(int symbol) {
        vec<int> list;
        list.push(symbol);
        return list;
    }
    constexpr int add_value(int like, const tensor_type& of) {
        ir::symbol s = to_.made.symbols[like];
        s.name = &nameless;
        s.kind = ir::symbol_kind::value;
        s.type = of;
        s.role = n_.role;
        s.output = s.in_host_memory = s.initialised = s.shard = false;
        s.replicated = s.index_axis = 0;
        to_.made.symbols.push(s);
        return to_.made.symbols.size() - 1;
    }

    const copyable_communication& rules_;
    const axes_by_link axes_;
    const ir::node& n_;
    const int x_, y_;           // argument and result
    const std::int64_t ranks_;  // within a host
    rewritten_nodes& to_;
};

class copied_communication {
public:
    constexpr copied_communication(const ir::graph_data& g, std::int64_t from_bytes)
        : g_{g}, seen_{ir::view(g)}, rules_{seen_}, from_bytes_{from_bytes}, to_{g} {}

    constexpr ir::graph_data run() {
        for (const ir::node& n : g_.nodes)
            if (!rules_.may_move(n) || !is_asked_for(n))
                to_.push_as(n);
            else
                copied_collective{rules_, by_link(seen_, n), n, to_}.run();
        return static_cast<ir::graph_data&&>(to_.made);
    }

private:
    // By what is stated of it, or by its size.
    constexpr bool is_asked_for(const ir::node& n) const {
        const std::int64_t payload = rules_.payload(n);
        return payload > 0 && (n.stated == transport::automatic ? payload >= from_bytes_ : n.stated == transport::peer_copy);
    }

    const ir::graph_data& g_;
    const ir::graph seen_;
    const copyable_communication rules_;
    const std::int64_t from_bytes_;
    rewritten_nodes to_;
};

}  // namespace detail

// Collectives whose argument or result has so many bytes or more, and those of which it is stated.
constexpr ir::graph_data rewrite_copy_engines(ir::graph_data g, std::int64_t from_bytes) {
    bool stated = false;
    for (const ir::node& n : g.nodes) stated = stated || n.stated == transport::peer_copy;
    if ((from_bytes == INT64_MAX && !stated) || g.single_rank) return g;
    return detail::copied_communication{g, from_bytes}.run();
}

}  // namespace dovetail::pass
