// A graph in a form that is easy to draw and to reduce, and `emit`, which makes the arrays of it that the passes read.
#pragma once

#include "hash_ops.hpp"

#include <dovetail/cost/machine.hpp>
#include <dovetail/ir/graph.hpp>
#include <dovetail/ir/table.hpp>

#include <algorithm>
#include <string>

namespace support {

struct statement {
    const dv::operation* op = nullptr;
    dv::op_kind kind = dv::op_kind::compute;
    int role = -1;
    std::vector<int> arguments = {};
    std::vector<int> results = {};   // -1: discarded
    std::vector<int> targets = {};
    bool update = false;
    dv::reduction reduce = dv::reduction::none;
    unsigned axes = 0;
    int root = -1;
    int offset = 0;
    bool open = false;
    int bundle = -1;
    bool nested = false;             // inside the expression of the next statement that is not
};

struct sketch {
    std::shared_ptr<names> pool = std::make_shared<names>();
    std::vector<dv::ir::symbol> symbols = {};
    std::vector<statement> nodes = {};                     // in written order
    std::vector<std::vector<dv::ir::mesh_axis>> roles = {};
    int axes = 0;
    bool folded = false;
    dv::settings settings = {};
    bool tight = false;   // planned with a byte less than it takes by choice, where that is possible
    int runs = 1;
    word seed = 0;
};

inline std::string print_settings(const sketch& s) {
    constexpr const char* channels[] = {"automatic", "nccl", "peer_copy"};
    return "runs " + std::to_string(s.runs) + ", in flight " + std::to_string(s.settings.in_flight) + ", channel slots " + std::to_string(s.settings.channel_slots) +
           ", channels " + channels[static_cast<int>(s.settings.channels)] + ", overlap " + std::to_string(s.settings.overlap) + "\n";
}

inline int width_of(const sketch& s, int role, unsigned axes) {
    int n = 1;
    for (const dv::ir::mesh_axis& m : s.roles[role])
        if (axes >> m.axis & 1u) n *= m.width;
    return n;
}

// The arrays. Symbols that nothing mentions are left out.
inline dv::ir::graph_data emit(const sketch& s) {
    dv::ir::graph_data g;
    g.folded = s.folded;
    for (int a = 0; a < s.axes; ++a) {
        static const char* const axis_names[] = {"dp", "tp", "pp", "ep"};
        g.axes.push({s.pool->tag(axis_names[a]), -1});
    }
    for (std::size_t r = 0; r < s.roles.size(); ++r) {
        dv::ir::role role;
        role.name = s.roles.size() == 1 ? &dv::nameless : s.pool->tag("role" + std::to_string(r));
        role.first_axis = g.mesh.size();
        role.axes = static_cast<int>(s.roles[r].size());
        for (const auto& m : s.roles[r]) g.mesh.push(m);
        g.roles.push(role);
    }
    std::vector<int> id(s.symbols.size(), -1);
    std::vector<char> named(s.symbols.size(), 0), nested(s.symbols.size(), 0);
    for (const statement& n : s.nodes) {
        for (int a : n.arguments) named[a] = 1;
        for (int r : n.results)
            if (r >= 0) named[r] = 1, nested[r] = n.nested;
    }
    for (std::size_t i = 0; i < s.symbols.size(); ++i) {
        if (!named[i]) continue;
        id[i] = g.symbols.size();
        dv::ir::symbol symbol = s.symbols[i];
        if (symbol.kind != dv::ir::symbol_kind::lane_index && !nested[i]) symbol.name = s.pool->tag("vish"[static_cast<int>(symbol.kind)] + std::to_string(i));
        g.symbols.push(symbol);
    }
    int written = 0;
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
        const statement& n = s.nodes[i];
        dv::ir::node node;
        node.op = n.op;
        node.kind = n.kind;
        node.role = n.role;
        node.first_argument = g.operands.size();
        node.arguments = static_cast<int>(n.arguments.size());
        for (int a : n.arguments) g.operands.push(id[a]);
        node.first_result = g.operands.size();
        node.results = static_cast<int>(n.results.size());
        for (std::size_t j = 0; j < n.results.size(); ++j) {
            const int r = n.results[j];
            g.operands.push(r < 0 ? -1 : id[r]);
            if (r >= 0 && !n.update) g.symbols[id[r]].node = static_cast<int>(i);
        }
        node.first_target = g.operands.size();
        node.targets = static_cast<int>(n.targets.size());
        for (int t : n.targets) g.operands.push(t);
        node.update = n.update;
        node.reduce = n.reduce;
        node.axes = n.axes;
        node.root = n.root;
        node.offset = n.offset;
        node.open = n.open;
        node.bundle = n.bundle;
        node.statement = written;
        if (!n.nested) ++written;
        g.nodes.push(node);
    }
    return g;
}

}  // namespace support
