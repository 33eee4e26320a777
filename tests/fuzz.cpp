// Random graphs through all that the compiler runs: each is written in the language, lowered, typed, checked, planned and proven, and
// what the simulator makes of the plan is compared with the sketch's own meaning (support/reference.hpp), which none of that has
// touched. The seed is printed; a failing graph is reduced and printed as a graph.
//   fuzz [--count N] [--seed S] [--only K]     (K: the number of one graph); support/how_many.hpp tells of the environment
#include "support/coverage.hpp"
#include "support/how_many.hpp"
#include "support/interpreter.hpp"
#include "support/mutation.hpp"
#include "support/planner.hpp"
#include "support/print_graph.hpp"
#include "support/random_graph.hpp"
#include "support/reduce.hpp"
#include "support/reference.hpp"
#include "support/simulator.hpp"
#include "support/slots.hpp"
#include "support/written.hpp"

#include <dovetail/pass/graph/check.hpp>
#include <dovetail/plan/make.hpp>
#include <dovetail/plan/prove.hpp>

#include <cstdio>
#include <ctime>
#include <string_view>

namespace {

using namespace support;

struct statistics {
    long nodes = 0, collectives = 0, groups = 0, transfers = 0, peer_copies = 0, updates = 0, in_place = 0, overlapped = 0, waits = 0,
         wraps = 0, ranks = 0;
    long damaged[mutations] = {}, refused[mutations] = {}, caught[mutations] = {};  // plans damaged on purpose, by kind
    coverage seen;
};

struct planned_graph {
    dv::plan::made made;
    std::string fault;
    bool limited = false, kept = false;
};

// The plan, under the sketch's memory limit where one fits.
planned_graph plan_of(const dv::ir::graph& g, const sketch& s) {
    planned_graph p;
    p.made = make_plan(g, s.plan_options);
    if (p.made.wrong) p.fault = "planner: a cycle in a valid graph";
    else if (!p.made.fits) p.fault = "planner: does not fit without a limit";
    const std::int64_t taken = p.fault.empty() ? dv::ir::largest_bytes(p.made.plan.roles.view()) : 0;
    dv::plan_options limited = s.plan_options;
    limited.memory_limit = taken * s.limit / 1000;
    if (limited.memory_limit <= 0) return p;
    p.limited = true;
    dv::plan::made tight = make_plan(g, limited);
    if (tight.wrong) p.fault = "planner: a cycle under a memory limit";
    else if (!tight.fits && limited.memory_limit >= taken) p.fault = "planner: what fits is refused";
    else if (tight.fits && dv::ir::largest_bytes(tight.plan.roles.view()) > limited.memory_limit)
        p.fault = "planner: the limit is exceeded";
    if (!tight.fits) return p;
    p.kept = true;
    p.made = std::move(tight);
    return p;
}

std::string simulated(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, meaning& m, const simulation& how) {
    try {
        simulate(g, p, plan, m, how);
    } catch (const failure& f) {
        return f.what();
    }
    return {};
}

// Communication written in one group is one task, and no other is. Empty where that is so.
std::string broken_groups(const sketch& s, const meaning& m, const dv::ir::program& p) {
    const auto nccl_group_of = [&](const dv::ir::member& x) {
        return x.node < 0 ? -1 : s.nodes[static_cast<std::size_t>(m.statement_of[static_cast<std::size_t>(x.node)])].nccl_group_id;
    };
    std::map<int, int> task_of;
    for (int v = 0; v < p.tasks.size(); ++v)
        for (const dv::ir::member& x : p.members.subspan(p.tasks[v].first_member, p.tasks[v].members)) {
            const int nccl_group_id = nccl_group_of(x);
            if (nccl_group_id < 0 && p.tasks[v].members > 1) return "task " + std::to_string(v) + " is a group and not written as one";
            if (nccl_group_id >= 0 && task_of.emplace(nccl_group_id, v).first->second != v)
                return "group " + std::to_string(nccl_group_id) + " is not one task";
        }
    return {};
}

// Either the prover refuses a damaged plan, or the simulator finds nothing wrong with it.
std::string damaged(const dv::ir::graph& written, const dv::ir::graph& g, const dv::ir::program& program, dv::plan::plan_data& plan,
                    meaning& m, simulation how, const sketch& s, chooser& r, statistics& sum) {
    const int kind = r.below(mutations);
    if (!mutate(static_cast<mutation>(kind), program, plan, r)) return {};
    ++sum.damaged[kind];
    const dv::plan::plan hurt = dv::ir::view(plan);
    const bool proven = static_cast<bool>(prove_plan(written, program, hurt, s.plan_options));
    sum.refused[kind] += !proven;
    for (int times = 0; times < (proven ? 3 : 1); ++times) {
        how = {mix(s.seed + 100 + static_cast<word>(times)), {0, 1, 2}, how.ahead, how.in_flight};
        const std::string fault = simulated(g, program, hurt, m, how);
        if (fault.empty()) continue;
        if (proven) return std::string("prover accepts a plan damaged by ") + name_of(static_cast<mutation>(kind)) + ": " + fault;
        ++sum.caught[kind];
        break;
    }
    return {};
}

// What is wrong with this graph's way through the library; empty where nothing is.
std::string fault_of(const sketch& s, statistics& sum) {
    const dv::ir::graph_data typed = emit(s);
    if (typed.wrong) return "invalid: lower or infer says " + std::to_string(static_cast<int>(typed.wrong.kind));
    const dv::ir::graph written = dv::ir::view(typed);
    if (const dv::ir::fault wrong = dv::pass::check(written)) return "invalid: check says " + std::to_string(static_cast<int>(wrong.kind));

    planned_graph planned = plan_of(written, s);
    if (!planned.fault.empty()) return planned.fault;
    const dv::ir::program program = dv::ir::view(planned.made.program);
    const dv::plan::plan plan = dv::ir::view(planned.made.plan);
    if (const dv::plan::verdict bad = prove_plan(written, program, plan, s.plan_options); !bad)
        return std::string("prover: ") + dv::plan::name_of(bad.what) + ", role " + std::to_string(bad.role) + ", task " +
               std::to_string(bad.task) + ", other " + std::to_string(bad.other) + ", buffer " + std::to_string(bad.buffer);
    if (const std::string bad = broken_slots(program, s.plan_options); !bad.empty()) return "slots: " + bad;

    const dv::ir::graph_data concrete = with_widths(typed, s);  // of open axes
    const dv::ir::graph g = dv::ir::view(concrete);
    meaning m;
    try {
        m = read_sketch(s, g, s.runs);
    } catch (const failure& f) {
        return std::string("misread: ") + f.what();
    }
    if (const std::string bad = broken_groups(s, m, program); !bad.empty()) return "groups: " + bad;
    if (s.seed % 8 == 0) {
        meaning again = interpret_as(g, m);
        if (const std::string bad = difference(m, again); !bad.empty()) return "the interpreter reads it otherwise: " + bad;
    }
    chooser r{mix(s.seed + 5)};
    simulation how;
    how.seed = s.seed;
    how.ahead = r.between(1, 4);
    how.in_flight = s.plan_options.in_flight;
    if (const std::string bad = simulated(g, program, plan, m, how); !bad.empty()) return "simulator: " + bad;
    how.seed = mix(s.seed);
    how.queue_of = r.chance(60) ? std::array<int, 3>{0, 0, 0} : std::array<int, 3>{0, r.below(2), r.below(2)};
    if (const std::string bad = simulated(g, program, plan, m, how); !bad.empty()) return "simulator, streams in common queues: " + bad;

    sum.seen.graph(s);
    sum.seen.plan(program, planned.limited, planned.kept);
    sum.nodes += g.nodes.size();
    for (const auto& n : g.nodes) sum.collectives += dv::is_communication(n.kind), sum.updates += n.update;
    for (const auto& v : program.tasks) {
        const bool transfer = v.kind == dv::op_kind::transfer;
        sum.transfers += transfer, sum.peer_copies += transfer && v.stream == dv::stream_kind::copy, sum.groups += v.members > 1;
    }
    for (const auto& b : program.buffers) sum.in_place += b.alias >= 0;
    for (const auto& w : plan.waits) ++(w.distance > 0 ? sum.wraps : sum.waits);
    sum.overlapped += plan.overlapped;
    sum.ranks += m.places;
    return damaged(written, g, program, planned.made.plan, m, how, s, r, sum);
}

// The part of a fault's text that stays when the graph shrinks.
std::string_view kind_of(std::string_view fault) { return fault.substr(0, fault.find_first_of(":,(0123456789", fault.find(':') + 1)); }

void show(const sketch& s) {
    const dv::ir::graph_data data = emit(s);
    const dv::ir::graph g = dv::ir::view(data);
    statistics none;
    std::printf("reduced: %s\n%s%s", fault_of(s, none).c_str(), print_settings(s).c_str(), print_graph(g).c_str());
    if (data.wrong) return;
    const planned_graph p = plan_of(g, s);
    if (!p.made.wrong && p.made.fits) std::printf("%s", print_plan(dv::ir::view(p.made.program), dv::ir::view(p.made.plan)).c_str());
}

}  // namespace

int main(int size, char** arguments) {
    const how_many many{usual_graphs, size, arguments};
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was printed stays, however this ends
    std::printf("seed %llu, %ld graphs\n", static_cast<unsigned long long>(many.seed), many.count);
    statistics sum;
    std::map<std::string, int> failed;  // each kind is reduced and printed once
    for (long i = many.first(); i < many.last(); ++i) {
        const sketch s = random_graph(many.of(i), random_knobs(many.of(i)));
        const std::string fault = fault_of(s, sum);
        if (fault.empty() || failed[std::string(kind_of(fault))]++ > 0) continue;
        std::printf("graph %ld: %s\n", i, fault.c_str());
        show(reduced(s, [&](const sketch& x) { return kind_of(fault_of(x, sum)) == kind_of(fault); }));
        std::printf("again: --seed %llu --only %ld\n\n", static_cast<unsigned long long>(many.seed), i);
    }
    std::printf(
        "%ld statements (%ld collectives, %ld updates), %ld transfers (%ld peer copies), %ld groups, %ld in-place results, %ld ranks\n",
        sum.nodes, sum.collectives, sum.updates, sum.transfers, sum.peer_copies, sum.groups, sum.in_place, sum.ranks);
    std::printf("%ld overlapped plans, %ld waits within runs, %ld across runs\n", sum.overlapped, sum.waits, sum.wraps);
    for (int k = 0; k < mutations; ++k)
        std::printf("%ld plans damaged by %s: %ld refused by the prover, %ld fail in the simulator\n", sum.damaged[k],
                    name_of(static_cast<mutation>(k)), sum.refused[k], sum.caught[k]);
    const int missing = sum.seen.missing();
    const bool enough = many.only < 0 && many.count >= usual_graphs;
    if (enough && missing > 0) std::printf("FAILED: %d of these were never drawn\n", missing);
    for (const auto& [kind, times] : failed) std::printf("FAILED %d times: %s\n", times, kind.c_str());
    std::printf("%.1f s of processor time\n", static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
    return failed.empty() && !(enough && missing > 0) ? 0 : 1;
}
