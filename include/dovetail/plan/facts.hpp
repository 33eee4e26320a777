// Facts of a graph and its plan to static_assert: valid, peak_bytes, predicted_time, hidden_fraction, wait_count.
//
// nvcc compiles a .cu once more for each architecture, and a fact that is asked for there is evaluated again. Within
// `#ifndef __CUDA_ARCH__` ... `#endif` a static_assert is checked once, by the pass for the host, which refuses the program all
// the same; the graph itself stands outside, for the executors whose kernels depend on it.
#pragma once

#include "planned.hpp"

namespace dovetail {

// The role of a graph that names none.
using unnamed_role = error::the_only_role;

// Whether the graph has no mistake; plan::diagnose<G> names it.
template <class G>
inline constexpr bool valid = std::is_same_v<plan::diagnose<G>, error::none>;

namespace plan::detail {

template <class G, class Role>
constexpr int plan_role() {
    if constexpr (std::is_same_v<Role, unnamed_role>) {
        static_assert(!dovetail::named(typed<G>::value.roles[0].name) || typed<G>::value.folded, "dovetail: this graph has roles: name one");
        return 0;
    } else {
        static_assert(role_of<G, Role> >= 0, "dovetail: the graph has no such role");
        return typed<G>::value.folded ? 0 : role_of<G, Role>;
    }
}

// Communication time of the graph, each vertex once, and the part of it during which a rank that takes part computes too.
struct overlap_times {
    std::int64_t communication = 0;
    std::int64_t hidden = 0;
};
constexpr overlap_times overlap_of(const ir::program& p, const dovetail::plan::plan& plan) {
    const ir::vertex* vertices = p.vertices.begin();
    vec<std::int64_t> hidden_list(p.vertices.count);
    vec<const ir::step*> compute_list(plan.steps.count, unset{}), talk_list(plan.steps.count, unset{});
    std::int64_t* hidden = hidden_list.begin();  // by vertex; -1 once it is counted
    const ir::step **compute = compute_list.begin(), **talk = talk_list.begin(), **talk_end = talk;
    // Of the step at hand; declared once, see pass/predict.hpp.
    const ir::step *s = nullptr, *end = nullptr;
    const ir::step** c = nullptr;
    op_kind kind{};
    int lane = 0;
    std::int64_t from = 0, until = 0, began = 0, ended = 0, beside = 0;
    for (const ir::role_plan& r : plan.roles) {
        const ir::step **own = talk_end, **compute_end = compute;
        for (s = plan.steps.begin() + r.first_step, end = s + r.steps; s != end; ++s) {
            kind = vertices[s->vertex].kind;
            if (kind == op_kind::compute)
                *compute_end++ = s;
            else if (is_communication(kind))
                *talk_end++ = s;
        }
        // Steps of one lane are in the order of their starts; by lane: compute steps before it end before what still comes there.
        const ir::step** ahead[lane_count] = {compute, compute, compute};
        for (; own != talk_end; ++own) {
            s = *own;
            lane = s->lane;
            from = s->start;
            until = s->end;
            c = ahead[lane];
            while (c != compute_end && (*c)->end <= from) ++c;
            ahead[lane] = c;
            beside = 0;
            for (; c != compute_end && (*c)->start < until; ++c) {
                began = (*c)->start;
                ended = (*c)->end;
                beside += (ended < until ? ended : until) - (began > from ? began : from);
            }
            if (beside > hidden[s->vertex]) hidden[s->vertex] = beside;
        }
    }
    overlap_times t;
    for (; talk != talk_end; ++talk) {
        s = *talk;
        beside = hidden[s->vertex];
        if (beside < 0) continue;
        t.communication += s->end - s->start;
        t.hidden += beside;
        hidden[s->vertex] = -1;
    }
    return t;
}

template <class G, class O>
inline constexpr overlap_times overlap_in = overlap_of(planned<G, O>::program, planned<G, O>::plan);

}  // namespace plan::detail

namespace plan::detail {
template <class G, class Role, class O>
inline constexpr const ir::role_plan& planned_role = planned<G, O>::plan.roles[plan_role<G, Role>()];

constexpr int waits_of(const dovetail::plan::plan& plan, const ir::role_plan& role) {
    int n = 0;
    for (const ir::step& s : plan.steps.part(role.first_step, role.steps)) n += s.waits;
    return n;
}

// Here because of nvcc's front end: where a template's initialiser calls a function by a qualified name, it sets aside 128 MB.
template <class G, class Role, class O>
inline constexpr int waits_in = waits_of(planned<G, O>::plan, planned_role<G, Role, O>);
}  // namespace plan::detail

// Bytes of device memory that one rank of a role needs: its arena, outputs included, and its states.
template <class G, class Role = unnamed_role, class O = options<>>
inline constexpr std::int64_t peak_bytes = plan::bytes_of(plan::detail::planned_role<G, Role, O>);

// Predicted time of one run, picoseconds.
template <class G, class O = options<>>
inline constexpr std::int64_t predicted_time = plan::planned<G, O>::plan.predicted;

// Predicted share of the communication, by time, during which a rank that takes part in it computes as well; 0 where the
// graph does not communicate.
template <class G, class O = options<>>
inline constexpr double hidden_fraction =
    plan::detail::overlap_in<G, O>.communication == 0
        ? 0.0
        : static_cast<double>(plan::detail::overlap_in<G, O>.hidden) / static_cast<double>(plan::detail::overlap_in<G, O>.communication);

// Number of waits between streams in a role's plan, those on earlier runs included.
template <class G, class Role = unnamed_role, class O = options<>>
inline constexpr int wait_count = plan::detail::waits_in<G, Role, O>;

}  // namespace dovetail
