// The plan as a graph in DOT: a cluster for each role, its steps with their places in the sequential and in the planned
// order, dependencies within a role, channels and collectives across. Red: moved against the sequential plan, as Ray draws it.
#pragma once

#include "timeline.hpp"

namespace dovetail::observe {

inline std::string dot(const plan_view& of) {
    timeline actual = predicted(of);
    const timeline before = sequential(of);
    mark_moved(of, actual, before);
    mark_critical(of, actual);
    const auto id = [](int role, int step) { return "r" + std::to_string(role) + "s" + std::to_string(step); };
    std::string text = "digraph " + in_quotes(of.title(), false) +
                       " {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=11];\n"
                       "  edge [color=gray40, arrowsize=0.7];\n";
    std::vector<std::vector<int>> at;
    for (const row& r : actual.rows) {
        static constexpr const char* colours[] = {"#dbe8fb", "#fcecc9", "#dcefdf"};
        const std::vector<int> written = places(of, before.rows[static_cast<std::size_t>(r.role)]);
        at.push_back(places(of, r));
        text += "  subgraph cluster_" + std::to_string(r.role) +
                " {\n    label=" + in_quotes(r.name + ", arena " + bytes_text(of.plan.roles[r.role].arena_bytes), false) + ";\n    color=gray60;\n";
        for (std::size_t i = 0; i < r.slices.size(); ++i) {
            const slice& s = r.slices[i];
            text += "    " + id(r.role, static_cast<int>(i)) + " [label=" +
                    in_quotes(of.label(s.task) + "\n" + std::to_string(written[static_cast<std::size_t>(s.task)]) + "," + std::to_string(i) + "  " +
                                  microseconds(s.start) + " - " + microseconds(s.end) + " us",
                              false) +
                    ", fillcolor=\"" + colours[of.communicates[static_cast<std::size_t>(s.task)] ? 1 : static_cast<int>(of.program.tasks[s.task].stream)] +
                    "\"" + (s.moved ? ", color=red, fontcolor=red" : "") + (s.critical ? ", penwidth=2.5" : "") + "];\n";
        }
        text += "  }\n";
    }
    for (const ir::edge& e : of.edges) {
        const auto& here = at[static_cast<std::size_t>(e.role)];
        text += "  " + id(e.role, here[static_cast<std::size_t>(e.from)]) + " -> " + id(e.role, here[static_cast<std::size_t>(e.to)]);
        if (e.kind == ir::edge_kind::flow)
            text += " [label=" + in_quotes(of.buffer_name(e.buffer), false) + ", fontsize=9]";
        else
            text += std::string(" [style=") + (e.kind == ir::edge_kind::anti ? "dashed" : "dotted") + "]";
        text += ";\n";
    }
    for (int v = 0; v < of.program.tasks.size(); ++v) {
        if (!of.communicates[static_cast<std::size_t>(v)]) continue;
        const ir::task& x = of.program.tasks[v];
        // The sender, or the first role of a collective, then the others.
        int first = -1;
        for (const ir::participation& participation : of.program.participations.subspan(x.first_participation, x.participations))
            if (participation.group_index == 0 && first < 0) first = participation.role;
        int last = first;
        for (const ir::participation& participation : of.program.participations.subspan(x.first_participation, x.participations)) {
            if (participation.role == first || participation.role == last) continue;
            last = participation.role;
            text += "  " + id(first, at[static_cast<std::size_t>(first)][static_cast<std::size_t>(v)]) + " -> " +
                    id(last, at[static_cast<std::size_t>(last)][static_cast<std::size_t>(v)]) + " [penwidth=2, color=\"#c47f00\", constraint=false" +
                    (x.kind == op_kind::transfer ? "" : ", dir=none") + "];\n";
        }
    }
    return text + "}\n";
}

}  // namespace dovetail::observe
