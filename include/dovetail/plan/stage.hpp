// What a stage of the pipeline is, and how stages run one after the other. A stage is an empty struct:
//
//   name      how explain_passes and failed proofs call it
//   makes     what its table holds, for people
//   depends   of_graph, of_program or of_plan: the options that it reads, and so who shares its table
//   reads     stages<...>: the stages whose tables `make` takes, in this order, behind the options
//   bound     where the table has arrays: how many rows they have at most, counted from the same arguments
//   make      gives the table; where there is a bound, a template of the store that its arrays live in (core/vec.hpp)
//   passes_on where it may do nothing: whether it gives on the table that it reads first
//   within    where it needs tables that hold growing arrays: the stages that make them, in the same evaluation, and
//   given     what those and `make` read beside them; `bound` counts from these
//
// Everything is a function of the arguments: nothing here knows whether it runs while compiling (plan/compile/) or later (make.hpp).
#pragma once

#include "../core/vec.hpp"
#include "../cost/transport.hpp"
#include "../dsl/descriptor.hpp"

namespace dovetail::plan {

template <class... Stage>
struct stages {};

// The options of stages: those that read nothing but the graph, those that the program depends on, those of a plan.
struct source {
    const dsl::descriptor* root = nullptr;
    bool single_rank = false;
    bool calls_rules = true;  // the shape rules can be called while compiling
};
struct program_options {
    cost_model::expansion_options expansion;
    rewrite_list rewrites;
};

struct of_graph {
    using options = source;
    template <class Key>
    using key = typename Key::for_graph;
};
struct of_program {
    using options = program_options;
    template <class Key>
    using key = typename Key::for_program;
};
struct of_plan {
    using options = plan_options;
    template <class Key>
    using key = typename Key::for_plan;
};

namespace detail {

template <class Stage>
concept with_bound = requires { Stage::counts_rows; };
template <class Stage>
concept composed = requires { typename Stage::within; };
template <class Stage>
concept optional_stage = requires(const typename Stage::depends::options& o) { Stage::passes_on(o); };

template <class Stage>
struct given_to {
    using type = typename Stage::reads;
};
template <composed Stage>
struct given_to<Stage> {
    using type = typename Stage::given;
};
template <class Stage>
using given = typename given_to<Stage>::type;

// The tables that are there already, by the stage that made them.
template <class Stage, class Table>
struct made_by {
    const Table* table;
};
template <class... Made>
struct known : Made... {};
template <class Stage, class Table>
constexpr const Table& table_of(const made_by<Stage, Table>& made) {
    return *made.table;
}
template <class Stage, class Table, class... Made>
constexpr known<Made..., made_by<Stage, Table>> with(const known<Made...>& before, const Table& table) {
    return {static_cast<const Made&>(before)..., made_by<Stage, Table>{&table}};
}

template <class Stage, class Store, class Options, class Known, class... Read>
constexpr auto make_from(const Options& o, const Known& k, stages<Read...>) {
    if constexpr (with_bound<Stage>)
        return Stage::template make<Store>(o, table_of<Read>(k)...);
    else
        return Stage::make(o, table_of<Read>(k)...);
}

// Stages one after the other; gives the last one's table. `look(stage, table)` is called with each of the others.
template <class Store, class Options, class Known, class Look, class First, class... Rest>
constexpr auto run(const Options& o, const Known& k, Look& look, stages<First, Rest...>) {
    if constexpr (sizeof...(Rest) == 0) {
        return make_from<First, Store>(o, k, typename First::reads{});
    } else {
        const auto table = make_from<First, Store>(o, k, typename First::reads{});
        look(First{}, table);
        return run<Store>(o, with<First>(k, table), look, stages<Rest...>{});
    }
}
template <class Stage, class... Within>
constexpr stages<Within..., Stage> followed_by(stages<Within...>) {
    return {};
}

struct looks_at_nothing {
    template <class Stage, class Table>
    constexpr void operator()(Stage, const Table&) const {}
};

template <class Stage, class Store, class Options, class Look, class... Given, class... Table>
constexpr auto make_of(const Options& o, Look& look, stages<Given...>, const Table&... tables) {
    if constexpr (composed<Stage>)
        return run<Store>(o, known<made_by<Given, Table>...>{{&tables}...}, look, followed_by<Stage>(typename Stage::within{}));
    else if constexpr (with_bound<Stage>)
        return Stage::template make<Store>(o, tables...);
    else
        return Stage::make(o, tables...);
}

}  // namespace detail

// The table of a stage from those that are given to it.
template <class Stage, class Store = owning, class Look, class... Table>
constexpr auto make_table(const typename Stage::depends::options& o, Look& look, const Table&... tables) {
    return detail::make_of<Stage, Store>(o, look, detail::given<Stage>{}, tables...);
}

}  // namespace dovetail::plan
