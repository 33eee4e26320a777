// The plan as a graph in DOT: a cluster for each role with its steps, each with its index in the sequential and in the planned order;
// dependencies within a role; channels and collectives between roles. Red marks steps moved against the sequential plan. Colours are those
// of streams, in shades for the blocks of a split; NCCL groups, and so buckets, have one of their own.
#pragma once

#include "timeline.hpp"

#include <cstdio>

namespace dovetail::observe {

namespace detail {

class dot_writer {
public:
    explicit dot_writer(const plan_view& of) : of_{of}, actual_{predicted(of)} {
        const timeline before = sequential(of);
        mark_moved(of, actual_, before);
        mark_critical(of, actual_);
        for (const row& r : actual_.rows) {
            at_.push_back(places(of, r));
            written_.push_back(places(of, before.rows[static_cast<std::size_t>(r.role)]));
        }
    }

    std::string write() const {
        std::string text = "digraph " + in_quotes(of_.title(), false) +
                           " {\n  rankdir=LR;\n"
                           "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=11];\n"
                           "  edge [color=gray40, arrowsize=0.7];\n";
        for (const row& r : actual_.rows) text += cluster(r);
        for (const ir::edge& e : of_.edges) text += dependency(e);
        for (int v = 0; v < of_.program.tasks.size(); ++v)
            if (of_.communicates[static_cast<std::size_t>(v)]) text += communication(v);
        return text + "}\n";
    }

private:
    static std::string id(int role, int step) { return "r" + std::to_string(role) + "s" + std::to_string(step); }
    // The node of a task on a role.
    std::string node(int role, int v) const { return id(role, at_[static_cast<std::size_t>(role)][static_cast<std::size_t>(v)]); }

    // The steps of a role.
    std::string cluster(const row& r) const {
        const std::string label = r.name + ", arena " + bytes_text(of_.plan.roles[r.role].arena_bytes);
        std::string text =
            "  subgraph cluster_" + std::to_string(r.role) + " {\n    label=" + in_quotes(label, false) + ";\n    color=gray60;\n";
        for (std::size_t i = 0; i < r.slices.size(); ++i) text += step(r, static_cast<int>(i));
        return text + "  }\n";
    }
    // From the stream's colour for the first block to three quarters of its brightness for the last one.
    std::string colour_of(int task) const {
        static constexpr int colours[][3] = {{0xdb, 0xe8, 0xfb}, {0xfc, 0xec, 0xc9}, {0xdc, 0xef, 0xdf}};
        if (of_.is_nccl_group(task)) return "#e6d9f5";
        const int stream = of_.communicates[static_cast<std::size_t>(task)] ? 1 : static_cast<int>(of_.program.tasks[task].stream);
        const auto [block, blocks] = of_.block_of(task);
        const int brightness = blocks > 1 ? 100 - 25 * block / (blocks - 1) : 100;
        char text[8];
        std::snprintf(text, sizeof text, "#%02x%02x%02x", colours[stream][0] * brightness / 100, colours[stream][1] * brightness / 100,
                      colours[stream][2] * brightness / 100);
        return text;
    }
    std::string step(const row& r, int i) const {
        const slice& s = r.slices[static_cast<std::size_t>(i)];
        const std::size_t v = static_cast<std::size_t>(s.task);
        const std::string label = of_.label(s.task) + "\n" + std::to_string(written_[static_cast<std::size_t>(r.role)][v]) + "," +
                                  std::to_string(i) + "  " + microseconds(s.start) + " - " + microseconds(s.end) + " us";
        return "    " + id(r.role, i) + " [label=" + in_quotes(label, false) + ", fillcolor=\"" + colour_of(s.task) + "\"" +
               (s.moved ? ", color=red, fontcolor=red" : "") + (s.critical ? ", penwidth=2.5" : "") + "];\n";
    }

    std::string dependency(const ir::edge& e) const {
        const std::string ends = "  " + node(e.role, e.from) + " -> " + node(e.role, e.to);
        if (e.kind == ir::edge_kind::flow) return ends + " [label=" + in_quotes(of_.buffer_name(e.buffer), false) + ", fontsize=9];\n";
        return ends + " [style=" + (e.kind == ir::edge_kind::anti ? "dashed" : "dotted") + "];\n";
    }

    // Edges from the sender, or the first role of a collective, to the others.
    std::string communication(int v) const {
        const ir::task& x = of_.program.tasks[v];
        const span<const ir::participation> participations = of_.program.participations.subspan(x.first_participation, x.participations);
        int first = -1;
        for (const ir::participation& participation : participations)
            if (participation.group_index == 0 && first < 0) first = participation.role;
        std::string text;
        int last = first;
        for (const ir::participation& participation : participations) {
            if (participation.role == first || participation.role == last) continue;
            last = participation.role;
            text += "  " + node(first, v) + " -> " + node(last, v) + " [penwidth=2, color=\"#c47f00\", constraint=false" +
                    (x.kind == op_kind::transfer ? "" : ", dir=none") + "];\n";
        }
        return text;
    }

    const plan_view& of_;
    timeline actual_;
    std::vector<std::vector<int>> at_;       // by role: step of each task
    std::vector<std::vector<int>> written_;  // ... in the sequential plan
};

}  // namespace detail

inline std::string dot(const plan_view& of) { return detail::dot_writer{of}.write(); }

}  // namespace dovetail::observe
