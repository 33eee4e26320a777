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
class dependencies {
public:
    constexpr dependencies(const ir::graph& g, const ir::program& p)
        : p_{p}, states_{versions_of(g, p)}, written_(p.leaves.count, -1), taken_(p.leaves.count, -1), updates_(p.leaves.count) {}

    // The participations of the tasks, in order.
    constexpr verdict touch(int task, const ir::participation& x) {
        for (int k = x.first_access, end = k + x.touches(); k < end; ++k)
            for (int i = 0; i < p_.accesses.first[k].leaves; ++i)
                if (const verdict bad = touch(task, x, k, i); !bad) return bad;
        for (const ir::access& a : p_.accesses.subspan(x.first_access, x.accesses))
            for (int leaf = a.leaf, last = leaf + a.leaves; leaf < last && writes(a.mode); ++leaf) {
                ++updates_[leaf];
                written_[leaf] = task;
            }
        return {};
    }

private:
    // The i-th leaf of access k.
    constexpr verdict touch(int task, const ir::participation& x, int k, int i) {
        const ir::access& a = p_.accesses.first[k];
        const ir::buffer& b = p_.buffers.first[a.buffer];
        const int leaf = a.leaf + i;
        if (b.where == ir::storage::state) {
            if (updates_[leaf] != states_.of(k, i)) return {flaw::edge_backward, x.role, task, written_[leaf], a.buffer};
        } else if (a.mode == access_mode::read) {
            if ((written_[leaf] < 0 && b.where != ir::storage::constant) || taken_[leaf] >= 0)
                return {flaw::edge_backward, x.role, task, taken_[leaf] >= 0 ? taken_[leaf] : written_[leaf], a.buffer};
        } else if (b.alias >= 0) {
            // the former owner of the bytes: the aliased buffer itself, or an earlier in-place result there
            const int place = leaf - b.first_leaf;
            for (const ir::access& c : p_.accesses.subspan(x.first_access, k - x.first_access)) {
                const ir::buffer& other = p_.buffers.first[c.buffer];
                if (other.alias == b.alias && place < other.leaves) taken_[other.first_leaf + place] = task;
            }
            if (place < p_.buffers.first[b.alias].leaves) taken_[p_.buffers.first[b.alias].first_leaf + place] = task;
        }
        return {};
    }

    const ir::program& p_;
    state_versions states_;
    vec<int> written_, taken_, updates_;  // by leaf: the task that wrote it, or took over its bytes; its updates so far
};
// Only for names.
constexpr verdict check_dependencies(const ir::graph& g, const ir::program& p, const plan& made) {
    dependencies seen{g, p};
    for (const int v : made.order)
        for (const ir::participation& x : p.participations.subspan(p.tasks[v].first_participation, p.tasks[v].participations))
            if (const verdict bad = seen.touch(v, x); !bad) return bad;
    return {};
}

// A communication by NCCL. Those of a role are on one stream: they never run side by side.
constexpr bool is_by_nccl(const ir::program& p, const ir::task& x) {
    return is_communication(x.kind) && !p.members.first[x.first_member].local && x.moved_by == transport::nccl;
}

// A task runs on its own stream; all tasks on that of compute where nothing overlaps, and communication in which one role alone takes part
// may.
constexpr bool is_on_wrong_stream(const ir::program& p, const ir::task& x, const ir::step& s, bool overlapped) {
    const bool computes = s.stream == static_cast<int>(stream_kind::compute);
    if (!overlapped) return !computes;
    if (x.stream != stream_kind::communication) return s.stream != static_cast<int>(x.stream) || is_by_nccl(p, x);
    const ir::participation* of = p.participations.first + x.first_participation;
    const bool own = of[0].role == of[x.participations - 1].role;
    return s.stream != static_cast<int>(x.stream) && !(computes && own);
}

// The role's next step is not that of the task, which stands among those behind it or nowhere.
constexpr verdict step_not_next(int role, int task, const ir::step* next, const ir::step* last) {
    for (const ir::step* s = next; s != last; ++s)
        if (s->task == task) return {flaw::step_order, role, task, next->task};  // Only for names
    return {flaw::step_missing, role, task};
}

// Follows the order through the steps of all roles at once: a task is the next step of each role that has a part in it.
constexpr verdict check_steps(const ir::program& p, const plan& made) {
    vec<const ir::step*> next(p.roles, unset{}), behind(p.roles, unset{});
    const ir::step **cursor = next.begin(), **last = behind.begin();
    vec<int> stream_of_nccl(p.roles, -1);
    for (int k = 0; k < p.roles; ++k) {
        const ir::role_plan& r = made.roles.first[k];
        cursor[k] = made.steps.first + r.first_step;
        last[k] = cursor[k] + r.steps;
    }
    const ir::participation* participations = p.participations.begin();
    for (const int *at = made.order.begin(), *order_end = made.order.end(); at != order_end; ++at) {
        const int v = *at;
        const ir::task& x = p.tasks.first[v];
        for (int i = x.first_participation, end = i + x.participations; i < end;) {
            const int role = participations[i].role, first = i++;
            while (i < end && participations[i].role == role) ++i;
            const ir::step* s = cursor[role];
            if (s == last[role] || s->task != v) return step_not_next(role, v, s, last[role]);
            if (s->first_participation != first || s->participations != i - first) return {flaw::step_missing, role, v};
            cursor[role] = s + 1;
            if (is_on_wrong_stream(p, x, *s, made.overlapped)) return {flaw::stream_wrong, role, v};
            if (!is_by_nccl(p, x)) continue;
            int& stream = stream_of_nccl.first[role];
            if (stream >= 0 && stream != s->stream) return {flaw::stream_wrong, role, v};
            stream = s->stream;
        }
    }
    for (int role = 0; role < p.roles; ++role)
        if (cursor[role] != last[role]) return {flaw::step_order, role, cursor[role]->task};
    return {};
}

}  // namespace dovetail::plan::detail
