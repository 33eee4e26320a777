// The pipeline: the list of its stages in the order of data flow. This is the only such list: plan/compile/ evaluates it at compile time,
// make.hpp at run time, and explain_passes shows it.
//
// The pipeline is a function of the graph, the options and the decisions (rewrites, candidate). The search for decisions is outside
// (search.hpp).
#pragma once

#include "search.hpp"
#include "stages/of_candidate.hpp"

namespace dovetail::plan {

// The stages that all candidates share.
using pipeline = stages<stage::lower, stage::check, stage::role_order, stage::rewrite, stage::expand, stage::edges, stage::cycle,
                        stage::costs, stage::serial_time, stage::occupancy, stage::reference>;

// The stages of each candidate; in the second list, of a booked one.
template <candidate C>
using pipeline_of = std::conditional_t<
    !booked(C),
    stages<stage::order<C>, stage::schedule<C>, stage::slowed<C>, stage::ready<C>, stage::issue<C>, stage::synchronise<C>,
           stage::assign_memory<C>, stage::wait_across_runs<C>, stage::emit<C>, stage::interval<C>, stage::prove<C>>,
    stages<stage::order<C>, stage::book_memory<C>, stage::schedule<C>, stage::ready<C>, stage::issue<C>, stage::synchronise<C>,
           stage::assign_memory<C>, stage::wait_across_runs<C>, stage::emit<C>, stage::interval<C>, stage::prove<C>>>;

namespace detail {

// Whether each stage reads only stages before it, so that the list is a valid execution order.
template <class Stage, class... Before>
inline constexpr bool among = (std::is_same_v<Stage, Before> || ...);
template <class... Before, class... Read>
constexpr bool reads_among(stages<Before...>, stages<Read...>) {
    return (among<Read, Before...> && ...);
}
template <class... Before>
constexpr bool in_order(stages<Before...>, stages<>) {
    return true;
}
template <class... Before, class First, class... Rest>
constexpr bool in_order(stages<Before...> before, stages<First, Rest...>) {
    return reads_among(before, typename First::reads{}) && in_order(stages<Before..., First>{}, stages<Rest...>{});
}
template <class... Shared, class... Own>
constexpr stages<Shared..., Own...> joined(stages<Shared...>, stages<Own...>) {
    return {};
}

static_assert(in_order(stages<>{}, joined(pipeline{}, pipeline_of<candidate::listed>{})), "a stage reads what stands behind it");
static_assert(in_order(stages<>{}, joined(pipeline{}, pipeline_of<candidate::booked_100>{})), "a stage reads what stands behind it");

}  // namespace detail

}  // namespace dovetail::plan
