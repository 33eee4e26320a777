// The mistake in the plan of a valid graph as a type: error::none, or an error template with the names concerned. This maps the faults
// that the stages found to errors, and finds none itself.
#pragma once

#include "../../cost/declared_facts.hpp"
#include "../../cost/options.hpp"
#include "../compile/proof.hpp"
#include "../memory_report.hpp"
#include "graph.hpp"
#include "unproven.hpp"

namespace dovetail::plan::detail {

constexpr plan chosen(plan made, const findings& f, candidate taken, objective_kind objective) {
    made.choice = choice_of(f, taken, made, objective);
    return made;
}

// The plan of a graph with these options, even if it exceeds the memory limit or is not proven.
template <class G, class O>
struct found_plan {
    using options = typename decided<G, O>::options;
    using key = plan_key<G, options>;
    using program_key = typename key::for_program;
    using planned_graph = final_stage<key, stage::rewrite>;
    static constexpr candidate taken = searched<G, options>::taken;
    static constexpr ir::graph graph = ir::view(stage_table<key_of<key, planned_graph>, planned_graph>);
    static constexpr ir::program program = ir::view(stage_table<program_key, stage::expand>);
    static constexpr plan value =
        chosen(ir::view(stage_table<key, stage::emit<taken>>), searched<G, options>::found, taken, O::value.objective);
    static constexpr verdict found = proof<key, taken>;
    static constexpr bool fits = within(O::value.memory_limit, value.roles);
};

template <class G, class O>
constexpr auto memory_error() {
    using of = found_plan<G, O>;
    if constexpr (of::fits) {
        return std::type_identity<error::none>{};
    } else {
        constexpr memory_report e = memory_report_of(of::graph, of::program, of::value.roles,
                                                     stage_table<typename of::key, stage::schedule<of::taken>>.order.view());
        using role = typename role_named<G, of::graph.roles[e.role].source_position>::type;
        if constexpr (e.largest[0] < 0)  // it is workspace, or results that nothing names
            return std::type_identity<error::memory_exceeded<role, error::number<O::value.memory_limit>, error::number<e.needed>>>{};
        else if constexpr (e.largest[1] < 0)
            return std::type_identity<error::memory_exceeded<role, error::number<O::value.memory_limit>, error::number<e.needed>,
                                                             dsl::type_at<written<G>, e.largest[0]>>>{};
        else
            return std::type_identity<
                error::memory_exceeded<role, error::number<O::value.memory_limit>, error::number<e.needed>,
                                       dsl::type_at<written<G>, e.largest[0]>, dsl::type_at<written<G>, e.largest[1]>>>{};
    }
}

// If a cost function is doubtful, all are called to find out whether they can be evaluated at compile time.
constexpr int next_doubtful_cost(const ir::graph& g, int node) {
    while (node < g.nodes.size() && !g.nodes[node].op->doubtful_cost) ++node;
    return node;
}
template <class G>
inline constexpr int first_doubtful_cost = next_doubtful_cost(typed<G>::value, 0);
template <class G, class O, bool InDoubt = (first_doubtful_cost<G> < typed<G>::value.nodes.size())>
inline constexpr bool calculates_costs = true;
template <class G, class O>
inline constexpr bool calculates_costs<G, O, true> =
    requires { typename std::bool_constant<(static_cast<void>(table_maker<plan_key<G, O>, stage::costs>::make(O::value)), true)>; };

// The first operation whose cost cannot be calculated; if all can, and those of its blocks cannot, the first that is doubtful.
constexpr bool calculate_cost(const ir::graph& g, int node) {
    const ir::node& n = g.nodes[node];
    cost_model::declared_facts declared{g};
    if (n.op->has_work) static_cast<void>(declared.work(*n.op, n));
    static_cast<void>(declared.tiling(*n.op, n));
    return true;
}
template <class G, int Node>
inline constexpr bool calculates_cost = requires { typename std::bool_constant<calculate_cost(typed<G>::value, Node)>; };
template <class G, int Node = first_doubtful_cost<G>>
constexpr int without_cost() {
    if constexpr (Node == typed<G>::value.nodes.size())
        return typed<G>::value.nodes[first_doubtful_cost<G>].source_position + 1;
    else if constexpr (calculates_cost<G, Node>)
        return without_cost<G, next_doubtful_cost(typed<G>::value, Node + 1)>();
    else
        return typed<G>::value.nodes[Node].source_position + 1;
}

template <class G, class O>
constexpr auto plan_error() {
    if constexpr (device_pass)
        return std::type_identity<error::none>{};
    else if constexpr (!calculates_costs<G, O>)
        return std::type_identity<error::cost_not_constexpr<dsl::type_at<written<G>, without_cost<G>()>>>{};
    else if constexpr (constexpr int left = not_as_stated<G, typename decided<G, O>::options>; left >= 0)
        return std::type_identity<error::axis_not_by_copy_engines<dsl::type_at<written<G>, left>, O, dsl::located<written<G>, left>>>{};
    else if constexpr (!std::is_same_v<typename decltype(memory_error<G, O>())::type, error::none>)
        return memory_error<G, O>();
    else if constexpr (!found_plan<G, O>::found)
        return std::type_identity<unproven_error<G, found_plan<G, O>>>{};
    else
        return std::type_identity<error::none>{};
}

}  // namespace dovetail::plan::detail
