// The definition of a stage of the pipeline, and the execution of stages one after the other. A stage is an empty struct with the members:
//
//   name      its name in explain_passes and in failed proofs
//   makes     a description of its table for explain_passes
//   depends   of_graph, of_program or of_plan: the options that it reads, which determine the key of its table
//   reads     stages<...>: the stages whose tables are the arguments of `make`, in this order, after the options
//   bound     if the table has arrays: an upper bound of their numbers of rows, from the same arguments
//   make      returns the table; if there is a bound, a template over the store of its arrays (core/vec.hpp)
//   passes_on for an optional stage: whether it does nothing, so that the table that it reads first is used instead
//   within    if it needs tables with growing arrays, which cannot be constants: the stages that make them in the same evaluation
//   given     with `within`: the further tables that the stage and those within it read, and from which `bound` counts. Such a stage has
//             `table<Store>` and, instead of `make`, `fill`, whose last parameter is the table
//
// Everything is a function of the arguments, independent of whether it runs at compile time (plan/compile/) or at run time (make.hpp).
#pragma once

#include "../core/vec.hpp"
#include "../cost/transport.hpp"
#include "../dsl/descriptor.hpp"

#include <climits>

namespace dovetail::plan {

template <class... Stage>
struct stages {};

// The options of stages: of those that read only the graph, of those that the program depends on, of those of a plan.
struct source {
    const dsl::descriptor* root = nullptr;
    bool single_rank = false;
    int callable = INT_MAX;  // so many operations, in the order of inference, have rules that can be evaluated at compile time
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

// The tables made so far, by stage.
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

// Runs the stages within another one, then that one, which fills its table. `look(stage, table)` is called with the table of each stage
// within. Only `make` returns a table, because g++ copies it in each function that returns it.
template <class Options, class Known, class Look, class Stage, class... Read, class Table>
constexpr void run(const Options& o, const Known& k, Look&, stages<Stage>, stages<Read...>, Table& to) {
    Stage::fill(o, table_of<Read>(k)..., to);
}
template <class Options, class Known, class Look, class First, class Next, class... Rest, class... Read, class Table>
constexpr void run(const Options& o, const Known& k, Look& look, stages<First, Next, Rest...>, stages<Read...>, Table& to) {
    const auto table = First::make(o, table_of<Read>(k)...);
    look(First{}, table);
    run(o, with<First>(k, table), look, stages<Next, Rest...>{}, typename Next::reads{}, to);
}
template <class Stage, class... Within>
constexpr stages<Within..., Stage> followed_by(stages<Within...>) {
    return {};
}
template <class First, class... Rest>
constexpr typename First::reads first_reads(stages<First, Rest...>) {
    return {};
}

struct looks_at_nothing {
    template <class Stage, class Table>
    constexpr void operator()(Stage, const Table&) const {}
};

template <class Stage, class Store, class Options, class Look, class... Given, class... Table>
constexpr auto make_of(const Options& o, Look& look, stages<Given...>, const Table&... tables) {
    if constexpr (composed<Stage>) {
        typename Stage::template table<Store> made{};
        run(o, known<made_by<Given, Table>...>{{&tables}...}, look, followed_by<Stage>(typename Stage::within{}),
            first_reads(typename Stage::within{}), made);
        return made;
    } else if constexpr (with_bound<Stage>) {
        return Stage::template make<Store>(o, tables...);
    } else {
        return Stage::make(o, tables...);
    }
}

}  // namespace detail

// The table of a stage from its arguments.
template <class Stage, class Store = owning, class Look, class... Table>
constexpr auto make_table(const typename Stage::depends::options& o, Look& look, const Table&... tables) {
    return detail::make_of<Stage, Store>(o, look, detail::given<Stage>{}, tables...);
}

}  // namespace dovetail::plan
