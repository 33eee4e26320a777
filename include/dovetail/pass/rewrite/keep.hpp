// Reads the result of a collective a second time instead of communicating again: FSDP gathers each layer's weights for the forward pass
// and once more for the backward pass, and the second gather makes what the first one made, as long as its result is kept.
//
//     let<a, all_gather<dp>(w)>, ..., let<b, all_gather<dp>(w)>, let<y, f(x, b)>      let<a, all_gather<dp>(w)>, ..., let<y, f(x, a)>
//
// A collective repeats the one before it in written order that has the same argument, in the same version if that is a state, the same
// axes, root and reduction. What it saves is its time, and what it costs is the memory of its result for as long as that lives longer.
// Time and memory are both proportional to the bytes of the result, so that the repetitions with the least additional lifetime save most
// time for each byte and operation: they are left out first.
#pragma once

#include "../../ir/table.hpp"
#include "../sort.hpp"
#include "node_levels.hpp"
#include "regions_of_kind.hpp"

namespace dovetail::pass {

// Two collectives of a region that make the same value.
struct repetition {
    int first = 0, again = 0;  // nodes
    int region = 0;
};

namespace detail {

// Finds them, in written order of the second ones.
class repetition_search {
public:
    constexpr repetition_search(const ir::graph& g, const regions_of_kind& regions)
        : g_{g},
          regions_{regions},
          where_{g},
          in_place_(g.symbols.size()),
          part_(g.symbols.size()),
          version_(g.symbols.size()),
          latest_(g.symbols.size(), -1),
          before_(g.nodes.size(), -1),
          seen_(g.nodes.size()) {
        for (const ir::node& n : g.nodes) restrict_arguments(n);
    }

    constexpr vec<repetition> run() {
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const ir::node& n = g_.nodes[i];
            if (can_be_kept(n)) visit(i);
            for (int k = 0; n.update && k < n.results; ++k)
                if (const int s = g_.operands[n.first_result + k]; s >= 0) ++version_[where_.whole_of(s)];
        }
        return static_cast<vec<repetition>&&>(found_);
    }

private:
    constexpr int argument(const ir::node& n) const { return g_.operands[n.first_argument]; }
    constexpr int result(const ir::node& n) const { return g_.operands[n.first_result]; }

    // What an operation changes in place may have no other reader, and no part of it; what is part of a concat lies there.
    constexpr void restrict_arguments(const ir::node& n) {
        if (n.kind == op_kind::compute && n.op->in_place_only && !n.update)
            in_place_[g_.operands[n.first_argument + (n.op->in_place < 0 ? 0 : n.op->in_place)]] = 1;
        for (int k = 0; n.op->view == view_kind::concat && k < n.arguments; ++k) part_[g_.operands[n.first_argument + k]] = 1;
    }
    // The members of an NCCL group start together, so that a reader of one must not come before another one, and a collective that starts
    // after a value may start after readers of a later one: they stay as they are.
    constexpr bool can_be_kept(const ir::node& n) const {
        return is_collective(n.kind) && n.role >= 0 && n.nccl_group_id < 0 && n.awaited == 0 && !n.update && n.arguments == 1 &&
               n.results == 1 && result(n) >= 0 && in_place_[where_.whole_of(result(n))] == 0 && regions_.around(n) >= 0;
    }
    constexpr bool can_be_left_out(const ir::node& n) const { return !g_.symbols[result(n)].output && part_[result(n)] == 0; }
    constexpr bool makes_the_same(const ir::node& a, const ir::node& b) const {
        return a.kind == b.kind && a.role == b.role && a.axes == b.axes && a.root == b.root && a.reduce == b.reduce;
    }

    constexpr void visit(int i) {
        const ir::node& n = g_.nodes[i];
        const int given = where_.empty() ? argument(n) : where_[argument(n)].same;
        seen_[i] = version_[where_.whole_of(given)];
        const int region = regions_.around(n);
        const auto repeats = [&, this](int other) {
            return makes_the_same(g_.nodes[other], n) && seen_[other] == seen_[i] && regions_.around(g_.nodes[other]) == region;
        };
        int earlier = latest_[given];
        while (earlier >= 0 && !repeats(earlier)) earlier = before_[earlier];
        if (earlier >= 0 && can_be_left_out(n)) found_.push({earlier, i, region});
        before_[i] = latest_[given];
        latest_[given] = i;
    }

    const ir::graph& g_;
    const regions_of_kind& regions_;
    ir::locations where_;
    vec<char> in_place_;  // by symbol: whether an operation that works in place only takes it
    vec<char> part_;      // by symbol: whether it is part of a concat
    vec<int> version_;    // by state: the updates above
    vec<int> latest_;     // by symbol: the last collective that takes it
    vec<int> before_;     // by node: the collective before it that takes the same
    vec<int> seen_;       // by node: the version of its argument
    vec<repetition> found_;
};

// By symbol: the level of its last reader; that of an output, which lives to the end of the run, comes after all others.
constexpr vec<int> last_uses(const ir::graph_data& g, const node_levels& levels) {
    vec<int> last(g.symbols.size());
    const auto use = [&](int symbol, int level) {
        if (last[symbol] < level) last[symbol] = level;
    };
    for (int i = 0; i < g.nodes.size(); ++i) {
        const ir::node& n = g.nodes[i];
        for (int k = 0; k < n.arguments; ++k) use(g.operands[n.first_argument + k], levels.from_start[i]);
        for (int k = 0; k < n.awaited; ++k) use(g.operands[n.first_awaited + k], levels.from_start[i]);
    }
    for (int s = 0; s < g.symbols.size(); ++s)
        if (g.symbols[s].output) last[s] = g.nodes.size();
    return last;
}

// The first `count` repetitions of each of so many regions in the order of additional lifetime, which is counted in operations on the
// longest path; of equal ones those that are written first.
constexpr vec<repetition> shortest(const ir::graph_data& g, const vec<repetition>& all, int regions, int count, const node_levels& levels) {
    const vec<int> last_use = last_uses(g, levels);
    const auto last_use_of = [&](int node) { return last_use[g.operands[g.nodes[node].first_result]]; };
    vec<std::int64_t> keys;
    for (int i = 0; i < all.size(); ++i) {
        const int longer = last_use_of(all[i].again) - last_use_of(all[i].first);
        keys.push((std::int64_t{longer > 0 ? longer : 0} << 32) + i);
    }
    sort(keys);
    vec<repetition> taken;
    vec<int> of_region(regions);
    for (const std::int64_t key : keys)
        if (const repetition& r = all[static_cast<int>(key & INT32_MAX)]; of_region[r.region]++ < count) taken.push(r);
    return taken;
}

// The graph without the nodes that are left out, whose readers read another symbol.
constexpr ir::graph_data without(ir::graph_data g, const vec<char>& left_out, const vec<int>& read_as) {
    for (ir::symbol& s : g.symbols) s.node = -1;
    vec<ir::node> nodes;
    for (int i = 0; i < g.nodes.size(); ++i) {
        if (left_out[i] != 0) continue;
        ir::node n = g.nodes[i];
        for (int k = 0; k < n.arguments; ++k) g.operands[n.first_argument + k] = read_as[g.operands[n.first_argument + k]];
        for (int k = 0; k < n.awaited; ++k) g.operands[n.first_awaited + k] = read_as[g.operands[n.first_awaited + k]];
        for (int k = 0; !n.update && k < n.results; ++k)
            if (const int s = g.operands[n.first_result + k]; s >= 0) g.symbols[s].node = nodes.size();
        nodes.push(n);
    }
    g.nodes = static_cast<vec<ir::node>&&>(nodes);
    return g;
}

}  // namespace detail

constexpr vec<repetition> repetitions(const ir::graph& g, scope of) {
    const regions_of_kind regions{g, rewrite::keep, of};
    return detail::repetition_search{g, regions}.run();
}

// Leaves out at most `count` collectives of each region, or of the graph.
constexpr ir::graph_data rewrite_keep(ir::graph_data g, scope of, int count) {
    const ir::graph seen = ir::view(g);
    const regions_of_kind regions{seen, rewrite::keep, of};
    const vec<repetition> all = detail::repetition_search{seen, regions}.run();
    if (all.empty() || count <= 0) return g;
    const node_levels levels = levels_of(g);
    if (!levels.acyclic) return g;  // the stage `cycle` names the mistake
    vec<int> read_as(g.symbols.size());
    for (int s = 0; s < read_as.size(); ++s) read_as[s] = s;
    vec<char> left_out(g.nodes.size());
    const auto result_of = [&](int node) { return g.operands[g.nodes[node].first_result]; };
    for (const repetition& r : detail::shortest(g, all, regions.size(), count, levels)) {
        left_out[r.again] = 1;
        read_as[result_of(r.again)] = result_of(r.first);
    }
    for (const repetition& r : all) read_as[result_of(r.again)] = read_as[read_as[result_of(r.again)]];  // the first of three
    return detail::without(static_cast<ir::graph_data&&>(g), left_out, read_as);
}

}  // namespace dovetail::pass
