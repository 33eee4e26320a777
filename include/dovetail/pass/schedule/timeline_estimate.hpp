// The predicted timeline of an order: when each task starts and ends, if each stream of each role executes its tasks in that order. From
// the durations of the tasks alone to their starts and ends, including the slow-down by concurrent tasks.
#pragma once

#include "occupancy.hpp"
#include "serial_schedule.hpp"

namespace dovetail::pass {

namespace detail {

// A discrete-event simulation of the streams of all roles. Each stream of a role is a queue of occupants (an occupant is a task on one
// role) in the given order. The events are: the first occupant of a queue opens, and a task ends.
//
// An occupant opens when it is the first of its queue and its incoming edges are satisfied. The task starts when all its occupants
// are open, and ends on all roles at once. Tasks that run at the same time on a role slow each other: a computation proceeds at a pace that
// its communication and copies determine, and these at the pace that the computations on their roles determine, the slowest one of them.
// For a task whose time beside such hardware a profile has, its own measured pace counts instead. Two streams of a role on which copy
// engines move data between ranks have half of its link each.
// Each pace holds until the next event beside it, so that the end of a running task is an estimate which such an event renews.
//
// Communication by NCCL slows compute on its roles from the opening of its occupant there, including the time that it waits for other
// roles, because its kernel occupies multiprocessors while it waits. What a copy engine moves slows compute only while it runs.
//
// A local_reduce that comes while a compute-bound computation runs waits until that ends, as measured times of kernels beside products say
// (cost/README.md). It then begins before the next one, since its stream has priority. A time beside computations that a profile has
// includes that.
template <class Schedule, class Program, class Occupancy, class Costs>
class stream_simulation {
public:
    constexpr stream_simulation(const Program& p, const Occupancy& r, const Costs& costs, const plan_options& s)
        : p_{p},
          r_{r},
          costs_{costs},
          latency_{s.machine.edge_latency},
          with_{s.machine.with_communication, s.machine.with_copy, s.machine.with_communication},
          occupants_(occupant_table::sized(r.occupants_of[p.tasks.count])),
          closed_(counts::sized(p.tasks.count)),
          queues_(r.slots),
          next_(p.roles, never) {
        result_.overlapped = true;
    }

    constexpr Schedule run(span<const int> order) {
        line_up(order);
        for (int role = soonest(); role >= 0; role = soonest()) proceed(role);
        if (ended_ != p_.tasks.count) result_.length = -1;
        return static_cast<Schedule&&>(result_);
    }

private:
    static constexpr std::int64_t never = INT64_MAX;

    struct occupant {
        int missing = 0;         // edges that are not satisfied, plus one until it is the first of its queue
        int behind = -1;         // the next occupant of its queue; -1: none
        std::int64_t ready = 0;  // the earliest time at which it can open, from what is satisfied so far
    };
    // A stream of a role. The first of a task's queues, by role, has the task's progress while it runs.
    struct queue {
        int first = -1;              // the first occupant that has not ended; -1: none
        bool open = false;           // whether that one is open
        bool runs = false;           // whether its task runs
        std::int64_t event = never;  // when that one opens or, in the first of its task's queues, the task ends
        std::int64_t since = 0;      // the time of the last change of the pace
        std::int64_t left = 0;       // the work that is left from then on, in time alone
        int pace = 1000;             // the time that work takes, in thousandths of its time alone

        constexpr void change_pace(int to, std::int64_t at) {
            left -= (at - since) * 1000 / pace;
            if (left < 0) left = 0;
            since = at;
            pace = to;
        }
        constexpr std::int64_t end() const { return since + left + (left * (pace - 1000) + 999) / 1000; }
    };
    using occupant_table = room<occupant, decltype(Program::participations)>;
    using counts = room<int, decltype(Program::tasks)>;

    static constexpr int compute = static_cast<int>(stream_kind::compute);

    constexpr int slot_of(int i) const { return r_.slot.first[i]; }
    constexpr int begin(int v) const { return r_.occupants_of.first[v]; }
    constexpr int end(int v) const { return r_.occupants_of.first[v + 1]; }
    constexpr int task_of(const queue& q) const { return r_.task.first[q.first]; }

    // Fills the queues; the first occupant of each is reached at time 0.
    constexpr void line_up(span<const int> order) {
        result_.resize(p_.tasks.count, order.count);
        for (int v = 0; v < p_.tasks.count; ++v) {
            result_.stream.first[v] = static_cast<unsigned char>(slot_of(begin(v)) % stream_count);
            closed_.first[v] = end(v) - begin(v);
        }
        for (int i = 0; i < end(p_.tasks.count - 1); ++i) occupants_.first[i].missing = r_.incoming.first[i] + 1;
        for (int k = order.count - 1; k >= 0; --k) {
            const int v = result_.order.first[k] = order.first[k];
            for (int i = begin(v); i < end(v); ++i) {
                queue& q = queues_.first[slot_of(i)];
                occupants_.first[i].behind = q.first;
                q.first = i;
            }
        }
        for (const queue& q : queues_)
            if (q.first >= 0) arrive(q.first, 0);
    }

    // One of the conditions of an occupant is satisfied.
    constexpr void arrive(int i, std::int64_t time) {
        occupant& x = occupants_.first[i];
        if (time > x.ready) x.ready = time;
        if (--x.missing == 0) set_event(slot_of(i), x.ready);
    }
    constexpr void set_event(int slot, std::int64_t time) {
        queues_.first[slot].event = time;
        const int role = slot / stream_count;
        const queue* const q = queues_.first + role * stream_count;
        std::int64_t soonest = q[0].event;
        for (int stream = 1; stream < stream_count; ++stream)
            if (q[stream].event < soonest) soonest = q[stream].event;
        next_.first[role] = soonest;
    }

    // The role of the next event; -1: there is none.
    constexpr int soonest() const {
        int found = 0;
        for (int role = 1; role < p_.roles; ++role)
            if (next_.first[role] < next_.first[found]) found = role;
        return p_.roles > 0 && next_.first[found] != never ? found : -1;
    }
    constexpr void proceed(int role) {
        int slot = role * stream_count;
        while (queues_.first[slot].event != next_.first[role]) ++slot;
        now_ = next_.first[role];
        const queue& q = queues_.first[slot];
        q.open ? finish(task_of(q)) : open(slot);
    }

    constexpr void open(int slot) {
        queue& q = queues_.first[slot];
        const int v = task_of(q);
        set_event(slot, never);
        if (waits_for_multiprocessors(v, queues_.first[slot / stream_count * stream_count + compute])) return;
        q.open = true;
        if (--closed_.first[v] == 0)
            start(v);
        else if (occupies_while_waiting(v))
            renew(slot / stream_count * stream_count + compute);
    }
    constexpr void start(int v) {
        result_.start.first[v] = now_;
        for (int i = begin(v); i < end(v); ++i) queues_.first[slot_of(i)].runs = true;
        const int slot = slot_of(begin(v));
        queue& q = queues_.first[slot];
        q.since = now_;
        q.left = costs_.first[v].time;
        q.pace = pace_of(v);
        set_event(slot, q.end());
        renew_beside(v);
    }

    // Ends a task: the next occupants of its queues are reached, and its edges are satisfied.
    constexpr void finish(int v) {
        result_.end.first[v] = now_;
        const int stream = result_.stream.first[v];
        ++ended_;
        if (now_ > result_.length) result_.length = now_;
        for (int i = begin(v); i < end(v); ++i) {
            queue& q = queues_.first[slot_of(i)];
            q.first = occupants_.first[i].behind;
            q.open = q.runs = false;
            set_event(slot_of(i), never);
            if (stream == compute) open_what_waited(slot_of(i));
            if (q.first >= 0) arrive(q.first, now_);
        }
        renew_beside(v);
        for (int e = r_.first.first[v]; e < r_.first.first[v + 1]; ++e) {
            const int to = r_.arrival.first[e];
            arrive(to, slot_of(to) % stream_count == stream ? now_ : now_ + latency_);
        }
    }

    // Whether a task waits for the end of what the role computes: open_what_waited follows then.
    constexpr bool waits_for_multiprocessors(int v, const queue& computing) const {
        if (p_.tasks.first[v].kind != op_kind::local_reduce || !computing.runs) return false;
        const task_cost& other = costs_.first[task_of(computing)];
        return other.limited_by == work_class::compute_bound && costs_.first[v].slowdown[static_cast<int>(other.by)] == 0;
    }
    constexpr void open_what_waited(int computing) {
        for (int slot = computing + 1; slot < computing - compute + stream_count; ++slot) {
            const queue& q = queues_.first[slot];
            if (q.first >= 0 && !q.open && q.event == never && occupants_.first[q.first].missing == 0) open(slot);
        }
    }

    // Renews the estimated ends of what runs beside a task that has started or ended.
    constexpr void renew_beside(int v) {
        const int stream = result_.stream.first[v];
        for (int i = begin(v); i < end(v); ++i)
            for (int beside = 0; beside < stream_count; ++beside)
                if (beside != stream && (stream == compute || beside == compute || is_peer_copy(v))) renew(slot_of(i) - stream + beside);
    }
    constexpr void renew(int slot) {
        if (!queues_.first[slot].runs) return;
        const int v = task_of(queues_.first[slot]), leading = slot_of(begin(v)), pace = pace_of(v);
        queue& q = queues_.first[leading];
        if (pace == q.pace) return;
        q.change_pace(pace, now_);
        set_event(leading, q.end());
    }

    // The longest time of a task times a larger pace would not fit into 64 bits.
    static constexpr int at_most_slowest(int pace) { return pace < 8000 ? pace : 8000; }
    // The pace of a task, by what is beside it now.
    constexpr int pace_of(int v) const {
        const int stream = result_.stream.first[v];
        if (stream == compute) return pace_of_computation(v);
        int pace = 1000;
        bool shares_link = false;
        for (int i = begin(v); i < end(v); ++i) {
            shares_link = shares_link || (is_peer_copy(v) && copies_beside(slot_of(i)));
            const queue& beside = queues_.first[slot_of(i) - stream + compute];
            if (!beside.runs) continue;
            const int measured = costs_.first[v].slowdown[static_cast<int>(costs_.first[task_of(beside)].by)];
            const int slower =
                measured > 0 ? measured : interference_of(v).of_other[static_cast<int>(costs_.first[task_of(beside)].limited_by)];
            if (slower > pace) pace = slower;
        }
        return at_most_slowest(shares_link ? 2 * pace : pace);
    }
    constexpr int pace_of_computation(int v) const {
        const queue* const beside = queues_.first + slot_of(begin(v)) - compute;
        bool counted[hardware_count] = {};  // once, however many streams of that hardware are beside
        int pace = 1000;
        for (int stream = 1; stream < stream_count; ++stream) {
            if (!beside[stream].open) continue;
            const int other = task_of(beside[stream]);
            if (!beside[stream].runs && !occupies_while_waiting(other)) continue;
            const int by = static_cast<int>(costs_.first[other].by), measured = costs_.first[v].slowdown[by];
            if (counted[by]) continue;
            counted[by] = true;
            pace += (measured > 0 ? measured : interference_of(other).of_compute[static_cast<int>(costs_.first[v].limited_by)]) - 1000;
        }
        return pace < 1 ? 1 : at_most_slowest(pace);
    }
    constexpr const interference& interference_of(int v) const { return with_[static_cast<int>(costs_.first[v].by)]; }
    constexpr bool is_peer_copy(int v) const { return p_.tasks.first[v].moved_by == transport::peer_copy; }
    // Whether another stream of the role copies to or from other ranks.
    constexpr bool copies_beside(int slot) const {
        const int of_role = slot / stream_count * stream_count;
        for (int other = of_role + 1; other < of_role + stream_count; ++other)
            if (other != slot && queues_.first[other].runs && is_peer_copy(task_of(queues_.first[other]))) return true;
        return false;
    }
    // The kernels of a communication wait for other roles on multiprocessors.
    constexpr bool occupies_while_waiting(int v) const {
        return result_.stream.first[v] != compute && costs_.first[v].by != hardware::copy_engine;
    }

    const Program& p_;
    const Occupancy& r_;
    const Costs& costs_;
    std::int64_t latency_;
    interference with_[hardware_count];  // by hardware: between tasks of the other streams and compute
    Schedule result_{};
    occupant_table occupants_;
    counts closed_;           // by task: number of occupants that are not open
    vec<queue> queues_;       // by slot
    vec<std::int64_t> next_;  // by role: the time of its next event
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
