// Timelines: which step ran or is to run when, one row a rank (or a role, in a prediction). Gives the prediction of a plan,
// that of the same graph on one stream, and marks what moved and what is critical. Times are picoseconds from the start.
#pragma once

#include "plan_view.hpp"

namespace dovetail::observe {

struct slice {
    int task = 0;
    int stream = 0;
    std::int64_t start = 0;
    std::int64_t end = 0;
    bool moved = false;     // begins before the one in front of it in the sequential plan has ended
    bool critical = false;  // on the chain of operations that makes the run as long as it is
};

struct row {
    int role = 0;
    int rank = -1;  // -1: a prediction, alike on all ranks of the role
    std::string name;
    std::vector<slice> slices = {};  // by step of the role, in issue order
    std::int64_t clock_error = 0;    // how far measured times may be off the clock of the world
};

struct timeline {
    std::string title;
    bool measured = false;
    std::int64_t run = 0;
    std::int64_t origin = 0;  // of a measured run: when it began, picoseconds on the world's clock
    std::int64_t length = 0;
    std::vector<row> rows;                   // ranks or roles ascending
    std::vector<std::vector<int>> partners;  // by row: rows of other ranks that it meets in communication; empty: all rows

    bool meets(int a, int b) const {
        if (partners.empty() || a == b) return true;
        for (const int r : partners[static_cast<std::size_t>(a)])
            if (r == b) return true;
        return false;
    }
};

// Index of each task's slice in a row; -1: not there.
inline std::vector<int> places(const plan_view& of, const row& r) {
    std::vector<int> at(static_cast<std::size_t>(of.program.tasks.size()), -1);
    for (std::size_t i = 0; i < r.slices.size(); ++i) at[static_cast<std::size_t>(r.slices[i].task)] = static_cast<int>(i);
    return at;
}

inline timeline predicted(const plan_view& of) {
    timeline t{of.plan.overlapped ? "overlapped, predicted" : "the plan (one stream), predicted", false, 0, 0, of.plan.predicted, {}, {}};
    for (int role = 0; role < of.roles(); ++role) {
        row r{role, -1, of.role_name(role), {}};
        for (const ir::step& s : of.steps(role)) r.slices.push_back({s.task, s.stream, s.start, s.end});
        t.rows.push_back(std::move(r));
    }
    return t;
}

// The same graph with everything on one stream, in the order of the sequential plan.
inline timeline sequential(const plan_view& of) {
    const pass::schedule made = pass::sequential_schedule(of.program, of.edges.view(), of.costs.view());
    timeline t{"sequential, predicted", false, 0, 0, made.length, {}, {}};
    for (int role = 0; role < of.roles(); ++role) t.rows.push_back({role, -1, of.role_name(role), {}});
    for (const int v : made.order) {
        const ir::task& x = of.program.tasks[v];
        int last = -1;
        for (const ir::participation& participation : of.program.participations.subspan(x.first_participation, x.participations)) {
            if (participation.role == last) continue;
            last = participation.role;
            t.rows[static_cast<std::size_t>(last)].slices.push_back({v, 0, made.start[v], made.end[v]});
        }
    }
    return t;
}

// Marks the slices of `t` that moved against the sequential plan; gives their number.
inline int mark_moved(const plan_view& of, timeline& t, const timeline& before) {
    int marks = 0;
    for (row& r : t.rows)
        for (const row& other : before.rows) {
            if (other.role != r.role || (other.rank >= 0 && other.rank != r.rank)) continue;
            const std::vector<int> at = places(of, r);
            for (std::size_t i = 1; i < other.slices.size(); ++i) {
                const int mine = at[static_cast<std::size_t>(other.slices[i].task)], previous = at[static_cast<std::size_t>(other.slices[i - 1].task)];
                if (mine < 0 || previous < 0) continue;
                slice& s = r.slices[static_cast<std::size_t>(mine)];
                s.moved = s.start < r.slices[static_cast<std::size_t>(previous)].end;
                marks += s.moved ? 1 : 0;
            }
            break;
        }
    return marks;
}

struct place {
    int row = 0;
    int slice = 0;
};

// The critical path, first operation first: from the slice that ends last back through whatever ended last before it, on
// its stream or among what it depends on, on all ranks that meet in it. Marks it; ties go to the smaller task.
inline std::vector<place> mark_critical(const plan_view& of, timeline& t) {
    const pass::adjacency in = pass::predecessors(of.program.tasks.size(), of.edges.view());
    std::vector<std::vector<int>> at, before;  // by row: place of each task; previous slice on the same stream
    place now{-1, -1};
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
        const auto& slices = t.rows[r].slices;
        at.push_back(places(of, t.rows[r]));
        before.emplace_back(slices.size(), -1);
        int last[stream_count] = {-1, -1, -1};
        for (std::size_t i = 0; i < slices.size(); ++i) {
            before[r][i] = last[slices[i].stream];
            last[slices[i].stream] = static_cast<int>(i);
            if (now.row < 0 || slices[i].end > t.rows[static_cast<std::size_t>(now.row)].slices[static_cast<std::size_t>(now.slice)].end)
                now = {static_cast<int>(r), static_cast<int>(i)};
        }
    }
    const auto slice_at = [&](place p) -> slice& { return t.rows[static_cast<std::size_t>(p.row)].slices[static_cast<std::size_t>(p.slice)]; };
    std::vector<place> path;
    while (now.row >= 0) {
        const int task = slice_at(now).task;
        path.push_back(now);
        place next{-1, -1};
        std::int64_t latest = -1;
        const auto offer = [&](int r, int i, bool other_stream) {
            if (i < 0) return;
            const slice& s = t.rows[static_cast<std::size_t>(r)].slices[static_cast<std::size_t>(i)];
            const std::int64_t when = s.end + (other_stream && !t.measured ? of.s.machine.edge_latency : 0);
            if (s.critical || s.task == task || when < latest || (when == latest && s.task >= slice_at(next).task)) return;
            latest = when;
            next = {r, i};
        };
        for (int r = 0; r < static_cast<int>(t.rows.size()); ++r) {
            if (r != now.row && !(of.communicates[static_cast<std::size_t>(task)] && t.meets(now.row, r))) continue;
            const int i = at[static_cast<std::size_t>(r)][static_cast<std::size_t>(task)];
            if (i < 0) continue;
            slice_at({r, i}).critical = true;
        }
        for (int r = 0; r < static_cast<int>(t.rows.size()); ++r) {
            if (r != now.row && !(of.communicates[static_cast<std::size_t>(task)] && t.meets(now.row, r))) continue;
            const int i = at[static_cast<std::size_t>(r)][static_cast<std::size_t>(task)];
            if (i < 0) continue;
            offer(r, before[static_cast<std::size_t>(r)][static_cast<std::size_t>(i)], false);
            for (int k = in.first[task]; k < in.first[task + 1]; ++k) {
                if (of.edges[in.edge[k]].role != t.rows[static_cast<std::size_t>(r)].role) continue;
                const int from = at[static_cast<std::size_t>(r)][static_cast<std::size_t>(in.neighbour[k])];
                if (from >= 0) offer(r, from, slice_at({r, from}).stream != slice_at({r, i}).stream);
            }
        }
        now = next;
    }
    for (std::size_t i = 0, j = path.size(); i + 1 < j; ++i) {
        --j;
        const place p = path[i];
        path[i] = path[j];
        path[j] = p;
    }
    return path;
}

// How long a buffer's bytes of a role's arena are in use.
struct residence {
    int buffer = 0;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;  // all slots
    std::int64_t start = 0;
    std::int64_t end = 0;
};

inline std::vector<residence> residences(const plan_view& of, const timeline& t, const row& r) {
    const std::size_t buffers = static_cast<std::size_t>(of.program.buffers.size());
    std::vector<std::int64_t> first(buffers, -1), last(buffers, -1);
    const span<const ir::step> steps = of.steps(r.role);
    for (int i = 0; i < steps.size(); ++i) {
        const slice& s = r.slices[static_cast<std::size_t>(i)];
        for (const ir::participation& participation : of.program.participations.subspan(steps[i].first_participation, steps[i].participations))
            for (const ir::access& a : of.program.accesses.subspan(participation.first_access, participation.accesses)) {
                const std::size_t b = static_cast<std::size_t>(of.owner(a.buffer));
                if (first[b] < 0 || s.start < first[b]) first[b] = s.start;
                if (s.end > last[b]) last[b] = s.end;
                if (of.program.buffers[a.buffer].output) last[b] = t.length;
            }
    }
    std::vector<residence> list;
    for (int b = 0; b < of.program.buffers.size(); ++b) {
        const ir::buffer& x = of.program.buffers[b];
        if (x.role != r.role || x.alias >= 0 || of.plan.placements[b].offset < 0 || x.where == ir::storage::host || first[static_cast<std::size_t>(b)] < 0)
            continue;
        const int slots = x.slots < 1 ? 1 : x.slots;
        const std::int64_t bytes = of.plan.placements[b].stride * (slots - 1) + x.bytes;
        // Several slots hold the values of several runs: they are never free.
        list.push_back({b, of.plan.placements[b].offset, bytes, slots > 1 ? 0 : first[static_cast<std::size_t>(b)],
                        slots > 1 ? t.length : last[static_cast<std::size_t>(b)]});
    }
    return list;
}

}  // namespace dovetail::observe
