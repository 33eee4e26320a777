// Measured runs as timelines, from the step times of all ranks, which use one clock. Takes ticket.times() of each rank.
#pragma once

#include "../launch/engine/engine.hpp"
#include "timeline.hpp"

#include <algorithm>
#include <utility>

namespace dovetail::observe {

struct measured_rank {
    int rank = 0;
    int role = 0;
    std::vector<step_time> times = {};  // by step of the role
    std::int64_t clock_error_ns = 0;    // of executor.at().clock_error_ns()
};

// One run on the ranks of this process, in ascending order.
struct measured_run {
    std::int64_t run = 0;
    std::vector<measured_rank> ranks;
};

namespace detail {

// The rows of the ranks with which a slice of a row communicates, over all members of a group; and whether all of them have one.
struct known_partners {
    std::vector<int> rows;
    bool all = true;
};
inline known_partners partners_of(const plan_view& of, const std::vector<row>& rows, const row& mine, const slice& s,
                                  const geometry& where) {
    if (!of.communicates[static_cast<std::size_t>(s.task)]) return {};
    const ir::task& v = of.program.tasks[s.task];
    std::vector<char> met(static_cast<std::size_t>(where.ranks()), 0);
    for (const ir::participation& p : of.program.participations.subspan(v.first_participation, v.participations))
        if (p.role == mine.role)
            for (const int r : where.partners(of.program, v, p.member, mine.rank)) met[static_cast<std::size_t>(r)] = 1;
    known_partners found;
    for (std::size_t b = 0; b < rows.size(); ++b)
        if (met[static_cast<std::size_t>(rows[b].rank)] != 0) found.rows.push_back(static_cast<int>(b));
    found.all = std::count(met.begin(), met.end(), 1) == static_cast<std::ptrdiff_t>(found.rows.size());
    return found;
}

}  // namespace detail

// `where`: gives the ranks that take part in each communication; without it, all ranks do.
inline timeline measured(const plan_view& of, const measured_run& from, const geometry* where = nullptr) {
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
        row x{r.role, r.rank, of.rank_name(r.role, r.rank), {}, 1000 * r.clock_error_ns};
        const span<const ir::step> steps = of.steps(r.role);
        for (int i = 0; i < steps.size(); ++i) {
            const step_time& s = r.times[static_cast<std::size_t>(i)];
            x.slices.push_back({steps[i].task, steps[i].stream, (s.start_ns - begin) * 1000, (s.end_ns - begin) * 1000});
            if (x.slices.back().end > t.length) t.length = x.slices.back().end;
        }
        t.rows.push_back(std::move(x));
    }
    if (where != nullptr)
        for (const row& a : t.rows) {
            t.partners.emplace_back();
            for (const slice& s : a.slices) {
                detail::known_partners found = detail::partners_of(of, t.rows, a, s, *where);
                t.partners.back().push_back(std::move(found.rows));
                t.knows_partners = t.knows_partners && found.all;
            }
        }
    return t;
}

}  // namespace dovetail::observe
