// What a graph means, run one statement after the other: values by dependency, statements on states in written order, every
// rank and lane in turn. Gives each result of each node, the states after the last run, and what was bound.
#pragma once

#include "hash_ops.hpp"

#include <dovetail/ir/graph.hpp>

#include <cstring>

namespace support {

// A role of the graph at one place of its mesh. Lanes count with the last axis fastest.
struct place {
    int role = 0;
    int lane = 0;
};

// The roles of a collective over roles, by seat: those who give, or, where one gives, those who receive and then the giver
// if it does not receive.
inline std::vector<int> seats_of(const dv::ir::graph& g, const dv::ir::node& n) {
    std::vector<int> roles;
    if (n.kind == dv::op_kind::broadcast || n.kind == dv::op_kind::scatter) {
        bool receives = false;
        for (int t : g.operands.part(n.first_target, n.targets)) roles.push_back(t), receives = receives || t == n.root;
        if (!receives) roles.push_back(n.root);
    } else {
        for (int a : g.operands.part(n.first_argument, n.arguments)) roles.push_back(g.symbols[a].role);
    }
    return roles;
}

struct meaning {
    const dv::ir::graph* g = nullptr;
    word seed = 0;
    int runs = 0;
    std::vector<place> places;
    std::vector<int> first_place;                 // by role
    std::vector<std::int64_t> node_at, symbol_at;  // words from the start of a place's block; a node's results follow each other
    std::vector<std::vector<std::int64_t>> result_at;
    std::int64_t block = 0;
    std::vector<std::vector<word>> values;         // by run
    std::vector<word> states;                      // one block per place, at symbol_at; after the last run
    std::vector<std::vector<word>> effects;        // by run: one per place and node

    static std::int64_t words_of(std::int64_t bytes) { return (bytes + 7) / 8; }
    int lanes(int role) const { return (role + 1 < static_cast<int>(first_place.size()) ? first_place[role + 1] : static_cast<int>(places.size())) - first_place[role]; }
    int at(int role, int lane) const { return first_place[role] + lane; }
    int coordinate(int role, int lane, int axis) const {
        const auto mesh = g->mesh.part(g->roles[role].first_axis, g->roles[role].axes);
        for (int i = mesh.size() - 1; i >= 0; --i) {
            if (mesh[i].axis == axis) return lane % mesh[i].width;
            lane /= mesh[i].width;
        }
        return 0;
    }
    // The lanes that differ from `lane` along these axes only, itself included, in order.
    std::vector<int> neighbours(int role, int lane, unsigned axes) const {
        std::vector<int> found;
        for (int l = 0; l < lanes(role); ++l) {
            bool same = true;
            for (const auto& m : g->mesh.part(g->roles[role].first_axis, g->roles[role].axes))
                if ((axes >> m.axis & 1u) == 0 && coordinate(role, l, m.axis) != coordinate(role, lane, m.axis)) same = false;
            if (same) found.push_back(l);
        }
        return found;
    }
    word input_seed(int run, int symbol, int role, int lane) const {
        if (g->folded && g->symbols[symbol].role < 0) role = -1;
        return mix(mix(mix(mix(seed + 11) + static_cast<word>(run)) + static_cast<word>(symbol)) + static_cast<word>(role * 64 + lane));
    }
    word state_seed(int symbol, int lane) const { return mix(mix(seed + 13 + static_cast<word>(symbol)) + static_cast<word>(lane)); }

    piece result(int run, int place, int node, int j) {
        return {reinterpret_cast<unsigned char*>(values[run].data() + place * block + result_at[node][j]), result_bytes[node][j]};
    }
    // What a place reads under a symbol's name in this run; states as they stand.
    piece value(int run, int symbol, int role, int lane) {
        const dv::ir::symbol& x = g->symbols[symbol];
        int holder = x.role >= 0 ? x.role : role;
        if (x.role < 0 && x.kind == dv::ir::symbol_kind::value) {  // of a collective over roles: the reader's own, or anybody's
            const dv::ir::node& n = g->nodes[x.node];
            holder = g->operands[n.first_target];
            for (int t : g->operands.part(n.first_target, n.targets))
                if (t == role) holder = role;
        }
        const int home = at(holder, lane);
        const std::int64_t bytes = x.type.bytes();
        if (x.kind == dv::ir::symbol_kind::value) {
            int k = 0;
            while (g->operands[g->nodes[x.node].first_result + k] != symbol) ++k;
            return result(run, home, x.node, k);
        }
        word* const memory = x.kind == dv::ir::symbol_kind::state ? states.data() : values[run].data();
        return {reinterpret_cast<unsigned char*>(memory + home * block + symbol_at[symbol]), bytes};
    }

    std::vector<std::vector<std::int64_t>> result_bytes;
};

namespace detail {

// Nodes in an order of execution: after what computes their arguments, and as written where they touch one state.
inline std::vector<int> execution_order(const dv::ir::graph& g) {
    const int count = g.nodes.size();
    std::vector<std::vector<int>> before(count);
    std::vector<std::vector<std::pair<int, bool>>> touched(g.symbols.size());
    for (int i = 0; i < count; ++i) {
        const dv::ir::node& n = g.nodes[i];
        const auto touch = [&](int s, bool writes) {
            for (const auto& [other, wrote] : touched[s])
                if (writes || wrote) before[i].push_back(other);
        };
        for (int a : g.operands.part(n.first_argument, n.arguments)) {
            if (g.symbols[a].kind == dv::ir::symbol_kind::value) before[i].push_back(g.symbols[a].node);
            if (g.symbols[a].kind == dv::ir::symbol_kind::state) touch(a, false);
        }
        if (n.update)
            for (int s : g.operands.part(n.first_result, n.results)) touch(s, true);
        for (int a : g.operands.part(n.first_argument, n.arguments))
            if (g.symbols[a].kind == dv::ir::symbol_kind::state) touched[a].push_back({i, false});
        if (n.update)
            for (int s : g.operands.part(n.first_result, n.results)) touched[s].push_back({i, true});
    }
    std::vector<int> order;
    std::vector<char> done(count, 0);
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < count; ++i) {
            bool ready = !done[i];
            for (int b : before[i]) ready = ready && done[b];
            if (!ready) continue;
            done[i] = 1;
            moved = true;
            order.push_back(i);
        }
    }
    return order;
}

}  // namespace detail

inline meaning interpret(const dv::ir::graph& g, int runs, word seed) {
    meaning m;
    m.g = &g;
    m.seed = seed;
    m.runs = runs;
    for (int r = 0; r < g.roles.size(); ++r) {
        m.first_place.push_back(static_cast<int>(m.places.size()));
        int lanes = 1;
        for (const auto& a : g.mesh.part(g.roles[r].first_axis, g.roles[r].axes)) lanes *= a.width;
        for (int l = 0; l < lanes; ++l) m.places.push_back({r, l});
    }
    for (int s = 0; s < g.symbols.size(); ++s) {
        m.symbol_at.push_back(m.block);
        if (g.symbols[s].kind != dv::ir::symbol_kind::value) m.block += meaning::words_of(g.symbols[s].type.bytes());
    }
    for (int i = 0; i < g.nodes.size(); ++i) {
        const dv::ir::node& n = g.nodes[i];
        m.result_at.emplace_back();
        m.result_bytes.emplace_back();
        dv::tensor_type arguments[16], types[dv::max_results];
        for (int a = 0; a < n.arguments; ++a) arguments[a] = g.symbols[g.operands[n.first_argument + a]].type;
        if (n.kind == dv::op_kind::compute) n.op->infer(arguments, types);
        for (int j = 0; j < n.results; ++j) {
            const int s = g.operands[n.first_result + j];
            m.result_at[i].push_back(m.block);
            m.result_bytes[i].push_back((s >= 0 ? g.symbols[s].type : types[j]).bytes());
            m.block += meaning::words_of(m.result_bytes[i][j]);
        }
    }
    const int places = static_cast<int>(m.places.size());
    m.values.assign(runs, std::vector<word>(m.block * places, 0));
    m.effects.assign(runs, std::vector<word>(static_cast<std::size_t>(places * g.nodes.size()), 0));
    m.states.assign(m.block * places, 0);
    for (const place& at : m.places)
        for (int s = 0; s < g.symbols.size(); ++s)
            if (g.symbols[s].kind == dv::ir::symbol_kind::state && g.symbols[s].role == at.role) fill(m.value(0, s, at.role, at.lane), m.state_seed(s, at.lane));

    const std::vector<int> order = detail::execution_order(g);
    std::vector<piece> in, out;
    for (int run = 0; run < runs; ++run) {
        for (const place& at : m.places)
            for (int s = 0; s < g.symbols.size(); ++s) {
                const dv::ir::symbol& x = g.symbols[s];
                if (x.role >= 0 && x.role != at.role) continue;
                if (x.kind == dv::ir::symbol_kind::input) fill(m.value(run, s, at.role, at.lane), m.input_seed(run, s, at.role, at.lane));
                if (x.kind == dv::ir::symbol_kind::lane_index) {
                    int axis = 0;
                    while ((x.index_axis >> axis & 1u) == 0) ++axis;
                    const std::int32_t c = m.coordinate(at.role, at.lane, axis);
                    std::memcpy(m.value(run, s, at.role, at.lane).data, &c, sizeof c);
                }
            }
        for (int i : order) {
            const dv::ir::node& n = g.nodes[i];
            const auto argument = [&](int a, int role, int lane) { return m.value(run, g.operands[n.first_argument + a], role, lane); };
            if (n.role < 0) {
                const std::vector<int> seats = seats_of(g, n);
                int root = -1;
                for (int k = 0; k < static_cast<int>(seats.size()); ++k)
                    if (seats[k] == n.root) root = k;
                const collective c{n.kind, n.reduce, root, 0, false};
                for (int lane = 0; lane < m.lanes(seats[0]); ++lane) {
                    in.assign(seats.size(), {});
                    if (root >= 0 && n.arguments == 1) in[root] = argument(0, n.root, lane);
                    else
                        for (int k = 0; k < n.arguments; ++k) in[k] = argument(k, seats[k], lane);
                    for (int t : g.operands.part(n.first_target, n.targets))
                        for (int k = 0; k < static_cast<int>(seats.size()); ++k)
                            if (seats[k] == t) receive(c, in, k, m.result(run, m.at(t, lane), i, 0));
                }
                continue;
            }
            for (int lane = 0; lane < m.lanes(n.role); ++lane) {
                const int here = m.at(n.role, lane);
                in.clear();
                if (n.kind == dv::op_kind::compute) {
                    out.clear();
                    for (int a = 0; a < n.arguments; ++a) in.push_back(argument(a, n.role, lane));
                    for (int j = 0; j < n.results; ++j) out.push_back(m.result(run, here, i, j));
                    m.effects[run][here * g.nodes.size() + i] = apply(n.op, in, out);
                } else if (!dv::is_communication(n.kind)) {
                    in.push_back(argument(0, n.role, lane));
                    receive({}, in, 0, m.result(run, here, i, 0));
                } else {
                    const std::vector<int> lanes = m.neighbours(n.role, lane, n.axes);
                    int seat = 0;
                    for (int k = 0; k < static_cast<int>(lanes.size()); ++k) {
                        in.push_back(argument(0, n.role, lanes[k]));
                        if (lanes[k] == lane) seat = k;
                    }
                    receive({n.kind, n.reduce, n.root, n.offset, n.open}, in, seat, m.result(run, here, i, 0));
                }
            }
            if (n.update)
                for (int lane = 0; lane < m.lanes(n.role); ++lane)
                    for (int j = 0; j < n.results; ++j) {
                        const piece from = m.result(run, m.at(n.role, lane), i, j);
                        const piece to = m.value(run, g.operands[n.first_result + j], n.role, lane);
                        if (to.bytes > 0) std::memcpy(to.data, from.data, static_cast<std::size_t>(to.bytes));
                    }
        }
    }
    return m;
}

}  // namespace support
