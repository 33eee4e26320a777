// Random graphs through the GPU's engine on the simulated GPU, on streams and replayed, with several runs in flight: every result
// of every operation, every output and every state is what the plain interpreter says. A failing graph is printed.
#include "support/print_graph.hpp"
#include "support/random_graph.hpp"
#include "support/simulated_cuda.hpp"
#include "support/threads.hpp"

#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

namespace {

using namespace support;

struct statistics {
    long statements = 0, ranks = 0, runs = 0, overlapped = 0, peer_copies = 0, folded = 0, launches = 0;
};

void play(int first, int count, statistics& sum) {
    const simulated::scope simulation;
    simulated::here().devices = 16;
    for (int i = first; i < first + count; ++i) {
        knobs k;
        k.ranks = 6;
        k.runs = 6;
        const sketch s = random_graph(mix(7) + static_cast<word>(i), k);
        const dv::ir::graph_data written = emit(s);
        const dv::ir::graph g = dv::ir::view(written);
        const dv::plan::made made = dv::plan::make(g, s.settings);
        REQUIRE(!made.wrong);
        const dv::ir::program program = dv::ir::view(made.program);
        const dv::plan::plan plan = dv::ir::view(made.plan);
        for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
            {
                const std::lock_guard lock{simulated::registry_mutex()};
                simulated::registry().clear();
            }
            on_threads run{g, program, plan, s.settings, s.runs, s.seed};
            const std::string fault = run.fault_on([&](const auto& body) { simulated::run(run.ranks(), body); }, how);
            CAPTURE(i);
            CAPTURE(fault);
            CHECK(fault.empty());
            if (!fault.empty()) MESSAGE(std::string{how == dv::replay_mode::always ? "replayed\n" : ""} << print_settings(s) << print_graph(g) << print_plan(program, plan));
            sum.launches += run.launches();
            sum.ranks += run.ranks();
            sum.runs += s.runs;
        }
        sum.statements += g.nodes.size();
        sum.overlapped += plan.overlapped;
        sum.folded += g.folded;
        for (const auto& v : program.vertices) sum.peer_copies += v.kind == dv::op_kind::transfer && v.lane == dv::lane_kind::copy;
    }
    simulated::here().devices = 4;
}

}  // namespace

TEST_CASE("random graphs") {
    statistics sum;
    play(0, 40, sum);
    MESSAGE(sum.statements << " statements, " << sum.runs << " runs, " << sum.launches << " launches on " << sum.ranks << " ranks; " << sum.overlapped << " overlapped plans, "
                           << sum.peer_copies << " peer copies, " << sum.folded << " folded");
    CHECK(sum.launches > 500);
}
