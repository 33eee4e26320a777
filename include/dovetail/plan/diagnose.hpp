// diagnose<G>: what is wrong with a graph, as a type: error::none, or the error template with the guilty names. One of the
// bridges from ids to types; nothing is reported until the type is made an object of, which planning does.
#pragma once

#include "../dsl/mention.hpp"
#include "../error/error.hpp"
#include "../ir/lower.hpp"
#include "../ir/table.hpp"
#include "../pass/check.hpp"
#include "../pass/circle.hpp"
#include "../pass/expand.hpp"
#include "../pass/infer.hpp"

namespace dovetail::plan {

namespace detail {

template <class G>
struct as_written {
    using type = G;
    static constexpr bool folded = false;
};
template <class G>
    requires requires { typename G::dovetail_folded; }
struct as_written<G> {
    using type = typename G::dovetail_folded;
    static constexpr bool folded = true;
};

}  // namespace detail

// The graph as the user wrote it: G itself, or what it is the folded form of.
template <class G>
using written = typename detail::as_written<G>::type;

namespace detail {

template <class G>
struct lowered {
    static_assert(requires { typename written<G>::dovetail_graph; }, "dovetail: this is no graph: write struct model : dv::graph<statements...> {};");
    static constexpr auto most = ir::largest_graph(dsl::describe_graph<written<G>>);
    template <int... I>
    static constexpr auto make(const dsl::record& root, std::integer_sequence<int, I...>) {
        ir::rebound<ir::graph, fixed_store<most.of[I]...>> made{};
        ir::lower(root, as_written<G>::folded, made);
        if (!made.wrong) made.wrong = pass::infer(ir::view(made), made.symbols.begin());
        return made;
    }
};
// The tables that passes read are variables of a namespace, and are passed by their own names. Of a member of a class, clang asks at
// each read where it was defined; and whoever gets to one by a reference or a function, nvcc's front end gives two more copies of it.
//
// Each is evaluated once, which takes care: compilers also evaluate a call with constant arguments when they see it in the body of
// a function, where tables are parameters therefore, and g++ evaluates a lambda called in an initialiser twice.
template <class G>
inline constexpr auto kept_graph = lowered<G>::make(dsl::describe_graph<written<G>>, std::make_integer_sequence<int, ir::graph::tables>{});

}  // namespace detail

// The graph in arrays, with the types of its values.
template <class G>
struct typed {
    static constexpr ir::graph value = ir::view(detail::kept_graph<G>);
};

namespace detail {

template <class Graph>
constexpr ir::fault fault_in(taken<Graph> g) {
    return g.wrong ? g.wrong : pass::check(ir::view(g));
}
template <class G>
inline constexpr ir::fault checked = fault_in(kept_graph<G>);

// The program, of which only the slots of inputs, outputs and channels and the lanes of transfers depend on the options.
template <class G, int InFlight, int ChannelSlots, std::int64_t PeerCopiesFrom>
struct expanded;
template <class Expanded>
inline constexpr auto kept_program = Expanded::make(kept_graph<typename Expanded::described>, std::make_integer_sequence<int, ir::program::tables>{});

template <int Most, class Program>
constexpr fixed<ir::edge, Most> list_edges(taken<Program> from) {
    fixed<ir::edge, Most> f{};
    f.count = pass::edges(from, f.first);
    return f;
}
template <class Expanded>
inline constexpr auto kept_edges = list_edges<pass::most_edges(kept_program<Expanded>)>(kept_program<Expanded>);

template <class G, int InFlight, int ChannelSlots, std::int64_t PeerCopiesFrom>
struct expanded {
    using described = G;
    static constexpr auto most = checked<G> ? ir::sizes<ir::program::tables>{} : pass::largest_program(kept_graph<G>);
    template <class Graph, int... I>
    static constexpr auto make(taken<Graph> from, std::integer_sequence<int, I...>) {
        ir::rebound<ir::program, fixed_store<most.of[I]...>> made{};
        if (!checked<G>) pass::expand(from, {InFlight, ChannelSlots, PeerCopiesFrom}, made);
        return made;
    }
    static constexpr ir::program program = ir::view(kept_program<expanded>);
    static constexpr span<const ir::edge> edges = kept_edges<expanded>.view();
};

template <class G>
constexpr std::int64_t peer_copies_from(const settings& s) {
    return typed<G>::value.roles.count > 1 ? pass::peer_copies_from(s) : pass::never;
}

// Circles show in the program only; whatever the options, it has the same vertices and edges.
template <class G>
struct fault_of {
    using of = expanded<G, 1, 1, peer_copies_from<G>(settings{})>;
    static constexpr ir::fault value = checked<G> ? checked<G> : pass::circle(typed<G>::value, of::program, of::edges);
};

template <class G, int I>
using named = dsl::mention<written<G>, fault_of<G>::value.mention[I]>;

template <class G, int I>
using tensor_named = tensor_from<fault_of<G>::value.type[I].type, fault_of<G>::value.type[I].rank, fault_of<G>::value.type[I].extent[0],
                                 fault_of<G>::value.type[I].extent[1], fault_of<G>::value.type[I].extent[2], fault_of<G>::value.type[I].extent[3],
                                 fault_of<G>::value.type[I].extent[4], fault_of<G>::value.type[I].extent[5]>;

template <template <class...> class Error, class G, class... More, int... I, int... T>
auto told(std::integer_sequence<int, I...>, std::integer_sequence<int, T...>) -> std::type_identity<Error<named<G, I>..., tensor_named<G, T>..., More...>>;

template <template <class...> class Error, class G, class... More>
using tell =
    decltype(told<Error, G, More...>(std::make_integer_sequence<int, fault_of<G>::value.count>{}, std::make_integer_sequence<int, fault_of<G>::value.types>{}));

// The defined name nearest to the one missing: within a third of its letters.
template <class G>
constexpr int nearest_mention() {
    const ir::graph& g = typed<G>::value;
    const ir::fault& f = fault_of<G>::value;
    const ir::short_name missing_name{tag_of<named<G, 1>>};
    const letters missing = missing_name.text();
    int best = missing.size / 3 + 2;
    int mention = -1;
    int budget = 200;  // candidates of a similar length: a large graph must not exhaust the compiler
    for (const ir::symbol& s : g.symbols) {
        if (!dovetail::named(s.name) || s.mention == f.mention[1] || budget == 0) continue;
        const ir::short_name short_name{*s.name};
        const letters name = short_name.text();
        if (name.size + 3 < missing.size || missing.size + 3 < name.size) continue;
        --budget;
        if (const int d = ir::edit_distance(missing, name, best); d < best) {
            best = d;
            mention = s.mention;
        }
    }
    return mention;
}
template <template <class...> class Error, class G, bool Both>
constexpr auto tell_nearest() {
    constexpr int near = nearest_mention<G>();
    using missing = named<G, 1>;
    if constexpr (near < 0 && Both)
        return std::type_identity<Error<named<G, 0>, missing>>{};
    else if constexpr (near < 0)
        return std::type_identity<Error<missing>>{};
    else if constexpr (Both)
        return std::type_identity<Error<named<G, 0>, missing, error::did_you_mean<dsl::mention<written<G>, near>>>>{};
    else
        return std::type_identity<Error<missing, error::did_you_mean<dsl::mention<written<G>, near>>>>{};
}

template <class G, class Count>
constexpr auto tell_arity() {
    if constexpr (dsl::accepts_any<named<G, 1>>)
        return tell<error::wrong_arity, G, Count>{};
    else
        return tell<error::bad_shape_rule, G>{};
}

template <class G>
constexpr auto error_of() {
    using kind = ir::fault_kind;
    constexpr ir::fault f = fault_of<G>::value;
    using count = error::number<f.number>;
    if constexpr (f.kind == kind::none)
        return std::type_identity<error::none>{};
    else if constexpr (f.kind == kind::unknown_name)
        return tell_nearest<error::unknown_name, G, true>();
    else if constexpr (f.kind == kind::unknown_output)
        return tell_nearest<error::unknown_output, G, false>();
    else if constexpr (f.kind == kind::defined_twice)
        return tell<error::defined_twice, G>{};
    else if constexpr (f.kind == kind::cycle)
        return tell<error::cycle, G>{};
    else if constexpr (f.kind == kind::unused)
        return tell<error::unused, G>{};
    else if constexpr (f.kind == kind::all_discarded)
        return tell<error::all_discarded, G>{};
    else if constexpr (f.kind == kind::output_twice)
        return tell<error::output_twice, G>{};
    else if constexpr (f.kind == kind::output_not_a_value)
        return tell<error::output_not_a_value, G>{};
    else if constexpr (f.kind == kind::empty_graph)
        return std::type_identity<error::empty_graph<G>>{};
    else if constexpr (f.kind == kind::not_an_operation)
        return tell<error::not_an_operation, G>{};
    else if constexpr (f.kind == kind::not_an_expression)
        return tell<error::not_an_expression, G>{};
    else if constexpr (f.kind == kind::not_an_argument)
        return tell<error::not_an_argument, G>{};
    else if constexpr (f.kind == kind::not_a_name)
        return tell<error::not_a_name, G>{};
    else if constexpr (f.kind == kind::operation_as_value)
        return tell<error::operation_as_value, G>{};
    else if constexpr (f.kind == kind::ellipsis)
        return tell<error::ellipsis, G>{};
    else if constexpr (f.kind == kind::no_shape_rule)
        return tell<error::no_shape_rule, G>{};
    else if constexpr (f.kind == kind::not_a_statement)
        return tell<error::not_a_statement, G>{};
    else if constexpr (f.kind == kind::wrong_arity)
        return tell_arity<G, count>();
    else if constexpr (f.kind == kind::shape_mismatch)
        return tell<error::shape_mismatch, G>{};
    else if constexpr (f.kind == kind::wrong_result_count)
        return tell<error::wrong_result_count, G, count>{};
    else if constexpr (f.kind == kind::update_mismatch)
        return tell<error::update_mismatch, G>{};
    else if constexpr (f.kind == kind::size_overflow)
        return tell<error::size_overflow, G>{};
    else if constexpr (f.kind == kind::unused_role)
        return tell<error::unused_role, G>{};
    else if constexpr (f.kind == kind::not_a_role)
        return tell<error::not_a_role, G>{};
    else if constexpr (f.kind == kind::on_in_on)
        return tell<error::on_in_on, G>{};
    else if constexpr (f.kind == kind::outside_role)
        return tell<error::outside_role, G>{};
    else if constexpr (f.kind == kind::argument_of_no_role)
        return tell<error::argument_of_no_role, G>{};
    else if constexpr (f.kind == kind::mesh_mismatch)
        return tell<error::mesh_mismatch, G>{};
    else if constexpr (f.kind == kind::folded_mismatch)
        return tell<error::folded_mismatch, G>{};
    else if constexpr (f.kind == kind::off_root_read)
        return tell<error::off_root_read, G>{};
    else if constexpr (f.kind == kind::off_root_update)
        return tell<error::off_root_update, G>{};
    else if constexpr (f.kind == kind::role_twice)
        return tell<error::role_twice, G>{};
    else if constexpr (f.kind == kind::unknown_role)
        return tell<error::unknown_role, G>{};
    else if constexpr (f.kind == kind::unknown_axis)
        return tell<error::unknown_axis, G>{};
    else if constexpr (f.kind == kind::not_an_axis)
        return tell<error::not_an_axis, G>{};
    else if constexpr (f.kind == kind::axis_twice)
        return tell<error::axis_twice, G>{};
    else if constexpr (f.kind == kind::too_many_axes)
        return tell<error::too_many_axes, G>{};
    else if constexpr (f.kind == kind::mesh_twice)
        return tell<error::mesh_twice, G>{};
    else if constexpr (f.kind == kind::member_mismatch)
        return tell<error::member_mismatch, G>{};
    else if constexpr (f.kind == kind::member_count)
        return tell<error::member_count, G>{};
    else if constexpr (f.kind == kind::open_width)
        return tell<error::open_width, G>{};
    else if constexpr (f.kind == kind::indivisible)
        return tell<error::indivisible, G, count>{};
    else if constexpr (f.kind == kind::bad_reduction)
        return tell<error::bad_reduction, G>{};
    else if constexpr (f.kind == kind::bad_root)
        return tell<error::bad_root, G>{};
    else if constexpr (f.kind == kind::not_communication)
        return tell<error::not_communication, G>{};
    else if constexpr (f.kind == kind::group_dependence)
        return tell<error::group_dependence, G>{};
    else if constexpr (f.kind == kind::not_a_state)
        return tell<error::not_a_state, G>{};
    else if constexpr (f.kind == kind::uninitialised)
        return tell<error::uninitialised, G>{};
    else if constexpr (f.kind == kind::diverging_replicas)
        return tell<error::diverging_replicas, G>{};
    else if constexpr (f.kind == kind::in_place_shared)
        return tell<error::in_place_shared, G>{};
    else if constexpr (f.kind == kind::in_place_mismatch)
        return tell<error::in_place_mismatch, G>{};
    else if constexpr (f.kind == kind::state_crosses_roles)
        return tell<error::state_crosses_roles, G>{};
    else if constexpr (f.kind == kind::host_value)
        return tell<error::host_value, G>{};
    else
        return tell<error::device_value, G>{};
}

}  // namespace detail

// error::none, or the first mistake in the graph.
template <class G>
using diagnose = typename decltype(detail::error_of<G>())::type;

}  // namespace dovetail::plan
