// Graphs with rewrites, and one under a memory limit, on 1, 2 and 4 GPUs, compared with the graph as written on the host.
#include "gpu/rewrites.hpp"
#include "gpu/compare.hpp"

namespace {
template <int Width>
void compare_rewrites() {
    if (gpu::enough(Width, "rewrites on " + std::to_string(Width))) gpu::compare_rewrites<Width>(gpu::on_gpus);
}
}  // namespace

TEST_CASE("rewrites and a memory limit on one GPU") { compare_rewrites<1>(); }
TEST_CASE("rewrites and a memory limit on two GPUs") { compare_rewrites<2>(); }
TEST_CASE("rewrites and a memory limit on four GPUs") { compare_rewrites<4>(); }
