// Which all_reduces become a reduce_scatter and an all_gather, and which row-wise operations between them work on a shard: on this rank's
// block of rows. Takes a checked graph and the kind of its regions that ask for it, `decompose` or `shard_update`; gives the first
// all_reduce of each region that cannot be decomposed, as a fault. To a region, what another one makes is a whole value, so that all are
// analysed in one walk; one inside of another one of its kind is part of that.
//
//     h = all_reduce(x)    h' = reduce_scatter(x)
//     y = norm(h)          y' = norm(h')    y = all_gather(y')      the product reads all rows of y
//     z = matmul(y, w)     z  = matmul(y, w)
//
// An operation can work on shards if one of its arguments by rows has shards and all others are equal on the ranks of that shard. Of an
// argument by rows that is there as a whole it takes the rank's own block, by `own_rows`, which costs no traffic. Where a value has to be
// gathered, all operations behind it that need it whole read the same all_gather. Which operations work on shards is a minimum cut: the
// set that gathers the fewest bytes, and of several such sets the largest. In a `shard_update` the updates of states work on shards as
// well, whatever is gathered for that.
#pragma once

#include "../../collective/shape.hpp"
#include "../graph/replicas.hpp"
#include "min_cut.hpp"
#include "regions_of_kind.hpp"

namespace dovetail::pass {

class decompose_analysis {
public:
    constexpr decompose_analysis(const ir::graph& g, rewrite kind, scope of = scope::regions)
        : g_{g},
          shards_updates_{kind == rewrite::shard_update},
          regions_{g, kind, of},
          decomposed_(g.nodes.size()),
          moved_(g.nodes.size()),
          sharded_(g.symbols.size()),
          replicas_{g},
          one_rank_(regions_.size()) {
        find_all_reduces();
        if (any_) {
            find_movable();
            keep_least_gathers();
        }
        if (shards_updates_) check_updates();
    }

    // Of the first region in which something cannot be done.
    constexpr const ir::fault& fault() const { return wrong_; }
    constexpr bool decomposes_any() const { return any_; }
    constexpr int region_of(const ir::node& n) const { return regions_.around(n); }
    constexpr bool decomposed(int node) const { return decomposed_[node] != 0; }
    // The axes along which a node works on shards; 0: it does not.
    constexpr unsigned moved(int node) const { return moved_[node]; }
    // The axes along which the ranks have blocks of a value; 0: it is made whole.
    constexpr unsigned sharded(int symbol) const { return sharded_[symbol]; }
    // Whether a node takes blocks of rows of argument k: the shards that were made of it, or else the rank's own block of it as a whole.
    constexpr bool takes_rows(int node, int k) const { return moved_[node] != 0 && cut_extent(g_.nodes[node], k) == 0; }
    constexpr bool takes_shard(int node, int k) const { return takes_rows(node, k) && has_shards(g_.nodes[node], k, moved_[node]); }
    // Whether a node updates a state.
    constexpr bool is_target(const ir::node& n, int symbol) const {
        for (int k = 0; n.update && k < n.results; ++k)
            if (result(n, k) == symbol) return true;
        return false;
    }
    // By symbol: whether somebody reads all rows of a sharded value.
    constexpr vec<char> gathered() const {
        vec<char> read(g_.symbols.size());
        for (int s = 0; s < g_.symbols.size(); ++s) read[s] = g_.symbols[s].output ? 1 : 0;
        for (int i = 0; i < g_.nodes.size(); ++i)
            for (int k = 0; k < g_.nodes[i].arguments; ++k)
                if (!takes_shard(i, k)) read[argument(g_.nodes[i], k)] = 1;
        for (const ir::node& n : g_.nodes)
            for (const int s : g_.operands.subspan(n.first_awaited, n.awaited)) read[s] = 1;
        for (int s = 0; s < g_.symbols.size(); ++s)
            if (sharded_[s] == 0) read[s] = 0;
        return read;
    }
    constexpr tensor_type shard_of(int symbol, int role, unsigned axes) const { return shard_of(type_of(symbol), role, axes); }

private:
    constexpr int argument(const ir::node& n, int k) const { return g_.operands[n.first_argument + k]; }
    constexpr int result(const ir::node& n, int k) const { return g_.operands[n.first_result + k]; }
    constexpr const tensor_type& type_of(int symbol) const { return g_.symbols[symbol].type; }
    constexpr tensor_type shard_of(tensor_type type, int role, unsigned axes) const {
        if (axes != 0) type.extent[0] /= ir::width_along(g_, role, axes);
        return type;
    }
    static constexpr ir::fault fault_at(ir::fault_kind kind, const ir::node& n) {
        return ir::make_fault(kind, n.statement, n.source_position + 1).in(n.statement);
    }
    constexpr void fail(int region, const ir::fault& what) {
        if (region < 0 || region >= wrong_region_) return;
        wrong_region_ = region;
        wrong_ = what;
    }
    constexpr void fail_if_missing(int region, ir::fault_kind kind) {
        if (region >= 0) fail(region, ir::make_fault(kind, g_.regions[region].source_position));
    }

    constexpr void find_all_reduces() {
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const ir::node& n = g_.nodes[i];
            if (n.kind != op_kind::all_reduce || region_of(n) < 0 || !can_decompose(n)) continue;
            decomposed_[i] = 1;
            sharded_[result(n, 0)] = n.axes;
            any_ = true;
        }
        const auto is_all_reduce = [&, this](int i) { return g_.nodes[i].kind == op_kind::all_reduce; };
        fail_if_missing(regions_.first_without(is_all_reduce), ir::fault_kind::nothing_to_decompose);
    }
    // Along axes of width 1 there is nothing to do.
    constexpr bool can_decompose(const ir::node& n) {
        const std::int64_t width = n.role < 0 ? 0 : ir::width_along(g_, n.role, n.axes);
        const tensor_type& type = type_of(argument(n, 0));
        if (n.role < 0 || n.update || n.nccl_group_id >= 0)
            fail(region_of(n), fault_at(ir::fault_kind::not_decomposable, n));
        else if (width == 0)
            fail(region_of(n), fault_at(ir::fault_kind::decompose_open_width, n));
        else if (width == 1)
            one_rank_[region_of(n)] = 1;
        else if (collective::is_divisible(collective::of(op_kind::reduce_scatter), type, width))
            return true;
        else
            fail(region_of(n), fault_at(ir::fault_kind::decompose_uneven, n).tensor(type).count_of(width));
        return false;
    }

    // All operations that have shards to work on, as long as no value is gathered. Values may be used above their definition.
    constexpr void find_movable() {
        for (bool changed = true; changed;) {
            changed = false;
            for (int i = 0; i < g_.nodes.size(); ++i) {
                const ir::node& n = g_.nodes[i];
                if (moved_[i] != 0 || !may_move(n)) continue;
                const unsigned axes = axes_of_arguments(n);
                if (axes == 0 || !makes_shards(n, axes) || !may_change(n, axes)) continue;
                moved_[i] = axes;
                changed = true;
                for (int k = 0; k < n.results; ++k)
                    if (result(n, k) >= 0 && !n.update) sharded_[result(n, k)] = axes;
            }
        }
    }
    constexpr bool may_move(const ir::node& n) const {
        const operation& op = *n.op;
        return n.kind == op_kind::compute && op.view == view_kind::none && op.row_wise.declared && !op.has_effect &&
               (!n.update || shards_updates_) && region_of(n) >= 0;
    }
    // Whether an update, if it is one, may work on shards of its targets: they are equal before it, and it takes none as a whole.
    constexpr bool may_change(const ir::node& n, unsigned axes) {
        for (int k = 0; n.update && k < n.results; ++k)
            if (result(n, k) >= 0 && (replicas_.varies_along(result(n, k)) & axes) != 0) return false;
        for (int k = 0; k < n.arguments; ++k)
            if (cut_extent(n, k) != 0 && is_target(n, argument(n, k))) return false;
        return true;
    }
    constexpr int cut_extent(const ir::node& n, int k) const {
        const int extent = n.op->row_wise.of_argument(k);
        return n.op->row_wise.elementwise && type_of(argument(n, k)).rank == 0 ? whole : extent;
    }
    constexpr bool has_shards(const ir::node& n, int k, unsigned axes) const {
        const int s = argument(n, k);
        return sharded_[s] != 0 && sharded_[s] == axes && g_.symbols[s].role == n.role &&
               region_of(g_.nodes[g_.symbols[s].node]) == region_of(n);
    }
    // The axes of the first argument by rows that has shards; 0: there is none, or another argument is neither in such shards nor a whole
    // that is equal on these ranks.
    constexpr unsigned axes_of_arguments(const ir::node& n) {
        unsigned axes = 0;
        for (int k = 0; k < n.arguments && axes == 0; ++k)
            if (const unsigned own = sharded_[argument(n, k)]; cut_extent(n, k) == 0 && has_shards(n, k, own)) axes = own;
        for (int k = 0; k < n.arguments && axes != 0; ++k) {
            const int extent = cut_extent(n, k), s = argument(n, k);
            if (extent != whole && extent != 0) return 0;
            if (extent == 0 && has_shards(n, k, axes)) continue;
            if ((replicas_.varies_along(s) & axes) != 0 || (extent == 0 && !can_be_sharded(n, s))) return 0;
        }
        return axes;
    }
    // Whether a rank can take its own block of a whole value.
    constexpr bool can_be_sharded(const ir::node& n, int symbol) const {
        const ir::symbol& s = g_.symbols[symbol];
        return !s.in_host_memory && (s.role == n.role || (s.role < 0 && s.kind == ir::symbol_kind::input));
    }
    // The shape rule has to make shards of shards.
    constexpr bool makes_shards(const ir::node& n, unsigned axes) const {
        const std::int64_t width = ir::width_along(g_, n.role, axes);
        vec<tensor_type> given;
        for (int k = 0; k < n.arguments; ++k) {
            const tensor_type& all = type_of(argument(n, k));
            given.push(shard_of(all, n.role, cut_extent(n, k) == 0 ? axes : 0u));
            if (cut_extent(n, k) == 0 && (all.extent[0] % width != 0 || given[k].extent[0] % n.op->row_wise.unit != 0)) return false;
        }
        tensor_type results[max_results] = {};
        if (n.op->infer(given.begin(), results) != n.results) return false;
        for (int k = 0; k < n.results; ++k) {
            if (n.op->row_wise.of_result(k) != 0) return false;
            const int s = result(n, k);
            if (s < 0) continue;
            if (type_of(s).rank == 0 || type_of(s).extent[0] % width != 0 || results[k] != shard_of(type_of(s), n.role, axes)) return false;
        }
        return true;
    }

    // Of the operations that can work on shards, those on the source's side of a minimum cut do. The nodes of the network are operations
    // and values; the arc from an operation to a value that it makes has the bytes of the value's all_gather.
    constexpr void keep_least_gathers() {
        const int nodes = g_.nodes.size();
        min_cut network{2 + nodes + g_.symbols.size()};
        for (int s = 0; s < g_.symbols.size(); ++s) {
            if (sharded_[s] == 0) continue;
            network.add_arc(network_node_of(g_.symbols[s].node), 2 + nodes + s, type_of(s).bytes());
            if (g_.symbols[s].output) network.add_arc(2 + nodes + s, min_cut::sink, min_cut::unbounded);
        }
        for (int i = 0; i < nodes; ++i) add_reads(network, i);
        const vec<char> whole_side = network.sink_side();
        for (int i = 0; i < nodes; ++i)
            if (moved_[i] != 0 && !g_.nodes[i].update && whole_side[network_node_of(i)] != 0) stay(i);
    }
    // (An update on shards stays one.)
    constexpr int network_node_of(int node) const {
        return decomposed_[node] != 0 || (moved_[node] != 0 && g_.nodes[node].update) ? min_cut::source : 2 + node;
    }
    // A reader that takes a whole value is on the sink's side; one that takes a shard needs the operation that makes the shard on its own.
    constexpr void add_reads(min_cut& network, int i) const {
        const ir::node& n = g_.nodes[i];
        for (int k = 0; k < n.arguments; ++k) {
            const int s = argument(n, k);
            if (sharded_[s] == 0) continue;
            const bool by_shard = takes_shard(i, k);
            network.add_arc(2 + g_.nodes.size() + s, by_shard ? network_node_of(i) : min_cut::sink, min_cut::unbounded);
            if (by_shard) network.add_arc(network_node_of(i), network_node_of(g_.symbols[s].node), min_cut::unbounded);
        }
        for (const int s : g_.operands.subspan(n.first_awaited, n.awaited))
            if (sharded_[s] != 0) network.add_arc(2 + g_.nodes.size() + s, min_cut::sink, min_cut::unbounded);
    }
    constexpr void stay(int i) {
        moved_[i] = 0;
        const ir::node& n = g_.nodes[i];
        for (int k = 0; k < n.results; ++k)
            if (result(n, k) >= 0) sharded_[result(n, k)] = 0;
    }

    // The first update in each region that is not on shards.
    constexpr void check_updates() {
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const ir::node& n = g_.nodes[i];
            const int region = region_of(n);
            if (n.update && region >= 0 && moved_[i] == 0 && one_rank_[region] == 0)
                fail(region, fault_at(ir::fault_kind::update_not_sharded, n));
        }
        fail_if_missing(regions_.first_without([&, this](int i) { return g_.nodes[i].update; }), ir::fault_kind::nothing_to_shard);
    }

    const ir::graph& g_;
    const bool shards_updates_;
    const regions_of_kind regions_;
    vec<char> decomposed_;   // by node
    vec<unsigned> moved_;    // by node
    vec<unsigned> sharded_;  // by symbol
    detail::replicas replicas_;
    bool any_ = false;
    vec<char> one_rank_;  // by region: whether it has an all_reduce of one rank, which stays as it is, with what comes behind it
    ir::fault wrong_;
    int wrong_region_ = INT32_MAX;
};

}  // namespace dovetail::pass
