// Random graphs on the host backend's threads, some with rewrites, one or several in turn, with several runs in flight: the arguments and
// the workspace of every operation, every output and every state is what the sketches mean. Inputs are overwritten as soon as the run says
// that they may be. The seed is printed; a failing session is reduced and printed.
//   fuzz_host [--count N] [--seed S] [--only K]     (K: the number of one session); support/how_many.hpp tells of the environment
#include "support/coverage.hpp"
#include "support/how_many.hpp"
#include "support/planner.hpp"
#include "support/print_graph.hpp"
#include "support/reduce.hpp"
#include "support/rewrites_seen.hpp"
#include "support/threads.hpp"

#include <cstdio>
#include <string_view>

namespace {

using namespace support;

constexpr long usual_count = 1500;

struct statistics {
    long statements = 0, ranks = 0, runs = 0, overlapped = 0, waits = 0, wraps = 0, launches = 0, workspaces = 0, peer_copies = 0;
    coverage seen;
};

std::string fault_of(const session& x, statistics& sum) {
    on_threads run{x};
    const std::string fault = run.fault();
    sum.ranks += run.ranks();
    sum.launches += run.launches();
    sum.workspaces += run.workspaces();
    bool writes = false, reads = false;
    for (const turn& t : x.turns) writes = writes || t.kind == turn_kind::write, reads = reads || t.kind == turn_kind::read;
    sum.seen.see("several graphs in turn", x.graphs.size() > 1);
    sum.seen.see("an output bound to memory of the caller", run.bound_outputs() > 0);
    sum.seen.see("a state written between runs", writes);
    sum.seen.see("a state read between runs", reads);
    for (std::size_t g = 1; g < x.graphs.size(); ++g)
        for (const symbol& a : x.graphs[0].symbols)
            for (const symbol& b : x.graphs[g].symbols)
                sum.seen.see("a state of two graphs", a.kind == dv::ir::symbol_kind::state && b.kind == a.kind &&
                                                          dv::same(a.name, b.name) && x.shares[0] && x.shares[g]);
    for (std::size_t g = 0; g < run.graphs().size(); ++g) {
        const session_graph& p = run.graphs()[g];
        if (p.graph.nodes.empty()) continue;  // what the reducer tries need not be a graph
        sum.seen.graph(x.graphs[g]);
        const rewrites_seen by{dv::ir::view(p.written), p.graph};
        sum.seen.see("an all_reduce decomposed", by.decomposed);
        sum.seen.see("a repeated collective left out", by.kept);
        sum.seen.see("collectives in a bucket", by.bucketed);
        sum.statements += p.graph.nodes.size();
        sum.runs += x.graphs[g].runs;
        sum.overlapped += p.plan.overlapped;
        for (const auto& v : p.program.tasks) sum.peer_copies += v.moved_by == dv::transport::peer_copy;
        for (const auto& w : p.plan.waits) ++(w.distance > 0 ? sum.wraps : sum.waits);
    }
    return fault;
}

std::string_view kind_of(std::string_view fault) { return fault.substr(0, fault.find_first_of(":(0123456789")); }

// Without one graph after the other, then each of those that are left for itself. A fault that comes and goes may stay large.
session reduced_session(session x, const std::string& fault, statistics& sum) {
    const auto fails = [&](const session& y) {
        for (int times = 0; times < 3; ++times)
            if (kind_of(fault_of(y, sum)) == kind_of(fault)) return true;
        return false;
    };
    for (std::size_t g = x.graphs.size(); g-- > 0 && x.graphs.size() > 1;) {
        session y = x;
        y.graphs.erase(y.graphs.begin() + static_cast<long>(g));
        y.shares.erase(y.shares.begin() + static_cast<long>(g));
        std::erase_if(y.turns, [&](const turn& t) { return t.graph == static_cast<int>(g); });
        for (turn& t : y.turns) t.graph -= t.graph > static_cast<int>(g) ? 1 : 0;
        if (fails(y)) x = y;
    }
    for (std::size_t g = 0; g < x.graphs.size(); ++g) {
        const int ranks = ranks_of(x.graphs[g]);
        const bool alone = x.graphs.size() == 1;
        x.graphs[g] = reduced(
            x.graphs[g],
            [&](const sketch& s) {
                if (!alone && ranks_of(s) != ranks) return false;
                session y = x;
                y.graphs[g] = s;
                std::erase_if(y.turns,
                              [&](const turn& t) { return t.graph == static_cast<int>(g) && t.state >= 0 && !mentioned(s, t.state); });
                return fails(y);
            },
            150);
        std::erase_if(x.turns,
                      [&](const turn& t) { return t.graph == static_cast<int>(g) && t.state >= 0 && !mentioned(x.graphs[g], t.state); });
    }
    return x;
}

void show(const session& x) {
    std::printf("turns:");
    for (const turn& t : x.turns)
        std::printf(" %s%d", t.kind == turn_kind::run ? "" : t.kind == turn_kind::write ? "write " : "read ", t.graph);
    std::printf("\n");
    for (std::size_t g = 0; g < x.graphs.size(); ++g) {
        const dv::ir::graph_data data = emit(x.graphs[g]);
        const dv::ir::graph graph = dv::ir::view(data);
        std::printf("graph %zu, %s store: %s%s", g, x.shares[g] ? "symmetric_set" : "own", print_settings(x.graphs[g]).c_str(),
                    print_graph(graph).c_str());
        if (data.wrong) continue;
        const dv::plan::made made = make_plan(graph, x.graphs[g].plan_options);
        if (!made.wrong && made.fits) std::printf("%s", print_plan(dv::ir::view(made.program), dv::ir::view(made.plan)).c_str());
    }
}

// A few of each kind: many ranks are as many threads, and many statements are a table of launches.
knobs host_knobs(word seed, long number) {
    chooser r{mix(seed + 41)};
    knobs k;
    k.open = true;
    k.ranks = 8;
    k.runs = 5;
    k.in_flight = r.chance(25) ? 8 : 3;
    k.slots = r.chance(25) ? 4 : 2;
    if (number % 50 == 17) k.roles = 12, k.least_roles = 8, k.ranks = 24, k.nodes_high = 40, k.axes = 1;
    if (number % 50 == 33) k.axes = 4, k.width = 4, k.ranks = 32, k.extent = 512;
    if (number % 250 == 11) k.roles = 1, k.axes = k.least_axes = 4, k.width = k.least_width = 2, k.ranks = 16;
    if (number % 250 == 61) k.roles = k.least_roles = k.ranks = 32, k.axes = 1;
    if (number % 250 == 111) k.exactly = 128, k.axes = 4, k.width = 8, k.runs = 2, k.in_flight = 2, k.nodes_high = 12, k.extent = 1024;
    if (number % 500 == 222) k.nodes_low = 260, k.nodes_high = 300, k.runs = 3;
    k.repeats = r.chance(50);
    return k;
}

// Those that change communication alone: the operations of sketches do not go by rows.
void ask_for_rewrites(session& x) {
    chooser r{mix(x.seed + 43)};
    for (sketch& s : x.graphs) {
        std::vector<dv::rewrite> kinds{dv::rewrite::keep, dv::rewrite::decompose, dv::rewrite::bucket};
        r.shuffle(kinds);
        dv::rewrite_list& list = s.plan_options.rewrites;
        for (const dv::rewrite kind : kinds)
            if (r.chance(50)) list.kind[list.count++] = kind;
    }
}

}  // namespace

int main(int size, char** arguments) {
    const how_many many{usual_count, size, arguments};
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was printed stays, however this ends
    std::printf("seed %llu, %ld sessions\n", static_cast<unsigned long long>(many.seed), many.count);
    statistics sum;
    int failed = 0;
    for (long i = many.first(); i < many.last(); ++i) {
        session x = random_session(many.of(i), host_knobs(many.of(i), i));
        ask_for_rewrites(x);
        const std::string fault = fault_of(x, sum);
        if (fault.empty()) continue;
        std::printf("session %ld: %s\n", i, fault.c_str());
        if (failed++ < 3) show(reduced_session(x, fault, sum));
        std::printf("again: --seed %llu --only %ld\n\n", static_cast<unsigned long long>(many.seed), i);
    }
    std::printf("%ld statements on %ld ranks, %ld runs, %ld launches (%ld with workspace)\n", sum.statements, sum.ranks, sum.runs,
                sum.launches, sum.workspaces);
    std::printf("%ld overlapped plans, %ld waits within runs, %ld across runs; %ld peer copies\n", sum.overlapped, sum.waits, sum.wraps,
                sum.peer_copies);
    const int missing = sum.seen.missing();
    const bool enough = many.only < 0 && many.count >= usual_count;
    if (enough && missing > 0) std::printf("FAILED: %d of these were never drawn\n", missing);
    if (failed > 0) std::printf("FAILED: %d sessions\n", failed);
    return failed > 0 || (enough && missing > 0) ? 1 : 0;
}
