// planned<G, O>: graph, program and plan as constants, for a graph type and options. Each stage of the pipeline is a separate evaluation
// (compile/). The plan is proven; a plan that is not proven does not compile.
#pragma once

#include "diagnose/plan.hpp"
#include "lookup.hpp"

namespace dovetail::plan {

namespace detail {

// Whether graph and plan are valid; a mistake is reported, as by is_valid_graph.
template <class G, class O>
constexpr bool plan_right() {
    if constexpr (!is_valid_graph<G>()) {
        return false;
    } else if constexpr (!dovetail::detail::right_options<O>()) {
        return false;
    } else {
        using wrong = typename decltype(plan_error<G, O>())::type;
        error::report<wrong>();
        return std::is_same_v<wrong, error::none>;
    }
}

template <class G, class O, bool Right = plan_right<G, O>()>
struct planning {
    static constexpr bool made = false;
    static constexpr ir::graph graph{};
    static constexpr ir::program program{};
    static constexpr dovetail::plan::plan plan{};
};
template <class G, class O>
struct planning<G, O, true> {
    static constexpr bool made = true;
    static constexpr ir::graph graph = found_plan<G, O>::graph;
    static constexpr ir::program program = found_plan<G, O>::program;
    static constexpr dovetail::plan::plan plan = found_plan<G, O>::value;
};

}  // namespace detail

// A mistake in the graph, the options or the plan is reported; then `made` is false and the tables are empty.
template <class G, class O = options<>>
struct planned : detail::planning<G, O> {};

}  // namespace dovetail::plan
