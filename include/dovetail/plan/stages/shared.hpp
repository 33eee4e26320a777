// The stages that all candidates share: from the type of a graph to the program with its edges, its costs and the streams that its tasks
// occupy. ../stage.hpp defines a stage, ../pipeline.hpp the order of stages.
#pragma once

#include "../../cost/model.hpp"
#include "../../ir/lower.hpp"
#include "../../pass/graph/check.hpp"
#include "../../pass/graph/infer.hpp"
#include "../../pass/program/cycle.hpp"
#include "../../pass/program/expand.hpp"
#include "../../pass/program/role_order.hpp"
#include "../../pass/rewrite/rewrite.hpp"
#include "../../pass/schedule/candidates.hpp"
#include "../../pass/schedule/memory_booking.hpp"
#include "../stage.hpp"

namespace dovetail::plan::stage {

struct lower {
    static constexpr const char* name = "lower";
    static constexpr const char* makes = "the graph as written, with the types of its values";
    using depends = of_graph;
    using reads = stages<>;
    static constexpr bool counts_rows = true;
    static constexpr ir::graph_sizes bound(const source& s) { return ir::largest_graph(*s.root); }
    template <class Store>
    static constexpr auto make(const source& s) {
        ir::rebound<ir::graph, Store> made{};
        ir::lower(*s.root, s.single_rank, made);
        if (!made.wrong) made.wrong = pass::infer(ir::view(made), made.symbols.begin(), s.callable);
        return made;
    }
};

struct check {
    static constexpr const char* name = "check";
    static constexpr const char* makes = "the first mistake in the graph";
    using depends = of_graph;
    using reads = stages<lower>;
    template <class Graph>
    static constexpr ir::fault make(const source&, const Graph& g) {
        ir::fault wrong = g.wrong ? g.wrong : pass::check(ir::view(g));
        if (!wrong && g.regions.size() > 0) wrong = pass::check_regions(ir::view(g));
        return wrong;
    }
};

struct role_order {
    static constexpr const char* name = "role order";
    static constexpr const char* makes = "the roles in the order of their ranks";
    using depends = of_program;
    using reads = stages<lower, check>;
    static constexpr bool counts_rows = true;
    template <class Graph>
    static constexpr ir::sizes<1> bound(const program_options&, const Graph& g, const ir::fault&) {
        return {{g.roles.size()}};
    }
    template <class Store, class Graph>
    static constexpr auto make(const program_options& o, const Graph& g, const ir::fault& wrong) {
        auto list = Store::template of<int, 0>::sized(g.roles.size());
        if (!wrong) copy_elements(pass::role_order(ir::view(g), o.expansion.links), list);
        return list;
    }
};

struct rewrite {
    static constexpr const char* name = "rewrites";
    static constexpr const char* makes = "the graph that is planned";
    using depends = of_program;
    using reads = stages<lower, check>;
    static constexpr bool counts_rows = true;
    static constexpr bool passes_on(const program_options& o) { return pass::changes_nothing(o.rewrites); }
    template <class Graph>
    static constexpr auto bound(const program_options& o, const Graph& g, const ir::fault& wrong) {
        return wrong ? ir::sizes<ir::graph::tables>{} : pass::largest_rewritten(g, o.rewrites);
    }
    template <class Store, class Graph>
    static constexpr auto make(const program_options& o, const Graph& g, const ir::fault& wrong) {
        ir::rebound<ir::graph, Store> made{};
        if (!wrong) pass::rewrite_graph(ir::view(g), o.rewrites, made);
        return made;
    }
};

struct expand {
    static constexpr const char* name = "expand";
    static constexpr const char* makes = "the program: operations, who takes part in them, the buffers that they touch";
    using depends = of_program;
    using reads = stages<rewrite, check, role_order>;
    static constexpr bool counts_rows = true;
    template <class Graph, class Order>
    static constexpr auto bound(const program_options& o, const Graph& g, const ir::fault& wrong, const Order& order) {
        return wrong ? ir::sizes<ir::program::tables>{} : pass::largest_program(g, o.expansion, order.view());
    }
    template <class Store, class Graph, class Order>
    static constexpr auto make(const program_options& o, const Graph& g, const ir::fault& wrong, const Order& order) {
        if constexpr (std::is_same_v<Store, owning>) {
            return wrong ? ir::program_data{} : pass::expand(g, o.expansion, order.view());
        } else {
            ir::rebound<ir::program, Store> made{};
            if (!wrong) pass::expand(g, o.expansion, order.view(), made);
            return made;
        }
    }
};

struct edges {
    static constexpr const char* name = "edges";
    static constexpr const char* makes = "which operation starts after which";
    using depends = of_program;
    using reads = stages<expand>;
    static constexpr bool counts_rows = true;
    template <class Program>
    static constexpr ir::sizes<1> bound(const program_options&, const Program& p) {
        return {{pass::most_edges(p)}};
    }
    template <class Store, class Program>
    static constexpr auto make(const program_options&, const Program& p) {
        auto list = Store::template of<ir::edge, 0>::sized(pass::most_edges(p));
        list.cut(pass::edges(p, list.first));
        return list;
    }
};

struct cycle {
    static constexpr const char* name = "cycle";
    static constexpr const char* makes = "the cycle among the operations, where there is one";
    using depends = of_program;
    using reads = stages<rewrite, expand, edges>;
    template <class Graph, class Program, class Edges>
    static constexpr ir::fault make(const program_options&, const Graph& g, const Program& p, const Edges& e) {
        return pass::check_cycles(ir::view(g), ir::view(p), e.view());
    }
};

struct costs {
    static constexpr const char* name = "costs";
    static constexpr const char* makes = "what each operation takes alone, and what limits it";
    using depends = of_plan;
    using reads = stages<rewrite, expand, role_order>;
    static constexpr bool counts_rows = true;
    template <class Graph, class Program, class Order>
    static constexpr ir::sizes<1> bound(const plan_options&, const Graph&, const Program& p, const Order&) {
        return {{p.tasks.size()}};
    }
    template <class Store, class Graph, class Program, class Order>
    static constexpr auto make(const plan_options& s, const Graph& g, const Program& p, const Order& order) {
        auto list = Store::template of<task_cost, 0>::sized(p.tasks.size());
        cost_model::costs(g, p, s, order.view(), list.first);
        return list;
    }
};

struct serial_time {
    static constexpr const char* name = "serial time";
    static constexpr const char* makes = "what everything takes on one stream, as written";
    using depends = of_plan;
    using reads = stages<expand, edges, costs>;
    template <class Program, class Edges, class Costs>
    static constexpr std::int64_t make(const plan_options&, const Program& p, const Edges& e, const Costs& c) {
        return pass::sequential_length(p, e, c);
    }
};

struct occupancy {
    static constexpr const char* name = "occupancy";
    static constexpr const char* makes = "the streams that each operation occupies, for all overlapped candidates";
    using depends = of_program;
    using reads = stages<expand, edges>;
    template <class Program, class Edges>
    static constexpr auto make(const program_options&, const Program& p, const Edges& e) {
        return pass::occupancy_of(p, e);
    }
};

struct reference {
    static constexpr const char* name = "reference";
    static constexpr const char* makes = "an order of little memory, for the booked candidates";
    using depends = of_program;
    using reads = stages<expand, occupancy, edges>;
    template <class Program, class Occupancy, class Edges>
    static constexpr auto make(const program_options&, const Program& p, const Occupancy& r, const Edges& e) {
        return pass::reference_order(p, r, e);
    }
};

}  // namespace dovetail::plan::stage
