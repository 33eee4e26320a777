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
        role_of.push_back(found);
        m.first_place.push_back(first_place_[at(found)]);
        m.position_counts.push_back(positions_[at(found)]);
    }
    // Statements by operation, those that share one by what they name.
    const auto name_of = [&](int x) { return x >= 0 && x < g.symbols.size() ? g.symbols[x].name : &dv::nameless; };
    std::vector<int> by_node;
    for (int i = 0; i < g.nodes.size(); ++i) {
        const dv::ir::node& n = g.nodes[i];
        int found = -1;
        for (int k = 0; k < m.statements; ++k) {
            if (s_.nodes[at(k)].op != n.op || contains(by_node, k) || at(n.results) != s_.nodes[at(k)].results.size()) continue;
            bool alike = true;
            for (const int x : s_.nodes[at(k)].results) {
                bool named = x < 0 || s_.nodes[at(k)].nested;
                for (const int r : g.operands.subspan(n.first_result, n.results))
                    named = named || dv::same(name_of(r), s_.symbols[at(x)].name);
                alike = alike && named;
            }
            if (n.op->view == dv::view_kind::rows) {  // of which many have one operation and no name
                const dv::ir::symbol& rows = g.symbols[g.operands[n.first_result]];
                const int x = s_.nodes[at(k)].results[0];
                alike = s_.symbols[at(x)].type == rows.type && s_.symbols[at(x)].in_host_memory == rows.in_host_memory;
            }
            if (alike) found = k;
        }
        if (found < 0) throw failure("node " + std::to_string(i) + " of the graph is not what is written");
        by_node.push_back(found);
        m.statement_of.push_back(found);
        m.result_at.push_back(result_at_[at(found)]);
        m.result_type.push_back(s_.nodes[at(found)].types);
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
