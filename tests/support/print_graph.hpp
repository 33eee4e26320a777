// A graph as text, one statement a line, in the words of the language; and a program with its plan, one task a line.
#pragma once

#include <dovetail/core/display.hpp>
#include <dovetail/plan/plan.hpp>

#include <string>
#include <vector>

namespace support {

inline std::string name_of(const dovetail::ir::graph& g, int symbol) {
    if (symbol < 0) return "discard";
    const dovetail::ir::symbol& s = g.symbols[symbol];
    if (s.kind == dovetail::ir::symbol_kind::axis_index) {
        for (int a = 0; a < g.axes.size(); ++a)
            if (s.index_axis >> a & 1u) return "axis_index<" + std::string(dovetail::spelled(*g.axes[a].name)) + ">";
    }
    return std::string("vish"[static_cast<int>(s.kind)] + std::to_string(symbol));
}

inline std::string print_graph(const dovetail::ir::graph& g) {
    namespace dv = dovetail;
    std::string text;
    const auto role = [](int r) { return r < 0 ? std::string("everywhere") : "role" + std::to_string(r); };
    const auto type = [](const dv::tensor_type& t) {
        std::string s = dv::name_of(t.type);
        for (int i = 0; i < t.rank; ++i) s += (i == 0 ? "[" : ", ") + std::to_string(t.extent[i]) + (i + 1 == t.rank ? "]" : "");
        return s;
    };
    const auto axes = [&](unsigned mask) {
        std::string s;
        for (int a = 0; a < g.axes.size(); ++a)
            if (mask >> a & 1u) s += (s.empty() ? "" : ", ") + std::string(dovetail::spelled(*g.axes[a].name));
        return s;
    };
    for (int r = 0; r < g.roles.size(); ++r) {
        text += role(r) + ": mesh<";
        for (int i = 0; i < g.roles[r].axes; ++i) {
            const dv::ir::mesh_axis& m = g.mesh[g.roles[r].first_axis + i];
            text += (i == 0 ? "axis<" : ", axis<") + std::string(dovetail::spelled(*g.axes[m.axis].name)) + ", " + std::to_string(m.width) +
                    (m.link == dv::link::network ? ", network>" : ">");
        }
        text += g.single_rank ? ">, single_rank\n" : ">\n";
    }
    for (int i = 0; i < g.symbols.size(); ++i) {
        const dv::ir::symbol& s = g.symbols[i];
        if (s.kind != dv::ir::symbol_kind::input && s.kind != dv::ir::symbol_kind::state) continue;
        text += role(s.role) + (s.kind == dv::ir::symbol_kind::input ? ": input " : ": state ") + name_of(g, i) + " " + type(s.type);
        if (s.in_host_memory) text += " host";
        if (s.kind == dv::ir::symbol_kind::state && !s.initialised) text += " not initialised";
        text += "\n";
    }
    for (int i = 0; i < g.nodes.size(); ++i) {
        const dv::ir::node& n = g.nodes[i];
        text += std::to_string(i) + " " + (n.role < 0 ? std::string("roles") : role(n.role)) + ": " + (n.update ? "update " : "");
        for (int j = 0; j < n.results; ++j) {
            const int s = g.operands[n.first_result + j];
            text += (j == 0 ? "" : ", ") + name_of(g, s);
            if (s >= 0)
                text += " " + type(g.symbols[s].type) + (g.symbols[s].output ? " output" : "") +
                        (g.symbols[s].name == nullptr ? " nested" : "");
        }
        text += " = " + std::string(n.kind == dv::op_kind::compute ? dv::spelled(*n.op->name) : std::string_view(dv::name_of(n.kind)));
        std::string facts;
        const auto fact = [&](const std::string& f) { facts += (facts.empty() ? "" : ", ") + f; };
        if (n.reduce != dv::reduction::none) fact(dv::name_of(n.reduce));
        if (n.axes != 0) fact(axes(n.axes));
        if (n.root >= 0) fact("root " + std::to_string(n.root));
        for (int i = 0; i < n.op->pair_count; ++i)
            fact(std::to_string(n.op->pairs[i].source) + " to " + std::to_string(n.op->pairs[i].target));
        if (n.kind == dv::op_kind::shift) fact(std::to_string(n.offset) + (n.zero_edge ? ", zero_edge" : ""));
        if (n.op->in_place >= 0 || n.op->in_place_only)
            fact("in_place " + std::to_string(n.op->in_place) + (n.op->in_place_only ? " only" : ""));
        if (n.op->has_effect) fact("effect");
        if (n.op->workspace != nullptr) {
            std::vector<dv::tensor_type> types;
            for (const int a : g.operands.subspan(n.first_argument, n.arguments)) types.push_back(g.symbols[a].type);
            fact("workspace " + std::to_string(n.op->workspace(types.data())));
        }
        if (!facts.empty()) text += "<" + facts + ">";
        text += "(";
        for (int j = 0; j < n.arguments; ++j) text += (j == 0 ? "" : ", ") + name_of(g, g.operands[n.first_argument + j]);
        text += ")";
        if (n.targets > 0) {
            text += " to";
            for (int t : g.operands.subspan(n.first_target, n.targets)) text += " " + role(t);
        }
        for (int a : g.operands.subspan(n.first_awaited, n.awaited)) text += " after " + name_of(g, a);
        if (n.nccl_group_id >= 0) text += " nccl_group " + std::to_string(n.nccl_group_id);
        text += "\n";
    }
    return text;
}

inline std::string print_plan(const dovetail::ir::program& p, const dovetail::plan::plan& plan) {
    namespace dv = dovetail;
    std::string text;
    for (int b = 0; b < p.buffers.size(); ++b) {
        static const char* const where[] = {"arena", "host", "input", "state", "workspace", "constant"};
        const dv::ir::buffer& x = p.buffers[b];
        const dv::ir::placement& at = plan.placements[b];
        text += "buffer " + std::to_string(b) + ": role" + std::to_string(x.role) + " " + where[static_cast<int>(x.where)] + " symbol " +
                std::to_string(x.symbol) + ", " + std::to_string(x.bytes) + " bytes at " + std::to_string(at.offset) + ", slots " +
                std::to_string(x.slots) + (x.output ? ", output" : "") + (x.alias >= 0 ? ", alias of " + std::to_string(x.alias) : "") +
                (x.symmetric_set >= 0 ? ", common " + std::to_string(x.symmetric_set) : "") + "\n";
    }
    for (int r = 0; r < p.roles; ++r) {
        text += "role" + std::to_string(r) + ", event_slots " + std::to_string(plan.event_slots) + "\n";
        for (int i = 0; i < plan.roles[r].steps; ++i) {
            const dv::ir::step& s = plan.steps[plan.roles[r].first_step + i];
            text += "  step " + std::to_string(i) + " " + dv::name_of(static_cast<dv::stream_kind>(s.stream)) + ": task " +
                    std::to_string(s.task);
            for (const dv::ir::participation& participation : p.participations.subspan(s.first_participation, s.participations)) {
                const dv::ir::member& m = p.members[participation.member];
                text += std::string(" ") + dv::name_of(m.kind) + (m.node >= 0 ? " of statement " + std::to_string(m.node) : std::string{}) +
                        " [";
                for (const dv::ir::access& a : p.accesses.subspan(participation.first_access, participation.touches()))
                    text += std::string(" ") + "rwu"[static_cast<int>(a.mode)] + std::to_string(a.buffer);
                text += " ]";
            }
            for (const dv::ir::wait& w : plan.waits.subspan(s.first_wait, s.waits))
                text += ", waits for step " + std::to_string(w.step) +
                        (w.distance > 0 ? " of " + std::to_string(w.distance) + " runs ago" : std::string{});
            text += s.event >= 0 ? ", event " + std::to_string(s.event) + "\n" : "\n";
        }
    }
    return text;
}

}  // namespace support
