// Which collectives copy engines can move: as a whole along axes within a host, or the part within the hosts of one that the network's axes
// take part in as well. Takes a checked graph.
#pragma once

#include "../../ir/parts.hpp"

namespace dovetail::pass {

namespace detail {

// The axes of a collective, as masks: those within a host and those of the network. Its last axis is the fastest.
struct axes_by_link {
    unsigned within_hosts = 0, between_hosts = 0;
    bool host_by_host = true;    // the members of a host follow each other: no axis of the network stands behind another one
    bool place_by_place = true;  // the members with the same place in their hosts follow each other: none stands before another one
};

constexpr axes_by_link by_link(const ir::graph& g, const ir::node& n) {
    axes_by_link axes;
    bool local = false;
    for (const ir::mesh_axis& a : g.mesh.subspan(g.roles[n.role].first_axis, g.roles[n.role].axes)) {
        const unsigned axis = n.axes & 1u << a.axis;
        if (axis == 0) continue;
        const bool network = a.link == link::network && a.width != 1;
        (network ? axes.between_hosts : axes.within_hosts) |= axis;
        if (a.width == 1) continue;
        if (network && local) axes.host_by_host = false;
        if (!network && axes.between_hosts != 0) axes.place_by_place = false;
        local = local || !network;
    }
    return axes;
}

class copyable_communication {
public:
    constexpr explicit copyable_communication(const ir::graph& g) : g_{g}, where_{g} {}

    constexpr bool may_move(const ir::node& n) const {
        if (!collective::passes_between_members(n.kind) || n.role < 0 || n.nccl_group_id >= 0 || result(n) < 0) return false;
        const axes_by_link axes = by_link(g_, n);
        if (axes.between_hosts != 0) return may_move_within_hosts(n, axes);
        const std::int64_t members = width(n, n.axes);
        return is_reducing(n.kind) ? may_reduce(n, members) : members != 1 && in_arena(result(n));
    }
    // How many blocks the part within the hosts has: one, or one for each host where their blocks lie apart.
    constexpr std::int64_t blocks(const ir::node& n, const axes_by_link& axes) const {
        const bool by_rows = n.kind == op_kind::all_gather || n.kind == op_kind::reduce_scatter;
        return by_rows && !axes.place_by_place ? width(n, axes.between_hosts) : 1;
    }

    // Of argument or result, the larger.
    constexpr std::int64_t payload(const ir::node& n) const {
        const std::int64_t sent = n.arguments * type(argument(n)).bytes(), received = n.results * type(result(n)).bytes();
        return sent > received ? sent : received;
    }
    constexpr int argument(const ir::node& n) const { return g_.operands[n.first_argument]; }
    constexpr int result(const ir::node& n) const { return g_.operands[n.first_result]; }
    constexpr std::int64_t width(const ir::node& n, unsigned axes) const { return ir::width_along(g_, n.role, axes); }
    constexpr bool in_arena(int symbol) const {
        return g_.symbols[symbol].kind == ir::symbol_kind::value && !g_.symbols[symbol].in_host_memory;
    }
    // Whether a value is a block of rows of another one.
    constexpr bool is_part(int symbol) const { return where_.is_part(symbol); }
    static constexpr bool has_equal_shards(const tensor_type& t, std::int64_t members) { return t.rank > 0 && t.extent[0] % members == 0; }
    // So many tensors one behind the other.
    static constexpr tensor_type stacked(tensor_type t, std::int64_t members) {
        if (t.rank == 0) t.extent[t.rank++] = 1;
        t.extent[0] *= members;
        return t;
    }

private:
    constexpr const tensor_type& type(int symbol) const { return g_.symbols[symbol].type; }

    // What is reduced for a root is gathered there, as shards; otherwise each rank may reduce all.
    constexpr bool may_reduce(const ir::node& n, std::int64_t members) const {
        const tensor_type& t = type(argument(n));
        if (members <= 1 || members > most_reduced_blocks || stacked(t, members).bytes() < 0) return false;
        return n.kind != op_kind::reduce || (in_arena(result(n)) && has_equal_shards(t, members));
    }
    constexpr bool may_move_within_hosts(const ir::node& n, const axes_by_link& axes) const {
        const std::int64_t ranks = width(n, axes.within_hosts);
        if (ranks <= 1 || (is_reducing(n.kind) && ranks > most_reduced_blocks) || rounds_twice(n)) return false;
        switch (n.kind) {
            case op_kind::all_reduce: return in_arena(result(n)) && has_equal_shards(type(argument(n)), ranks);
            case op_kind::broadcast:
                return in_arena(result(n)) && has_equal_shards(type(argument(n)), ranks) && axes.host_by_host && !is_at_root(argument(n));
            case op_kind::all_gather: return in_arena(result(n)) && has_blocks(argument(n), axes);
            case op_kind::reduce_scatter: return has_blocks(result(n), axes);
            default: return false;
        }
    }
    // The average of averages of integers is not that of all.
    constexpr bool rounds_twice(const ir::node& n) const { return n.reduce == reduction::average && !is_floating(type(argument(n)).type); }
    // Whether only the root has the value.
    constexpr bool is_at_root(int symbol) const {
        const int maker = g_.symbols[symbol].node;
        return maker >= 0 && collective::ends_at_root(g_.nodes[maker].kind);
    }
    // Whether what one member sends to or gets from each other one can be moved without a copy: the rows of a host's members follow each
    // other, as blocks that can be read and written by themselves, or those of a place do.
    constexpr bool has_blocks(int of_one_member, const axes_by_link& axes) const {
        const tensor_type& block = type(of_one_member);
        return axes.place_by_place || (axes.host_by_host && block.rank > 0 && block.bytes() > 0 && block.bytes() % block_alignment == 0);
    }

    const ir::graph& g_;
    const ir::locations where_;
};

}  // namespace detail

// The operations that copy engines make of a node, at most; 0: they cannot move it. Looks at its axes only.
constexpr std::int64_t most_copied_operations(const ir::graph& g, const ir::node& n) {
    if (!collective::passes_between_members(n.kind) || n.role < 0) return 0;
    const detail::axes_by_link axes = detail::by_link(g, n);
    if (axes.within_hosts == 0) return 0;
    if (axes.between_hosts == 0) return 3;
    const std::int64_t hosts = ir::width_along(g, n.role, axes.between_hosts);
    return axes.host_by_host && hosts > 1 ? 1 + 2 * hosts : 4;
}

}  // namespace dovetail::pass
