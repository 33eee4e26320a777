// Timelines: the times of steps, measured or predicted; one row per rank, or per role in a prediction. Makes the prediction of a plan and
// that of the same graph on one stream, and marks moved and critical steps. Times are picoseconds from the start.
#pragma once

#include "plan_view.hpp"

#include <algorithm>

namespace dovetail::observe {

struct slice {
    int task = 0;
    int stream = 0;
    std::int64_t start = 0;
    std::int64_t end = 0;
    bool moved = false;     // begins before its predecessor in the sequential plan has ended
    bool critical = false;  // on the critical path
};

struct row {
    int role = 0;
    int rank = -1;  // -1: a prediction, the same for all ranks of the role
    std::string name;
    std::vector<slice> slices = {};  // by step of the role, in issue order
    std::int64_t clock_error = 0;    // largest error of measured times on the world's clock
};

struct timeline {
    std::string title;
    bool measured = false;
    std::int64_t run = 0;
    std::int64_t origin = 0;  // of a measured run: its start in picoseconds on the clock of the recorded runs
    std::int64_t length = 0;
    std::vector<row> rows;  // ranks or roles ascending
    // By row and slice: rows of the ranks that communicate with it there; empty: all rows.
    std::vector<std::vector<std::vector<int>>> partners = {};
    bool knows_partners = true;  // false: a rank that communicates with one of a row has no row

    // Whether the operation of a slice of row `a` communicates with row `b`.
    bool meets(std::size_t a, std::size_t slice, std::size_t b) const {
        if (partners.empty() || a == b) return true;
        const std::vector<int>& met = partners[a][slice];
        return std::find(met.begin(), met.end(), static_cast<int>(b)) != met.end();
    }
};

// Index of each task's slice in a row; -1 if the row does not have it.
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

// Marks the slices of `t` that moved against the sequential plan; returns their number.
inline int mark_moved(const plan_view& of, timeline& t, const timeline& before) {
    int marks = 0;
    for (row& r : t.rows)
        for (const row& other : before.rows) {
            if (other.role != r.role || (other.rank >= 0 && other.rank != r.rank)) continue;
            const std::vector<int> at = places(of, r);
            for (std::size_t i = 1; i < other.slices.size(); ++i) {
                const int mine = at[static_cast<std::size_t>(other.slices[i].task)],
                          previous = at[static_cast<std::size_t>(other.slices[i - 1].task)];
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

namespace detail {

// Walks back along the critical path.
class critical_path {
public:
    critical_path(const plan_view& of, timeline& t) : of_{of}, t_{t}, in_{pass::predecessors(of.program.tasks.size(), of.edges.view())} {
        for (const row& r : t.rows) {
            at_.push_back(places(of, r));
            previous_.emplace_back(r.slices.size(), -1);
            int last[stream_count] = {-1, -1, -1};
            for (std::size_t i = 0; i < r.slices.size(); ++i) {
                previous_.back()[i] = last[r.slices[i].stream];
                last[r.slices[i].stream] = static_cast<int>(i);
            }
        }
    }

    // The first operation comes first.
    std::vector<place> mark() {
        std::vector<place> path;
        for (place now = last_to_end(); now.row >= 0; now = what_it_waited_for(now)) {
            path.push_back(now);
            mark_everywhere(now);
        }
        return {path.rbegin(), path.rend()};
    }

private:
    slice& slice_at(place p) const { return t_.rows[static_cast<std::size_t>(p.row)].slices[static_cast<std::size_t>(p.slice)]; }
    int rows() const { return static_cast<int>(t_.rows.size()); }

    place last_to_end() const {
        place found{-1, -1};
        for (int r = 0; r < rows(); ++r)
            for (int i = 0; i < static_cast<int>(t_.rows[static_cast<std::size_t>(r)].slices.size()); ++i)
                if (found.row < 0 || slice_at({r, i}).end > slice_at(found).end) found = {r, i};
        return found;
    }
    // The slice of row r that is the same operation as the slice at `now`, or the other side of its communication; -1: none.
    int met_by(place now, int r) const {
        const int task = slice_at(now).task;
        const auto meets = [&, this] {
            return t_.meets(static_cast<std::size_t>(now.row), static_cast<std::size_t>(now.slice), static_cast<std::size_t>(r));
        };
        if (r != now.row && !(of_.communicates[static_cast<std::size_t>(task)] && meets())) return -1;
        return at_[static_cast<std::size_t>(r)][static_cast<std::size_t>(task)];
    }
    void mark_everywhere(place now) {
        for (int r = 0; r < rows(); ++r)
            if (const int i = met_by(now, r); i >= 0) slice_at({r, i}).critical = true;
    }

    struct latest_end {
        place where{-1, -1};
        std::int64_t time = -1;
    };
    void offer(latest_end& latest, place now, place other, bool other_stream) const {
        const slice& s = slice_at(other);
        const std::int64_t time = s.end + (other_stream && !t_.measured ? of_.s.machine.edge_latency : 0);
        if (s.critical || s.task == slice_at(now).task || time < latest.time) return;
        if (time == latest.time && s.task >= slice_at(latest.where).task) return;
        latest = {other, time};
    }
    place what_it_waited_for(place now) const {
        const int task = slice_at(now).task;
        latest_end latest;
        for (int r = 0; r < rows(); ++r) {
            const int i = met_by(now, r);
            if (i < 0) continue;
            const std::size_t row = static_cast<std::size_t>(r);
            if (const int before = previous_[row][static_cast<std::size_t>(i)]; before >= 0) offer(latest, now, {r, before}, false);
            for (int k = in_.first[task]; k < in_.first[task + 1]; ++k) {
                if (of_.edges[in_.edge[k]].role != t_.rows[row].role) continue;
                const int from = at_[row][static_cast<std::size_t>(in_.neighbour[k])];
                if (from >= 0) offer(latest, now, {r, from}, slice_at({r, from}).stream != slice_at({r, i}).stream);
            }
        }
        return latest.where;
    }

    const plan_view& of_;
    timeline& t_;
    pass::adjacency in_;
    std::vector<std::vector<int>> at_;        // by row: slice of each task
    std::vector<std::vector<int>> previous_;  // by row: previous slice on the same stream
};

}  // namespace detail

// The critical path, first operation first: from the slice that ends last, back through the slice that ended last among its predecessors on
// the stream and its dependencies, on all ranks that take part. Marks it; of equal ones, the smaller task is taken.
inline std::vector<place> mark_critical(const plan_view& of, timeline& t) { return detail::critical_path{of, t}.mark(); }

// The time during which a buffer occupies its bytes in a role's arena.
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
        for (const ir::participation& participation :
             of.program.participations.subspan(steps[i].first_participation, steps[i].participations))
            for (const ir::access& a : of.program.accesses.subspan(participation.first_access, participation.touches())) {
                const std::size_t b = static_cast<std::size_t>(of.owner(a.buffer));
                if (first[b] < 0 || s.start < first[b]) first[b] = s.start;
                if (s.end > last[b]) last[b] = s.end;
                if (of.program.buffers[a.buffer].output) last[b] = t.length;
            }
    }
    std::vector<residence> list;
    for (int b = 0; b < of.program.buffers.size(); ++b) {
        const ir::buffer& x = of.program.buffers[b];
        if (x.role != r.role || x.alias >= 0 || of.plan.placements[b].offset < 0 || x.where == ir::storage::host ||
            first[static_cast<std::size_t>(b)] < 0)
            continue;
        const int slots = x.slots < 1 ? 1 : x.slots;
        const std::int64_t bytes = of.plan.placements[b].stride * (slots - 1) + x.bytes;
        // A buffer with several slots holds the values of several runs, so its bytes are never free.
        list.push_back({b, of.plan.placements[b].offset, bytes, slots > 1 ? 0 : first[static_cast<std::size_t>(b)],
                        slots > 1 ? t.length : last[static_cast<std::size_t>(b)]});
    }
    return list;
}

}  // namespace dovetail::observe
