// The prover: is this plan, as it stands in its tables, a safe execution of this graph, with as many copies as the options ask for?
// Takes the graph as written, the program expanded from it, the plan and its options; gives a verdict that names the first flaw. It
// shares no code with the passes that make a plan. It claims nothing about timing, progress inside NCCL or CUDA, kernels, or the
// rounding of sums.
#pragma once

#include "prove/bounds.hpp"
#include "prove/conformance.hpp"
#include "prove/order.hpp"
#include "prove/replay.hpp"

namespace dovetail::plan {

// What concerns all roles: the program says what the graph says, communication has all its partners and they agree, buffers have
// the copies that the options ask for, and each role's steps are the restriction of the one order.
constexpr verdict prove_tables(const ir::graph& g, const ir::program& p, const plan& made, const plan_options& options) {
    if (const verdict bad = detail::check_program_bounds(g, p); !bad) return bad;
    if (const verdict bad = detail::check_plan_bounds(p, made); !bad) return bad;
    if (const verdict bad = detail::check_conformance(g, p, options); !bad) return bad;
    if (const verdict bad = detail::check_permutation(p, made); !bad) return bad;
    if (const verdict bad = detail::check_steps(p, made); !bad) return bad;
    return detail::check_symmetric(p, made);
}

// What concerns one role: its memory, its streams and its events. Only behind `prove_tables` that holds: the indices are not
// looked at again.
//
// Where this holds for all roles, the order is a linear extension of every dependency: those are between tasks that touch
// a buffer of one role, whose steps are the order's restriction, and there each read has met the value that it should.
// `own`: the role's buffers.
constexpr verdict prove_ordered_role(const ir::graph& g, const ir::program& p, const plan& made, int role, span<const int> own,
                                     detail::state_versions& states) {
    if (const verdict bad = detail::check_placement(p, made, role, own); !bad) return bad;
    return detail::replay{g, p, made, role, own, states}.result();
}
// The same of the roles [first, last).
constexpr verdict prove_ordered_roles(const ir::graph& g, const ir::program& p, const plan& made, int first, int last) {
    const detail::owned own{p};
    detail::state_versions states;
    for (int role = first; role < last; ++role)
        if (const verdict bad = prove_ordered_role(g, p, made, role, own.by(role), states); !bad) return bad;
    return {};
}

// The roles from `first` on are proven up to this one in one evaluation: so many that no limit of constant evaluation is near,
// and no fewer, because compilers need the tables once more for each evaluation that looks into them.
inline constexpr int proven_at_once = 1024;  // steps
constexpr int proven_until(const ir::program& p, const plan& made, int first) {
    const int each = p.buffers.count / 16;  // what a role costs that has no step
    int role = first, cost = 0;
    do cost += each + made.roles.first[role++].steps;
    while (role < p.roles && cost + each + made.roles.first[role].steps <= proven_at_once);
    return role;
}

// What concerns all roles, with the order looked at for itself: so a dependency against it has its own name. Whatever this refuses
// is refused by the proof of a role too.
constexpr verdict prove_order(const ir::graph& g, const ir::program& p, const plan& made, const plan_options& options) {
    if (const verdict bad = prove_tables(g, p, made, options); !bad) return bad;
    return detail::check_dependencies(g, p, made);
}

// All of it, for run time.
constexpr verdict prove(const ir::graph& g, const ir::program& p, const plan& made, const plan_options& options) {
    if (const verdict bad = prove_order(g, p, made, options); !bad) return bad;
    return prove_ordered_roles(g, p, made, 0, p.roles);
}

}  // namespace dovetail::plan
