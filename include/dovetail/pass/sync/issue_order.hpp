// The issue order of each role: takes the program, one linear extension of its tasks and their streams, gives each role's steps in the
// order in which its host thread issues them. It is the restriction of the one order to the role, so all roles agree on it.
#pragma once

#include "../../ir/schedule.hpp"

namespace dovetail::pass {

// What a plan's step begins with.
struct issued_step {
    int task;
    int first_participation;
    int participations;
    int stream;
};

template <class Program>
struct basic_issue_order {
    room<issued_step, decltype(Program::participations)> steps;  // by role, in issue order
    vec<ir::role_plan> roles;                                    // first_step and steps
    vec<int> position;  // by step: of its task in the order; empty where a single role has all steps in that order
    room<int, decltype(Program::participations)> index_on_stream;  // by step: its place among the steps of its role and stream
    vec<int> on_stream;                                            // by role and stream: how many steps it has
    vec<int> stream_steps;  // of role r and stream l, in issue order: from stream_count * first_step + l * steps of the role on
};
using issued_order = basic_issue_order<ir::program>;

namespace detail {

// Counts the steps of each role, one for each task in which it takes part, and places them behind those of the roles before it. Returns the
// number of all steps.
template <class Program>
constexpr int count_steps(const Program& program, span<const int> order, ir::role_plan* roles) {
    const auto& participations = program.participations.first;
    const auto& tasks = program.tasks.first;
    int p = 0, end = 0;  // declared once, see plan/compile/README.md
    for (int at = 0; at < order.count; ++at) {
        p = tasks[order.first[at]].first_participation;
        end = p + tasks[order.first[at]].participations;
        for (; p < end; ++p)
            if (p + 1 == end || participations[p + 1].role != participations[p].role) ++roles[participations[p].role].steps;
    }
    int count = 0;
    for (int r = 0; r < program.roles; ++r) {
        roles[r].first_step = count;
        count += roles[r].steps;
    }
    return count;
}

}  // namespace detail

template <class Program>
constexpr basic_issue_order<Program> issue_order(const Program& program, span<const int> order, span<const unsigned char> stream) {
    const auto& participations = program.participations.first;
    const auto& tasks = program.tasks.first;
    const bool alone = program.roles == 1;
    basic_issue_order<Program> out{};
    out.roles = vec<ir::role_plan>(program.roles);
    ir::role_plan* roles = out.roles.begin();
    if (alone) roles[0].steps = order.count;
    const int count = alone ? order.count : detail::count_steps(program, order, roles);
    int v = 0, l = 0, p = 0, end = 0, next = 0, role = 0, first = 0, s = 0, i = 0;  // declared once, see plan/compile/README.md
    out.steps.resize(count);
    if (!alone) out.position = vec<int>(count, unset{});
    out.index_on_stream.resize(count);
    out.on_stream = vec<int>(program.roles * stream_count);
    out.stream_steps = vec<int>(count * stream_count, unset{});
    vec<int> issued(program.roles);
    auto& steps = out.steps.first;
    auto& index = out.index_on_stream.first;
    int *position = out.position.begin(), *stream_steps = out.stream_steps.begin();
    int *on_stream = out.on_stream.begin(), *next_step = issued.begin();
    for (int at = 0; at < order.count; ++at) {
        v = order.first[at];
        l = stream.first[v];
        p = tasks[v].first_participation;
        end = p + tasks[v].participations;
        for (next = end; p < end; p = next) {
            if (!alone) {
                role = participations[p].role;
                next = p + 1;
                while (next < end && participations[next].role == role) ++next;
            }
            first = roles[role].first_step;
            s = first + next_step[role]++;
            steps[s] = {v, p, next - p, l};
            if (!alone) position[s] = at;
            i = on_stream[role * stream_count + l]++;
            index[s] = i;
            stream_steps[stream_count * first + l * roles[role].steps + i] = s;
        }
    }
    return out;
}

}  // namespace dovetail::pass
