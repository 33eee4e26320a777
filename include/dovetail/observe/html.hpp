// A self-contained page about a plan: the graph by role, the sequential and the planned schedule as streams over time, measured runs, the
// arena over time, the overlap report. It loads nothing from elsewhere.
#pragma once

#include "page/page.hpp"
#include "report.hpp"
#include "text.hpp"

namespace dovetail::observe {

namespace detail {

template <class List, class One>
std::string json_list(const List& list, One one) {
    std::string text = "[";
    bool first = true;
    for (const auto& x : list) {
        if (!first) text += ",";
        first = false;
        text += one(x);
    }
    return text + "]";
}

inline std::string chart_json(const plan_view& of, const timeline& t, const std::vector<place>& path, bool planned) {
    std::string text = "{\"title\":" + in_quotes(t.title) + ",\"text\":" + in_quotes(duration_text(t.length)) +
                       ",\"length\":" + std::to_string(t.length) + ",\"rows\":";
    text += json_list(t.rows, [&](const row& r) {
        std::string one = "{\"name\":" + in_quotes(r.name) + ",\"role\":" + std::to_string(r.role) + ",\"slices\":";
        one += json_list(r.slices, [](const slice& s) {
            return "[" + std::to_string(s.task) + "," + std::to_string(s.stream) + "," + std::to_string(s.start) + "," +
                   std::to_string(s.end) + "," + std::to_string((s.moved ? 1 : 0) + (s.critical ? 2 : 0)) + "]";
        });
        one += ",\"waits\":[";
        const span<const ir::step> steps = of.steps(r.role);
        bool first = true;
        for (int i = 0; planned && i < steps.size(); ++i)
            for (const ir::wait& w : of.waits(steps[i])) {
                one += std::string(first ? "" : ",") + "[" + std::to_string(w.step) + "," + std::to_string(i) + "," +
                       std::to_string(w.distance) + "]";
                first = false;
            }
        return one + "]}";
    });
    return text + ",\"path\":" +
           json_list(path, [](const place& p) { return "[" + std::to_string(p.row) + "," + std::to_string(p.slice) + "]"; }) + "}";
}

inline std::string memory_json(const plan_view& of, const timeline& t, const row& r) {
    return "{\"name\":" + in_quotes(r.name) + ",\"arena\":" + std::to_string(of.plan.roles[r.role].arena_bytes) + ",\"blocks\":" +
           json_list(residences(of, t, r),
                     [&](const residence& x) {
                         return "[" + in_quotes(of.buffer_name(x.buffer)) + "," + std::to_string(x.offset) + "," +
                                std::to_string(ir::aligned(x.bytes)) + "," + std::to_string(x.start) + "," + std::to_string(x.end) + "]";
                     }) +
           "}";
}

// The figures at the head of the page: name and value.
inline std::vector<std::pair<std::string, std::string>> cards(const plan_view& of, int moved) {
    const auto hidden = dovetail::plan::overlap_of(of.program, of.plan);  // as dv::hidden_fraction counts it
    std::int64_t peak = 0;
    for (int r = 0; r < of.roles(); ++r) peak = of.peak(r) > peak ? of.peak(r) : peak;
    return {
        {"predicted", duration_text(of.plan.predicted)},
        {"on one stream", duration_text(of.plan.predicted_sequential)},
        {"speed-up", ratio(of.plan.predicted_sequential, of.plan.predicted, 2)},
        {"communication hidden", percent(hidden.hidden, hidden.communication)},
        {"peak bytes of a rank", bytes_text(peak)},
        {"operations", std::to_string(of.program.tasks.size())},
        {"moved", std::to_string(moved)},
        {"waits", std::to_string(of.plan.waits.size())},
    };
}

inline std::string operation_json(const plan_view& of, int v) {
    const step_name& name = of.labels[static_cast<std::size_t>(v)];
    return "[" + in_quotes(of.label(v)) + "," + std::to_string(static_cast<int>(of.program.tasks[v].stream)) + "," +
           (of.communicates[static_cast<std::size_t>(v)] ? "1" : "0") + "," +
           in_quotes(name.operation.substr(0, name.operation.find('<')) + " " + name.statement) + "," + in_quotes(name.statement) + "," +
           std::to_string(of.block_of(v).block) + "," + std::to_string(of.block_of(v).blocks) + "," + (of.is_nccl_group(v) ? "1" : "0") +
           "]";
}
inline std::string operations_json(const plan_view& of) {
    std::string text = "[";
    for (int v = 0; v < of.program.tasks.size(); ++v) text += (v > 0 ? "," : "") + operation_json(of, v);
    return text + "]";
}

// By role: the text that the tooltip of each step adds.
inline std::string steps_json(const plan_view& of) {
    std::string text = "[";
    for (int r = 0; r < of.roles(); ++r)
        text += (r > 0 ? "," : "") + json_list(of.steps(r), [&](const ir::step& s) { return in_quotes(memory_text(of, s)); });
    return text + "]";
}

inline std::string edges_json(const plan_view& of, const timeline& t) {
    std::vector<std::vector<int>> at;
    for (const row& r : t.rows) at.push_back(places(of, r));
    return json_list(of.edges, [&](const ir::edge& e) {
        const auto& here = at[static_cast<std::size_t>(e.role)];
        return "[" + std::to_string(e.role) + "," + std::to_string(here[static_cast<std::size_t>(e.from)]) + "," +
               std::to_string(here[static_cast<std::size_t>(e.to)]) + "," + std::to_string(static_cast<int>(e.kind)) + "]";
    });
}

// The place of the plan's chart: behind the one of the sequential schedule, which is left out if the plan has one stream too.
inline int chart_of_plan(const plan_view& of) { return of.plan.overlapped ? 1 : 0; }

// The schedules below each other: on one stream, as planned if that is another, and as measured. Marks moved and critical operations.
inline std::string charts_json(const plan_view& of, timeline& before, timeline& actual, std::vector<timeline>& runs) {
    // Operations that moved are marked in both schedules.
    for (std::size_t r = 0; r < before.rows.size(); ++r) {
        const std::vector<int> at = places(of, before.rows[r]);
        for (const slice& s : actual.rows[r].slices)
            before.rows[r].slices[static_cast<std::size_t>(at[static_cast<std::size_t>(s.task)])].moved = s.moved;
    }
    const auto path_before = mark_critical(of, before), path = mark_critical(of, actual);
    std::string charts = of.plan.overlapped ? chart_json(of, before, path_before, false) + "," : "";
    charts += chart_json(of, actual, path, true);
    for (timeline& t : runs) {
        mark_moved(of, t, before);
        const auto measured_path = mark_critical(of, t);
        charts += "," + chart_json(of, t, measured_path, true);
    }
    return "[" + charts + "]";
}

}  // namespace detail

// `runs`: measured runs to show below the prediction; their moved and critical operations are marked here.
inline std::string html(const plan_view& of, std::vector<timeline> runs = {}) {
    using namespace detail;
    timeline actual = predicted(of), before = sequential(of);
    const int moved = mark_moved(of, actual, before);
    const std::string charts = charts_json(of, before, actual, runs);
    std::string reports = report_text(of, overlap(of, actual, before));
    for (const timeline& t : runs) reports += "\n" + report_text(of, overlap(of, t, before));

    const auto card = [](const auto& c) { return "[" + in_quotes(c.first) + "," + in_quotes(c.second) + "]"; };
    const auto memory = [&](const row& r) { return memory_json(of, actual, r); };
    const std::string data = "{\"title\":" + in_quotes(of.title()) + ",\"cards\":" + json_list(cards(of, moved), card) +
                             ",\"ops\":" + operations_json(of) + ",\"steps\":" + steps_json(of) + ",\"charts\":" + charts +
                             ",\"plan\":" + std::to_string(chart_of_plan(of)) + ",\"memory\":" + json_list(actual.rows, memory) +
                             ",\"edges\":" + edges_json(of, actual) + ",\"report\":" + in_quotes(reports) + "}";
    return page_text(of.title(), data);
}

}  // namespace dovetail::observe
