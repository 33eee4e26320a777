// What the search over candidates compares of a predicted timeline.
#pragma once

#include "timeline_estimate.hpp"

namespace dovetail::pass {

// When a value is ready: the latest end of the tasks that write it. `end`: by task.
template <class Program, class Ends>
constexpr std::int64_t ready_time(const Program& p, int symbol, const Ends& end) {
    std::int64_t time = 0;
    for (int v = 0; v < p.tasks.count; ++v)
        if (end[v] > time && ir::writes_symbol(p, p.tasks.first[v], symbol)) time = end[v];
    return time;
}

// What the search compares of a schedule: the time of a run or, of the objective `finish`, until its output is ready.
template <class Program, class Schedule>
constexpr std::int64_t objective_of(const Program& p, const Schedule& t, const plan_options& s) {
    return s.preferred < 0 || t.length < 0 ? t.length : ready_time(p, s.preferred, t.end.first);
}

}  // namespace dovetail::pass
