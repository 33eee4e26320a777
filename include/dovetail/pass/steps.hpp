// What every role issues: takes the program, one linear extension of its vertices and their lanes, gives each role's steps
// in issue order. A role's order is the restriction of the one order, so all host threads agree on it.
#pragma once

#include "../ir/schedule.hpp"
#include "../ir/table.hpp"

namespace dovetail::pass {

template <class Store>
struct basic_issue {
    typename Store::template of<ir::step, 0> steps;       // by role, in issue order
    typename Store::template of<ir::role_plan, 1> roles;  // first_step and steps
    typename Store::template of<int, 2> step_of_part;     // by part: index of its step in `steps`
    typename Store::template of<int, 3> position;         // by step: of its vertex in the order
    typename Store::template of<int, 4> lane_index;       // by step: its place among the steps of its role and lane
    typename Store::template of<int, 5> lane_first;       // by role * lane_count + lane: where its steps begin in lane_steps; one more at the end
    typename Store::template of<int, 6> lane_steps;       // indices of steps, by role and lane

    static constexpr int tables = 7;
    template <class View>
        requires std::is_same_v<View, basic_issue<viewing>>
    constexpr operator View() const {
        return ir::view(*this);
    }
};

template <class A, class B, class F>
constexpr void zip(A& a, B& b, F f)
    requires(A::tables == 7 && requires { a.step_of_part; })
{
    f(a.steps, b.steps);
    f(a.roles, b.roles);
    f(a.step_of_part, b.step_of_part);
    f(a.position, b.position);
    f(a.lane_index, b.lane_index);
    f(a.lane_first, b.lane_first);
    f(a.lane_steps, b.lane_steps);
}

using issue = basic_issue<viewing>;
using issue_data = basic_issue<owning>;

namespace detail {
// One past the last part of the role that `first` belongs to, within [first, end).
constexpr int end_of_role(const ir::part* parts, int first, int end) {
    int i = first + 1;
    while (i < end && parts[i].role == parts[first].role) ++i;
    return i;
}
}  // namespace detail

constexpr issue_data steps(const ir::program& program, span<const int> order, span<const unsigned char> lane) {
    issue_data out;
    const ir::part* parts = program.parts.begin();
    const int lanes = program.roles * lane_count;
    out.roles = vec<ir::role_plan>(program.roles);
    out.lane_first = vec<int>(lanes + 1);
    out.step_of_part = vec<int>(program.parts.size(), -1);
    int* first = out.lane_first.begin();
    for (const int v : order) {
        const ir::vertex& vertex = program.vertices[v];
        for (int p = vertex.first_part, end = p + vertex.parts; p < end; p = detail::end_of_role(parts, p, end))
            ++first[parts[p].role * lane_count + lane[v] + 1];
    }
    for (int i = 0; i < lanes; ++i) first[i + 1] += first[i];
    const int count = first[lanes];
    out.steps = vec<ir::step>(count);
    out.position = vec<int>(count);
    out.lane_index = vec<int>(count);
    out.lane_steps = vec<int>(count);
    for (int r = 0; r < program.roles; ++r) out.roles[r].first_step = first[r * lane_count];

    vec<int> on_lane(lanes);
    ir::role_plan* roles = out.roles.begin();
    for (int at = 0; at < order.size(); ++at) {
        const ir::vertex& vertex = program.vertices[order[at]];
        for (int p = vertex.first_part, end = p + vertex.parts; p < end;) {
            const int role = parts[p].role;
            const int row = role * lane_count + lane[order[at]];
            const int s = roles[role].first_step + roles[role].steps++;
            const int next = detail::end_of_role(parts, p, end);
            out.steps[s] = {order[at], p, next - p, lane[order[at]]};
            out.position[s] = at;
            out.lane_steps[first[row] + on_lane[row]] = s;
            out.lane_index[s] = on_lane[row]++;
            for (; p < next; ++p) out.step_of_part[p] = s;
        }
    }
    return out;
}

// The step in which `role` takes part in `vertex`, or -1.
constexpr int step_of(const ir::program& program, const issue& issued, int vertex, int role) {
    const ir::part* parts = program.parts.begin();
    int low = program.vertices[vertex].first_part;
    int high = low + program.vertices[vertex].parts - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (parts[middle].role < role)
            low = middle + 1;
        else
            high = middle;
    }
    return low == high && parts[low].role == role ? issued.step_of_part[low] : -1;
}

}  // namespace dovetail::pass
