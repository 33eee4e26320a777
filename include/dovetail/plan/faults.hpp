// The first mistake of a graph, as a value: its types are lowered to arrays, and the passes that refuse a graph run over them, each
// a constant evaluation of its own. Takes a graph, gives the arrays and the fault.
#pragma once

#include "../dsl/describe.hpp"
#include "../ir/lower.hpp"
#include "../ir/table.hpp"
#include "../pass/graph/check.hpp"
#include "../pass/graph/infer.hpp"
#include "../pass/program/cycle.hpp"
#include "../pass/program/expand.hpp"

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

// The graph as the user wrote it: G itself, or what it is the single_rank form of.
template <class G>
using written = typename detail::as_written<G>::type;

namespace detail {

template <class G>
struct lowered {
    static constexpr auto most = ir::largest_graph(dsl::describe_graph<written<G>>);
    using arrays = std::make_integer_sequence<int, ir::graph::tables>;
    template <int... I>
    static constexpr auto make(const dsl::descriptor& root, bool calls_rules, std::integer_sequence<int, I...>) {
        ir::rebound<ir::graph, fixed_store<most.of[I]...>> made{};
        ir::lower(root, as_written<G>::single_rank, made);
        if (!made.wrong) made.wrong = calls_rules ? pass::infer(ir::view(made), made.symbols.begin()) : first_doubtful(made);
        return made;
    }
    template <class Graph>
    static constexpr ir::fault first_doubtful(const Graph& g) {
        for (const ir::node& n : g.nodes)
            if (n.op->doubtful_rule) return ir::make_fault(ir::fault_kind::rule_not_constexpr, n.statement, n.source_position + 1);
        return ir::fault{};
    }
};
// Whether the shape rules of a graph can be called while compiling: where one is in doubt, by calling them all. Variables, since
// nvcc's front end fails where a function asks.
template <class G, bool InDoubt = lowered<G>::most.doubtful>
inline constexpr bool calls_rules = true;
template <class G>
inline constexpr bool calls_rules<G, true> = requires {
    typename std::bool_constant<(static_cast<void>(lowered<G>::make(dsl::describe_graph<written<G>>, true, typename lowered<G>::arrays{})), true)>;
};
// The tables that passes read are variables of a namespace, and are passed by their own names. Of a member of a class, clang asks at
// each read where it was defined; and whoever gets to one by a reference or a function, nvcc's front end gives two more copies of it.
//
// Each is evaluated once, which takes care: compilers also evaluate a call with constant arguments when they see it in the body of
// a function, where tables are parameters therefore, and g++ evaluates a lambda called in an initialiser twice.
template <class G>
inline constexpr auto kept_graph = lowered<G>::make(dsl::describe_graph<written<G>>, calls_rules<G>, typename lowered<G>::arrays{});

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

// The program, of which only the slots of inputs, outputs and channels and the streams of transfers depend on the options.
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
constexpr std::int64_t peer_copies_from(const plan_options& s) {
    return typed<G>::value.roles.count > 1 ? cost_model::peer_copies_from(s) : cost_model::never;
}

// Circles show in the program only; whatever the options, it has the same tasks and edges.
template <class G>
struct fault_of {
    using of = expanded<G, 1, 1, peer_copies_from<G>(plan_options{})>;
    static constexpr ir::fault value = checked<G> ? checked<G> : pass::check_cycles(typed<G>::value, of::program, of::edges);
};

}  // namespace detail

}  // namespace dovetail::plan
