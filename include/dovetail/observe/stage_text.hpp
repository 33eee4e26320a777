// The tables of the planner's stages as text, one function for each stage of plan/pipeline.hpp. Takes a stage, its table and the names of
// the graph and the program.
#pragma once

#include "../plan/diagnose/verdict_text.hpp"
#include "../plan/pipeline.hpp"
#include "text.hpp"

#include <optional>

namespace dovetail::observe {

// The names that the texts use: those of the graph that is planned, and of its program once it exists.
class stage_names {
public:
    explicit stage_names(const plan_tables& asked) : of_{asked}, regions_{asked.graph.regions} { of_.program = {}; }

    void take(const ir::graph& g, const ir::program& p) {
        of_.graph = g;
        of_.program = p;
        of_.plan = {};
        program_.emplace(of_);
    }
    std::string title() const { return named(of_.name) ? display(*of_.name) : std::string("graph"); }
    const plan_view& program() const { return *program_; }
    const plan_options& asked() const { return of_.s; }
    const ir::graph& graph() const { return of_.graph; }         // as written, until `take`
    span<const ir::region> regions() const { return regions_; }  // of statements of the written graph that ask for a rewrite

    struct step {
        std::string role, text;
    };
    std::vector<step> steps;  // the steps of all roles, in the latest issue order

private:
    plan_tables of_;
    span<const ir::region> regions_;
    std::optional<plan_view> program_;
};

namespace detail {

namespace stage = dovetail::plan::stage;
using rows = std::vector<std::vector<std::string>>;

inline std::string joined(const std::string& a, const std::string& b) { return a.empty() ? b : b.empty() ? a : a + ", " + b; }

inline std::string symbol_text(const ir::graph& g, int symbol) {
    if (symbol < 0) return "discard";
    const ir::symbol& x = g.symbols[symbol];
    if (x.kind == ir::symbol_kind::axis_index) return "axis_index";
    return named(x.name) ? display(*x.name) : "(" + std::to_string(symbol) + ")";  // an unnamed nested expression
}
inline std::string role_text(const ir::graph& g, int role) {
    if (role < 0 || g.roles.size() <= role) return "";
    return named(g.roles[role].name) ? display(*g.roles[role].name) : "";
}

inline std::string graph_text(const ir::graph& g) {
    rows values{{"value", "kind", "type", "role", ""}};
    static constexpr const char* kinds[] = {"value", "input", "state", "axis_index"};
    for (int i = 0; i < g.symbols.size(); ++i) {
        const ir::symbol& x = g.symbols[i];
        std::string more = x.output ? "output" : "";
        if (x.in_host_memory) more = joined(more, "in host memory");
        values.push_back({symbol_text(g, i), kinds[static_cast<int>(x.kind)], display(x.type), role_text(g, x.role), more});
    }
    rows statements{{"operation", "of", "makes", "role", ""}};
    for (const ir::node& n : g.nodes) {
        std::string arguments, results;
        for (const int s : g.operands.subspan(n.first_argument, n.arguments)) arguments = joined(arguments, symbol_text(g, s));
        for (const int s : g.operands.subspan(n.first_result, n.results)) results = joined(results, symbol_text(g, s));
        for (const int s : g.operands.subspan(n.first_awaited, n.awaited)) arguments = joined(arguments, "after " + symbol_text(g, s));
        const bool calls = n.kind == op_kind::compute && named(n.op->name);
        statements.push_back({calls ? display(*n.op->name) : std::string(dovetail::name_of(n.kind)), arguments, results,
                              role_text(g, n.role), n.update ? "update" : ""});
    }
    return table(values, "lllll") + table(statements, "lllll");
}

inline std::string shown(stage::lower, const ir::graph& g, const stage_names&) { return graph_text(g); }
inline std::string shown(stage::check, const ir::fault& wrong, const stage_names&) {
    return wrong ? "  a mistake, which the compiler names\n" : "  none\n";
}
inline std::string shown(stage::role_order, span<const int> order, const stage_names& names) {
    std::string text;
    for (const int role : order) text = joined(text, role_text(names.graph(), role));
    return "  " + text + (text.empty() ? "one role\n" : "\n");
}
inline std::string shown(stage::rewrite, const ir::graph& g, const stage_names& names) {
    std::string by;
    for (const ir::region& r : names.regions()) by = joined(by, dovetail::name_of(r.kind));
    if (names.asked().rewrites.count > 0) by = joined(by, rewrites_text(names.asked().rewrites));
    if (by.empty()) return "  as written\n";
    return "  by " + by + "\n" + graph_text(g);
}

inline std::string accesses_text(const plan_view& of, const ir::participation& x) {
    std::string text;
    for (int i = 0; i < x.touches(); ++i) {
        const ir::access& a = of.program.accesses[x.first_access + i];
        text = joined(text, access_text(x, i, a.mode) + " " + of.buffer_name(a.buffer));
    }
    return text;
}
inline std::string shown(stage::expand, const ir::program& p, const stage_names& names) {
    const plan_view& of = names.program();
    rows operations{{"operation", "stream", "role", "touches"}};
    for (int v = 0; v < p.tasks.size(); ++v) {
        const ir::task& x = p.tasks[v];
        bool first = true;
        for (const ir::participation& y : p.participations.subspan(x.first_participation, x.participations)) {
            operations.push_back(
                {first ? of.label(v) : "", first ? dovetail::name_of(x.stream) : "", of.role_name(y.role), accesses_text(of, y)});
            first = false;
        }
    }
    rows buffers{{"buffer of", "role", "where", "bytes", "slots", ""}};
    for (int b = 0; b < p.buffers.size(); ++b) {
        const ir::buffer& x = p.buffers[b];
        std::string more = x.output ? "output" : "";
        if (x.alias >= 0) more = joined(more, "in place of " + of.buffer_name(x.alias));
        if (x.symmetric_set >= 0) more = joined(more, "at one offset on all, " + std::to_string(x.symmetric_set));
        buffers.push_back(
            {of.buffer_name(b), of.role_name(x.role), name_of(x.where), with_separators(x.bytes), std::to_string(x.slots), more});
    }
    return table(operations, "llll") + table(buffers, "lllrrl");
}
inline std::string shown(stage::edges, span<const ir::edge> list, const stage_names& names) {
    static constexpr const char* kinds[] = {"reads what it writes", "writes what it reads", "writes what it writes"};
    rows all{{"operation", "then", "which", "buffer of", "role"}};
    const plan_view& of = names.program();
    for (const ir::edge& e : list)
        all.push_back({of.label(e.from), of.label(e.to), kinds[static_cast<int>(e.kind)], of.buffer_name(e.buffer), of.role_name(e.role)});
    return table(all, "lllll");
}
inline std::string shown(stage::cycle, const ir::fault& wrong, const stage_names&) {
    return wrong ? "  a cycle, which the compiler names\n" : "  none\n";
}
inline std::string shown(stage::costs, span<const task_cost> list, const stage_names& names) {
    static constexpr const char* classes[work_class_count] = {"arithmetic", "memory", "latency"};
    rows all{{"operation", "us", "limited by"}};
    for (int v = 0; v < list.size(); ++v) {
        const bool computes = names.program().program.tasks[v].kind == op_kind::compute;
        all.push_back(
            {names.program().label(v), microseconds(list[v].time), computes ? classes[static_cast<int>(list[v].limited_by)] : ""});
    }
    return table(all, "lrl");
}
template <class Stage>
std::string shown(Stage, std::int64_t time, const stage_names&) {
    return "  " + microseconds(time) + " us\n";
}
template <class Routes>
std::string shown(stage::occupancy, const Routes& r, const stage_names& names) {
    const plan_view& of = names.program();
    rows all{{"operation", "occupies"}};
    for (int v = 0; v < of.program.tasks.size(); ++v) {
        std::string slots;
        for (int i = r.occupants_of[v]; i < r.occupants_of[v + 1]; ++i)
            slots = joined(slots, of.role_name(r.slot[i] / stream_count) + " " +
                                      dovetail::name_of(static_cast<stream_kind>(r.slot[i] % stream_count)));
        all.push_back({of.label(v), slots});
    }
    return table(all, "ll");
}

inline std::string order_text(span<const int> order, const stage_names& names) {
    rows all;
    for (int i = 0; i < order.size(); ++i) all.push_back({std::to_string(i), names.program().label(order[i])});
    return table(all, "rl");
}
inline std::string shown(stage::reference, span<const int> order, const stage_names& names) { return order_text(order, names); }
template <candidate C>
std::string shown(stage::order<C>, span<const int> order, const stage_names& names) {
    return order_text(order, names);
}
template <candidate C, class Program>
std::string shown(stage::order<C>, const pass::basic_booking<Program>& booked, const stage_names& names) {
    rows all{{"", "operation", "start", "end"}};
    for (int i = 0; i < booked.order.size(); ++i) {
        const int v = booked.order[i];
        all.push_back({std::to_string(i), names.program().label(v), microseconds(booked.start[v]), microseconds(booked.end[v])});
    }
    return table(all, "rlrr");
}
template <candidate C, class Memory>
std::string shown(stage::book_memory<C>, const Memory& memory, const stage_names&) {
    rows all{{"step", "compute", "communication", "copy"}};
    for (int s = 0; s < memory.waits.size(); ++s)
        if (const int* known = memory.waits[s].known; known[0] + known[1] + known[2] > 0)
            all.push_back({std::to_string(s), std::to_string(known[0]), std::to_string(known[1]), std::to_string(known[2])});
    return table(all, "rrrr");
}
template <candidate C, class Schedule>
std::string shown(stage::schedule<C>, const Schedule& t, const stage_names& names) {
    rows all{{"operation", "stream", "start", "end"}};
    for (const int v : t.order)
        all.push_back({names.program().label(v), stream_text(t.stream[v], t.overlapped), microseconds(t.start[v]), microseconds(t.end[v])});
    return table(all, "llrr") + "  " + microseconds(t.length) + " us\n";
}

// Stores the steps' names for later stages, which refer to steps by number.
template <candidate C, class Issue>
std::string shown(stage::issue<C>, const Issue& issued, stage_names& names) {
    const plan_view& of = names.program();
    rows all{{"role", "step", "stream", "operation"}};
    names.steps.clear();
    for (int r = 0; r < issued.roles.size(); ++r)
        for (int i = 0; i < issued.roles[r].steps; ++i) {
            const auto& s = issued.steps[issued.roles[r].first_step + i];
            all.push_back({i == 0 ? of.role_name(r) : "", std::to_string(i), dovetail::name_of(static_cast<stream_kind>(s.stream)),
                           of.label(s.task)});
            names.steps.push_back({of.role_name(r), std::to_string(i) + " " + of.label(s.task)});
        }
    return table(all, "lrll");
}

template <class Waits>
rows waits_table(const Waits& waits, const stage_names& names) {
    rows all{{"role", "step", "waits for", "runs back"}};
    for (const pass::pending_wait& w : waits) {
        const stage_names::step &s = names.steps[static_cast<std::size_t>(w.step)], &on = names.steps[static_cast<std::size_t>(w.on)];
        all.push_back({s.role, s.text, on.text, std::to_string(w.distance)});
    }
    return all;
}
template <candidate C, class Flow>
std::string shown(stage::synchronise<C>, const Flow& flow, const stage_names& names) {
    const plan_view& of = names.program();
    rows lives{{"buffer of", "role", "from", "until"}};
    for (int b = 0; b < of.program.buffers.size(); ++b) {
        if (flow.lives.definition[b] < 0 || of.program.buffers[b].alias >= 0) continue;
        const auto step = [&](int s) { return names.steps[static_cast<std::size_t>(s)].text; };
        lives.push_back({of.buffer_name(b), of.role_name(of.program.buffers[b].role), step(flow.lives.definition[b]),
                         flow.lives.held[b] ? "the end of the run" : step(flow.lives.last[b])});
    }
    return (flow.waits.waits.empty() ? std::string("  no waits\n") : table(waits_table(flow.waits.waits, names), "lllr")) +
           table(lives, "llll");
}
template <candidate C, class Memory>
std::string shown(stage::assign_memory<C>, const Memory& memory, const stage_names& names) {
    const plan_view& of = names.program();
    rows all{{"buffer of", "role", "where", "from", "to", "each slot"}};
    for (int b = 0; b < memory.placements.size(); ++b) {
        const ir::placement& at = memory.placements[b];
        const ir::buffer& x = of.program.buffers[b];
        if (at.offset < 0) continue;
        all.push_back({of.buffer_name(b), of.role_name(x.role), name_of(x.where), with_separators(at.offset),
                       with_separators(at.offset + x.bytes), x.slots > 1 ? "+" + with_separators(at.stride) : ""});
    }
    rows sums{{"role", "arena", "pinned", "states"}};
    for (int r = 0; r < memory.roles.size(); ++r) {
        const ir::role_plan& x = memory.roles[r];
        sums.push_back(
            {of.role_name(r), with_separators(x.arena_bytes), with_separators(x.host_arena_bytes), with_separators(x.state_bytes)});
    }
    return table(all, "lllrrr") + table(sums, "lrrr");
}
template <candidate C>
std::string shown(stage::wait_across_runs<C>, const vec<pass::pending_wait>& waits, const stage_names& names) {
    return waits.empty() ? std::string("  no waits\n") : table(waits_table(waits, names), "lllr");
}

template <candidate C>
std::string shown(stage::emit<C>, const dovetail::plan::plan& made, const stage_names& names) {
    const plan_view& of = names.program();
    rows all{{"role", "step", "stream", "operation", "waits for", "event", "start", "end"}};
    for (int r = 0; r < made.roles.size(); ++r)
        for (int i = 0; i < made.roles[r].steps && !made.steps.empty(); ++i) {
            const ir::step& s = made.steps[made.roles[r].first_step + i];
            std::string waits;
            for (const ir::wait& w : made.waits.subspan(s.first_wait, s.waits))
                waits = joined(waits, std::to_string(w.step) + (w.distance > 0 ? "(-" + std::to_string(w.distance) + ")" : ""));
            all.push_back({i == 0 ? of.role_name(r) : "", std::to_string(i), stream_text(s.stream, made.overlapped), of.label(s.task),
                           waits, s.event < 0 ? "" : std::to_string(s.event), microseconds(s.start), microseconds(s.end)});
        }
    if (made.steps.empty()) return "  over the memory limit: no steps\n";
    return table(all, "lrlllrrr");
}
template <candidate C>
std::string shown(stage::prove<C>, const dovetail::plan::verdict& found, const stage_names& names) {
    return "  " + dovetail::plan::text_of(found, names.program().graph, names.program().program) + "\n";
}

}  // namespace detail

}  // namespace dovetail::observe
