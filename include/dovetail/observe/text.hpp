// The plan as text: for each role its steps in issue order with streams, waits, memory and predicted times; the streams over time; totals.
// `explain<G, O>(stream)` for a graph, `explain(plan_view)` for tables, `compact(plan_view)` for messages of tests.
#pragma once

#include "../plan/facts.hpp"
#include "../plan/registered.hpp"
#include "timeline.hpp"
#include "totals.hpp"

#include <ostream>

namespace dovetail::observe {

namespace detail {

inline const char* name_of(ir::storage where) {
    static constexpr const char* names[] = {"arena", "host", "input", "state", "workspace", "constant"};
    return names[static_cast<int>(where)];
}

inline std::string stream_text(int stream, bool overlapped = true) {
    return overlapped ? dovetail::name_of(static_cast<stream_kind>(stream)) : "stream";
}

// Whether a step waits for another one of its run for memory alone: it takes bytes over that the other is among the last to use.
inline bool for_memory(const plan_view& of, int role, const ir::step& s, const ir::wait& w) {
    if (w.distance > 0) return false;
    for (const ir::edge& e : of.edges)
        if (e.role == role && e.from == of.steps(role)[w.step].task && e.to == s.task) return false;
    return true;
}

inline int waits_for_memory(const plan_view& of) {
    int count = 0;
    for (int role = 0; role < of.roles(); ++role)
        for (const ir::step& s : of.steps(role))
            for (const ir::wait& w : of.waits(s)) count += for_memory(of, role, s, w) ? 1 : 0;
    return count;
}

// "3" waits for step 3 of this run, "3m" for memory alone, "3(-1)" for step 3 of the previous run.
inline std::string waits_text(const plan_view& of, int role, const ir::step& s) {
    std::string text;
    for (const ir::wait& w : of.waits(s))
        text += (text.empty() ? "" : " ") + std::to_string(w.step) + (for_memory(of, role, s, w) ? "m" : "") +
                (w.distance > 0 ? "(-" + std::to_string(w.distance) + ")" : "");
    return text;
}

// r, w or u for an access that is passed to the operation; "after" for one that only orders it.
inline std::string access_text(const ir::participation& x, int access, access_mode mode) {
    return access < x.accesses ? std::string(1, "rwu"[static_cast<int>(mode)]) : "after";
}

// One word per access: mode, name and location: r block<0>@[512,1024) or r value@input.
inline std::string memory_text(const plan_view& of, const ir::step& s) {
    std::string text;
    for (const ir::participation& participation : of.program.participations.subspan(s.first_participation, s.participations))
        for (int i = 0; i < participation.touches(); ++i) {
            const ir::access& a = of.program.accesses[participation.first_access + i];
            const int b = of.owner(a.buffer);
            const ir::buffer& x = of.program.buffers[b];
            const ir::placement& at = of.plan.placements[b];
            text += (text.empty() ? "" : "  ") + access_text(participation, i, a.mode) + " " + of.access_name(a) + "@";
            if (at.offset < 0) {
                text += name_of(x.where);
                continue;
            }
            const std::int64_t begin = at.offset + ir::offset_of(of.program, a);
            text += std::string(x.where == ir::storage::host ? "host" : "") + "[" + std::to_string(begin) + "," +
                    std::to_string(begin + ir::bytes_of(of.program, a)) + ")";
            if (x.slots > 1) text += "+" + std::to_string(at.stride) + "*(run%" + std::to_string(x.slots) + ")";
        }
    return text;
}

// The slices as bars over columns: [4==] is step 4. A bar shorter than its number has only its ends; | is a bar of one column.
inline std::string bars(const row& r, int stream, std::int64_t length, int columns) {
    std::string text(static_cast<std::size_t>(columns), ' ');
    for (std::size_t i = 0; i < r.slices.size(); ++i) {
        const slice& s = r.slices[i];
        if (s.stream != stream || length == 0) continue;
        // Divides before multiplying: picoseconds times columns would overflow for predictions of days.
        const std::int64_t per_column = (length + columns - 1) / columns;
        std::size_t from = static_cast<std::size_t>(s.start / per_column),
                    to = static_cast<std::size_t>((s.end + per_column - 1) / per_column);
        if (from >= text.size()) from = text.size() - 1;
        if (to <= from) to = from + 1;
        if (to > text.size()) to = text.size();
        if (to - from == 1) {
            text[from] = text[from] == ' ' ? '|' : ':';
            continue;
        }
        for (std::size_t c = from; c < to; ++c) text[c] = '=';
        text[from] = '[';
        text[to - 1] = ']';
        const std::string number = std::to_string(i);
        if (to - from >= number.size() + 2)
            for (std::size_t c = 0; c < number.size(); ++c) text[from + 1 + c] = number[c];
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

// The communications that prevent NCCL's registration of the arenas.
inline std::string unregistered_text(const plan_view& of) {
    std::string text;
    for (const int v : of.plan.order) {
        const ir::task& x = of.program.tasks[v];
        if (x.moved_by != transport::nccl) continue;
        bool apart = false;
        for (int m = x.first_member; m < x.first_member + x.members; ++m)
            apart = apart || (is_communication(of.program.members[m].kind) && !of.program.members[m].local &&
                              !dovetail::plan::may_be_registered(of.program, of.plan, v, m));
        if (apart) text += "  " + of.label(v) + "\n";
    }
    return text;
}

}  // namespace detail

// The streams of a timeline over `columns` columns, all rows on one scale.
inline std::string streams_text(const timeline& t, int columns = 96) {
    std::string text;
    std::size_t width = 0;
    bool overlapped = false;
    for (const row& r : t.rows) {
        width = r.name.size() > width ? r.name.size() : width;
        for (const slice& s : r.slices) overlapped = overlapped || s.stream > 0;
    }
    for (const row& r : t.rows)
        for (int stream = 0; stream < stream_count; ++stream) {
            bool used = false;
            for (const slice& s : r.slices) used = used || s.stream == stream;
            if (used)
                text += "  " + padded(r.name, width) + " " + padded(detail::stream_text(stream, overlapped), 8) + "|" +
                        detail::bars(r, stream, t.length, columns) + "\n";
        }
    return text;
}

inline std::string path_text(const plan_view& of, const timeline& t, const std::vector<place>& path) {
    std::string text;
    for (const place& p : path) {
        const row& r = t.rows[static_cast<std::size_t>(p.row)];
        const slice& s = r.slices[static_cast<std::size_t>(p.slice)];
        text += "  " + padded(microseconds(s.start), 12, true) + " " + padded(microseconds(s.end), 12, true) + "  " + r.name + " " +
                std::to_string(p.slice) + ": " + of.label(s.task) + "\n";
    }
    return text;
}

// A plan on one page. Times are in microseconds; memory is a half-open range of bytes in the role's arena.
inline std::string explain(const plan_view& of) {
    timeline actual = predicted(of);
    timeline before = sequential(of);
    const int moved = mark_moved(of, actual, before);
    const std::vector<place> path = mark_critical(of, actual);
    std::string text = "plan of `" + of.title() + "` for " + of.s.machine.name + ": " + std::to_string(of.program.tasks.size()) +
                       " operations, " + std::to_string(of.roles()) + (of.roles() == 1 ? " role, " : " roles, ") +
                       (of.plan.overlapped ? "overlapped" : "one stream") + "\n";
    for (int role = 0; role < of.roles(); ++role) {
        const ir::role_plan& p = of.plan.roles[role];
        text += "\n" + std::string(!of.graph.single_rank && named(of.graph.roles[role].name) ? "role " : "") + of.role_name(role) + ": " +
                std::to_string(p.steps) + " steps, " + std::to_string(of.wait_count(role)) + " waits, " + std::to_string(p.events) +
                " events; arena " + with_separators(p.arena_bytes) + " bytes" +
                (p.host_arena_bytes > 0 ? ", pinned " + with_separators(p.host_arena_bytes) : "") +
                (p.state_bytes > 0 ? ", states " + with_separators(p.state_bytes) : "") + "\n";
        std::vector<std::vector<std::string>> rows{
            {"step", "stream", "operation", "of", "waits for", "bytes", "start", "end", "", "memory"}};
        const span<const ir::step> steps = of.steps(role);
        for (int i = 0; i < steps.size(); ++i) {
            const ir::step& s = steps[i];
            const step_name& label = of.labels[static_cast<std::size_t>(s.task)];
            const slice& marks = actual.rows[static_cast<std::size_t>(role)].slices[static_cast<std::size_t>(i)];
            rows.push_back({std::to_string(i), detail::stream_text(s.stream, of.plan.overlapped), label.operation, label.statement,
                            detail::waits_text(of, role, s), with_separators(of.bytes(s)), microseconds(s.start), microseconds(s.end),
                            std::string(marks.moved ? "*" : "") + (marks.critical ? "!" : ""), detail::memory_text(of, s)});
        }
        text += table(rows, "rllllrrrll");
    }
    text +=
        "\n* moved against the sequential plan, ! on the critical path; 3m: step 3, for memory; 3(-1): step 3 of the run before; "
        "memory: r reads, w writes, u updates\n";
    if (const std::string apart = detail::unregistered_text(of); !apart.empty())
        text += "\nNCCL cannot use registered memory for these, since not all of their buffers are in arenas at equal offsets:\n" + apart;
    text += "\nover time, " + microseconds(of.plan.predicted) + " us:\n" + streams_text(actual);
    if (of.plan.overlapped) text += "sequential, " + microseconds(before.length) + " us:\n" + streams_text(before);
    text += "\ncritical path:\n" + path_text(of, actual, path);
    const auto hidden = dovetail::plan::overlap_of(of.program, of.plan);  // as dv::hidden_fraction counts it
    text += "\ntotals:\n";
    std::vector<std::vector<std::string>> totals;
    totals.reserve(static_cast<std::size_t>(of.roles()) + 16);
    for (int role = 0; role < of.roles(); ++role) totals.push_back({"peak bytes of " + of.role_name(role), with_separators(of.peak(role))});
    if (const std::string order = detail::rank_order_text(of); !order.empty()) totals.push_back({"roles by rank", order});
    totals.push_back({"waits", std::to_string(of.plan.waits.size())});
    if (const int count = detail::waits_for_memory(of); count > 0) totals.push_back({"... for memory alone", std::to_string(count)});
    detail::add_predictions(of, totals);
    totals.push_back({"speed-up", ratio(of.plan.predicted_sequential, of.plan.predicted, 2)});
    detail::add_candidates(of, totals);
    detail::add_rewrites(of, totals);
    totals.push_back({"operations moved", std::to_string(moved)});
    totals.push_back({"communication hidden (dv::hidden_fraction)", percent(hidden.hidden, hidden.communication)});
    return text + table(totals, "lr");
}

// One line per role, for messages: "left: 0 compute add a [0.000,2.000) | 1 comm transfer a waits 0 [2.000,9.000)".
inline std::string compact(const plan_view& of) {
    std::string text;
    for (int role = 0; role < of.roles(); ++role) {
        const span<const ir::step> steps = of.steps(role);
        text += of.role_name(role) + ":";
        for (int i = 0; i < steps.size(); ++i) {
            const std::string waits = detail::waits_text(of, role, steps[i]);
            text += std::string(i > 0 ? " |" : "") + " " + std::to_string(i) + " " +
                    detail::stream_text(steps[i].stream, of.plan.overlapped) + " " + of.label(steps[i].task) +
                    (waits.empty() ? "" : " waits " + waits) + " [" + microseconds(steps[i].start) + "," + microseconds(steps[i].end) + ")";
        }
        text += "\n";
    }
    return text;
}

}  // namespace dovetail::observe

namespace dovetail {

namespace observe::detail {

// The options O, with a forced candidate.
template <class O, candidate Forced>
struct with_forced : O {
    static constexpr plan_options value = [] {
        plan_options s = O::value;
        s.forced = Forced;
        return s;
    }();
};

// The plan of one candidate, with the predicted times of all candidates of the search.
template <class G, class O, candidate Forced>
plan_tables forced_tables() {
    plan_tables of = tables_of<G, with_forced<O, Forced>>();
    const dovetail::plan::choice& searched = dovetail::plan::planned<G, O>::plan.choice;
    for (int c = 0; c < candidates; ++c) {
        if (of.plan.choice.predicted[c] < 0) of.plan.choice.predicted[c] = searched.predicted[c];
        of.plan.choice.slowed[c] = searched.slowed[c];
    }
    return of;
}

}  // namespace observe::detail

// Prints the plan of a graph, or the plan of one candidate: explain<G, O, candidate::written>(std::cout).
template <class G, class O = options<>, candidate Forced = candidate::automatic>
void explain(std::ostream& to) {
    if constexpr (Forced == candidate::automatic)
        to << observe::explain(observe::plan_view{observe::tables_of<G, O>()});
    else
        to << observe::explain(observe::plan_view{observe::detail::forced_tables<G, O, Forced>()});
}

}  // namespace dovetail
