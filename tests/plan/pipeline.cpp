// The pipeline at compile time and at run time makes the same plan for all decisions: every candidate forced, and the graph rewritten by
// the identity.
#include "support/as_at_run_time.hpp"
#include "support/samples.hpp"
#include "support/says.hpp"

#include <dovetail/observe/text.hpp>

#include <doctest/doctest.h>

#include <sstream>

namespace {

namespace dv = dovetail;
namespace plan = dovetail::plan;
using namespace samples;

using support::as_at_run_time, support::says;
using h200 = dv::machine::h200_nvlink;

template <class G, dv::candidate C>
void forced() {
    using options = dv::options<h200, dv::force_candidate<C>>;
    using planned = plan::planned<G, options>;
    CAPTURE(name_of(C));
    CHECK(planned::plan.choice.taken == C);
    CHECK(planned::plan.choice.predicted[static_cast<int>(C)] == planned::plan.predicted);
    CHECK(support::broken_order(planned::program, planned::plan) == "");
    as_at_run_time<G, options>();
    constexpr bool serial_schedule = C == dv::candidate::sequential || C == dv::candidate::min_memory || C == dv::candidate::listed_serial;
    if (serial_schedule) CHECK(!planned::plan.overlapped);
}
template <class G>
void each_forced() {
    forced<G, dv::candidate::sequential>();
    forced<G, dv::candidate::written>();
    forced<G, dv::candidate::listed>();
    forced<G, dv::candidate::johnson>();
    forced<G, dv::candidate::booked_100>();
    forced<G, dv::candidate::booked_150>();
    forced<G, dv::candidate::min_memory>();
    forced<G, dv::candidate::listed_serial>();
}

template <class G, class... O>
void rewritten() {
    using once = dv::options<O..., dv::rewritten_by<dv::rewrite::identity>>;
    using twice = dv::options<O..., dv::rewritten_by<dv::rewrite::identity, dv::rewrite::identity>>;
    const auto written = support::listed(plan::planned<G, dv::options<O...>>::plan);
    CHECK(support::difference(written, support::listed(plan::planned<G, once>::plan)) == "");
    CHECK(support::difference(written, support::listed(plan::planned<G, twice>::plan)) == "");
    CHECK(plan::planned<G, once>::graph.nodes.first != plan::typed<G>::value.nodes.first);  // it has been through the stage
    as_at_run_time<G, once>();
    as_at_run_time<G, twice>();
}

template <class G, class O, dv::candidate C>
std::string explained() {
    std::ostringstream text;
    dv::explain<G, O, C>(text);
    return text.str();
}

}  // namespace

TEST_CASE("a forced candidate gives its plan, while compiling and at run time") {
    each_forced<overlapping_collectives>();
    each_forced<there_and_back>();
    CHECK(plan::planned<overlapping_collectives, dv::options<h200, dv::overlap<false>, dv::force_candidate<dv::candidate::listed>>>::plan
              .overlapped);
}

TEST_CASE("a graph that is rewritten into itself has the same plan, while compiling and at run time") {
    rewritten<overlapping_collectives, h200>();
    rewritten<there_and_back, h200, dv::in_flight<2>>();
    rewritten<descent, h200, dv::overlap<false>>();
    rewritten<dv::single_rank<crossing_pair>, h200>();
}

TEST_CASE("a graph that is bucketed has the plan of run time, with fewer operations") {
    as_at_run_time<along_an_axis, bucketed>();
    as_at_run_time<along_an_axis, dv::options<h200, dv::rewritten_by<dv::rewrite::bucket, dv::rewrite::identity>, dv::in_flight<2>>>();
    const int written = plan::planned<along_an_axis, overlapped>::program.tasks.size();
    CHECK(plan::planned<along_an_axis, bucketed>::program.tasks.size() == written - 3);
}

TEST_CASE("an objective gives the plan of run time, of a graph that is rewritten as well") {
    as_at_run_time<along_an_axis, dv::options<h200, dv::objective<dv::finish<y>>>>();
    as_at_run_time<along_an_axis, dv::options<h200, dv::objective<dv::finish<y>>, dv::rewritten_by<dv::rewrite::bucket>>>();
    as_at_run_time<overlapping_collectives, dv::options<h200, dv::objective<dv::makespan>>>();
    as_at_run_time<along_an_axis, dv::options<h200, dv::objective<dv::interval>, dv::in_flight<2>>>();
}

TEST_CASE("a graph that is decomposed has the plan of run time, by the option and by statements") {
    as_at_run_time<sharded_stream<dv::group>, decomposed>();
    as_at_run_time<sharded_stream<dv::decompose>, dv::options<h200, dv::rewritten_by<dv::rewrite::bucket>, dv::in_flight<2>>>();
    as_at_run_time<sharded_blocks<dv::decompose>, decomposed>();
    constexpr auto kind_count = [](dv::op_kind kind) {
        int count = 0;
        for (const dv::ir::node& n : plan::planned<sharded_blocks<dv::decompose>, overlapped>::graph.nodes) count += n.kind == kind ? 1 : 0;
        return count;
    };
    CHECK(kind_count(dv::op_kind::reduce_scatter) == 2);  // of two blocks; the other all_reduce stands outside
    CHECK(kind_count(dv::op_kind::all_reduce) == 2);
}

TEST_CASE("a graph in which collectives are kept has the plan of run time, with fewer operations") {
    using all = dv::options<h200, dv::rewritten_by<dv::rewrite::keep>>;
    as_at_run_time<shards_kept, overlapped>();
    as_at_run_time<shards_kept, dv::options<h200, dv::rewritten_by<dv::rewrite::keep, dv::rewrite::bucket>, dv::in_flight<2>>>();
    CHECK(plan::planned<shards_kept, overlapped>::graph.nodes.size() == plan::typed<shards_kept>::value.nodes.size() - 1);
    CHECK(plan::planned<there_and_back, all>::graph.nodes.size() == plan::typed<there_and_back>::value.nodes.size());
}

TEST_CASE("a graph that is not rewritten is the written one, and not a copy") {
    CHECK(plan::planned<descent, dv::options<h200>>::graph.nodes.first == plan::typed<descent>::value.nodes.first);
}

TEST_CASE("explain says which candidate won, and what is predicted of all") {
    const std::string best = explained<overlapping_collectives, overlapped, dv::candidate::automatic>();
    const dv::plan::choice& told = plan::planned<overlapping_collectives, overlapped>::plan.choice;
    CAPTURE(best);
    CHECK(says(best, "  candidate "));
    CHECK(says(best, name_of(told.taken)));
    CHECK(says(best, "  ... 13 others "));
    CHECK(says(best, "not predicted"));
    CHECK(!says(best, "forced"));
    const std::string other = explained<overlapping_collectives, overlapped, dv::candidate::min_memory>();
    CAPTURE(other);
    CHECK(says(other, "min_memory, forced"));
    CHECK(says(other, "one stream\n"));
    // What the search has asked about is told beside it.
    CHECK(says(other, dv::observe::microseconds(told.predicted[static_cast<int>(dv::candidate::listed)]) + " us"));
}
