// The prover: checks that the tables of a plan are a safe execution of the graph, with as many slots as the options require. From the graph
// as written, the program expanded from it, the plan and the options to a verdict that names the first flaw. It shares no code with the
// passes that make a plan. It proves nothing about timing, progress inside NCCL or CUDA, the correctness of kernels, or the rounding of
// sums.
#pragma once

#include "prove/bounds.hpp"
#include "prove/conformance.hpp"
#include "prove/order.hpp"
#include "prove/replay.hpp"

namespace dovetail::plan {

// Checks what concerns all roles: the program means the same as the graph, all members of a communication participate with equal arguments,
// buffers have the slots that the options require, and the steps of each role are the restriction of the one order.
constexpr verdict prove_tables(const ir::graph& g, const ir::program& p, const plan& made, const plan_options& options) {
    if (const verdict bad = detail::check_program_bounds(g, p); !bad) return bad;
    if (const verdict bad = detail::check_plan_bounds(p, made); !bad) return bad;
    if (const verdict bad = detail::check_conformance(g, p, options); !bad) return bad;
    if (const verdict bad = detail::check_permutation(p, made); !bad) return bad;
    if (const verdict bad = detail::check_steps(p, made); !bad) return bad;
    return detail::check_symmetric(p, made);
}

// Checks one role: its memory, its streams and its events. Requires that `prove_tables` has succeeded, because indices are not checked
// again.
//
// If it succeeds for all roles, the order is a linear extension of all dependencies: a dependency is between tasks that access a buffer of
// one role, the steps of that role are the restriction of the order, and each read there has seen the right value.
// `own`: the buffers of the role.
constexpr verdict prove_ordered_role(const ir::graph& g, const ir::program& p, const plan& made, int role, span<const int> own,
                                     detail::state_versions& states) {
    if (const verdict bad = detail::check_placement(p, made, role, own); !bad) return bad;
    return detail::replay{g, p, made, role, own, states}.result();
}
// Checks the roles [first, last).
constexpr verdict prove_ordered_roles(const ir::graph& g, const ir::program& p, const plan& made, int first, int last) {
    const detail::owned own{p};
    detail::state_versions states;
    for (int role = first; role < last; ++role)
        if (const verdict bad = prove_ordered_role(g, p, made, role, own.by(role), states); !bad) return bad;
    return {};
}

// The end of the range of roles, from `first` on, that one constant evaluation proves: few enough to stay far from the limits of compilers,
// but no fewer, because each evaluation that reads the tables costs a copy of them.
inline constexpr int proven_at_once = 1024;  // steps
constexpr int proven_until(const ir::program& p, const plan& made, int first) {
    const int each = p.buffers.count / 16;  // cost of a role without steps
    int role = first, cost = 0;
    do cost += each + made.roles.first[role++].steps;
    while (role < p.roles && cost + each + made.roles.first[role].steps <= proven_at_once);
    return role;
}

// prove_tables, and a check of the order against all dependencies, so that a violation has a verdict of its own. The proof of a role would
// refuse the same plans.
constexpr verdict prove_order(const ir::graph& g, const ir::program& p, const plan& made, const plan_options& options) {
    if (const verdict bad = prove_tables(g, p, made, options); !bad) return bad;
    return detail::check_dependencies(g, p, made);
}

// The whole proof, for run time.
constexpr verdict prove(const ir::graph& g, const ir::program& p, const plan& made, const plan_options& options) {
    if (const verdict bad = prove_order(g, p, made, options); !bad) return bad;
    return prove_ordered_roles(g, p, made, 0, p.roles);
}

}  // namespace dovetail::plan
