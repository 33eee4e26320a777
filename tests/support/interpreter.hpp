// The meaning of a graph in tables, executed statement by statement: values by dependency, statements on states in written order, all ranks
// and positions in turn. For graphs without a sketch; reference.hpp evaluates sketches.
#pragma once

#include "hash_ops.hpp"
#include "meaning.hpp"

#include <algorithm>

namespace support {

namespace detail {

// Nodes in an order of execution: after what computes their arguments, and as written where they touch one state.
inline std::vector<int> execution_order(const dv::ir::graph& g) {
    const int count = g.nodes.size();
    std::vector<std::vector<int>> before(static_cast<std::size_t>(count));
    std::vector<std::vector<std::pair<int, bool>>> touched(static_cast<std::size_t>(g.symbols.size()));
    for (int i = 0; i < count; ++i) {
        const dv::ir::node& n = g.nodes[i];
        const auto touch = [&](int s, bool writes) {
            for (const auto& [other, wrote] : touched[s])
                if (writes || wrote) before[i].push_back(other);
        };
        std::vector<int> states;  // that it reads, or rows of
        for (int a : g.operands.subspan(n.first_argument, n.arguments)) {
            if (g.symbols[a].kind == dv::ir::symbol_kind::value) before[i].push_back(g.symbols[a].node);
            if (const int read = place_of(g, a).symbol; g.symbols[read].kind == dv::ir::symbol_kind::state) states.push_back(read);
        }
        for (const int s : states) touch(s, false);
        const auto updated = n.update ? g.operands.subspan(n.first_result, n.results) : g.operands.subspan(0, 0);
        for (int s : updated)
            if (s >= 0) touch(s, true);
        for (const int s : states) touched[s].push_back({i, false});
        for (int s : updated)
            if (s >= 0) touched[s].push_back({i, true});
    }
    std::vector<int> order;
    std::vector<char> done(static_cast<std::size_t>(count), 0);
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

class interpreter {
public:
    // `given`: a meaning of the same graph, from which inputs and initial states are copied.
    interpreter(const dv::ir::graph& g, int runs, word seed, meaning* given) : g_{g}, seed_{seed}, given_{given} {
        m_.g = &g;
        m_.runs = runs;
        lay_out();
    }

    meaning result() {
        for (const auto& [role, position] : places_)
            for (int s = 0; s < g_.symbols.size(); ++s)
                if (g_.symbols[s].kind == dv::ir::symbol_kind::state && g_.symbols[s].role == role) {
                    if (given_ != nullptr)
                        copy(given_->initial_state(s, role, position), m_.initial_state(s, role, position));
                    else
                        fill_values(m_.initial_state(s, role, position),
                                    mix(mix(seed_ + 13 + static_cast<word>(s)) + static_cast<word>(position)));
                }
        m_.states = m_.initial;
        const std::vector<int> order = execution_order(g_);
        for (int run = 0; run < m_.runs; ++run) {
            bind(run);
            for (const int i : order) execute(run, i);
        }
        return std::move(m_);
    }

private:
    void lay_out() {
        for (int r = 0; r < g_.roles.size(); ++r) {
            m_.first_place.push_back(m_.places);
            int positions = 1;
            for (const auto& a : g_.mesh.subspan(g_.roles[r].first_axis, g_.roles[r].axes)) positions *= a.width;
            m_.position_counts.push_back(positions);
            m_.places += positions;
            for (int l = 0; l < positions; ++l) places_.push_back({r, l});
        }
        m_.symbol_at.assign(static_cast<std::size_t>(g_.symbols.size()), -1);
        for (int s = 0; s < g_.symbols.size(); ++s)
            if (g_.symbols[s].kind != dv::ir::symbol_kind::value) m_.symbol_at[s] = room(g_.symbols[s].type);
        for (int i = 0; i < g_.nodes.size(); ++i) {
            const dv::ir::node& n = g_.nodes[i];
            std::vector<dv::tensor_type> arguments;
            for (const int a : g_.operands.subspan(n.first_argument, n.arguments)) arguments.push_back(g_.symbols[a].type);
            dv::tensor_type types[dv::max_results];
            if (n.kind == dv::op_kind::compute && n.op->view == dv::view_kind::none) n.op->infer(arguments.data(), types);
            m_.result_at.emplace_back();
            m_.result_type.emplace_back();
            for (int j = 0; j < n.results; ++j) {
                const int s = g_.operands[n.first_result + j];
                m_.result_type[i].push_back(s >= 0 ? g_.symbols[s].type : types[j]);
                m_.result_at[i].push_back(room(m_.result_type[i][j]));
                if (s >= 0 && !n.update) m_.symbol_at[s] = m_.result_at[i][j];
            }
            m_.statement_of.push_back(i);
        }
        m_.statements = g_.nodes.size();
        const auto words = static_cast<std::size_t>(m_.block * m_.places);
        m_.values.assign(static_cast<std::size_t>(m_.runs), std::vector<word>(words, 0));
        m_.effects.assign(static_cast<std::size_t>(m_.runs), std::vector<word>(static_cast<std::size_t>(m_.places * m_.statements), 0));
        m_.initial.assign(words, 0);
        m_.outputs.resize(places_.size());
        for (const auto& [role, position] : places_)
            for (int s = 0; s < g_.symbols.size(); ++s)
                if (has_output(s, role, position)) m_.outputs[m_.at(role, position)].push_back(s);
    }
    std::int64_t room(const dv::tensor_type& type) {
        const std::int64_t at = m_.block;
        m_.block += words_of(type.bytes());
        return at;
    }
    static void copy(piece from, piece to) {
        if (from.bytes > 0) std::memcpy(to.data, from.data, static_cast<std::size_t>(from.bytes));
    }
    bool receives_it(const dv::ir::node& n, int role) const {
        for (const int t : g_.operands.subspan(n.first_target, n.targets))
            if (t == role) return true;
        return false;
    }
    bool has_output(int symbol, int role, int position) const {
        const dv::ir::symbol& x = g_.symbols[symbol];
        if (!x.output || x.node < 0) return false;
        const dv::ir::node& n = g_.nodes[x.node];
        if (n.role < 0) return receives_it(n, role);
        return n.role == role && (!dv::is_communication(n.kind) || receives(n.kind, n.root, group_index_of(n, position)));
    }
    int group_index_of(const dv::ir::node& n, int position) const {
        const std::vector<int> positions = m_.neighbours(n.role, position, n.axes);
        return static_cast<int>(std::find(positions.begin(), positions.end(), position) - positions.begin());
    }

    void bind(int run) {
        for (const auto& [role, position] : places_)
            for (int s = 0; s < g_.symbols.size(); ++s) {
                const dv::ir::symbol& x = g_.symbols[s];
                if (x.role >= 0 && x.role != role) continue;
                if (x.kind == dv::ir::symbol_kind::input) {
                    const int of = g_.single_rank && x.role < 0 ? -1 : role;
                    if (given_ != nullptr)
                        copy(given_->value(run, s, role, position), m_.value(run, s, role, position));
                    else
                        fill_values(m_.value(run, s, role, position),
                                    mix(mix(mix(mix(seed_ + 11) + static_cast<word>(run)) + static_cast<word>(s)) +
                                        static_cast<word>(of * 1024 + position)));
                }
                if (x.kind == dv::ir::symbol_kind::axis_index) {
                    int axis = 0;
                    while ((x.index_axis >> axis & 1u) == 0) ++axis;
                    const std::int32_t c = m_.coordinate(role, position, axis);
                    std::memcpy(m_.value(run, s, role, position).data, &c, sizeof c);
                }
            }
    }
    // The value that a role reads for a symbol: of a collective over roles, its own result, or that of any role if it has none.
    piece read(int run, int symbol, int role, int position) {
        const dv::ir::symbol& x = g_.symbols[symbol];
        if (x.node >= 0 && g_.nodes[x.node].op->view == dv::view_kind::rows) {
            const dv::ir::node& rows = g_.nodes[x.node];
            const piece all = read(run, g_.operands[rows.first_argument], role, position);
            return {all.data + rows.part * x.type.bytes(), x.type.bytes(), all.type};
        }
        if (x.kind == dv::ir::symbol_kind::state) return m_.state(symbol, x.role, position);
        if (x.role >= 0) return m_.value(run, symbol, x.role, position);
        if (x.kind != dv::ir::symbol_kind::value || receives_it(g_.nodes[x.node], role)) return m_.value(run, symbol, role, position);
        return m_.value(run, symbol, g_.operands[g_.nodes[x.node].first_target], position);
    }

    void execute(int run, int i) {
        const dv::ir::node& n = g_.nodes[i];
        if (n.op->view == dv::view_kind::rows) return;  // see read
        if (n.role < 0) return n.op->view == dv::view_kind::concat ? join_on_receivers(run, i) : over_roles(run, i);
        const auto argument = [&](int a, int position) { return read(run, g_.operands[n.first_argument + a], n.role, position); };
        std::vector<piece> in, out;
        for (int position = 0; position < m_.positions(n.role); ++position) {
            const int here = m_.at(n.role, position);
            in.clear();
            if (n.op->view == dv::view_kind::concat) {
                join(run, i, n.role, position);
            } else if (n.kind == dv::op_kind::compute) {
                out.clear();
                for (int a = 0; a < n.arguments; ++a) in.push_back(argument(a, position));
                for (int j = 0; j < n.results; ++j) out.push_back(m_.result(run, here, i, j));
                m_.effect(run, here, i) = apply(n.op, in, out);
            } else if (!dv::is_communication(n.kind)) {
                in.push_back(argument(0, position));
                // A reduction in place makes one block, at its place: here each block is that one.
                const int blocks = static_cast<int>(m_.neighbours(n.role, position, n.axes).size());
                receive({moving_within_a_rank(n.kind), n.reduce, -1, 0, false, n.op, blocks}, in, 0, m_.result(run, here, i, 0));
            } else {
                const std::vector<int> positions = m_.neighbours(n.role, position, n.axes);
                std::vector<std::vector<piece>> given(positions.size());
                for (std::size_t l = 0; l < positions.size(); ++l)
                    for (int a = 0; a < n.arguments; ++a) given[l].push_back(argument(a, positions[l]));
                out.clear();
                for (int j = 0; j < n.results; ++j) out.push_back(m_.result(run, here, i, j));
                receive_pieces({n.kind, n.reduce, n.root, n.offset, n.zero_edge, n.op}, given, group_index_of(n, position), out);
            }
        }
        if (!n.update) return;
        for (int position = 0; position < m_.positions(n.role); ++position)
            for (int j = 0; j < n.results; ++j)
                if (const int s = g_.operands[n.first_result + j]; s >= 0)
                    copy(m_.result(run, m_.at(n.role, position), i, j), m_.state(s, n.role, position));
    }
    // A value made of parts, on a role that has them.
    void join(int run, int i, int role, int position) {
        const dv::ir::node& n = g_.nodes[i];
        piece to = m_.result(run, m_.at(role, position), i, 0);
        for (const int part : g_.operands.subspan(n.first_argument, n.arguments)) {
            const piece from = read(run, part, role, position);
            copy(from, to);
            to.data += from.bytes;
        }
    }
    // Of parts that a collective over roles makes.
    void join_on_receivers(int run, int i) {
        for (const int role : g_.operands.subspan(g_.nodes[i].first_target, g_.nodes[i].targets))
            for (int position = 0; position < m_.positions(role); ++position) join(run, i, role, position);
    }
    void over_roles(int run, int i) {
        const dv::ir::node& n = g_.nodes[i];
        const std::vector<int> group_indices = group_of(g_, n);
        int root = -1;
        for (int k = 0; k < static_cast<int>(group_indices.size()); ++k)
            if (group_indices[k] == n.root) root = k;
        std::vector<piece> in;
        for (int position = 0; position < m_.positions(group_indices[0]); ++position) {
            in.assign(group_indices.size(), {});
            if (root >= 0 && n.arguments == 1)
                in[root] = read(run, g_.operands[n.first_argument], n.root, position);
            else
                for (int k = 0; k < n.arguments; ++k) in[k] = read(run, g_.operands[n.first_argument + k], group_indices[k], position);
            for (int k = 0; k < static_cast<int>(group_indices.size()); ++k)
                if (receives_it(n, group_indices[k]))
                    receive({n.kind, n.reduce, root, 0, false}, in, k, m_.result(run, m_.at(group_indices[k], position), i, 0));
        }
    }

    const dv::ir::graph& g_;
    const word seed_;
    meaning* const given_;
    meaning m_;
    std::vector<std::pair<int, int>> places_;  // role and position
};

}  // namespace detail

inline meaning interpret(const dv::ir::graph& g, int runs, word seed) { return detail::interpreter{g, runs, seed, nullptr}.result(); }
// The same on what another reading of the graph binds and starts from.
inline meaning interpret_as(const dv::ir::graph& g, meaning& given) { return detail::interpreter{g, given.runs, 0, &given}.result(); }

}  // namespace support
