// The timeline of an order: what every stream of every role does when, if each stream takes its tasks in that order. Takes
// the durations of the tasks alone; gives their starts and ends, slowed by what runs beside them.
#pragma once

#include "../../cost/machine.hpp"
#include "occupancy.hpp"

namespace dovetail::pass {

// An order with its prediction, in picoseconds from the start of the run.
template <class Store>
struct basic_schedule {
    typename Store::template of<int, 0> order;
    typename Store::template of<unsigned char, 1> stream;  // of each task
    typename Store::template of<std::int64_t, 2> start;    // of each task
    typename Store::template of<std::int64_t, 3> end;      // of each task
    std::int64_t length = 0;                               // -1: the order is no linear extension of the edges, the run would not end
    bool overlapped = false;

    constexpr void resize(int tasks, int ordered) {
        order.resize(ordered);
        stream.resize(tasks);
        start.resize(tasks);
        end.resize(tasks);
    }
};
using schedule = basic_schedule<owning>;

// Everything on one stream of each role, in an order that respects the edges: nothing runs beside anything on a role, and a
// task starts when all its roles are done with the one before.
template <class Schedule = schedule, class Program, class Costs>
constexpr Schedule serial_schedule(const Program& p, const Costs& costs, span<const int> order) {
    const int n = p.tasks.count;
    Schedule result{};
    result.resize(n, order.count);
    vec<std::int64_t> free_list(p.roles);
    std::int64_t* free_at = free_list.begin();
    auto& ordered = result.order.first;
    auto &start = result.start.first, &end = result.end.first;
    const auto& cost = costs.first;
    const auto& tasks = p.tasks.first;
    const auto& participations = p.participations.first;
    for (int k = 0; k < order.count; ++k) {
        const int v = ordered[k] = order.first[k], first = tasks[v].first_participation, last = first + tasks[v].participations;
        std::int64_t now = 0;
        for (int i = first; i < last; ++i)
            if (free_at[participations[i].role] > now) now = free_at[participations[i].role];
        start[v] = now;
        end[v] = now += cost[v];
        for (int i = first; i < last; ++i) free_at[participations[i].role] = now;
    }
    for (int r = 0; r < p.roles; ++r)
        if (free_at[r] > result.length) result.length = free_at[r];
    if (order.count != n) result.length = -1;
    return result;
}

// Each role on its streams. `order` has every task once.
//
// A participation (a task on one role) opens when its stream reaches it and the edges into it are met; the task runs once all its
// participations are open, and ends on all at once. A communication slows its roles from the opening, its wait for the others
// included: its kernel holds multiprocessors while it waits. A copy does only while it runs.
//
// When communication and copies run follows at once from what they wait for. Only what computes (a task with one participation) is
// slowed by the others, and nothing that is still unknown begins before the first of these tasks ends: the ones that
// compute, one a role, end in the order of the ends that follow from what is known.
template <class Schedule = schedule, class Program, class Occupancy, class Costs>
constexpr Schedule estimate_timeline(const Program& p, const Occupancy& r, const Costs& costs, span<const int> order, const plan_options& s) {
    constexpr int communication = static_cast<int>(stream_kind::communication);
    constexpr int copy = static_cast<int>(stream_kind::copy);
    constexpr std::int64_t unknown = INT64_MAX;

    const int n = p.tasks.count, roles = p.roles;
    const auto &participations_of = r.participations_of.first, &first = r.first.first;
    const auto &slot_of = r.slot.first, &task = r.task.first, &incoming = r.incoming.first;
    const auto& arrival = r.arrival.first;
    const auto& cost = costs.first;
    const auto& tasks = p.tasks.first;
    const int participation_count = participations_of[n];
    const std::int64_t latency = s.machine.edge_latency;
    const int by_communication = s.machine.compute_slowdown_beside_communication - 1000, by_copy = s.machine.beside_copy - 1000;
    Schedule result{};
    result.resize(n, order.count);
    result.overlapped = true;
    auto& ordered = result.order.first;
    auto& stream = result.stream.first;
    auto &start = result.start.first, &end = result.end.first;
    // Of a participation: what is missing, the stream's arrival and edges; the next one of its slot (-1: none); when the met ones allow
    // it to open; since when it slows its role.
    using numbers = room<int, decltype(p.participations)>;
    using times = room<std::int64_t, decltype(p.participations)>;
    auto closed_room = numbers::sized(participation_count), behind_room = numbers::sized(participation_count),
         to_open_room = numbers::sized(participation_count);
    auto ready_room = times::sized(participation_count), slowing_room = times::sized(participation_count);
    auto &closed = closed_room.first, &behind = behind_room.first, &to_open = to_open_room.first;
    auto &ready = ready_room.first, &slowing = slowing_room.first;
    // Of a slot: the participation that was the last to end before what computes here is looked at.
    vec<int> first_list(r.slots, -1);
    int* beside = first_list.begin();
    auto shut_room = room<int, decltype(p.tasks)>::sized(n);
    auto& shut = shut_room.first;  // of a task: its participations that are not open
    // Of a role: the task that computes, its work left at a moment and its pace since, in thousandths of the time alone.
    vec<int> role_list(2 * roles, -1);
    vec<std::int64_t> time_list(4 * roles, unset{});
    int *computes = role_list.begin(), *pace = computes + roles;
    std::int64_t *since = time_list.begin(), *left = since + roles;
    std::int64_t* looked = left + roles;  // up to when what runs beside it has been taken into account for good
    std::int64_t* ends = looked + roles;  // unknown: something has changed

    // What the loops below set once for each task, participation or edge stands here, because clang keeps every variable that is declared
    // again until the function ends, and searches them all for each one that is read.
    int v = 0, i = 0, last = 0, mine = 0, role = 0, done = 0, soonest = 0, to = 0;
    std::int64_t time = 0, met = 0;
    // Of a role that computes, while what runs beside it is looked at.
    int base = 0, talks = 0, copies = 0, paced = 0, wanted = 0;
    std::int64_t from = 0, rest = 0, at = 0, change = 0;
    for (; v < n; ++v) {
        stream[v] = static_cast<unsigned char>(tasks[v].stream);
        end[v] = unknown;
        shut[v] = -i;
        for (last = participations_of[v + 1]; i < last; ++i) {
            closed[i] = incoming[i] + 1;
            slowing[i] = unknown;
        }
        shut[v] += i;
    }
    for (int k = order.count - 1; k >= 0; --k)
        for (v = ordered[k] = order.first[k], i = participations_of[v], last = participations_of[v + 1]; i < last; ++i) {
            behind[i] = beside[slot_of[i]];
            beside[slot_of[i]] = i;
        }
    int opening = 0, ended = 0;
    for (int here = 0; here < r.slots; ++here)
        if (i = beside[here]; i >= 0 && --closed[i] == 0) to_open[opening++] = i;
    std::int64_t now = 0;
    for (;;) {
        if (opening > 0) {
            i = to_open[--opening];
            v = task[i];
            role = slot_of[i] / stream_count;
            mine = stream[v];
            time = ready[i];
            if (time > start[v]) start[v] = time;
            if (mine == communication) {
                slowing[i] = time;
                ends[role] = unknown;
            }
            if (--shut[v] > 0) continue;
            if (mine == 0) {
                computes[role] = v;
                since[role] = looked[role] = start[v];
                left[role] = cost[v];
                pace[role] = 1000;
                ends[role] = unknown;
                continue;
            }
            time = start[v];
            end[v] = time + cost[v];
            for (i = participations_of[v], last = participations_of[v + 1]; i < last; ++i) {
                ends[slot_of[i] / stream_count] = unknown;
                if (mine == copy) slowing[i] = time;
            }
            done = v;
        } else {
            soonest = -1;
            for (role = 0; role < roles; ++role) {
                if (computes[role] < 0) continue;
                if (ends[role] == unknown) {
                    // From change to change of what runs beside it, as far as that is known.
                    base = role * stream_count;
                    talks = beside[base + communication];
                    copies = beside[base + copy];
                    paced = pace[role];
                    from = since[role];
                    rest = left[role];
                    at = looked[role];
                    for (;;) {
                        while (talks >= 0 && end[task[talks]] <= at) talks = behind[talks];
                        while (copies >= 0 && end[task[copies]] <= at) copies = behind[copies];
                        wanted = 1000;
                        change = unknown;
                        if (talks >= 0) {
                            change = slowing[talks];
                            if (change <= at) {
                                wanted += by_communication;
                                change = end[task[talks]];
                            }
                        }
                        if (copies >= 0) {
                            met = slowing[copies];
                            if (met <= at) {
                                wanted += by_copy;
                                met = end[task[copies]];
                            }
                            if (met < change) change = met;
                        }
                        if (wanted < 1) wanted = 1;
                        if (wanted != paced) {
                            rest -= (at - from) * 1000 / paced;
                            if (rest < 0) rest = 0;
                            from = at;
                            paced = wanted;
                        }
                        ends[role] = from + rest + (rest * (paced - 1000) + 999) / 1000;
                        if (at <= now) {
                            // Nothing that is still unknown happens before now.
                            since[role] = from;
                            left[role] = rest;
                            pace[role] = paced;
                            looked[role] = at;
                            beside[base + communication] = talks;
                            beside[base + copy] = copies;
                        }
                        if (ends[role] <= change) break;
                        at = change;
                    }
                }
                if (soonest < 0 || ends[role] < ends[soonest]) soonest = role;
            }
            if (soonest < 0) break;
            now = ends[soonest];
            done = computes[soonest];
            end[done] = now;
            computes[soonest] = -1;
        }

        ++ended;
        time = end[done];
        if (time > result.length) result.length = time;
        for (i = participations_of[done], last = participations_of[done + 1]; i < last; ++i) {
            to = behind[i];
            if (to < 0) continue;
            if (time > ready[to]) ready[to] = time;
            if (--closed[to] == 0) to_open[opening++] = to;
        }
        mine = stream[done];
        for (i = first[done], last = first[done + 1]; i < last; ++i) {
            to = arrival[i];
            met = slot_of[to] % stream_count == mine ? time : time + latency;
            if (met > ready[to]) ready[to] = met;
            if (--closed[to] == 0) to_open[opening++] = to;
        }
    }
    if (ended != n) result.length = -1;
    return result;
}

}  // namespace dovetail::pass
