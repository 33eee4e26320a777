// Runs the simulator on a graph's plan with several orders of events, and returns the first mistake that it finds, or nothing.
#pragma once

#include "hand_plan.hpp"
#include "interpreter.hpp"
#include "simulator.hpp"

#include <algorithm>
#include <string>

namespace support {

template <class Table>
auto owned(const Table& t) {
    dv::ir::rebound<Table, dv::owning> d{};
    zip(t, d, [](const auto& a, auto& b) {
        b.resize(a.size());
        dv::copy_elements(a, b);
    });
    return d;
}

namespace detail {

// How many positions a communication along axes names: the root and those before it, or the ends of its pairs.
inline int positions_named(const dv::ir::node& n) {
    int named = n.role >= 0 ? n.root + 1 : 0;
    for (int i = 0; i < n.op->pair_count; ++i) named = std::max({named, n.op->pairs[i].source + 1, n.op->pairs[i].target + 1});
    return named;
}

}  // namespace detail

// The graph with a width for each axis whose width is open: two, or as many as have the root and the pairs of every communication.
inline dv::ir::graph_data with_widths(const dv::ir::graph& g) {
    int width = 2;
    for (const dv::ir::node& n : g.nodes) width = std::max(width, detail::positions_named(n));
    dv::ir::graph_data d = owned(g);
    for (dv::ir::mesh_axis& m : d.mesh)
        if (m.width == 0) m.width = width;
    return d;
}

// A graph with what it means, to be compared with several plans of it.
class simulated_graph {
public:
    simulated_graph(const dv::ir::graph& g, const dv::plan_options& options, word seed = 1)
        : data_{with_widths(g)},
          graph_{dv::ir::view(data_)},
          meaning_{interpret(graph_, options.in_flight + 4, seed)},
          in_flight_{options.in_flight} {}
    simulated_graph(const simulated_graph&) = delete;

    std::string fault_of(const dv::ir::program& p, const dv::plan::plan& plan, word seed, int times = 4) {
        for (int i = 0; i < times; ++i) {
            simulation how{mix(seed + static_cast<word>(i)), {0, 1, 2}, 4, in_flight_};
            if (i == 1) how.queue_of = {0, 0, 0};
            try {
                simulate(graph_, p, plan, meaning_, how);
            } catch (const failure& f) {
                return f.what();
            }
        }
        return {};
    }

private:
    dv::ir::graph_data data_;
    dv::ir::graph graph_;
    meaning meaning_;  // keeps the graph's address
    int in_flight_;
};

}  // namespace support
