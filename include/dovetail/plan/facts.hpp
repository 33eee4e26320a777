// Facts of a graph and its plan to static_assert: valid, peak_bytes, predicted_time, hidden_fraction, wait_count.
#pragma once

#include "planned.hpp"

namespace dovetail {

// The role of a graph that names none.
using unnamed_role = plan::detail::unnamed;

// Whether the graph has no mistake; plan::diagnose<G> names it.
template <class G>
inline constexpr bool valid = std::is_same_v<plan::diagnose<G>, error::none>;

namespace plan::detail {

template <class G, class Role>
constexpr int plan_role() {
    if constexpr (std::is_same_v<Role, unnamed>) {
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
    vec<std::int64_t> hidden(p.vertices.size());
    for (const ir::role_plan& r : plan.roles) {
        const span<const ir::step> steps = plan.steps.part(r.first_step, r.steps);
        vec<int> compute;
        for (int i = 0; i < steps.size(); ++i)
            if (p.vertices[steps[i].vertex].kind == op_kind::compute) compute.push(i);
        // Steps of one lane are in the order of their starts; by lane: compute steps before it end before what still comes there.
        int first[lane_count] = {};
        for (const ir::step& s : steps) {
            if (!is_communication(p.vertices[s.vertex].kind)) continue;
            int& begin = first[s.lane];
            while (begin < compute.size() && steps[compute[begin]].end <= s.start) ++begin;
            std::int64_t beside = 0;
            for (int i = begin; i < compute.size() && steps[compute[i]].start < s.end; ++i) {
                const ir::step& c = steps[compute[i]];
                beside += (c.end < s.end ? c.end : s.end) - (c.start > s.start ? c.start : s.start);
            }
            if (beside > hidden[s.vertex]) hidden[s.vertex] = beside;
        }
    }
    overlap_times t;
    vec<char> counted(p.vertices.size());
    for (const ir::step& s : plan.steps) {
        if (!is_communication(p.vertices[s.vertex].kind) || counted[s.vertex] != 0) continue;
        counted[s.vertex] = 1;
        t.communication += s.end - s.start;
        t.hidden += hidden[s.vertex];
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
inline constexpr int wait_count = plan::detail::waits_of(plan::planned<G, O>::plan, plan::detail::planned_role<G, Role, O>);

}  // namespace dovetail
