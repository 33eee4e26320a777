// The keys of stage_table: a graph alone, a graph with the options that its program depends on, or a graph with all options of a plan.
// Keys are canonical: graphs and options that differ in nothing that a stage reads have the same key and share the table.
#pragma once

#include "../../cost/options.hpp"
#include "../../dsl/describe.hpp"
#include "../pipeline.hpp"
#include "stage_table.hpp"

namespace dovetail::plan {

namespace detail {

template <class G>
struct as_written {
    using type = G;
    static constexpr bool single_rank = false;
};
template <class G>
    requires requires { typename G::dovetail_single_rank; }
struct as_written<G> {
    using type = typename G::dovetail_single_rank;
    static constexpr bool single_rank = true;
};

}  // namespace detail

// The graph as the user wrote it: G itself, or the graph within single_rank.
template <class G>
using written = typename detail::as_written<G>::type;

namespace detail {

template <class G>
inline constexpr auto largest_of = ir::largest_graph(dsl::describe_graph<written<G>>);

template <class G, class Tables = std::make_integer_sequence<int, ir::graph::tables>>
struct lowered_store;
template <class G, int... I>
struct lowered_store<G, std::integer_sequence<int, I...>> {
    using type = fixed_store<largest_of<G>.of[I]...>;
};

// How many operations of a graph, in the order of inference, have rules that can be evaluated at compile time: all, unless one is doubtful
// and a trial fails; then those in front of the culprit, found by bisection. Variables, because nvcc's front end fails if a function
// evaluates the same expression.
template <class G>
constexpr bool call_rules(int callable) {
    static_cast<void>(stage::lower::make<typename lowered_store<G>::type>(
        source{&dsl::describe_graph<written<G>>, as_written<G>::single_rank, callable}));
    return true;
}
template <class G, int Callable>
inline constexpr bool calls_rules = requires { typename std::bool_constant<call_rules<G>(Callable)>; };
// At least First can be called, and fewer than Beyond.
template <class G, int First, int Beyond>
constexpr int count_callable() {
    if constexpr (Beyond - First == 1)
        return First;
    else if constexpr (constexpr int middle = First + (Beyond - First) / 2; calls_rules<G, middle>)
        return count_callable<G, middle, Beyond>();
    else
        return count_callable<G, First, middle>();
}
template <class G, bool InDoubt = largest_of<G>.doubtful>
inline constexpr int callable_rules = INT_MAX;
template <class G>
inline constexpr int callable_rules<G, true> = calls_rules<G, INT_MAX> ? INT_MAX : count_callable<G, 0, largest_of<G>.of[1] + 1>();

template <class G>
struct graph_key {
    using for_graph = graph_key;
    static constexpr source options{&dsl::describe_graph<written<G>>, as_written<G>::single_rank, callable_rules<G>};
};

// Whether statements of the graph ask for rewrites.
template <class G>
inline constexpr bool rewrites_asked = stage_table<graph_key<G>, stage::lower>.regions.size() > 0;

// The links between ranks and the order of roles, of options that say something of them.
struct links_alike {
    static constexpr cost_model::link_options value{};
};
template <class O>
struct links_of {
    static constexpr cost_model::link_options value{O::value};
};

template <class G, int InFlight, int ChannelSlots, std::int64_t PeerCopiesFrom, class Links, int Blocks, std::uint64_t Halved,
          bool Everywhere, int Kept, std::int64_t CopiedFrom, unsigned CopiedAxes, unsigned NcclAxes, rewrite... Rewrite>
struct program_key {
    using for_graph = graph_key<G>;
    using for_program = program_key;
    static constexpr program_options options{{InFlight, ChannelSlots, PeerCopiesFrom, Links::value},
                                             with_kinds<Rewrite...>({.stated = rewrites_asked<G>,
                                                                     .everywhere = Everywhere,
                                                                     .blocks = Blocks,
                                                                     .halved = Halved,
                                                                     .kept = Kept,
                                                                     .copied_from = CopiedFrom,
                                                                     .copied_axes = CopiedAxes,
                                                                     .nccl_axes = NcclAxes})};
};

}  // namespace detail

// The tables of the graph, with the types of its values.
template <class G>
struct typed {
    static constexpr ir::graph value = ir::view(detail::stage_table<detail::graph_key<G>, stage::lower>);
};

namespace detail {

// In a graph of one role, the options of channels have no effect.
template <class G>
constexpr std::int64_t peer_copies_from(const plan_options& s) {
    return typed<G>::value.roles.count > 1 ? cost_model::peer_copies_from(s) : cost_model::never;
}

template <class G, class O>
using links_under = std::conditional_t<O::value.machine.links && (typed<G>::value.roles.count > 1), links_of<O>, links_alike>;

template <class G, class O, class Rewrites = std::make_integer_sequence<int, O::value.rewrites.count>>
struct program_key_under;
template <class G, class O, int... I>
struct program_key_under<G, O, std::integer_sequence<int, I...>> {
    using type = program_key<G, O::value.in_flight, O::value.channel_slots, peer_copies_from<G>(O::value), links_under<G, O>,
                             O::value.rewrites.blocks, O::value.rewrites.halved, O::value.rewrites.everywhere, O::value.rewrites.kept,
                             O::value.rewrites.copied_from, pass::axes_moved_by(typed<G>::value, O::value.axes, transport::peer_copy),
                             pass::axes_moved_by(typed<G>::value, O::value.axes, transport::nccl), O::value.rewrites.kind[I]...>;
};

template <class G, class O>
struct plan_key {
    using for_graph = graph_key<G>;
    using for_program = typename program_key_under<G, O>::type;
    using for_plan = plan_key;
    static constexpr const plan_options& options = O::value;
};

// An objective that names an output is about a symbol of the graph that is planned.
template <class G, class O>
    requires(O::value.objective == objective_kind::finish)
struct plan_key<G, O> {
    using for_graph = graph_key<G>;
    using for_program = typename program_key_under<G, O>::type;
    using for_plan = plan_key;
    using planned_graph = typename standing_in<for_program, stage::rewrite>::type;
    static constexpr plan_options options = with_preferred(O::value, stage_table<key_of<for_program, planned_graph>, planned_graph>);
};

// The table of a stage, for a graph and options.
template <class Key, class Stage>
using final_stage = typename standing_in<Key, Stage>::type;

}  // namespace detail

}  // namespace dovetail::plan
