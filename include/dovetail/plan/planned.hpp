// planned<G, O>: the plan of a graph as constants. Each stage of the pipeline is a constant evaluation of its own; the plan
// is proven, and one that is not does not compile. Takes a graph and the options of its plan, gives graph, program and plan.
#pragma once

#include "../cost/options.hpp"
#include "lookup.hpp"
#include "memory_report.hpp"
#include "pipeline.hpp"
#include "prove.hpp"

namespace dovetail::plan {

namespace detail {

template <class G, class O>
using expanded_for = expanded<G, O::value.in_flight, O::value.channel_slots, peer_copies_from<G>(O::value)>;

template <int Tasks, class Graph, class Program>
constexpr fixed<std::int64_t, Tasks> list_costs(taken<Graph> g, taken<Program> from, const plan_options& s) {
    fixed<std::int64_t, Tasks> f{};
    cost_model::costs(g, from, s, f.first);
    return f;
}
template <class G, class O>
inline constexpr auto kept_costs = list_costs<expanded_for<G, O>::program.tasks.size()>(kept_graph<G>, kept_program<expanded_for<G, O>>, O::value);

template <class Program, class Edges, class Costs>
constexpr std::int64_t add_up(taken<Program> p, taken<Edges> edges, taken<Costs> costs) {
    return pass::sequential_length(p, edges, costs);
}

// Everything that does not depend on which schedule is taken.
template <class G, class O>
struct program_of {
    using of = expanded_for<G, O>;
    static constexpr ir::graph graph = typed<G>::value;
    static constexpr ir::program program = of::program;
    static constexpr int tasks = program.tasks.size();
    static constexpr std::int64_t sequential = add_up(kept_program<of>, kept_edges<of>, kept_costs<G, O>);
    using schedule = pass::basic_schedule<fixed_store<tasks, tasks, tasks, tasks>>;
};

// Where the tasks of a graph run, for all overlapped candidates.
template <class G, class O>
inline constexpr auto stage_occupancy = pass::occupancy_of(kept_program<expanded_for<G, O>>, kept_edges<expanded_for<G, O>>);

// The order of an overlapped candidate.
template <class Program, class Occupancy, class Edges, class Costs>
constexpr auto ordering(candidate c, taken<Program> p, taken<Occupancy> r, taken<Edges> edges, taken<Costs> costs, const plan_options& s) {
    return pass::overlapped_order(p, r, edges, costs, c == candidate::listed, s);
}
template <class G, class O, candidate C>
inline constexpr auto ordered =
    ordering(C, kept_program<expanded_for<G, O>>, stage_occupancy<G, O>, kept_edges<expanded_for<G, O>>, kept_costs<G, O>, O::value);

template <class G, class O, candidate C>
struct scheduled;
template <class G, class O, candidate C>
inline constexpr auto kept_schedule = scheduled<G, O, C>::make(kept_program<expanded_for<G, O>>);

template <class Schedule, class Program, class Occupancy, class Order, class Edges, class Costs>
constexpr Schedule in_that_order(const Program& p, taken<Occupancy> r, taken<Order> order, taken<Edges> edges, taken<Costs> costs, const plan_options& s) {
    return overlapped<Schedule>(p, r, order.view(), edges, costs, s);
}
template <class G, class O, candidate C>
struct scheduled {
    using of = program_of<G, O>;
    // A parameter, see kept_graph.
    template <class Program>
    static constexpr auto make(taken<Program> from) {
        using made = typename of::schedule;
        if constexpr (order_of(C) != C)
            return schedule_in<made>(C, kept_schedule<G, O, order_of(C)>.order.view(), from, kept_edges<typename of::of>, kept_costs<G, O>, of::sequential,
                                     O::value);
        else if constexpr (one_stream(C))
            return on_one_stream<made>(C, from, kept_edges<typename of::of>, kept_costs<G, O>);
        else
            return in_that_order<made>(from, stage_occupancy<G, O>, ordered<G, O, C>, kept_edges<typename of::of>, kept_costs<G, O>, O::value);
    }
};

template <class G, class O>
constexpr preference preference_of() {
    if constexpr (!O::value.overlap) {
        return preferred({}, O::value);
    } else {
        std::int64_t written = not_tried;
        if constexpr (program_of<G, O>::tasks <= most_tried_as_written) written = kept_schedule<G, O, candidate::written>.length;
        return preferred({program_of<G, O>::sequential, written, kept_schedule<G, O, candidate::listed>.length}, O::value);
    }
}

template <class G, class O, candidate C>
struct emission {
    using of = program_of<G, O>;
    // A step waits for at most two others in each run.
    static constexpr int participations = of::program.participations.size(), edges = of::of::edges.size(),
                         event_slots = O::value.in_flight > O::value.channel_slots ? O::value.in_flight : O::value.channel_slots;
    static constexpr int waits =
        kept_schedule<G, O, C>.overlapped ? (edges < 2 * participations ? edges : 2 * participations) + 2 * event_slots * participations : 0;
    using table = ir::rebound<plan, fixed_store<of::tasks, participations, waits, of::program.roles, of::program.buffers.size()>>;
    template <class Program>
    static constexpr table make(taken<Program> from) {
        table made{};
        emit(from, kept_schedule<G, O, C>, of::sequential, O::value.memory_limit, made);
        return made;
    }
};
template <class G, class O, candidate C>
inline constexpr auto kept_plan = emission<G, O, C>::make(kept_program<expanded_for<G, O>>);

// The plan of one candidate.
template <class G, class O, candidate C>
struct emitted {
    static constexpr plan value = ir::view(kept_plan<G, O, C>);
    static constexpr std::int64_t needed = largest_bytes(value.roles);
    static constexpr bool fits = within(O::value.memory_limit, value.roles);
};

// The first preferred candidate that fits, from the I-th on; none: the one that needs least, `Least` of those before.
template <class G, class O, int I = 0, candidate Least = candidate::sequential>
constexpr candidate chosen() {
    constexpr preference p = preference_of<G, O>();
    if constexpr (I == p.count) {
        return Least;
    } else if constexpr (O::value.memory_limit == 0 || emitted<G, O, p.list[I]>::fits) {
        return p.list[I];
    } else if constexpr (I == 0 || emitted<G, O, p.list[I]>::needed < emitted<G, O, Least>::needed) {
        return chosen<G, O, I + 1, p.list[I]>();
    } else {
        return chosen<G, O, I + 1, Least>();
    }
}

template <class G, int Mention>
struct role_named {
    using type = dsl::type_at<written<G>, Mention>;
};
template <class G>
struct role_named<G, -1> {
    using type = error::the_only_role;
};

template <class G, class O>
struct memory_checked {
    using taken = emitted<G, O, chosen<G, O>()>;
    static constexpr auto error() {
        if constexpr (taken::fits) {
            return std::type_identity<error::none>{};
        } else {
            using of = program_of<G, O>;
            constexpr memory_report e = memory_report_of(of::graph, of::program, taken::value.roles, kept_schedule<G, O, chosen<G, O>()>.order.view());
            using role = typename role_named<G, of::graph.roles[e.role].source_position>::type;
            if constexpr (e.largest[1] < 0)
                return std::type_identity<
                    error::memory_exceeded<role, error::number<O::value.memory_limit>, error::number<e.needed>, dsl::type_at<written<G>, e.largest[0]>>>{};
            else
                return std::type_identity<error::memory_exceeded<role, error::number<O::value.memory_limit>, error::number<e.needed>,
                                                                 dsl::type_at<written<G>, e.largest[0]>, dsl::type_at<written<G>, e.largest[1]>>>{};
        }
    }
    using type = typename decltype(error())::type;
};

template <class G, class O>
inline constexpr plan plan_of = emitted<G, O, chosen<G, O>()>::value;

template <class Graph, class Program, class Plan>
constexpr verdict prove_in_common(taken<Graph> g, taken<Program> p, taken<Plan> made, const plan_options& s) {
    return prove_tables(ir::view(g), ir::view(p), ir::view(made), s);
}
template <class G, class O>
inline constexpr verdict proven_tables = prove_in_common(kept_graph<G>, kept_program<expanded_for<G, O>>, kept_plan<G, O, chosen<G, O>()>, O::value);

template <class Graph, class Program, class Plan>
constexpr verdict prove_roles(taken<Graph> g, taken<Program> p, taken<Plan> made, int first, int last) {
    return prove_ordered_roles(ir::view(g), ir::view(p), ir::view(made), first, last);
}
template <class G, class O, int First, int Last>
inline constexpr verdict proven_roles = prove_roles(kept_graph<G>, kept_program<expanded_for<G, O>>, kept_plan<G, O, chosen<G, O>()>, First, Last);

// Of the roles from First on.
template <class G, class O, int First = 0>
constexpr verdict proven_from() {
    if constexpr (First == program_of<G, O>::program.roles) {
        return {};
    } else {
        constexpr int last = proven_until(program_of<G, O>::program, plan_of<G, O>, First);
        if constexpr (proven_roles<G, O, First, last>)
            return proven_from<G, O, last>();
        else
            return proven_roles<G, O, First, last>;
    }
}

template <class G, class O>
constexpr verdict proven() {
    if constexpr (proven_tables<G, O>)
        return proven_from<G, O>();
    else
        return proven_tables<G, O>;
}
template <class G, class O>
inline constexpr verdict proof = proven<G, O>();

// The operation whose cost is to blame where the costs of a graph's tasks cannot be calculated while compiling: its position in the source. Where
// one is in doubt, they all are calculated to see.
constexpr int first_doubtful_cost(const ir::graph& g) {
    for (const ir::node& n : g.nodes)
        if (n.op->doubtful_cost) return n.source_position + 1;
    return -1;
}
template <class G, class O, bool InDoubt = (first_doubtful_cost(typed<G>::value) >= 0)>
inline constexpr bool calculates_costs = true;
template <class G, class O>
inline constexpr bool calculates_costs<G, O, true> = requires {
    typename std::bool_constant<(
        static_cast<void>(list_costs<expanded_for<G, O>::program.tasks.size()>(kept_graph<G>, kept_program<expanded_for<G, O>>, O::value)), true)>;
};

// What is wrong with the plan of a graph that has no mistake.
template <class G, class O>
constexpr auto plan_error() {
    if constexpr (device_pass)
        return std::type_identity<error::none>{};
    else if constexpr (!calculates_costs<G, O>)
        return std::type_identity<error::cost_not_constexpr<dsl::type_at<written<G>, first_doubtful_cost(typed<G>::value)>>>{};
    else if constexpr (!std::is_same_v<typename memory_checked<G, O>::type, error::none>)
        return std::type_identity<typename memory_checked<G, O>::type>{};
    else if constexpr (!proof<G, O>)
        return std::type_identity<error::unproven<G, error::number<proof<G, O>.what>>>{};
    else
        return std::type_identity<error::none>{};
}

// Whether graph and plan are as they should be; what is wrong is reported, as with `right`.
template <class G, class O>
constexpr bool plan_right() {
    if constexpr (!right<G>()) {
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
    static constexpr ir::graph graph = program_of<G, O>::graph;
    static constexpr ir::program program = program_of<G, O>::program;
    static constexpr dovetail::plan::plan plan = plan_of<G, O>;
};

}  // namespace detail

// Where something is wrong with the graph, the options or the plan, that is reported, `made` is false and the tables are empty.
template <class G, class O = options<>>
struct planned : detail::planning<G, O> {};

}  // namespace dovetail::plan
