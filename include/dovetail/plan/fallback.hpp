// The second plan of a graph, for machines on which copy engines cannot reach the memory of other ranks: the same rewrites, but NCCL moves
// what the planner has left to copy engines. There is none where the first plan uses no copy engines, where the program asks for them (an
// option, or the statement moved_by) so that the second one would use some as well, and where that would exceed the memory limit.
#pragma once

#include "planned.hpp"

namespace dovetail::plan {

namespace detail {

// How many tasks copy engines have.
constexpr int copies_in(const ir::program& p) {
    int n = 0;
    for (const ir::task& v : p.tasks) n += v.moved_by == transport::peer_copy ? 1 : 0;
    return n;
}
// NCCL for what no option says.
constexpr plan_options by_nccl(plan_options s) {
    if (s.channels == transport::automatic) s.channels = transport::nccl;
    if (s.rewrites.collectives == transport::automatic) s.rewrites.copied_from = INT64_MAX;
    s.rewrites.decided = true;
    return s;
}

}  // namespace detail

// The options of the second plan.
template <class G, class O>
struct fallback_options : detail::decided<G, O>::options {
    static constexpr plan_options value = detail::by_nccl(detail::decided<G, O>::options::value);
};

namespace detail {

template <class G, class O>
constexpr bool has_fallback() {
    if constexpr (!planned<G, O>::made || copies_in(planned<G, O>::program) == 0)
        return false;
    else if constexpr (copies_in(found_plan<G, fallback_options<G, O>>::program) > 0)
        return false;
    else
        return found_plan<G, fallback_options<G, O>>::fits;
}

}  // namespace detail

template <class G, class O>
inline constexpr bool has_fallback = detail::has_fallback<G, O>();

}  // namespace dovetail::plan
