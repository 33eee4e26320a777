// The sample graphs of several roles on GPUs, one GPU for each role, compared with the host.
#include "gpu/compare.hpp"
#include "gpu/graphs.hpp"
#include "ray/graphs.hpp"

namespace dv = dovetail;
using gpu::compare_all;

TEST_CASE("channels between roles") {
    compare_all<samples::crossing_pair>(2, "crossing_pair");
    compare_all<dv::single_rank<samples::crossing_pair>>(1, "crossing_pair, single_rank");
    compare_all<samples::ping_pong>(2, "ping_pong");
    compare_all<samples::ring_of_three>(3, "ring_of_three");
    compare_all<samples::there_and_back>(3, "there_and_back");
    compare_all<samples::read_twice>(3, "read_twice");
    compare_all<samples::pipeline<2, 4>>(2, "pipeline");
}
TEST_CASE("Ray's pipelines, an edge between two tasks of one actor, and several sends") {
    compare_all<ray::pipeline<2, 2>>(2, "1F1B, 2 workers, 2 batches");
    compare_all<ray::pipeline<4, 8>>(4, "1F1B, 4 workers, 8 batches");
    compare_all<ray::pipeline<2, 3, dv::gpipe>>(2, "GPipe, 2 workers, 3 batches");
    compare_all<ray::by_arguments>(2, "by arguments");
    compare_all<ray::edge_of_one_actor<ray::relu, samples::vector>>(2, "an edge of one actor");
    compare_all<ray::many_sends<ray::relu, samples::vector>>(2, "several sends of one actor");
}
TEST_CASE("collectives over roles") {
    compare_all<samples::channel_first>(2, "channel_first");
    compare_all<samples::collective_first>(2, "collective_first");
    compare_all<samples::overlapping_collectives>(3, "overlapping_collectives");
    compare_all<dv::single_rank<samples::overlapping_collectives>>(1, "overlapping_collectives, single_rank");
    compare_all<samples::summed_together>(2, "summed_together");
    compare_all<dv::single_rank<samples::summed_together>>(1, "summed_together, single_rank");
    compare_all<samples::taken_twice>(2, "taken_twice");
    compare_all<samples::blocks_across>(2, "blocks_across");
    compare_all<dv::single_rank<samples::blocks_across>>(1, "blocks_across, single_rank");
    compare_all<gpu::over_roles>(3, "over_roles");
    compare_all<dv::single_rank<gpu::over_roles>>(1, "over_roles, single_rank");
    compare_all<samples::shaped<0>>(2, "nothing");
    compare_all<samples::shaped<1>>(2, "one element");
    compare_all<samples::shaped<1001>>(2, "an odd number");
}
