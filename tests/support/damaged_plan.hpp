// A plan that is damaged at compile time: the verdict of the prover is a constant and has an error type.
#pragma once

#include <dovetail/plan/facts.hpp>
#include <dovetail/plan/diagnose/verdict_text.hpp>

namespace support {

namespace dv = dovetail;

// The first buffer of a role that holds the value of a name.
template <class G, class Name, class Role = dv::unnamed_role>
constexpr int buffer_of(const dv::ir::program& p) {
    for (int b = 0; b < p.buffers.count; ++b)
        if (p.buffers[b].symbol == dv::plan::symbol_of<G, Name> && (p.buffers[b].role == dv::plan::detail::plan_role<G, Role>)) return b;
    return -1;
}

// The step of a role that computes the value of a name.
template <class G, class Name, class Role = dv::unnamed_role, class Plan>
constexpr int step_of(const dv::ir::program& p, const Plan& made) {
    const dv::ir::role_plan& r = made.roles[dv::plan::detail::plan_role<G, Role>];
    for (int i = r.first_step; i < r.first_step + r.steps; ++i)
        if (p.members[p.participations[made.steps[i].first_participation].member].symbol == dv::plan::symbol_of<G, Name>) return i;
    return -1;
}

// `Damage::plan(program, plan)` and `Damage::program(program, plan)` change copies of the tables.
template <class G, class O, class Damage>
struct damaged {
    using of = dv::plan::detail::found_plan<G, O>;
    static constexpr dv::candidate taken = of::taken;
    static constexpr dv::ir::graph graph = of::graph;
    static constexpr auto own_program = [] {
        auto copy = dv::plan::detail::stage_table<typename of::key::for_program, dv::plan::stage::expand>;
        if constexpr (requires { Damage::program(copy); }) Damage::program(copy);
        return copy;
    }();
    static constexpr dv::ir::program program = dv::ir::view(own_program);
    static constexpr auto own_plan = [] {
        auto copy = dv::plan::detail::stage_table<typename of::key, dv::plan::stage::emit<taken>>;
        if constexpr (requires { Damage::plan(of::program, copy); }) Damage::plan(of::program, copy);
        return copy;
    }();
    static constexpr dv::plan::plan plan = dv::ir::view(own_plan);
    static constexpr dv::plan::verdict found = dv::plan::prove(graph, program, plan, O::value);
    using error = dv::plan::detail::unproven_error<G, damaged>;
    static std::string text() { return dv::plan::text_of(found, graph, program); }
};

}  // namespace support
