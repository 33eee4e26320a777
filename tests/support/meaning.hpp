// The meaning of a graph, as values: each result of each statement on each rank in each run, the bound inputs, the states at the start and
// at the end, and the outputs of each rank. Indexed by the ids of the graph; `interpret` (interpreter.hpp) computes it from the graph
// itself, `as_read` (reference.hpp) from the sketch that the graph was written from.
#pragma once

#include "values.hpp"

#include <dovetail/ir/graph.hpp>
#include <dovetail/ir/program.hpp>

#include <stdexcept>
#include <string>

namespace support {

struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The roles of a collective over roles, by group_index: the senders or, if only the root sends, the receivers, followed by the root if it
// does not receive.
inline std::vector<int> group_of(const dv::ir::graph& g, const dv::ir::node& n) {
    std::vector<int> roles;
    if (n.kind == dv::op_kind::broadcast || n.kind == dv::op_kind::scatter) {
        bool receives = false;
        for (int t : g.operands.subspan(n.first_target, n.targets)) roles.push_back(t), receives = receives || t == n.root;
        if (!receives) roles.push_back(n.root);
    } else {
        for (int a : g.operands.subspan(n.first_argument, n.arguments)) roles.push_back(g.symbols[a].role);
    }
    return roles;
}

// The value that a symbol is rows of, itself if of none, and how many bytes stand before them.
struct place {
    int symbol = -1;
    std::int64_t begin = 0;
};
inline place place_of(const dv::ir::graph& g, int symbol) {
    if (const int n = g.symbols[symbol].node; n >= 0 && g.nodes[n].op->view == dv::view_kind::rows) {
        place of = place_of(g, g.operands[g.nodes[n].first_argument]);
        of.begin += g.nodes[n].part * g.symbols[symbol].type.bytes();
        return of;
    }
    for (const dv::ir::node& n : g.nodes) {
        if (n.op->view != dv::view_kind::concat) continue;
        std::int64_t before = 0;
        for (const int participation : g.operands.subspan(n.first_argument, n.arguments)) {
            if (participation == symbol) {
                place of = place_of(g, g.operands[n.first_result]);
                of.begin += before;
                return of;
            }
            before += g.symbols[participation].type.bytes();
        }
    }
    return {symbol, 0};
}

inline std::int64_t size_of(const dv::ir::program& p, const dv::ir::access& a) {
    std::int64_t bytes = 0;
    for (int l = a.leaf; l < a.leaf + a.leaves; ++l) bytes += p.leaves[l].bytes;
    return bytes;
}
// Whether the bytes of an access are the symbol's: those of its buffer's symbol, or rows of what both are part of.
inline bool is_of(const dv::ir::graph& g, const dv::ir::program& p, const dv::ir::access& a, int symbol) {
    const int held = p.buffers[a.buffer].symbol;
    if (held < 0 || symbol < 0) return held == symbol;
    const place mine = place_of(g, symbol);
    place touched = place_of(g, held);
    touched.begin += p.leaves[a.leaf].begin;
    return touched.symbol == mine.symbol && touched.begin == mine.begin && size_of(p, a) == g.symbols[symbol].type.bytes();
}

// Where things lie in a meaning's memory, in words from the start of a place's block. A place is a role of the graph at one point of
// its mesh; positions count with the last axis fastest.
struct meaning {
    const dv::ir::graph* g = nullptr;
    int runs = 0;
    int places = 0;
    std::vector<int> first_place, position_counts;                // by role
    std::int64_t block = 0;
    std::vector<std::int64_t> symbol_at;                      // by symbol; of a value also where a result lies
    std::vector<std::vector<std::int64_t>> result_at;         // by node and result
    std::vector<std::vector<dv::tensor_type>> result_type;
    int statements = 0;
    std::vector<int> statement_of;                            // by node: which effect is its own
    std::vector<std::vector<word>> values, effects;           // by run
    std::vector<word> initial, states;                        // before the first run and behind the last, at symbol_at
    std::vector<std::vector<int>> outputs;                    // by place: the symbols that the caller may read there

    int positions(int role) const { return position_counts[static_cast<std::size_t>(role)]; }
    int at(int role, int position) const { return first_place[static_cast<std::size_t>(role)] + position; }
    // By the graph's mesh.
    int coordinate(int role, int position, int axis) const {
        const auto mesh = g->mesh.subspan(g->roles[role].first_axis, g->roles[role].axes);
        for (int i = mesh.size() - 1; i >= 0; --i) {
            if (mesh[i].axis == axis) return position % mesh[i].width;
            position /= mesh[i].width;
        }
        return 0;
    }
    // The positions that differ from `position` along these axes only, itself included, in order.
    std::vector<int> neighbours(int role, int position, unsigned axes) const {
        std::vector<int> found;
        for (int l = 0; l < positions(role); ++l) {
            bool same = true;
            for (const auto& m : g->mesh.subspan(g->roles[role].first_axis, g->roles[role].axes))
                if ((axes >> m.axis & 1u) == 0 && coordinate(role, l, m.axis) != coordinate(role, position, m.axis)) same = false;
            if (same) found.push_back(l);
        }
        return found;
    }

    bool has_output(int symbol, int role, int position) const {
        for (const int s : outputs[static_cast<std::size_t>(at(role, position))])
            if (s == symbol) return true;
        return false;
    }

    piece result(int run, int place, int node, int j) {
        const dv::tensor_type& type = result_type[static_cast<std::size_t>(node)][static_cast<std::size_t>(j)];
        return in(values[static_cast<std::size_t>(run)], place, result_at[static_cast<std::size_t>(node)][static_cast<std::size_t>(j)],
                  type);
    }
    // A value, an input or an axis index as a role has it.
    piece value(int run, int symbol, int role, int position) {
        return in(values[static_cast<std::size_t>(run)], at(role, position), symbol_at[static_cast<std::size_t>(symbol)],
                  g->symbols[symbol].type);
    }
    piece initial_state(int symbol, int role, int position) {
        return in(initial, at(role, position), symbol_at[static_cast<std::size_t>(symbol)], g->symbols[symbol].type);
    }
    piece state(int symbol, int role, int position) {
        return in(states, at(role, position), symbol_at[static_cast<std::size_t>(symbol)], g->symbols[symbol].type);
    }
    word& effect(int run, int place, int node) {
        return effects[static_cast<std::size_t>(run)]
                      [static_cast<std::size_t>(place * statements + statement_of[static_cast<std::size_t>(node)])];
    }

private:
    piece in(std::vector<word>& memory, int place, std::int64_t offset, const dv::tensor_type& type) const {
        return {reinterpret_cast<unsigned char*>(memory.data() + place * block + offset), type.bytes(), type.type};
    }
};

// The meaning of a written graph by the nodes of a rewritten one, each of which comes from one of the written graph.
inline meaning renumbered(const meaning& written, const dv::ir::graph& now) {
    meaning m = written;
    m.g = &now;
    m.statement_of.clear();
    m.result_at.clear();
    m.result_type.clear();
    for (const dv::ir::node& n : now.nodes) {
        const auto from = static_cast<std::size_t>(n.origin);
        m.statement_of.push_back(written.statement_of.at(from));
        m.result_at.push_back(written.result_at.at(from));
        m.result_type.push_back(written.result_type.at(from));
    }
    return m;
}

// The differences between two meanings of one graph; empty if there are none.
inline std::string difference(meaning& a, meaning& b) {
    const dv::ir::graph& g = *a.g;
    for (int role = 0; role < g.roles.size(); ++role)
        for (int position = 0; position < a.positions(role); ++position) {
            const std::string where = " on position " + std::to_string(position) + " of role " + std::to_string(role);
            for (int run = 0; run < a.runs; ++run)
                for (int i = 0; i < g.nodes.size(); ++i) {
                    const dv::ir::node& n = g.nodes[i];
                    bool here = n.role == role && n.op->view == dv::view_kind::none;  // else what reads it tells
                    for (const int t : g.operands.subspan(n.first_target, n.targets)) here = here || t == role;
                    for (int j = 0; here && j < n.results; ++j)
                        if (!same(a.result(run, a.at(role, position), i, j), b.result(run, b.at(role, position), i, j)))
                            return "result " + std::to_string(j) + " of node " + std::to_string(i) + where + " in run " +
                                   std::to_string(run);
                }
            for (int s = 0; s < g.symbols.size(); ++s)
                if (g.symbols[s].kind == dv::ir::symbol_kind::state && g.symbols[s].role == role &&
                    !same(a.state(s, role, position), b.state(s, role, position)))
                    return "state " + std::to_string(s) + where;
            for (int s = 0; s < g.symbols.size(); ++s)
                if (g.symbols[s].type.bytes() > 0 && a.has_output(s, role, position) != b.has_output(s, role, position))
                    return "output " + std::to_string(s) + where;
        }
    return {};
}

}  // namespace support
