// What a plan's times tell: how much of the predicted communication is hidden, which is the part during which a rank that takes part in
// it computes as well; when a value is ready. Takes a program and its plan.
#pragma once

#include "../ir/program.hpp"
#include "plan.hpp"

namespace dovetail::plan {

// Communication time of the graph, each task once, and the part of it during which a rank that takes part computes too.
struct overlap_times {
    std::int64_t communication = 0;
    std::int64_t hidden = 0;
};
constexpr overlap_times overlap_of(const ir::program& p, const dovetail::plan::plan& plan) {
    const ir::task* tasks = p.tasks.begin();
    vec<std::int64_t> hidden_list(p.tasks.count);
    vec<const ir::step*> compute_list(plan.steps.count, unset{}), communication_list(plan.steps.count, unset{});
    std::int64_t* hidden = hidden_list.begin();  // by task; -1 once it is counted
    const ir::step **compute = compute_list.begin(), **communication = communication_list.begin(), **communication_end = communication;
    // Of the step at hand; declared once, see plan/compile/README.md.
    const ir::step *s = nullptr, *end = nullptr;
    const ir::step** c = nullptr;
    op_kind kind{};
    int stream = 0;
    std::int64_t from = 0, until = 0, began = 0, ended = 0, beside = 0;
    for (const ir::role_plan& r : plan.roles) {
        const ir::step **own = communication_end, **compute_end = compute;
        for (s = plan.steps.begin() + r.first_step, end = s + r.steps; s != end; ++s) {
            kind = tasks[s->task].kind;
            if (kind == op_kind::compute)
                *compute_end++ = s;
            else if (is_communication(kind))
                *communication_end++ = s;
        }
        // Steps of one stream are in the order of their starts; by stream: compute steps before it end before what still comes there.
        const ir::step** ahead[stream_count] = {compute, compute, compute};
        for (; own != communication_end; ++own) {
            s = *own;
            stream = s->stream;
            from = s->start;
            until = s->end;
            c = ahead[stream];
            while (c != compute_end && (*c)->end <= from) ++c;
            ahead[stream] = c;
            beside = 0;
            for (; c != compute_end && (*c)->start < until; ++c) {
                began = (*c)->start;
                ended = (*c)->end;
                beside += (ended < until ? ended : until) - (began > from ? began : from);
            }
            if (beside > hidden[s->task]) hidden[s->task] = beside;
        }
    }
    overlap_times t;
    for (; communication != communication_end; ++communication) {
        s = *communication;
        beside = hidden[s->task];
        if (beside < 0) continue;
        t.communication += s->end - s->start;
        t.hidden += beside;
        hidden[s->task] = -1;
    }
    return t;
}

// When a symbol's value is ready, in picoseconds from the start of a run.
constexpr std::int64_t ready_time(const ir::program& p, const dovetail::plan::plan& plan, int symbol) {
    std::int64_t time = 0;
    for (const ir::step& s : plan.steps)
        if (s.end > time && ir::writes_symbol(p, p.tasks[s.task], symbol)) time = s.end;
    return time;
}

constexpr double fraction_of(const overlap_times& t) {
    return t.communication == 0 ? 0.0 : static_cast<double>(t.hidden) / static_cast<double>(t.communication);
}
// Whole percent, rounded down.
constexpr std::int64_t percent_of(const overlap_times& t) { return t.communication == 0 ? 0 : 100 * t.hidden / t.communication; }

}  // namespace dovetail::plan
