// Random graphs through the CUDA engine on the simulated GPU, one or several in turn, on streams and replayed, with several runs in
// flight: arguments and workspace of every operation, every output and every state have the values that the sketches define. The seed is
// printed, and a failing session too.
#include "support/how_many.hpp"
#include "support/print_graph.hpp"
#include "support/simulated_cuda.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

namespace {

using namespace support;

struct statistics {
    long statements = 0, ranks = 0, runs = 0, overlapped = 0, peer_copies = 0, single_rank = 0, several = 0, launches = 0;
    long bound_outputs = 0;
};

std::string shown(const session& x, const on_threads& run) {
    std::string text = "turns:";
    for (const turn& t : x.turns)
        text += (t.kind == turn_kind::run ? " " : t.kind == turn_kind::write ? " write " : " read ") + std::to_string(t.graph);
    for (std::size_t g = 0; g < run.graphs().size(); ++g)
        text += "\n" + print_settings(x.graphs[g]) + print_graph(run.graphs()[g].graph) +
                print_plan(run.graphs()[g].program, run.graphs()[g].plan);
    return text;
}

void play(const how_many& many, statistics& sum) {
    const simulated::scope simulation;
    simulated::here().devices = 16;
    for (long i = many.first(); i < many.last(); ++i) {
        knobs k;
        k.ranks = 6;
        k.runs = 5;
        k.open = true;
        const session x = random_session(many.of(i), k);
        for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
            {
                const std::lock_guard lock{simulated::registry_mutex()};
                simulated::registry().clear();
            }
            on_threads run{x};
            const std::string fault = run.fault_on([&](const auto& body) { simulated::run(run.ranks(), body); }, how);
            CAPTURE(i);
            CAPTURE(fault);
            CHECK(fault.empty());
            CHECK(simulated::here().unlike.empty());  // NCCL's registered memory is passed by all ranks or by none
            simulated::here().unlike.clear();
            if (!fault.empty()) MESSAGE(std::string{how == dv::replay_mode::always ? "replayed\n" : ""} << shown(x, run));
            sum.launches += run.launches();
            sum.bound_outputs += run.bound_outputs();
            sum.ranks += run.ranks();
            sum.runs += static_cast<long>(x.turns.size());
            if (how == dv::replay_mode::never) continue;
            for (const session_graph& p : run.graphs()) {
                sum.statements += p.graph.nodes.size();
                sum.overlapped += p.plan.overlapped;
                sum.single_rank += p.graph.single_rank;
                for (const auto& v : p.program.tasks)
                    sum.peer_copies += v.moved_by == dv::transport::peer_copy;
            }
            sum.several += x.graphs.size() > 1;
        }
    }
    simulated::here().devices = 4;
}

}  // namespace

TEST_CASE("random graphs") {
    statistics sum;
    const how_many many{50};
    MESSAGE("seed " << many.seed << ", " << many.count << " sessions");
    play(many, sum);
    MESSAGE(sum.statements << " statements, " << sum.runs << " runs, " << sum.launches << " launches on " << sum.ranks << " ranks; "
                           << sum.several << " of several graphs, " << sum.overlapped << " overlapped plans, " << sum.peer_copies
                           << " peer copies, " << sum.single_rank << " single_rank; " << sum.bound_outputs << " bound outputs");
    if (many.only < 0) CHECK(sum.launches > 10 * many.count);
}
