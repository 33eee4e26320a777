// The sample graphs with meshes, states and host memory on GPUs, compared with the host.
#include "gpu/compare.hpp"
#include "gpu/graphs.hpp"

using gpu::compare_all;

TEST_CASE("meshes") {
    compare_all<samples::sums>(4, "sums");
    compare_all<samples::along_an_axis>(2, "along_an_axis");
    compare_all<samples::permuted>(4, "permuted");
    for (int ranks = 2; ranks <= 4; ++ranks) compare_all<gpu::exchanged>(ranks, "exchanged");
    compare_all<samples::in_blocks>(2, "in_blocks");
    compare_all<samples::shards_kept>(2, "shards_kept");
    compare_all<samples::roles_and_meshes>(2, "roles_and_meshes on 2");
    compare_all<samples::roles_and_meshes>(4, "roles_and_meshes on 4");
    for (int ranks = 1; ranks <= 4; ++ranks) compare_all<samples::one_group>(ranks, "one_group");
    for (int ranks = 1; ranks <= 4; ++ranks) compare_all<gpu::in_place>(ranks, "in_place");
}
TEST_CASE("states and host memory") {
    compare_all<samples::counter>(1, "counter");
    compare_all<samples::through_host>(1, "through_host");
    for (const int ranks : {1, 2, 4}) compare_all<samples::descent>(ranks, "descent");
}
