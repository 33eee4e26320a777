// The schedule of one candidate for a program made at run time, as the stages of the pipeline make it.
#pragma once

#include <dovetail/plan/candidates.hpp>

namespace support {

// Of a candidate that is neither booked nor `listed_serial`.
template <class Program, class Edges, class Costs>
constexpr dovetail::pass::schedule schedule_of(dovetail::candidate c, const Program& p, const Edges& edges, const Costs& costs,
                                               const dovetail::plan_options& s) {
    namespace pass = dovetail::pass;
    if (dovetail::plan::one_stream(c)) return dovetail::plan::on_one_stream<pass::schedule>(c, p, edges, costs);
    const auto r = pass::occupancy_of(p, edges);
    const dovetail::vec<int> order = pass::overlapped_order(c, p, r, edges, costs, s);
    return dovetail::plan::overlapped<pass::schedule>(p, r, order.view(), edges, costs, s);
}

}  // namespace support
