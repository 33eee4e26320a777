// error::unproven with its names, from a verdict of the prover. Takes a graph and a class that has the tables of graph and program, the
// planned candidate and the verdict: see found_plan.
#pragma once

#include "../../dsl/source_position.hpp"
#include "../../error/error.hpp"
#include "../compile/keys.hpp"
#include "verdict_names.hpp"

namespace dovetail::plan::detail {

template <class G, int SourcePosition>
struct role_named {
    using type = dsl::type_at<written<G>, SourcePosition>;
};
template <class G>
struct role_named<G, -1> {
    using type = error::the_only_role;
};

// The error type of each flaw, in the order of the enumeration.
namespace flaw_as = error::flaws;
using flaw_names =
    dsl::types<flaw_as::none, flaw_as::bad_table, flaw_as::node_missing, flaw_as::node_twice, flaw_as::node_mismatch, flaw_as::wrong_access,
               flaw_as::wrong_storage, flaw_as::written_twice, flaw_as::partner_missing, flaw_as::partner_mismatch,
               flaw_as::wrong_communicator, flaw_as::order_not_permutation, flaw_as::edge_backward, flaw_as::step_missing,
               flaw_as::step_order, flaw_as::stream_wrong, flaw_as::wait_unknown_event, flaw_as::wait_wrong_record,
               flaw_as::event_recorded_twice, flaw_as::race, flaw_as::race_across_runs, flaw_as::slot_shared_too_early,
               flaw_as::overlap_of_live_bytes, flaw_as::stale_read, flaw_as::wrong_value, flaw_as::slot_not_dedicated,
               flaw_as::out_of_arena, flaw_as::misaligned, flaw_as::symmetric_offset, flaw_as::alias_wrong, flaw_as::too_few_slots>;
template <flaw F>
using flaw_name = typename dsl::detail::nth<static_cast<int>(F), flaw_names>::type;

// The stage with this name in the pipeline of a candidate.
constexpr bool same_text(const char* a, const char* b) {
    while (*a != 0 && *a == *b) {
        ++a;
        ++b;
    }
    return *a == *b;
}
template <class... Stage>
constexpr int find_stage(stages<Stage...>, const char* name) {
    const char* const names[] = {Stage::name...};
    int i = 0;
    while (!same_text(names[i], name)) ++i;
    return i;
}
template <class... Stage>
constexpr dsl::types<Stage...> as_types(stages<Stage...>) {
    return {};
}
template <candidate C>
using all_stages = decltype(joined(pipeline{}, pipeline_of<C>{}));
template <flaw F, candidate C>
using stage_blamed = typename dsl::detail::nth<find_stage(all_stages<C>{}, stage_of(F)), decltype(as_types(all_stages<C>{}))>::type;

// Lists of types for the arguments of the error: empty for what is not known.
template <class... T>
using some = dsl::types<T...>;
template <class... A>
constexpr some<A...> together(some<A...> all) {
    return all;
}
template <class... A, class... B, class... More>
constexpr auto together(some<A...>, some<B...>, More... more) {
    return together(some<A..., B...>{}, more...);
}

template <class G, class Tables, int Symbol>
constexpr auto value_named() {
    if constexpr (Symbol < 0)
        return some<>{};
    else if constexpr (Tables::graph.symbols[Symbol].source_position < 0 || !dovetail::named(Tables::graph.symbols[Symbol].name))
        return some<>{};
    else
        return some<dsl::type_at<written<G>, Tables::graph.symbols[Symbol].source_position>>{};
}

template <class Operation, class... Value>
constexpr some<error::operation<Operation, Value...>> operation_with(some<Value...>) {
    return {};
}
template <class G, class Tables, int Node, int Symbol, op_kind Kind>
constexpr auto operation_named() {
    if constexpr (Node >= 0)
        return operation_with<dsl::type_at<written<G>, Tables::graph.nodes[Node].source_position + 1>>(value_named<G, Tables, Symbol>());
    else if constexpr (Symbol >= 0)
        return operation_with<std::conditional_t<Kind == op_kind::input, error::input_copy,
                                                 std::conditional_t<Kind == op_kind::transfer, error::transfer, error::no_statement>>>(
            value_named<G, Tables, Symbol>());
    else
        return some<>{};
}
template <class Operation>
constexpr some<error::with<Operation>> as_other(some<Operation>) {
    return {};
}
constexpr some<> as_other(some<>) { return {}; }

template <class G, class Tables, int Role>
constexpr auto role_where() {
    if constexpr (Role < 0 || Tables::graph.single_rank)
        return some<>{};
    else
        return some<error::in_role<typename role_named<G, Tables::graph.roles[Role].source_position>::type>>{};
}
template <class Value>
constexpr some<error::buffer<Value>> as_buffer(some<Value>) {
    return {};
}
constexpr some<> as_buffer(some<>) { return {}; }
template <class G, class Tables, int Buffer>
constexpr auto buffer_where() {
    if constexpr (Buffer < 0)
        return some<>{};
    else if constexpr (Tables::program.buffers[Buffer].symbol < 0)
        return some<error::buffer<error::workspace>>{};
    else
        return as_buffer(value_named<G, Tables, value_of(Tables::graph, Tables::program, Buffer)>());
}
template <int Run>
constexpr auto run_where() {
    if constexpr (Run < 0)
        return some<>{};
    else
        return some<error::run<Run>>{};
}

template <class G, class Flaw, class... Where>
constexpr std::type_identity<error::unproven<G, Flaw, Where...>> unproven_as(some<Where...>) {
    return {};
}

template <class G, class Tables>
constexpr auto name_unproven() {
    constexpr verdict bad = completed(Tables::found, Tables::program);
    constexpr named_operation by = operation_of(Tables::graph, Tables::program, bad);
    constexpr named_operation other = operation_of(Tables::graph, Tables::program, bad.other);
    return unproven_as<G, flaw_name<bad.what>>(together(some<error::in_stage<stage_blamed<bad.what, Tables::taken>>>{},
                                                        role_where<G, Tables, bad.role>(),
                                                        operation_named<G, Tables, by.node, by.symbol, by.kind>(),
                                                        as_other(operation_named<G, Tables, other.node, other.symbol, other.kind>()),
                                                        buffer_where<G, Tables, bad.buffer>(), run_where<bad.run>()));
}
template <class G, class Tables>
using unproven_error = typename decltype(name_unproven<G, Tables>())::type;

}  // namespace dovetail::plan::detail
