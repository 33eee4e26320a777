// The plan in plain tables: for each role the steps of its ranks in issue order, what each waits for, which event it
// records, and where every buffer lies. The walker, the prover and the observers read this together with the program.
#pragma once

#include "../cost/decisions.hpp"
#include "../ir/schedule.hpp"

namespace dovetail::plan {

// Which candidate a plan comes from, and what is predicted of all of them: picoseconds of one run, -1 where the search did not ask.
struct choice {
    candidate taken = candidate::automatic;
    std::int64_t predicted[candidates] = {-1, -1, -1, -1, -1, -1};
};

template <class Store>
struct basic_plan {
    typename Store::template of<int, 0> order;       // tasks: the one linear extension
    typename Store::template of<ir::step, 1> steps;  // by role, in issue order
    typename Store::template of<ir::wait, 2> waits;
    typename Store::template of<ir::role_plan, 3> roles;
    typename Store::template of<ir::placement, 4> placements;  // by buffer
    bool overlapped = false;                                   // three streams, or one
    int event_slots = 1;                                       // copies of each event, used by successive runs in turn: the largest distance, at least 1
    std::int64_t predicted = 0;                                // picoseconds for one run of this plan
    std::int64_t predicted_sequential = 0;                     // ... of the plan with everything on one stream
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

}  // namespace dovetail::plan
