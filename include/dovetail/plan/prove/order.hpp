// Is the order a linear extension of every dependency, and is each role's list of steps its restriction?
//
// What follows from it, together with the waits that `replay` checks, is liveness: issue all steps of a role, run after
// run, into one single queue. Every wait of distance 0 names an earlier step of the same role, every wait of a larger distance a step
// of an earlier run, so no queue waits for something behind it. A task shared by ranks starts on each of them when all
// that stands before it there is complete; all ranks meet the shared tasks in the one order, so the first unfinished
// task of the order can always go on. More streams only take waiting away. It says nothing about progress inside NCCL.
#pragma once

#include "states.hpp"
#include "verdict.hpp"

namespace dovetail::plan::detail {

constexpr verdict check_permutation(const ir::program& p, const plan& made) {
    vec<bool> met(p.tasks.count);
    bool* seen = met.begin();
    if (made.order.count != p.tasks.count) return {flaw::order_not_permutation};
    const unsigned tasks = static_cast<unsigned>(p.tasks.count);
    int v = 0;
    for (const int *at = made.order.begin(), *end = made.order.end(); at != end; ++at) {
        v = *at;
        if (static_cast<unsigned>(v) >= tasks || seen[v]) return {flaw::order_not_permutation, -1, v};
        seen[v] = true;
    }
    return {};
}

// Walks the order as a sequential program would run: a value is read after its definition, a state in the version that
// the written order demands, and nothing is read after its bytes went to an in-place result. Only for names: see
// prove_ordered_role.
constexpr verdict check_dependencies(const ir::graph& g, const ir::program& p, const plan& made) {
    const state_versions states = versions_of(g, p);
    const int* expected = states.expected.begin();
    vec<int> written(p.buffers.count, -1), taken(p.buffers.count, -1), updates(p.buffers.count);
    int *written_by = written.begin(), *taken_by = taken.begin(), *version = updates.begin();
    const ir::buffer* buffers = p.buffers.begin();
    const ir::access* accesses = p.accesses.begin();
    for (const int *at = made.order.begin(), *last = made.order.end(); at != last; ++at) {
        const ir::task& x = p.tasks.first[*at];
        for (int i = x.first_participation, participations_end = i + x.participations; i < participations_end; ++i) {
            const ir::participation& y = p.participations.first[i];
            for (int k = y.first_access, end = k + y.accesses; k < end; ++k) {
                const int b = accesses[k].buffer;
                const ir::buffer& z = buffers[b];
                if (z.where == ir::storage::state) {
                    if (version[b] != expected[k]) return {flaw::edge_backward, y.role, *at, written_by[b], b};
                } else if (accesses[k].mode == access_mode::read) {
                    if ((written_by[b] < 0 && z.where != ir::storage::constant) || taken_by[b] >= 0)
                        return {flaw::edge_backward, y.role, *at, taken_by[b] >= 0 ? taken_by[b] : written_by[b], b};
                } else if (z.alias >= 0) {
                    // whoever held the bytes until now: the alias itself, or an earlier in-place result there
                    for (int a = y.first_access; a < k; ++a)
                        if (buffers[accesses[a].buffer].alias == z.alias) taken_by[accesses[a].buffer] = *at;
                    taken_by[z.alias] = *at;
                }
            }
            for (const ir::access& a : p.accesses.subspan(y.first_access, y.accesses))
                if (writes(a.mode)) {
                    ++version[a.buffer];
                    written_by[a.buffer] = *at;
                }
        }
    }
    return {};
}

constexpr verdict check_steps(const ir::program& p, const plan& made) {
    const bool overlapped = made.overlapped;
    vec<const ir::step*> next(p.roles, unset{}), behind(p.roles, unset{});
    const ir::step **cursor = next.begin(), **last = behind.begin();
    for (int k = 0; k < p.roles; ++k) {
        const ir::role_plan& r = made.roles.first[k];
        cursor[k] = made.steps.first + r.first_step;
        last[k] = cursor[k] + r.steps;
    }
    const ir::participation* participations = p.participations.begin();
    const ir::task* tasks = p.tasks.begin();
    // Of the task at hand, on one role; declared once, see check_conformance.
    int v = 0, i = 0, end = 0, role = 0, first = 0;
    const ir::task* x = nullptr;
    const ir::step* s = nullptr;
    stream_kind stream{};
    for (const int *at = made.order.begin(), *order_end = made.order.end(); at != order_end; ++at) {
        v = *at;
        x = tasks + v;
        for (i = x->first_participation, end = i + x->participations; i < end;) {
            role = participations[i].role;
            first = i++;
            while (i < end && participations[i].role == role) ++i;
            s = cursor[role];
            if (s == last[role] || s->task != v) {
                for (const ir::step* k = s; k != last[role]; ++k)
                    if (k->task == v) return {flaw::step_order, role, v, s->task};  // Only for names
                return {flaw::step_missing, role, v};
            }
            if (s->first_participation != first || s->participations != i - first) return {flaw::step_missing, role, v};
            cursor[role] = s + 1;
            // one queue for each communicator: its operations never run side by side
            stream = overlapped ? x->stream : stream_kind::compute;
            if (s->stream != static_cast<int>(stream) ||
                (overlapped && stream != stream_kind::communication && is_communication(x->kind) && !p.members.first[x->first_member].local &&
                 !(x->kind == op_kind::transfer && stream == stream_kind::copy)))
                return {flaw::stream_wrong, role, v};
        }
    }
    for (role = 0; role < p.roles; ++role)
        if (cursor[role] != last[role]) return {flaw::step_order, role, cursor[role]->task};
    return {};
}

}  // namespace dovetail::plan::detail
