// Books a random program within a budget and runs the passes from there to the waits across runs.
#pragma once

#include "planned_streams.hpp"

#include <dovetail/cost/time.hpp>
#include <dovetail/pass/memory/memory_waits.hpp>

namespace support {

struct booked {
    dv::vec<dv::task_cost> costs;  // by task
    dv::vec<int> reference;
    dv::pass::basic_booking<dv::ir::program> booking;
    dv::pass::basic_booked_memory<dv::ir::program> memory;
    planned plan;
};

// Times of tasks, drawn from a seed.
inline dv::vec<dv::task_cost> random_costs(unsigned seed, int tasks) {
    std::mt19937 random{seed + 1};
    dv::vec<dv::task_cost> costs;
    for (int v = 0; v < tasks; ++v) costs.push({1000 + static_cast<std::int64_t>(random() % 100'000)});
    return costs;
}

// `percent`: the budget, in hundredths of the peak of the reference order.
inline booked book_streams(unsigned seed, dv::ir::program_data data, int percent) {
    booked out;
    planned& p = out.plan;
    p.data = std::move(data);
    p.edges = all_conflicts(dv::ir::view(p.data));
    const dv::ir::program program = p.program();
    const dv::plan_options options{};
    const dv::span<const dv::ir::edge> edges = p.edges.view();
    out.costs = random_costs(seed, program.tasks.size());
    const auto occupancy = dv::pass::occupancy_of(program, edges);
    const auto reference = dv::pass::reference_order(program, occupancy, edges);
    out.reference = dv::vec<int>(reference.view());
    out.booking = dv::pass::booked_order(program, occupancy, edges, out.costs, out.reference.view(), percent, options);
    out.memory = dv::pass::book_memory(program, out.booking);
    p.order = dv::vec<int>(out.booking.order.view());
    p.issued = dv::pass::issue_order(program, out.booking);
    dv::pass::synchronisation flow = dv::pass::synchronise(program, p.issued, out.memory.waits.view());
    p.waits = std::move(flow.waits);
    p.lives = std::move(flow.lives);
    p.memory = dv::pass::booked_assignment(program, p.issued, out.memory);
    p.wrap = dv::pass::waits_across_runs(program, p.issued, p.waits, p.lives, p.memory);
    return out;
}

inline constexpr int budgets[] = {100, 112, 125, 150, 175, 200, 250, 300};

}  // namespace support
