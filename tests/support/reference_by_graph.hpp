// The reference's values by the ids of the graph that was written from the sketch: roles and symbols are found by name, statements by
// operation. Part of reference.hpp.
#pragma once

#include "reference.hpp"

namespace support {

inline meaning reference::as_read(const dv::ir::graph& g) const {
    meaning m;
    m.g = &g;
    m.runs = runs();
    m.places = places_;
    m.block = block_;
    m.values = values_;
    m.effects = effects_;
    m.initial = initial_;
    m.states = states_;
    m.statements = static_cast<int>(s_.nodes.size());
    if (g.nodes.size() != m.statements)
        throw failure("the graph has " + std::to_string(g.nodes.size()) + " nodes, and is written of " + std::to_string(m.statements));
    // Roles by name.
    std::vector<int> role_of;
    for (int r = 0; r < g.roles.size(); ++r) {
        int found = has_roles(s_) ? -1 : 0;
        for (int k = 0; k < static_cast<int>(s_.roles.size()); ++k)
            if (const std::string name = "role" + std::to_string(k);
                std::string_view(g.roles[r].name->spelling.first, at(g.roles[r].name->spelling.size)) == name)
                found = k;
        if (found < 0) throw failure("the graph has a role that is not written");
        int positions = 1;  // 0: a width is open
        for (const dv::ir::mesh_axis& x : g.mesh.subspan(g.roles[r].first_axis, g.roles[r].axes)) positions *= x.width;
        if (positions != 0 && positions != positions_[at(found)]) throw failure("a role of the graph has another mesh than is written");
        role_of.push_back(found);
        m.first_place.push_back(first_place_[at(found)]);
        m.position_counts.push_back(positions_[at(found)]);
    }
    // Statements from the last to the first: what is nested is found by the argument that it is, all others by operation and names.
    const auto name_of = [&](int x) { return x >= 0 && x < g.symbols.size() ? g.symbols[x].name : &dv::nameless; };
    const auto producer_of = [&](int x) {
        for (int k = 0; k < m.statements; ++k)
            if (contains(s_.nodes[at(k)].results, x)) return k;
        return -1;
    };
    std::vector<int> by_node(at(m.statements), -1);
    for (int i = m.statements - 1; i >= 0; --i) {
        const dv::ir::node& n = g.nodes[i];
        int& found = by_node[at(i)];
        for (int k = 0; k < m.statements && found < 0; ++k) {
            const statement& written = s_.nodes[at(k)];
            bool alike = !written.nested && written.op == n.op && !contains(by_node, k) && at(n.results) == written.results.size();
            for (std::size_t j = 0; alike && j < written.results.size(); ++j)
                if (const int x = written.results[j]; x >= 0)
                    alike = dv::same(name_of(g.operands[n.first_result + static_cast<int>(j)]), s_.symbols[at(x)].name);
            if (alike) found = k;
        }
        if (found < 0 || s_.nodes[at(found)].op != n.op)
            throw failure("node " + std::to_string(i) + " of the graph is not what is written");
        for (int j = 0; j < n.arguments && j < static_cast<int>(s_.nodes[at(found)].arguments.size()); ++j) {
            const dv::ir::symbol& argument = g.symbols[g.operands[n.first_argument + j]];
            if (argument.node >= 0 && !dv::named(argument.name))
                by_node[at(argument.node)] = producer_of(s_.nodes[at(found)].arguments[at(j)]);
        }
    }
    for (int i = 0; i < m.statements; ++i) {
        m.statement_of.push_back(by_node[at(i)]);
        m.result_at.push_back(result_at_[at(by_node[at(i)])]);
        m.result_type.push_back(s_.nodes[at(by_node[at(i)])].types);
    }
    // Symbols by name, nested ones by what computes them.
    std::vector<int> symbol_of;
    for (int x = 0; x < g.symbols.size(); ++x) {
        const dv::ir::symbol& y = g.symbols[x];
        int found = -1;
        if (dv::named(y.name)) {
            for (int k = 0; k < symbols(); ++k) {
                const symbol& z = s_.symbols[at(k)];
                const dv::tag* name = z.kind == dv::ir::symbol_kind::axis_index ? axis_name(z.index_axis) : z.name;
                if (z.kind == y.kind && dv::same(name, y.name)) found = k;
            }
        } else if (y.node >= 0) {
            found = s_.nodes[at(by_node[at(y.node)])].results[0];
        }
        if (found < 0) throw failure("symbol " + std::to_string(x) + " of the graph is not what is written");
        if (s_.symbols[at(found)].type != y.type) throw failure("symbol " + std::to_string(x) + " of the graph has another type");
        if (s_.symbols[at(found)].in_host_memory != y.in_host_memory)
            throw failure("symbol " + std::to_string(x) + " of the graph lies in other memory");
        symbol_of.push_back(found);
        m.symbol_at.push_back(symbol_at_[at(found)]);
    }
    m.outputs.resize(at(places_));
    for (int r = 0; r < g.roles.size(); ++r)
        for (int position = 0; position < m.positions(r); ++position)
            for (int x = 0; x < g.symbols.size(); ++x)
                if (has_output(symbol_of[at(x)], role_of[at(r)], position)) m.outputs[at(m.at(r, position))].push_back(x);
    return m;
}

// The sketch's runs, as the graph written from it is to have them.
inline meaning read_sketch(const sketch& s, const dv::ir::graph& g, int runs) {
    reference r{s};
    for (int i = 0; i < runs; ++i) r.run();
    return r.as_read(g);
}

}  // namespace support
