// The second plan of a graph, for machines on which copy engines cannot reach the memory of other ranks: the same rewrites, but NCCL moves
// what the first plan leaves to copy engines. There is none where the first plan uses no copy engines, where the program asks for them (an
// option, or the statement moved_by), and where the second plan would exceed the memory limit.
#pragma once

#include "planned.hpp"

namespace dovetail::plan {

namespace detail {

constexpr bool uses_copy_engines(const ir::program& p) {
    for (const ir::task& v : p.tasks)
        if (v.moved_by == transport::peer_copy) return true;
    return false;
}
constexpr bool asks_for_copy_engines(const ir::graph& g, const plan_options& s) {
    for (const ir::region& r : g.regions)
        if (r.kind == rewrite::copy_engines && r.number == static_cast<int>(transport::peer_copy)) return true;
    return s.channels == transport::peer_copy || s.rewrites.collectives == transport::peer_copy;
}
constexpr plan_options without_copy_engines(plan_options s) {
    s.channels = s.rewrites.collectives = transport::nccl;
    s.rewrites.copied_from = INT64_MAX;
    s.rewrites.decided = true;
    return s;
}

}  // namespace detail

// The options of the second plan.
template <class G, class O>
struct fallback_options : detail::decided<G, O>::options {
    static constexpr plan_options value = detail::without_copy_engines(detail::decided<G, O>::options::value);
};

namespace detail {

template <class G, class O>
constexpr bool has_fallback() {
    if constexpr (!planned<G, O>::made || asks_for_copy_engines(typed<G>::value, O::value))
        return false;
    else if constexpr (!uses_copy_engines(planned<G, O>::program))
        return false;
    else
        return found_plan<G, fallback_options<G, O>>::fits;
}

}  // namespace detail

template <class G, class O>
inline constexpr bool has_fallback = detail::has_fallback<G, O>();

}  // namespace dovetail::plan
