// The accesses to each leaf: takes a program, returns for each leaf the tasks that read or write it, those of states in written order.
#pragma once

#include "../../core/vec.hpp"
#include "../../ir/program.hpp"

namespace dovetail::pass::detail {

// The participations in written order, by the node of their member. The transfer of a state has no node of its own: it reads the
// state where the first reader of what it brings is written.
template <class Program, class Owner>
constexpr vec<int> participations_as_written(const Program& p, const Owner& owner) {
    const auto& task_of = owner.first;
    const auto& participations = p.participations.first;
    const auto& accesses = p.accesses.first;
    vec<int> reader_list(p.buffers.size(), -1), place_list(p.participations.size());
    int *reader = reader_list.begin(), *place = place_list.begin();
    int last = 0;
    for (int i = 0; i < p.participations.count; ++i) {
        const int node = place[i] = p.members.first[participations[i].member].node;
        if (node > last) last = node;
        if (node >= 0)
            for (int a = participations[i].first_access; a < participations[i].first_access + participations[i].touches(); ++a) {
                int& first = reader[accesses[a].buffer];
                if (accesses[a].mode != access_mode::write && (first < 0 || node < first)) first = node;
            }
    }
    for (int i = 0; i < p.participations.count; ++i) {
        if (place[i] >= 0) continue;
        const ir::task& v = p.tasks.first[task_of[i]];
        for (int other = v.first_participation; other < v.first_participation + v.participations; ++other)
            for (int a = participations[other].first_access; a < participations[other].first_access + participations[other].touches(); ++a)
                if (participations[other].member == participations[i].member && accesses[a].mode != access_mode::read &&
                    reader[accesses[a].buffer] > place[i])
                    place[i] = reader[accesses[a].buffer];
    }
    vec<int> start(last + 3), sorted(p.participations.size());
    int* next = start.begin();
    int* to = sorted.begin();
    for (int i = 0; i < p.participations.count; ++i) ++next[place[i] + 2];
    for (int i = 1; i < last + 3; ++i) next[i] += next[i - 1];
    for (int i = 0; i < p.participations.count; ++i) to[next[place[i] + 1]++] = i;
    return sorted;
}

template <class Program>
constexpr bool has_states(const Program& p) {
    const auto& buffers = p.buffers.first;
    for (int b = 0; b < p.buffers.count; ++b)
        if (buffers[b].where == ir::storage::state) return true;
    return false;
}

// How many leaves all accesses cover together.
template <class Program>
constexpr int count_touches(const Program& p) {
    if (!ir::has_parts(p)) return p.accesses.count;
    int touches = 0;
    for (const ir::access *a = p.accesses.begin(), *end = a + p.accesses.count; a != end; ++a) touches += a->leaves;
    return touches;
}

// The accesses to each leaf, in the order of the participations, those of states in written order: those of leaf l stand at
// [first[l], first[l + 1]).
template <class Program>
struct leaf_touches {
    room<int, decltype(Program::leaves), 1> first;
    vec<int> task;
    vec<access_mode> mode;

    constexpr leaf_touches(const Program& p, bool states, int touches)
        : first(decltype(first)::sized(p.leaves.count + 1)), task(touches, unset{}), mode(touches, unset{}) {
        count(p);
        auto task_of = room<int, decltype(p.participations)>::sized(p.participations.count);
        const bool as_written = own_participations(p, states, task_of);
        vec<int> sorted;
        if (!as_written) sorted = participations_as_written(p, task_of);
        fill(p, task_of, as_written ? nullptr : sorted.begin());
    }

private:
    // Where the touches of each leaf end.
    constexpr void count(const Program& p) {
        auto& end = first.first;
        const auto& accesses = p.accesses.first;
        for (int a = 0, l = 0, last = 0; a < p.accesses.count; ++a)
            for (l = accesses[a].leaf, last = l + accesses[a].leaves; l < last; ++l) ++end[l];
        for (int l = 0, sum = 0; l <= p.leaves.count; ++l) end[l] = sum += end[l];
    }
    // The task of each participation. Returns whether those that access states are in written order.
    constexpr bool own_participations(const Program& p, bool states, auto& task_of) {
        const auto& tasks = p.tasks.first;
        const auto& participations = p.participations.first;
        bool as_written = true;
        // Declared once, see plan/compile/README.md.
        int i = 0, end = 0, at = 0, node = -1;
        for (int v = 0; v < p.tasks.count; ++v)
            for (i = tasks[v].first_participation, end = i + tasks[v].participations; i < end; ++i) {
                task_of.first[i] = v;
                if (!states || !touches_state(p, participations[i])) continue;
                at = p.members.first[participations[i].member].node;
                if (at < node || at < 0) as_written = false;
                node = at;
            }
        return as_written;
    }
    static constexpr bool touches_state(const Program& p, const ir::participation& participation) {
        for (int a = participation.first_access, last = a + participation.touches(); a < last; ++a)
            if (p.buffers.first[p.accesses.first[a].buffer].where == ir::storage::state) return true;
        return false;
    }
    // From the back, so that every start ends where it belongs. `sorted`: the participations in written order; null: as they are.
    constexpr void fill(const Program& p, const auto& task_of, const int* sorted) {
        auto& start = first.first;
        const auto& accesses = p.accesses.first;
        const auto& participations = p.participations.first;
        int* const to = task.first;
        access_mode* const how = mode.first;
        // Declared once, see plan/compile/README.md.
        int i = 0, v = 0, begin = 0, a = 0, l = 0, at = 0;
        for (int k = p.participations.count - 1; k >= 0; --k) {
            i = sorted == nullptr ? k : sorted[k];
            v = task_of.first[i];
            for (begin = participations[i].first_access, a = begin + participations[i].accesses + participations[i].awaited - 1; a >= begin;
                 --a)
                for (l = accesses[a].leaf + accesses[a].leaves; l-- > accesses[a].leaf;) {
                    at = --start[l];
                    to[at] = v;
                    how[at] = accesses[a].mode;
                }
        }
    }
};

}  // namespace dovetail::pass::detail
