// The graphs of tests/gpu/rewrites.hpp on simulated GPUs: one, two and four.
#include "gpu/rewrites.hpp"
#include "support/simulated_cuda.hpp"

TEST_CASE("rewrites and a memory limit give what the written graph gives on the host, replayed and on streams") {
    const simulated::scope simulation;
    const auto on_simulated = [](int ranks, const auto& body) { simulated::run(ranks, body); };
    gpu::compare_rewrites<1>(on_simulated);
    gpu::compare_rewrites<2>(on_simulated);
    gpu::compare_rewrites<4>(on_simulated);
}
