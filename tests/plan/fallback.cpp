// The second plan: NCCL moves what the first plan leaves to copy engines, with the same rewrites; and the graphs and options that have
// none.
#include "support/near_peers.hpp"
#include "support/samples.hpp"

#include <dovetail/plan/fallback.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
using namespace samples;

namespace {
using support::near_peers;
using near = dv::options<near_peers>;

struct wide_sum
    : dv::graph<dv::input<x, dv::tensor<float, 4096, 4096>>, dv::mesh<dv::axis<dp, 2>>, dv::let<y, all_reduce<sum, dp>(x)>, dv::output<y>> {
};
using searched = dv::options<near_peers, dv::rewritten_by<dv::rewrite::automatic>>;

template <class G, class O>
int copies() {
    int n = 0;
    for (const dv::ir::task& v : dv::plan::planned<G, O>::program.tasks) n += v.moved_by == dv::transport::peer_copy ? 1 : 0;
    return n;
}
template <class G, class O>
using second = dv::plan::fallback_options<G, O>;
}  // namespace

TEST_CASE("where the planner chose copy engines there is a second plan without them") {
    CHECK(dv::plan::has_fallback<ring_of_three, near>);
    CHECK(copies<ring_of_three, near>() == 3);
    CHECK(copies<ring_of_three, second<ring_of_three, near>>() == 0);
    CHECK(dv::plan::has_fallback<wide_sum, searched>);
    CHECK(copies<wide_sum, searched>() > 0);
    CHECK(copies<wide_sum, second<wide_sum, searched>>() == 0);
}

TEST_CASE("the second plan has the rewrites of the first, and no search of its own") {
    const dv::rewrite_list first = dv::plan::planned<wide_sum, searched>::options.rewrites;
    const dv::rewrite_list now = dv::plan::planned<wide_sum, second<wide_sum, searched>>::options.rewrites;
    CHECK(now.blocks == first.blocks);
    CHECK(now.count == first.count);
    CHECK(now.everywhere == first.everywhere);
    CHECK(dv::plan::planned<wide_sum, second<wide_sum, searched>>::rewrites.count == 0);
}

TEST_CASE("there is none without copy engines, and none where the program asks for them") {
    CHECK_FALSE(dv::plan::has_fallback<ring_of_three, dv::options<>>);
    CHECK_FALSE(dv::plan::has_fallback<ring_of_three, copied>);
    CHECK_FALSE(dv::plan::has_fallback<moved, near>);
    CHECK_FALSE(dv::plan::has_fallback<wide_sum, dv::options<dv::collective_transport<dv::transport::peer_copy>>>);
}

TEST_CASE("what a search has decided counts as the planner's choice") {
    using decided = dv::options<
        dv::decided<dv::decided_rewrites<1, 0u, false, dv::all_kept>, dv::collective_transport<dv::transport::peer_copy, 1024>>>;
    CHECK(copies<wide_sum, decided>() > 0);
    CHECK(dv::plan::has_fallback<wide_sum, decided>);
    CHECK(copies<wide_sum, second<wide_sum, decided>>() == 0);
}

TEST_CASE("what the program asks for counts beside what a search has decided") {
    using by_search = dv::decided<dv::decided_rewrites<1, 0u, false, dv::all_kept>,
                                  dv::collective_transport<dv::transport::peer_copy, 1024>>;
    using asks_for_copies = dv::options<dv::collective_transport<dv::transport::peer_copy>, by_search>;
    CHECK(copies<wide_sum, asks_for_copies>() > 0);
    CHECK_FALSE(dv::plan::has_fallback<wide_sum, asks_for_copies>);
    CHECK(copies<wide_sum, dv::options<dv::collective_transport<dv::transport::nccl>, by_search>>() == 0);
}
