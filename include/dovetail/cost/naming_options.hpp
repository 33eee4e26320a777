// Options of a plan that name something of a graph: axes, inputs, an output. What they name is checked where the graph is known
// (plan/planned.hpp).
#pragma once

#include "../error/plans.hpp"
#include "plan_options.hpp"

#include <type_traits>

namespace dovetail {

// What moves collectives along these axes, whatever collective_transport says; what copy engines cannot move of them is an error.
// dv::transport::automatic: as collective_transport says.
template <transport Transport, class... Axis>
struct axis_transport {
    static constexpr bool allowed = sizeof...(Axis) > 0;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: dv::axis_transport lists no axis; dv::collective_transport is for all");
        (s.axes.set(&tag_of<Axis>, Transport), ...);
    }
};
// What the plan is to make short: dv::makespan, one run, which is the default; dv::interval, the time between runs that follow one
// another, as many in flight as the options allow; dv::finish<y>, the time until the output y is ready.
struct makespan;
struct interval;
template <class Output>
struct finish;
template <class What>
struct objective {
    static constexpr bool allowed = std::is_same_v<What, makespan> || std::is_same_v<What, interval>;
    static constexpr void apply(plan_options& s) {
        if constexpr (!allowed) error::report<error::unknown_objective<What>>();
        s.objective = std::is_same_v<What, interval> ? objective_kind::interval : objective_kind::makespan;
    }
};
template <class Output>
struct objective<finish<Output>> {
    static constexpr void apply(plan_options& s) {
        s.objective = objective_kind::finish;
        s.finished = &tag_of<Output>;
    }
};
// The inputs that the program binds from host memory: predictions have the time of their copies. Of other inputs they assume device
// pointers, which are used in place.
template <class... Input>
struct host_inputs {
    static constexpr bool allowed = sizeof...(Input) <= most_host_inputs;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: at most 16 inputs from host memory");
        s.host_inputs.count = 0;
        if constexpr (allowed) ((s.host_inputs.name[s.host_inputs.count++] = &tag_of<Input>), ...);
    }
};

namespace detail {

// The output of the last objective among options that names one; void if none does.
template <class... Option>
struct finished_by {
    using type = void;
};
template <class First, class... Rest>
struct finished_by<First, Rest...> : finished_by<Rest...> {};
template <class Output, class... Rest>
struct finished_by<objective<finish<Output>>, Rest...> {
    using later = typename finished_by<Rest...>::type;
    using type = std::conditional_t<std::is_void_v<later>, Output, later>;
};

// The names that an option lists: of inputs, of axes.
template <class... Name>
struct listed_names {};
template <class Option>
struct inputs_of {
    using type = listed_names<>;
};
template <class... Input>
struct inputs_of<host_inputs<Input...>> {
    using type = listed_names<Input...>;
};
template <class Option>
struct axes_of {
    using type = listed_names<>;
};
template <transport Transport, class... Axis>
struct axes_of<axis_transport<Transport, Axis...>> {
    using type = listed_names<Axis...>;
};

}  // namespace detail

}  // namespace dovetail
