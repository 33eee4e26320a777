// The steady state of runs that follow one another, as a plan orders them: the time between their ends. Several runs are simulated as one
// program: the streams are queues from run to run, and the plan's waits on earlier runs are edges between runs.
#pragma once

#include "../ir/table.hpp"
#include "../pass/schedule/timeline_estimate.hpp"
#include "plan.hpp"

namespace dovetail::plan {

// The bound of the simulation, in tasks of all runs, of which there are at least two: it is one constant evaluation.
inline constexpr int most_unrolled_tasks = 1536;

// Which runs are simulated: the time from the end of run `first` to that of run `last` is measured.
struct unrolling {
    int first = 0;
    int last = 1;
    int runs = 2;
};
// As many runs as there are slots to settle, as many to measure, since runs that take slots in turn may differ, and as many behind them,
// which slow them down; fewer where those are too many tasks.
constexpr unrolling unrolling_of(int tasks, int slots) {
    const int affordable = (most_unrolled_tasks / tasks - 1) / 3, measured = slots < affordable ? slots : affordable;
    if (measured < 1) return {};
    return {measured, 2 * measured, 3 * measured + 1};
}

namespace detail {

// Task v of run k is task k * (tasks of a run) + v.
struct unrolled_runs_of_plan {
    ir::program_data program;  // tasks and their participations, no more
    vec<ir::edge> edges;       // the waits of all runs; those within streams are implied by the order
    vec<task_cost> costs;
    vec<int> order;
};

template <class Program, class Costs, class Plan>
constexpr unrolled_runs_of_plan unroll(const Program& p, const Costs& costs, const Plan& made, int runs) {
    const int tasks = p.tasks.count, participations = p.participations.count;
    unrolled_runs_of_plan u{};
    u.program.roles = p.roles;
    u.program.tasks = vec<ir::task>(runs * tasks, unset{});
    u.program.participations = vec<ir::participation>(runs * participations, unset{});
    u.costs = vec<task_cost>(runs * tasks, unset{});
    u.order = vec<int>(runs * tasks, unset{});
    for (int k = 0; k < runs; ++k) {
        for (int i = 0; i < participations; ++i) u.program.participations.first[k * participations + i] = p.participations.first[i];
        for (int v = 0; v < tasks; ++v) {
            ir::task& of_run = u.program.tasks.first[k * tasks + v] = p.tasks.first[v];
            of_run.first_participation += k * participations;
            u.costs.first[k * tasks + v] = costs.first[v];
            u.order.first[k * tasks + v] = k * tasks + made.order.first[v];
        }
    }
    for (int role = 0; role < made.roles.size(); ++role) {
        const ir::step* const steps = made.steps.first + made.roles.first[role].first_step;
        for (int i = 0; i < made.roles.first[role].steps; ++i) {
            for (int k = 0; k < runs; ++k)
                u.program.tasks.first[k * tasks + steps[i].task].stream = static_cast<stream_kind>(steps[i].stream);
            for (int w = steps[i].first_wait, end = w + steps[i].waits; w < end; ++w) {
                const ir::wait& wait = made.waits.first[w];
                const ir::edge_kind kind = ir::edge_kind::flow;
                for (int k = wait.distance; k < runs; ++k)
                    u.edges.push({(k - wait.distance) * tasks + steps[wait.step].task, k * tasks + steps[i].task, role, -1, kind});
            }
        }
    }
    return u;
}

constexpr pass::schedule simulate(const unrolled_runs_of_plan& u, bool overlapped, const plan_options& s) {
    const ir::program p = ir::view(u.program);
    if (!overlapped) return pass::serial_schedule(p, u.costs.view(), u.order.view());
    return pass::estimate_timeline(p, pass::occupancy_of(p, u.edges.view()), u.costs.view(), u.order.view(), s);
}

// When the last task of a run ends.
constexpr std::int64_t end_of_run(const pass::schedule& t, int run, int tasks) {
    std::int64_t end = 0;
    for (int v = run * tasks; v < (run + 1) * tasks; ++v)
        if (t.end[v] > end) end = t.end[v];
    return end;
}

// The time that the busiest stream of a role works in a run, if nothing slows it down.
template <class Program, class Costs, class Plan>
constexpr std::int64_t busiest_stream(const Program& p, const Costs& costs, const Plan& made) {
    vec<std::int64_t> work(p.roles * stream_count);
    std::int64_t most = 0;
    for (int role = 0; role < made.roles.size(); ++role) {
        const ir::step* const steps = made.steps.first + made.roles.first[role].first_step;
        for (int i = 0; i < made.roles.first[role].steps; ++i) {
            std::int64_t& sum = work[role * stream_count + steps[i].stream];
            sum += costs.first[steps[i].task].time;
            if (sum > most) most = sum;
        }
    }
    return most;
}

}  // namespace detail

// The time between the ends of two runs once they follow each other evenly, in picoseconds. It assumes that inputs are bound and outputs
// read in time. Of a plan without steps, which exceeds the memory limit, and of one that is too large to simulate two runs, it is the time
// of one run.
template <class Program, class Costs, class Plan>
constexpr std::int64_t interval(const Program& p, const Costs& costs, const Plan& made, const plan_options& s) {
    const int tasks = p.tasks.count;
    if (made.order.size() != tasks || tasks == 0 || 2 * tasks > most_unrolled_tasks) return made.predicted;
    const unrolling u = unrolling_of(tasks, made.event_slots);
    const pass::schedule t = detail::simulate(detail::unroll(p, costs, made, u.runs), made.overlapped, s);
    if (t.length < 0) return t.length;
    const std::int64_t measured = (detail::end_of_run(t, u.last, tasks) - detail::end_of_run(t, u.first, tasks)) / (u.last - u.first);
    // Where roles do not wait for each other, a slower one may end its runs later than the others only after many.
    const std::int64_t least = detail::busiest_stream(p, costs, made);
    return measured < least ? least : measured;
}

}  // namespace dovetail::plan
