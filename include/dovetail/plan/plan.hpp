// The plan as plain tables: for each role the steps of its ranks in issue order, the waits and the event of each step, and the placement of
// every buffer. The launch layer, the prover and the observers read it together with the program.
#pragma once

#include "../cost/decisions.hpp"
#include "../ir/schedule.hpp"

namespace dovetail::plan {

// The candidate that a plan comes from, and the predicted times of all: picoseconds of what the objective counts, -1 for one that the
// search did not request; and those of candidates about as fast if communication takes three times as long.
struct choice {
    candidate taken = candidate::automatic;
    std::int64_t predicted[candidates], slowed[candidates];

    constexpr choice() {
        for (int c = 0; c < candidates; ++c) predicted[c] = slowed[c] = -1;
    }
};

template <class Store>
struct basic_plan {
    typename Store::template of<int, 0> order;       // tasks: the linear extension that all ranks follow
    typename Store::template of<ir::step, 1> steps;  // by role, in issue order
    typename Store::template of<ir::wait, 2> waits;
    typename Store::template of<ir::role_plan, 3> roles;
    typename Store::template of<ir::placement, 4> placements;  // by buffer
    bool overlapped = false;                                   // true: three streams per rank; false: one
    int event_slots = 1;                    // slots of each event, for runs in turn: the largest distance of a wait, or 1
    std::int64_t predicted = 0;             // picoseconds for one run of this plan
    std::int64_t predicted_sequential = 0;  // picoseconds for one run of the sequential candidate
    dovetail::plan::choice choice = {};

    static constexpr int tables = 5;
};

template <class A, class B, class F>
constexpr void zip(A& a, B& b, F f)
    requires(A::tables == 5 && requires { a.placements; })
{
    f(a.order, b.order);
    f(a.steps, b.steps);
    f(a.waits, b.waits);
    f(a.roles, b.roles);
    f(a.placements, b.placements);
    b.overlapped = a.overlapped;
    b.event_slots = a.event_slots;
    b.predicted = a.predicted;
    b.predicted_sequential = a.predicted_sequential;
    b.choice = a.choice;
}

using plan = basic_plan<viewing>;
using plan_data = basic_plan<owning>;

// The roles in the order of their ranks.
constexpr vec<int> by_rank(span<const ir::role_plan> roles) {
    vec<int> order(roles.size(), 0);
    for (int role = 0; role < roles.size(); ++role) order[roles[role].rank_order] = role;
    return order;
}

}  // namespace dovetail::plan
