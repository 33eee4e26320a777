// Waits from run to run: takes the program, its issued steps with the waits within a run, the lifetimes and the places, gives
// the waits on steps of earlier runs; and lays out all waits and events in the plan's tables.
//
// For accesses a and b of the same bytes, one of them a write, a of run k has to come before b of run k + s, where s is the
// number of slots. Within a run a and b are ordered. Where a comes first, nothing is missing: a of run k comes before b of
// run k, and that before b of run k + s on the same lane. So only those are left where b comes first in the run, and an event
// waited for across runs is always recorded behind the wait. Of the buffers that share a byte, each is dead before the next
// one is defined; so the first one's definition waits for the accesses of the last one, and the others follow.
#pragma once

#include "arena.hpp"

namespace dovetail::pass {

namespace detail {

// Step `step` of run k + lag must know these counts of the lanes of run k.
struct demand {
    int step = 0;
    int lag = 1;
    clock need = {};
};

class demands {
public:
    constexpr demands(const issue& issued, const in_run& waits) : issued_{issued}, known_{waits.known.begin()} {}

    // What the step knows of its own run and what its lane did in runs before needs no wait.
    constexpr void add(int step, int lag, clock need) {
        const clock& known = known_[step];
        for (int l = 0; l < lane_count; ++l)
            if (l == issued_.steps[step].lane || need.known[l] <= known.known[l]) need.known[l] = 0;
        if (need.known[0] + need.known[1] + need.known[2] > 0) list.push({step, lag, need});
    }

    vec<demand> list;

private:
    const issue& issued_;
    const clock* known_;
};

// The first of `cells` from c on that is not taken yet.
constexpr int untaken(int* next, int c) {
    while (next[c] != c) {
        next[c] = next[next[c]];
        c = next[c];
    }
    return c;
}

// Buffers of one arena that share bytes, in the order of their definition.
constexpr void demand_shared(const vec<int>& list, const ir::placement* place, const ir::buffer* buffer, const lifetime* life, demands& out) {
    const int n = list.size();
    // Cells: the bytes between two places at which a buffer begins or ends.
    vec<std::int64_t> keys(2 * n);
    for (int i = 0; i < n; ++i) {
        const std::int64_t begin = place[list[i]].offset / ir::alignment;
        keys[2 * i] = (begin << 20) + 2 * i;
        keys[2 * i + 1] = ((begin + ir::aligned(buffer[list[i]].bytes) / ir::alignment) << 20) + 2 * i + 1;
    }
    sort(keys);
    vec<int> edge_list(2 * n), next_list(2 * n + 1), first_list(2 * n, -1), last_list(2 * n, -1);
    int *edge = edge_list.begin(), *next = next_list.begin(), *first = first_list.begin(), *last = last_list.begin();
    int cells = -1;
    std::int64_t previous = -1;
    for (const std::int64_t key : keys) {
        if (key >> 20 != previous) ++cells;
        previous = key >> 20;
        edge[key & 0xfffff] = cells;
    }
    for (int c = 0; c <= cells; ++c) next[c] = c;
    for (int i = 0; i < n; ++i)
        for (int c = untaken(next, edge[2 * i]), end = edge[2 * i + 1]; c < end; c = untaken(next, c)) {
            first[c] = i;
            next[c] = c + 1;
        }
    for (int c = 0; c <= cells; ++c) next[c] = c;
    for (int i = n - 1; i >= 0; --i)
        for (int c = untaken(next, edge[2 * i]), end = edge[2 * i + 1]; c < end; c = untaken(next, c)) {
            last[c] = i;
            next[c] = c + 1;
        }
    for (int c = 0; c < cells; ++c)
        if (first[c] >= 0 && (c == 0 || first[c] != first[c - 1] || last[c] != last[c - 1]))
            out.add(life[list[first[c]]].definition, 1, life[list[last[c]]].release);
}

constexpr void demand_states(const ir::program& program, const issue& issued, const lifetime* life, demands& out) {
    // The first update follows every access of the run before, a read above it the last update; reads below follow it.
    bool any = false;
    for (int b = 0; b < program.buffers.size(); ++b) {
        if (program.buffers[b].where != ir::storage::state || life[b].definition < 0) continue;
        out.add(life[b].definition, 1, life[b].release);
        any = true;
    }
    if (!any) return;
    for (int s = 0; s < issued.steps.size(); ++s)
        for (const ir::part& part : program.parts.part(issued.steps[s].first_part, issued.steps[s].parts))
            for (const ir::access& a : program.accesses.part(part.first_access, part.accesses)) {
                if (program.buffers[a.buffer].where != ir::storage::state || life[a.buffer].definition <= s) continue;
                clock need;
                need.known[issued.steps[life[a.buffer].last_write].lane] = issued.lane_index[life[a.buffer].last_write] + 1;
                out.add(s, 1, need);
            }
}

}  // namespace detail

constexpr vec<pending_wait> wrap(const ir::program& program, const issue& issued, const in_run& waits, const lifetimes& lives,
                                 span<const ir::placement> places) {
    const ir::buffer* buffer = program.buffers.begin();
    const lifetime* life = lives.of.begin();
    detail::demands wanted{issued, waits};
    for (const ir::role_plan& role : issued.roles) {
        vec<int> shared[2];
        for (int s = role.first_step; s < role.first_step + role.steps; ++s)
            for (int b = lives.defined[s]; b >= 0; b = lives.next[b]) {
                const ir::storage where = buffer[b].where;
                if (where == ir::storage::state) continue;
                if (buffer[b].slots > 1 || where == ir::storage::input)
                    wanted.add(s, buffer[b].slots, life[b].release);
                else if (places[b].offset >= 0 && buffer[b].bytes > 0)
                    shared[where == ir::storage::host].push(b);
            }
        for (const vec<int>& list : shared) detail::demand_shared(list, places.begin(), buffer, life, wanted);
    }
    detail::demand_states(program, issued, life, wanted);

    vec<pending_wait> out;
    int rings = 0;
    for (const detail::demand& d : wanted.list)
        if (rings < d.lag) rings = d.lag;
    if (rings == 0) return out;

    // Runs 0 ... rings with clocks that count the steps of a lane through all of them. What run `lag` has to know of run 0 it
    // can only learn from the runs between, so that its waits are the same in every later run.
    const int count = issued.steps.size();
    const ir::step* steps = issued.steps.begin();
    vec<clock> need_list(count), clock_list((rings + 1) * count);
    clock *need = need_list.begin(), *clocks = clock_list.begin();
    vec<int> first_wait(count, -1), next_wait;  // of `out`, by step
    clock length, tail[lane_count];
    vec<clock> tails(program.roles * lane_count);
    for (int s = 0; s < count; ++s) clocks[s] = waits.known[s];
    for (int run = 1; run <= rings; ++run) {
        for (detail::demand& d : wanted.list)
            if (d.lag == run)
                for (int l = 0; l < lane_count; ++l) detail::raise(need[d.step].known[l], d.need.known[l]);
        const pending_wait* local = waits.waits.begin();
        const pending_wait* const locals = waits.waits.end();
        for (int r = 0; r < program.roles; ++r) {
            const int* lane_first = issued.lane_first.begin() + r * lane_count;
            for (int l = 0; l < lane_count; ++l) {
                length.known[l] = lane_first[l + 1] - lane_first[l];
                tail[l] = tails[r * lane_count + l];
                // What the last step of run 0 left behind.
                if (run == 1 && length.known[l] > 0) {
                    tail[l] = waits.known[issued.lane_steps[lane_first[l + 1] - 1]];
                    tail[l].known[l] = length.known[l];
                }
            }
            auto join = [&](clock& to, int on, int of_run) {
                const clock& from = clocks[of_run * count + on];
                for (int m = 0; m < lane_count; ++m) detail::raise(to.known[m], from.known[m]);
                const int l = steps[on].lane;
                detail::raise(to.known[l], of_run * length.known[l] + issued.lane_index[on] + 1);
            };
            const int end = issued.roles[r].first_step + issued.roles[r].steps;
            for (int s = issued.roles[r].first_step; s < end; ++s) {
                const int lane = steps[s].lane;
                clock& mine = tail[lane];
                for (; local != locals && local->step == s; ++local) join(mine, local->on, run);
                for (int w = first_wait[s]; w >= 0; w = next_wait[w]) join(mine, out[w].on, run - out[w].lag);
                int* n = need[s].known;
                if (n[0] > mine.known[0] || n[1] > mine.known[1] || n[2] > mine.known[2]) {
                    int on[lane_count] = {-1, -1, -1};
                    for (int l = 0; l < lane_count; ++l)
                        if (n[l] > mine.known[l]) on[l] = issued.lane_steps[lane_first[l] + n[l] - 1];
                    detail::keep_strongest(on, n, clocks);
                    for (int l = 0; l < lane_count; ++l) {
                        if (on[l] < 0) continue;
                        next_wait.push(first_wait[s]);
                        first_wait[s] = out.size();
                        out.push({s, on[l], run});
                        join(mine, on[l], 0);
                    }
                }
                need[s] = {};
                clocks[run * count + s] = mine;
                mine.known[lane] = run * length.known[lane] + issued.lane_index[s] + 1;
            }
            for (int l = 0; l < lane_count; ++l) tails[r * lane_count + l] = tail[l];
        }
    }
    return out;
}

struct layout {
    vec<ir::step> steps;
    vec<ir::wait> waits;
    vec<ir::role_plan> roles;
    int rings = 1;
};

// The plan's tables of waits and events. A step's waits of its own run stand first; events of a role are numbered in the
// order in which they are recorded. `roles`: those of the arena.
constexpr layout lay_out(const issue& issued, span<const ir::role_plan> roles, span<const pending_wait> in_run, span<const pending_wait> across) {
    layout out{vec<ir::step>(issued.steps), vec<ir::wait>(in_run.size() + across.size()), vec<ir::role_plan>(roles.size()), 1};
    ir::step* steps = out.steps.begin();
    for (int i = 0; i < 2; ++i)
        for (const pending_wait& w : i == 0 ? in_run : across) {
            ++steps[w.step].waits;
            steps[w.on].event = 0;
            if (out.rings < w.lag) out.rings = w.lag;
        }
    int first = 0;
    for (int r = 0; r < roles.size(); ++r) {
        out.roles[r] = roles[r];
        out.roles[r].events = 0;
        for (int s = roles[r].first_step; s < roles[r].first_step + roles[r].steps; ++s) {
            steps[s].first_wait = first;
            first += steps[s].waits;
            steps[s].waits = 0;
            if (steps[s].event == 0) steps[s].event = out.roles[r].events++;
        }
    }
    for (int i = 0; i < 2; ++i)
        for (const pending_wait& w : i == 0 ? in_run : across) {
            int role = 0;
            while (role + 1 < roles.size() && roles[role + 1].first_step <= w.on) ++role;
            ir::step& s = steps[w.step];
            out.waits[s.first_wait + s.waits++] = {steps[w.on].event, w.lag, w.on - roles[role].first_step};
        }
    return out;
}

}  // namespace dovetail::pass
