// Random graphs on the host backend's threads: each is planned, run several times with several runs in flight, and every
// result of every operation, every output and every state is compared with the plain interpreter. The seed is printed.
//   fuzz_host [--count N] [--seed S] [--only K]     (K: the number of one graph)
#include "support/print_graph.hpp"
#include "support/random_graph.hpp"
#include "support/threads.hpp"

#include <dovetail/plan/make.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using namespace support;

// The thread sanitizer takes its time.
#if defined(__SANITIZE_THREAD__)
constexpr long usual_count = 60;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr long usual_count = 60;
#else
constexpr long usual_count = 500;
#endif
#else
constexpr long usual_count = 500;
#endif

struct statistics {
    long statements = 0, ranks = 0, runs = 0, overlapped = 0, waits = 0, wraps = 0, several_in_flight = 0, folded = 0, launches = 0, workspaces = 0, peer_copies = 0;
};

std::string fault_of(const sketch& s, statistics& sum) {
    const dv::ir::graph_data written = emit(s);
    const dv::ir::graph g = dv::ir::view(written);
    const dv::plan::made made = dv::plan::make(g, s.settings);
    if (made.wrong || !made.fits) return "no plan";
    const dv::ir::program program = dv::ir::view(made.program);
    const dv::plan::plan plan = dv::ir::view(made.plan);

    on_threads run{g, program, plan, s.settings, s.runs, s.seed};
    const std::string fault = run.fault();
    sum.statements += g.nodes.size();
    sum.ranks += run.ranks();
    sum.runs += s.runs;
    sum.launches += run.launches();
    sum.workspaces += run.workspaces();
    sum.overlapped += plan.overlapped;
    sum.several_in_flight += s.settings.in_flight > 1 && s.runs > 1;
    sum.folded += g.folded;
    for (const auto& v : program.vertices) sum.peer_copies += v.kind == dv::op_kind::transfer && v.lane == dv::lane_kind::copy;
    for (const auto& w : plan.waits) ++(w.lag > 0 ? sum.wraps : sum.waits);
    return fault;
}

void show(const sketch& s) {
    const dv::ir::graph_data data = emit(s);
    const dv::ir::graph g = dv::ir::view(data);
    std::printf("%s%s", print_settings(s).c_str(), print_graph(g).c_str());
    const dv::plan::made made = dv::plan::make(g, s.settings);
    if (!made.wrong && made.fits) std::printf("%s", print_plan(dv::ir::view(made.program), dv::ir::view(made.plan)).c_str());
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
    long count = usual_count, only = -1;
    word seed = 1;
    for (int i = 1; i + 1 < count_of_arguments; i += 2) {
        const std::string_view name = arguments[i];
        if (name == "--count") count = std::strtol(arguments[i + 1], nullptr, 10);
        else if (name == "--seed") seed = std::strtoull(arguments[i + 1], nullptr, 10);
        else if (name == "--only") only = std::strtol(arguments[i + 1], nullptr, 10);
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was printed stays, however this ends
    std::printf("seed %llu, %ld graphs\n", static_cast<unsigned long long>(seed), count);
    statistics sum;
    int failed = 0;
    for (long i = only >= 0 ? only : 0; i < (only >= 0 ? only + 1 : count); ++i) {
        knobs k;
        k.ranks = 8;
        k.runs = 7;
        const sketch s = random_graph(mix(seed) + static_cast<word>(i), k);
        const std::string fault = fault_of(s, sum);
        if (fault.empty()) continue;
        std::printf("graph %ld: %s\n", i, fault.c_str());
        if (failed++ < 3) show(s);
        std::printf("again: --seed %llu --only %ld\n\n", static_cast<unsigned long long>(seed), i);
    }
    std::printf("%ld statements on %ld ranks, %ld runs, %ld launches (%ld with workspace)\n", sum.statements, sum.ranks, sum.runs, sum.launches, sum.workspaces);
    std::printf("%ld overlapped plans, %ld waits within runs, %ld across runs; %ld graphs with several runs in flight, %ld folded; %ld peer copies\n",
                sum.overlapped, sum.waits, sum.wraps, sum.several_in_flight, sum.folded, sum.peer_copies);
    if (failed > 0) std::printf("FAILED: %d graphs\n", failed);
    return failed > 0 ? 1 : 0;
}
