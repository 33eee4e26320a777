// The predicted timeline of an order: when each task starts and ends, if each stream of each role executes its tasks in that order. From
// the durations of the tasks alone to their starts and ends, including the slow-down by concurrent tasks.
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
    std::int64_t length = 0;                               // -1: the order is not a linear extension of the edges; the run would not end
    bool overlapped = false;

    constexpr void resize(int tasks, int ordered) {
        order.resize(ordered);
        stream.resize(tasks);
        start.resize(tasks);
        end.resize(tasks);
    }
};
using schedule = basic_schedule<owning>;

// The timeline with one stream per role, for an order that respects the edges: no two tasks of a role are concurrent, and a task starts
// when the previous task of each of its roles has ended.
template <class Schedule = schedule, class Program, class Costs>
constexpr Schedule serial_schedule(const Program& p, const Costs& costs, span<const int> order) {
    const auto& participations = p.participations.first;
    Schedule result{};
    result.resize(p.tasks.count, order.count);
    vec<std::int64_t> free_at(p.roles);  // by role
    for (int k = 0; k < order.count; ++k) {
        const int v = order.first[k], first = p.tasks.first[v].first_participation, last = first + p.tasks.first[v].participations;
        std::int64_t start = 0;
        for (int i = first; i < last; ++i)
            if (const std::int64_t time = free_at.first[participations[i].role]; time > start) start = time;
        const std::int64_t end = start + costs.first[v];
        for (int i = first; i < last; ++i) free_at.first[participations[i].role] = end;
        result.order.first[k] = v;
        result.start.first[v] = start;
        result.end.first[v] = end;
    }
    for (const std::int64_t time : free_at)
        if (time > result.length) result.length = time;
    if (order.count != p.tasks.count) result.length = -1;
    return result;
}

// When a value is ready: the latest end of the tasks that write it. `end`: by task.
template <class Program, class Ends>
constexpr std::int64_t ready_time(const Program& p, int symbol, const Ends& end) {
    std::int64_t time = 0;
    for (int v = 0; v < p.tasks.count; ++v)
        if (end[v] > time && ir::writes_symbol(p, p.tasks.first[v], symbol)) time = end[v];
    return time;
}

// What the search compares of a schedule: the time of a run or, of the objective `finish`, until its output is ready.
template <class Program, class Schedule>
constexpr std::int64_t objective_of(const Program& p, const Schedule& t, const plan_options& s) {
    return s.preferred < 0 || t.length < 0 ? t.length : ready_time(p, s.preferred, t.end.first);
}

namespace detail {

// A discrete-event simulation of the streams of all roles. Each stream of a role is a queue of participations (a participation is a task
// on one role) in the given order. The events are: a participation opens, and a task ends.
//
// A participation opens when its stream reaches it and its incoming edges are satisfied. The task starts when all its participations are
// open, and ends on all roles at once. Communication slows compute on its roles from the opening of its participation, including the time
// that it waits for other roles, because its kernel occupies multiprocessors while it waits. A copy slows compute only while it runs.
//
// The end of communication and of copies follows from their start. A compute task (it has one participation) is slowed by both, so its end
// is an estimate until no earlier event is possible: of the running compute tasks, one per role, the one that ends first is the next event.
template <class Schedule, class Program, class Occupancy, class Costs>
class stream_simulation {
public:
    constexpr stream_simulation(const Program& p, const Occupancy& r, const Costs& costs, const plan_options& s)
        : p_{p},
          r_{r},
          costs_{costs},
          latency_{s.machine.edge_latency},
          slow_down_{0, s.machine.compute_slowdown_beside_communication - 1000, s.machine.beside_copy - 1000},
          participations_(participation_table::sized(r.participations_of[p.tasks.count])),
          opening_(indices::sized(r.participations_of[p.tasks.count])),
          closed_(counts::sized(p.tasks.count)),
          front_(r.slots, -1),
          computing_(p.roles) {
        result_.overlapped = true;
    }

    constexpr Schedule run(span<const int> order) {
        line_up(order);
        for (;;) {
            if (opening_count_ > 0)
                open(opening_.first[--opening_count_]);
            else if (const int role = soonest(); role >= 0)
                finish_computing(role);
            else
                break;
        }
        if (ended_ != p_.tasks.count) result_.length = -1;
        return static_cast<Schedule&&>(result_);
    }

private:
    static constexpr std::int64_t unknown = INT64_MAX;

    struct participation {
        int missing = 0;                 // edges that are not satisfied, plus one until its stream reaches it
        int behind = -1;                 // the next participation on its stream; -1: none
        std::int64_t ready = 0;          // the earliest time at which it can open, from what is satisfied so far
        std::int64_t slowing = unknown;  // the time from which on it slows compute on its role
    };
    // The compute task of a role: the remaining work at time `since`, and its pace from then on, in thousandths of the time alone.
    struct computation {
        int task = -1;
        int pace = 1000;
        std::int64_t since = 0;
        std::int64_t left = 0;
        std::int64_t seen = 0;        // the time up to which the concurrent tasks are final and accounted for
        std::int64_t ends = unknown;  // the estimated end; unknown: must be estimated again

        constexpr void change_pace(int to, std::int64_t at) {
            if (to == pace) return;
            left -= (at - since) * 1000 / pace;
            if (left < 0) left = 0;
            since = at;
            pace = to;
        }
        constexpr void estimate() { ends = since + left + (left * (pace - 1000) + 999) / 1000; }
    };
    // A pace, and the time at which it changes.
    struct phase {
        int pace = 1000;
        std::int64_t until = unknown;
    };
    using participation_table = room<participation, decltype(Program::participations)>;
    using indices = room<int, decltype(Program::participations)>;
    using counts = room<int, decltype(Program::tasks)>;

    constexpr int role_of(int i) const { return r_.slot.first[i] / stream_count; }
    constexpr stream_kind stream_of(int v) const { return static_cast<stream_kind>(result_.stream.first[v]); }

    // Fills the queue of each stream; the first participation of each stream is reached at time 0.
    constexpr void line_up(span<const int> order) {
        result_.resize(p_.tasks.count, order.count);
        for (int v = 0; v < p_.tasks.count; ++v) {
            result_.stream.first[v] = static_cast<unsigned char>(r_.slot.first[r_.participations_of.first[v]] % stream_count);
            result_.end.first[v] = unknown;
            closed_.first[v] = r_.participations_of.first[v + 1] - r_.participations_of.first[v];
        }
        for (int i = 0; i < r_.participations_of.first[p_.tasks.count]; ++i) participations_.first[i].missing = r_.incoming.first[i] + 1;
        for (int k = order.count - 1; k >= 0; --k) {
            const int v = result_.order.first[k] = order.first[k];
            for (int i = r_.participations_of.first[v]; i < r_.participations_of.first[v + 1]; ++i) {
                participations_.first[i].behind = front_.first[r_.slot.first[i]];
                front_.first[r_.slot.first[i]] = i;
            }
        }
        for (const int i : front_)
            if (i >= 0) arrive(i, 0);
    }

    // One of the conditions of a participation is satisfied.
    constexpr void arrive(int i, std::int64_t time) {
        participation& s = participations_.first[i];
        if (time > s.ready) s.ready = time;
        if (--s.missing == 0) opening_.first[opening_count_++] = i;
    }

    constexpr void open(int i) {
        const int v = r_.task.first[i];
        const std::int64_t time = participations_.first[i].ready;
        if (time > result_.start.first[v]) result_.start.first[v] = time;
        if (stream_of(v) == stream_kind::communication) slow_from(i, time);
        if (--closed_.first[v] == 0) start(v);
    }
    constexpr void slow_from(int i, std::int64_t time) {
        participations_.first[i].slowing = time;
        computing_.first[role_of(i)].ends = unknown;
    }

    constexpr void start(int v) {
        const std::int64_t time = result_.start.first[v];
        const stream_kind stream = stream_of(v);
        if (stream == stream_kind::compute) {
            computing_.first[role_of(r_.participations_of.first[v])] = {v, 1000, time, costs_.first[v], time, unknown};
            return;
        }
        result_.end.first[v] = time + costs_.first[v];
        for (int i = r_.participations_of.first[v]; i < r_.participations_of.first[v + 1]; ++i) {
            computing_.first[role_of(i)].ends = unknown;
            if (stream == stream_kind::copy) participations_.first[i].slowing = time;
        }
        finish(v);
    }

    // The role whose compute task ends first; -1: no compute task is running.
    constexpr int soonest() {
        int found = -1;
        for (int role = 0; role < p_.roles; ++role) {
            if (computing_.first[role].task < 0) continue;
            if (computing_.first[role].ends == unknown) estimate_end(role);
            if (found < 0 || computing_.first[role].ends < computing_.first[found].ends) found = role;
        }
        return found;
    }
    constexpr void finish_computing(int role) {
        computation& c = computing_.first[role];
        now_ = c.ends;
        const int v = c.task;
        c.task = -1;
        result_.end.first[v] = now_;
        finish(v);
    }

    // Estimates the end of a role's compute task, phase by phase: a phase ends when a concurrent task starts or ends, as far as known.
    constexpr void estimate_end(int role) {
        computation c = computing_.first[role];
        int beside[stream_count] = {-1, front_.first[role * stream_count + 1], front_.first[role * stream_count + 2]};
        for (;;) {
            const phase next = phase_at(c.seen, beside);
            c.change_pace(next.pace, c.seen);
            c.estimate();
            if (c.seen <= now_) {  // all events before now are known, so that the state is final
                computing_.first[role] = c;
                for (int stream = 1; stream < stream_count; ++stream) front_.first[role * stream_count + stream] = beside[stream];
            }
            if (c.ends <= next.until) break;
            c.seen = next.until;
        }
        computing_.first[role].ends = c.ends;
    }
    // The phase at a time. `beside`: by stream, the first participation that ends after that time; updated here.
    constexpr phase phase_at(std::int64_t at, int (&beside)[stream_count]) const {
        phase p;
        for (int stream = 1; stream < stream_count; ++stream) {
            int& i = beside[stream];
            while (i >= 0 && result_.end.first[r_.task.first[i]] <= at) i = participations_.first[i].behind;
            if (i < 0) continue;
            const bool slows = participations_.first[i].slowing <= at;
            if (slows) p.pace += slow_down_[stream];
            const std::int64_t change = slows ? result_.end.first[r_.task.first[i]] : participations_.first[i].slowing;
            if (change < p.until) p.until = change;
        }
        if (p.pace < 1) p.pace = 1;
        return p;
    }

    // Ends a task: its streams reach their next participations, and its edges are satisfied.
    constexpr void finish(int v) {
        const std::int64_t time = result_.end.first[v];
        const int stream = result_.stream.first[v];
        ++ended_;
        if (time > result_.length) result_.length = time;
        for (int i = r_.participations_of.first[v]; i < r_.participations_of.first[v + 1]; ++i)
            if (const int next = participations_.first[i].behind; next >= 0) arrive(next, time);
        for (int e = r_.first.first[v]; e < r_.first.first[v + 1]; ++e) {
            const int to = r_.arrival.first[e];
            arrive(to, r_.slot.first[to] % stream_count == stream ? time : time + latency_);
        }
    }

    const Program& p_;
    const Occupancy& r_;
    const Costs& costs_;
    std::int64_t latency_;
    int slow_down_[stream_count];  // by stream: the slow-down of compute beside it, in thousandths
    Schedule result_{};
    participation_table participations_;
    indices opening_;  // stack of the participations that open next
    int opening_count_ = 0;
    counts closed_;               // by task: number of participations that are not open
    vec<int> front_;              // by slot: the first participation that has not ended before the final time of the compute task
    vec<computation> computing_;  // by role
    std::int64_t now_ = 0;
    int ended_ = 0;
};

}  // namespace detail

// The timeline with three streams per role. `order` contains every task once.
template <class Schedule = schedule, class Program, class Occupancy, class Costs>
constexpr Schedule estimate_timeline(const Program& p, const Occupancy& r, const Costs& costs, span<const int> order,
                                     const plan_options& s) {
    return detail::stream_simulation<Schedule, Program, Occupancy, Costs>{p, r, costs, s}.run(order);
}

}  // namespace dovetail::pass
