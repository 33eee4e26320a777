// make: the whole pipeline at run time, for tests, tools and fuzzing. Takes a typed and checked graph, gives its program and
// plan; `wrong` tells of a cycle through states, channels or groups, `fits` of the memory limit.
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

constexpr made make(const ir::graph& g, const plan_options& s) {
    made m;
    m.program = pass::expand(g, s);
    const ir::program p = ir::view(m.program);
    const vec<ir::edge> edges = pass::edges(p);
    m.wrong = pass::check_cycles(g, p, edges.view());
    if (m.wrong) return m;
    const vec<std::int64_t> costs = cost_model::costs(g, p, s);
    pass::schedule tried[candidates];
    std::int64_t length[compared] = {};
    for (int c = 0; c < (s.overlap ? compared : 1); ++c) {
        length[c] = not_tried;
        if (static_cast<candidate>(c) == candidate::written && p.tasks.size() > most_tried_as_written) continue;
        tried[c] = schedule_of(static_cast<candidate>(c), p, edges.view(), costs.view(), s);
        length[c] = tried[c].length;
    }
    const preference wanted = preferred(length, s);
    m.fits = false;
    for (int i = 0; i < wanted.count && !m.fits; ++i) {
        const candidate taken = wanted.list[i], other = order_of(taken);
        pass::schedule &c = tried[static_cast<int>(taken)], &base = tried[static_cast<int>(other)];
        if (base.order.empty()) base = schedule_of(other, p, edges.view(), costs.view(), s);
        if (other != taken) c = schedule_in<pass::schedule>(taken, base.order.view(), p, edges.view(), costs.view(), length[0], s);
        plan_data emitted = emit(p, {c.order.view(), c.stream.view(), c.start.view(), c.end.view(), c.length, c.overlapped}, length[0], s.memory_limit);
        m.fits = within(s.memory_limit, emitted.roles.view());
        if (m.fits) m.plan = static_cast<plan_data&&>(emitted);
    }
    return m;
}

}  // namespace dovetail::plan
