// Compares the plan of a graph that the compiler makes with the one that the same pipeline makes at run time.
#pragma once

#include "laws.hpp"
#include "planner.hpp"

#include <dovetail/plan/make.hpp>
#include <dovetail/plan/planned.hpp>

#include <doctest/doctest.h>

namespace support {

// Plans, predictions, and what the searches over candidates and over rewrites tried and took are equal.
template <class G, class O>
void as_at_run_time() {
    using planned = dv::plan::planned<G, O>;
    const dv::plan::made made = make_plan(dv::plan::typed<G>::value, O::value);
    REQUIRE(!made.wrong);
    REQUIRE(made.fits);
    CHECK(difference(listed(dv::ir::view(made.plan)), listed(planned::plan)) == "");
    CHECK(made.plan.predicted == planned::plan.predicted);
    CHECK(made.plan.choice.taken == planned::plan.choice.taken);
    for (int c = 0; c < dv::candidates; ++c) CHECK(made.plan.choice.predicted[c] == planned::plan.choice.predicted[c]);
    REQUIRE(made.rewrites.count == planned::rewrites.count);
    for (int i = 0; i < made.rewrites.count; ++i) CHECK(made.rewrites.of[i].length == planned::rewrites.of[i].length);
    CHECK(made.options.rewrites.blocks == planned::options.rewrites.blocks);
}

}  // namespace support
