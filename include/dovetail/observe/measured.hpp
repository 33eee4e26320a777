// What runs took, as timelines: from the step times of the ranks, on one clock. Takes ticket.times() of each rank.
#pragma once

#include "../launch/engine.hpp"
#include "timeline.hpp"

namespace dovetail::observe {

struct measured_rank {
    int rank = 0;
    int role = 0;
    std::vector<step_time> times;  // by step of the role
};

// One run on those ranks that this process knows of, ascending.
struct measured_run {
    std::int64_t run = 0;
    std::vector<measured_rank> ranks;
};

namespace detail {

// Whether two ranks meet in a communication, as far as the geometry tells; without one, all do.
inline bool meet(const study& of, const geometry* where, int vertex, int a, int b) {
    if (where == nullptr) return true;
    for (const int r : where->partners(of.program, of.program.vertices[vertex], of.program.vertices[vertex].first_member, a))
        if (r == b) return true;
    return false;
}

}  // namespace detail

// Puts the ranks on the clock of the first one: partners end a communication together. Ranks stay as they are where the
// ends differ as threads and kernels do anyway: by little, or by amounts that scatter. Gives the number of ranks moved.
inline int align(const study& of, std::vector<measured_run>& runs, const geometry* where = nullptr) {
    if (runs.empty()) return 0;
    const std::size_t ranks = runs[0].ranks.size();
    std::vector<std::int64_t> offset(ranks, 0);
    std::vector<char> known(ranks, 0);
    known[0] = 1;
    const auto difference = [&](std::size_t a, std::size_t b, std::int64_t& median) {
        std::vector<std::int64_t> list;
        std::size_t apart = 0;  // communications that the two clocks show one after the other
        const span<const ir::step> x = of.steps(runs[0].ranks[a].role), y = of.steps(runs[0].ranks[b].role);
        std::vector<int> at(static_cast<std::size_t>(of.program.vertices.size()), -1);
        for (int i = 0; i < y.size(); ++i) at[static_cast<std::size_t>(y[i].vertex)] = i;
        for (int i = 0; i < x.size(); ++i) {
            const int j = at[static_cast<std::size_t>(x[i].vertex)];
            if (j < 0 || !of.communicates[static_cast<std::size_t>(x[i].vertex)] ||
                !detail::meet(of, where, x[i].vertex, runs[0].ranks[a].rank, runs[0].ranks[b].rank))
                continue;
            for (const measured_run& r : runs) {
                if (r.ranks.size() != ranks) continue;
                const step_time &mine = r.ranks[a].times[static_cast<std::size_t>(i)], &other = r.ranks[b].times[static_cast<std::size_t>(j)];
                apart += mine.end_ns < other.start_ns || other.end_ns < mine.start_ns ? 1 : 0;
                list.push_back(other.end_ns - mine.end_ns);
                for (std::size_t k = list.size() - 1; k > 0 && list[k - 1] > list[k]; --k) {
                    const std::int64_t swap = list[k];
                    list[k] = list[k - 1];
                    list[k - 1] = swap;
                }
            }
        }
        if (list.empty()) return false;
        median = list[list.size() / 2];
        const std::int64_t size = median < 0 ? -median : median, scatter = list[list.size() * 3 / 4] - list[list.size() / 4];
        if (2 * apart <= list.size() && (size < 20'000 || size < 4 * scatter)) median = 0;
        return true;
    };
    for (bool found = true; found;) {
        found = false;
        for (std::size_t a = 0; a < ranks; ++a)
            for (std::size_t b = 0; known[a] != 0 && b < ranks; ++b) {
                std::int64_t median = 0;
                if (known[b] != 0 || !difference(a, b, median)) continue;
                known[b] = 1;
                found = true;
                offset[b] = offset[a] + median;
            }
    }
    int moved = 0;
    for (std::size_t b = 0; b < ranks; ++b) {
        moved += offset[b] != 0 ? 1 : 0;
        for (measured_run& r : runs)
            for (std::size_t i = 0; r.ranks.size() == ranks && offset[b] != 0 && i < r.ranks[b].times.size(); ++i) {
                r.ranks[b].times[i].start_ns -= offset[b];
                r.ranks[b].times[i].end_ns -= offset[b];
            }
    }
    return moved;
}

inline timeline measured(const study& of, const measured_run& from, const geometry* where = nullptr) {
    timeline t{"run " + std::to_string(from.run) + ", measured", true, from.run, 0, 0, {}, {}};
    bool first = true;
    std::int64_t begin = 0;
    for (const measured_rank& r : from.ranks)
        for (const step_time& s : r.times) {
            if (first || s.start_ns < begin) begin = s.start_ns;
            first = false;
        }
    t.origin = begin * 1000;
    for (const measured_rank& r : from.ranks) {
        row x{r.role, r.rank, of.role_name(r.role), {}};
        const span<const ir::step> steps = of.steps(r.role);
        for (int i = 0; i < steps.size(); ++i) {
            const step_time& s = r.times[static_cast<std::size_t>(i)];
            x.slices.push_back({steps[i].vertex, steps[i].lane, (s.start_ns - begin) * 1000, (s.end_ns - begin) * 1000});
            if (x.slices.back().end > t.length) t.length = x.slices.back().end;
        }
        t.rows.push_back(std::move(x));
    }
    if (where != nullptr)
        for (const row& a : t.rows) {
            t.partners.emplace_back();
            std::vector<char> met(static_cast<std::size_t>(where->ranks()), 0);
            for (const slice& s : a.slices)
                if (of.communicates[static_cast<std::size_t>(s.vertex)])
                    for (const int r : where->partners(of.program, of.program.vertices[s.vertex], of.program.vertices[s.vertex].first_member, a.rank))
                        met[static_cast<std::size_t>(r)] = 1;
            for (std::size_t b = 0; b < t.rows.size(); ++b)
                if (met[static_cast<std::size_t>(t.rows[b].rank)] != 0) t.partners.back().push_back(static_cast<int>(b));
        }
    return t;
}

}  // namespace dovetail::observe
