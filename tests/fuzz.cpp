// Random graphs through the passes that the compiler runs: each is planned and proven, and what the simulator makes of the
// plan is compared with the plain interpreter. The seed is printed; a failing graph is reduced and printed as a graph.
//   fuzz [--count N] [--seed S] [--only K]     (K: the number of one graph)
#include "support/mutation.hpp"
#include "support/print_graph.hpp"
#include "support/random_graph.hpp"
#include "support/reduce.hpp"
#include "support/simulator.hpp"

#include <dovetail/pass/check.hpp>
#include <dovetail/pass/infer.hpp>
#include <dovetail/plan/make.hpp>
#include <dovetail/plan/prove.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

namespace {

using namespace support;

struct statistics {
    long nodes = 0, collectives = 0, groups = 0, transfers = 0, peer_copies = 0, updates = 0, in_place = 0, overlapped = 0, waits = 0, wraps = 0, ranks = 0;
    long damaged[mutations] = {}, refused[mutations] = {}, caught[mutations] = {};  // plans damaged on purpose, by kind
};

dv::plan::made planned(const dv::ir::graph& g, const sketch& s) {
    dv::plan::made free = dv::plan::make(g, s.settings);
    if (!s.tight || free.wrong || !free.fits) return free;
    dv::settings limited = s.settings;
    limited.memory_limit = dv::plan::largest_bytes(free.plan.roles.view()) - 1;
    if (limited.memory_limit <= 0) return free;
    dv::plan::made tight = dv::plan::make(g, limited);
    return tight.fits ? tight : free;
}

// What is wrong with this graph's way through the passes; empty where nothing is.
std::string fault_of(const sketch& s, statistics& sum) {
    const dv::ir::graph_data written = emit(s);
    const dv::ir::graph g = dv::ir::view(written);
    const dv::ir::graph_data typed = dv::pass::infer(g);
    if (typed.wrong) return "invalid: infer says " + std::to_string(static_cast<int>(typed.wrong.kind));
    for (int i = 0; i < g.symbols.size(); ++i)
        if (typed.symbols[i].type != g.symbols[i].type || typed.symbols[i].in_host_memory != g.symbols[i].in_host_memory)
            return "invalid: infer finds another type for symbol " + std::to_string(i);
    if (const dv::ir::fault wrong = dv::pass::check(g)) return "invalid: check says " + std::to_string(static_cast<int>(wrong.kind));

    dv::plan::made made = planned(g, s);
    if (made.wrong) return "planner: a circle in a valid graph";
    if (!made.fits) return "planner: does not fit without a limit";
    const dv::ir::program program = dv::ir::view(made.program);
    const dv::plan::plan plan = dv::ir::view(made.plan);
    if (const dv::plan::verdict bad = dv::plan::prove(g, program, plan); !bad)
        return std::string("prover: ") + dv::plan::name_of(bad.what) + ", role " + std::to_string(bad.role) + ", vertex " + std::to_string(bad.vertex) +
               ", other " + std::to_string(bad.other) + ", buffer " + std::to_string(bad.buffer);

    chooser r{mix(s.seed + 5)};
    meaning m = interpret(g, s.runs, s.seed);
    simulation how;
    how.seed = s.seed;
    how.ahead = r.between(1, 4);
    try {
        simulate(g, program, plan, m, how);
    } catch (const failure& f) {
        return std::string("simulator: ") + f.what();
    }
    how.seed = mix(s.seed);
    how.queue_of = r.chance(60) ? std::array<int, 3>{0, 0, 0} : std::array<int, 3>{0, r.below(2), r.below(2)};
    try {
        simulate(g, program, plan, m, how);
    } catch (const failure& f) {
        return std::string("simulator, lanes in common queues: ") + f.what();
    }

    sum.nodes += g.nodes.size();
    for (const auto& n : g.nodes) sum.collectives += dv::is_communication(n.kind), sum.updates += n.update;
    for (const auto& v : program.vertices) {
        const bool transfer = v.kind == dv::op_kind::transfer;
        sum.transfers += transfer, sum.peer_copies += transfer && v.lane == dv::lane_kind::copy, sum.groups += v.members > 1;
    }
    for (const auto& b : program.buffers) sum.in_place += b.alias >= 0;
    for (const auto& w : plan.waits) ++(w.lag > 0 ? sum.wraps : sum.waits);
    sum.overlapped += plan.overlapped;
    sum.ranks += static_cast<long>(m.places.size());

    const int kind = r.below(mutations);
    if (mutate(static_cast<mutation>(kind), program, made.plan, r)) {
        ++sum.damaged[kind];
        const dv::plan::plan hurt = dv::ir::view(made.plan);
        const bool proven = static_cast<bool>(dv::plan::prove(g, program, hurt));
        sum.refused[kind] += !proven;
        for (int times = 0; times < 3; ++times) {
            how = {mix(s.seed + 100 + static_cast<word>(times)), {0, 1, 2}, how.ahead};
            try {
                simulate(g, program, hurt, m, how);
            } catch (const failure& f) {
                if (proven) return std::string("prover accepts a plan damaged by ") + name_of(static_cast<mutation>(kind)) + ": " + f.what();
                ++sum.caught[kind];
                break;
            }
        }
    }
    return {};
}

// The part of a fault's text that stays when the graph shrinks.
std::string_view kind_of(std::string_view fault) { 
    return fault.substr(0, fault.find_first_of(":,(0123456789", fault.find(':') + 1));
}

void show(const sketch& s) {
    const dv::ir::graph_data data = emit(s);
    const dv::ir::graph g = dv::ir::view(data);
    statistics none;
    std::printf("reduced: %s\n%s%s", fault_of(s, none).c_str(), print_settings(s).c_str(), print_graph(g).c_str());
    const dv::plan::made made = planned(g, s);
    if (!made.wrong && made.fits) std::printf("%s", print_plan(dv::ir::view(made.program), dv::ir::view(made.plan)).c_str());
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
    long count = 10'000, only = -1;
    word seed = 1;
    for (int i = 1; i + 1 < count_of_arguments; i += 2) {
        const std::string_view name = arguments[i];
        if (name == "--count") count = std::strtol(arguments[i + 1], nullptr, 10);
        else if (name == "--seed") seed = std::strtoull(arguments[i + 1], nullptr, 10);
        else if (name == "--only") only = std::strtol(arguments[i + 1], nullptr, 10);
    }
    std::printf("seed %llu, %ld graphs\n", static_cast<unsigned long long>(seed), count);
    statistics sum;
    std::map<std::string, int> failed;  // each kind is reduced and printed once
    for (long i = only >= 0 ? only : 0; i < (only >= 0 ? only + 1 : count); ++i) {
        knobs k;
        if (i % 64 == 63) k.nodes_low = 30, k.nodes_high = 80;  // mostly small ones, which reduce quickly
        const sketch s = random_graph(mix(seed) + static_cast<word>(i), k);
        const std::string fault = fault_of(s, sum);
        if (fault.empty() || failed[std::string(kind_of(fault))]++ > 0) continue;
        std::printf("graph %ld: %s\n", i, fault.c_str());
        show(reduced(s, [&](const sketch& x) { return kind_of(fault_of(x, sum)) == kind_of(fault); }));
        std::printf("again: --seed %llu --only %ld\n\n", static_cast<unsigned long long>(seed), i);
    }
    std::printf("%ld statements (%ld collectives, %ld updates), %ld transfers (%ld peer copies), %ld groups, %ld in-place results, %ld ranks\n", sum.nodes, sum.collectives,
                sum.updates, sum.transfers, sum.peer_copies, sum.groups, sum.in_place, sum.ranks);
    std::printf("%ld overlapped plans, %ld waits within runs, %ld across runs\n", sum.overlapped, sum.waits, sum.wraps);
    for (int k = 0; k < mutations; ++k)
        std::printf("%ld plans damaged by %s: %ld refused by the prover, %ld fail in the simulator\n", sum.damaged[k], name_of(static_cast<mutation>(k)), sum.refused[k], sum.caught[k]);
    for (const auto& [kind, times] : failed) std::printf("FAILED %d times: %s\n", times, kind.c_str());
    return failed.empty() ? 0 : 1;
}
