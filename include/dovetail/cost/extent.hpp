// How many ranks take part in a communication, for its time and for its key in a profile.
#pragma once

#include "../ir/program.hpp"
#include "plan_options.hpp"

namespace dovetail::cost_model {

// The ranks that communicate in a member: those of one node, and the nodes. A machine without a network bandwidth is one node.
struct extent {
    int local = 1;
    int nodes = 1;

    // At most as many as a world has, whatever width is assumed.
    constexpr void add(link between, int ranks, const machine_description& m) {
        int& of_kind = between == link::network && m.network_bandwidth > 0 ? nodes : local;
        const std::int64_t all = std::int64_t{of_kind} * ranks;
        of_kind = static_cast<int>(all < ir::most_ranks ? all : ir::most_ranks);
    }
    constexpr std::int64_t ranks() const { return std::int64_t{local} * nodes; }
};
// They are positions along the member's axes, or roles.
template <class Graph, class Program>
constexpr extent extent_of(const Graph& g, const Program& p, const ir::member& m, const plan_options& s) {
    extent n;
    if (m.communicator < 0) {
        n.add(s.between_roles, 2, s.machine);
        return n;
    }
    const ir::communicator& c = p.communicators[m.communicator];
    if (c.axes == 0) {
        n.add(s.between_roles, c.roles, s.machine);
        return n;
    }
    const ir::role& role = g.roles[p.communicator_roles[c.first_role]];
    for (const ir::mesh_axis& a : g.mesh.view().subspan(role.first_axis, role.axes))
        if ((c.axes >> a.axis & 1u) != 0) n.add(a.link, a.width > 0 ? a.width : s.assumed_width, s.machine);
    return n;
}

}  // namespace dovetail::cost_model
