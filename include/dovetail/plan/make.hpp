// make: the whole pipeline at run time, for tests, tools and fuzzing. Takes a typed and checked graph, gives its program and
// plan; `wrong` tells of a circle through states, channels or groups, `fits` of the memory limit.
#pragma once

#include "../ir/table.hpp"
#include "pipeline.hpp"

namespace dovetail::plan {

struct made {
    ir::program_data program;
    plan_data plan;
    ir::fault wrong;
    bool fits = true;
};

constexpr made make(const ir::graph& g, const settings& s) {
    made m;
    m.program = pass::expand(g, s);
    const ir::program p = ir::view(m.program);
    const vec<ir::edge> edges = pass::edges(p);
    m.wrong = pass::circle(g, p, edges.view());
    if (m.wrong) return m;
    const vec<std::int64_t> costs = pass::costs(g, p, s);
    pass::schedule tried[candidates];
    std::int64_t length[candidates] = {};
    for (int c = 0; c < (s.overlap ? candidates : 1); ++c) {
        length[c] = not_tried;
        if (static_cast<candidate>(c) == candidate::written && p.vertices.size() > most_tried_as_written) continue;
        tried[c] = schedule_of(static_cast<candidate>(c), p, edges.view(), costs.view(), s);
        length[c] = tried[c].length;
    }
    const preference wanted = preferred(length, s);
    pass::issue_data issue;
    pass::in_run_data waits;
    pass::lifetimes_data lives;
    pass::memory memory;
    const pass::schedule* chosen = nullptr;
    for (int i = 0; i < wanted.count && chosen == nullptr; ++i) {
        pass::schedule& c = tried[static_cast<int>(wanted.list[i])];
        if (c.order.empty()) c = schedule_of(wanted.list[i], p, edges.view(), costs.view(), s);
        issue = pass::steps(p, c.order.view(), c.lane.view());
        waits = pass::waits(p, issue, edges.view());
        lives = pass::liveness(p, issue);
        memory = pass::arena(p, issue, waits.known.view(), lives);
        if (s.memory_limit == 0 || largest_bytes(memory.roles.view()) <= s.memory_limit) chosen = &c;
    }
    m.fits = chosen != nullptr;
    if (!m.fits) return m;
    const vec<pass::pending_wait> across = pass::wrap(p, issue, waits, lives, memory.placements.view());
    m.plan = assemble(chosen->order.view(), chosen->start.view(), chosen->end.view(), chosen->overlapped, chosen->length, length[0], memory.placements.view(),
                      pass::lay_out(issue, memory.roles.view(), waits.waits.view(), across.view()));
    return m;
}

}  // namespace dovetail::plan
