// List scheduling within a budget of live bytes, after memory booking (Marchal, Nagy, Simon, Vivien: Parallel scheduling of DAGs under
// memory constraints, 2018). A reference order that needs little memory is at hand. A task may start before its turn in that order if, with
// what it allocates and releases, the live bytes of the rest of the reference order stay within the budget; the next task of the reference
// order always may, so the schedule is complete for every budget that is at least the peak of the reference order.
#pragma once

#include "booked_memory.hpp"
#include "list_scheduling.hpp"

namespace dovetail::pass {

// An order with the times at which its tasks are to start and end, in picoseconds; a time includes the wait for memory.
template <class Program>
struct basic_booking {
    room<int, decltype(Program::tasks)> order;
    room<std::int64_t, decltype(Program::tasks)> start;  // by task
    room<std::int64_t, decltype(Program::tasks)> end;    // by task
};

// The number of positions of the reference order that are examined over all tasks; a look at a ready task counts as `ready_effort`
// positions. It bounds the compile time: each task gets an equal share, and what is left of the shares before; where that does not suffice,
// the next task of the reference order is taken.
inline constexpr int booking_effort = 60'000;
inline constexpr int ready_effort = 6;

namespace detail {

// Greedy list scheduling in which each task is booked first: of the ready tasks that the budget allows, the one that can start earliest,
// then what takes no time, then communication before copies before compute, then the higher priority, then the smaller number. A task can
// start when its edges are met, its streams are free, and so many of the bytes released before are out of use that its own fit into the
// budget.
template <class Program, class Occupancy, class Edges, class Costs, class Priorities>
class booking_scheduler {
public:
    constexpr booking_scheduler(const Program& p, const Occupancy& r, const Edges& edges, const Costs& costs, const Priorities& priorities,
                                span<const int> reference, const plan_options& s)
        : p_{p},
          r_{r},
          costs_{costs},
          priorities_{priorities},
          reference_{reference},
          latency_{s.machine.edge_latency},
          held_(held_by_tasks(ir::view(p))),
          memory_{p, r, held_, reference},
          missing_(p.tasks.count),
          earliest_(p.tasks.count),
          placed_(p.tasks.count),
          free_at_(r.slots),
          in_use_until_(p.buffers.count),
          released_(p.roles) {
        for (const ir::edge& e : edges) ++missing_.first[e.to];
        made_.order.resize(p.tasks.count);
        made_.start.resize(p.tasks.count);
        made_.end.resize(p.tasks.count);
    }

    // `percent`: the budget, in hundredths of the peak of the reference order.
    constexpr basic_booking<Program> run(int percent) {
        const std::int64_t peak = memory_.peak();
        memory_.allow(peak / 100 * percent + peak % 100 * percent / 100);
        for (int v = 0; v < p_.tasks.count; ++v)
            if (missing_.first[v] == 0) ready_.push(v);
        for (int issued = 0; issued < p_.tasks.count; ++issued) {
            while (placed_.first[reference_.first[next_]]) ++next_;
            effort_ += booking_effort / p_.tasks.count;
            const int v = choose();
            made_.order.first[issued] = v;
            execute(v);
        }
        return static_cast<basic_booking<Program>&&>(made_);
    }

private:
    // Memory that is released but may still be in use, by the end of the use.
    struct release {
        std::int64_t end = 0;
        std::int64_t bytes = 0;
    };

    // The best ready task that the budget allows; it is booked.
    constexpr int choose() {
        const int reference = reference_.first[next_];
        made_.start.first[reference] = start_of(reference);
        if (ready_effort * ready_.size() > effort_ - memory_.examined()) return reference;
        effort_ -= ready_effort * ready_.size();
        for (const int v : ready_)
            if (v != reference) made_.start.first[v] = start_of(v);
        vec<int> left(ready_.view());
        while (memory_.examined() < effort_) {
            int best = 0;
            for (int k = 1; k < left.size(); ++k)
                if (before(left.first[k], left.first[best])) best = k;
            const int v = left.first[best];
            if (v == reference || memory_.book(v)) return v;
            left.first[best] = left.back();
            left.cut(left.size() - 1);
        }
        return reference;
    }
    constexpr bool before(int v, int w) const {
        if (made_.start.first[v] != made_.start.first[w]) return made_.start.first[v] < made_.start.first[w];
        if ((costs_.first[v].time == 0) != (costs_.first[w].time == 0)) return costs_.first[v].time == 0;
        const int first = rank_of(v), second = rank_of(w);
        if (first != second) return first < second;
        if (priorities_.first[v] != priorities_.first[w]) return priorities_.first[v] > priorities_.first[w];
        return v < w;
    }
    constexpr int rank_of(int v) const {
        const stream_kind stream = p_.tasks.first[v].stream;
        return stream == stream_kind::communication ? 0 : stream == stream_kind::copy ? 1 : 2;
    }

    constexpr std::int64_t start_of(int v) const {
        std::int64_t start = earliest_.first[v];
        for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i) {
            const int slot = r_.slot.first[i], role = slot / stream_count;
            if (free_at_.first[slot] > start) start = free_at_.first[slot];
            if (const std::int64_t bytes = memory_.allocates(v, role); bytes > 0)
                start = when_free(role, memory_.slack(role, bytes), start);
        }
        return start;
    }
    // The time from `start` on at which at most `slack` of the released bytes of a role are in use.
    constexpr std::int64_t when_free(int role, std::int64_t slack, std::int64_t start) const {
        const vec<release>& list = released_.first[role];
        std::int64_t in_use = 0;
        for (int k = list.size() - 1; k >= 0 && list.first[k].end > start; --k)
            if ((in_use += list.first[k].bytes) > slack) return list.first[k].end;
        return start;
    }

    constexpr void execute(int v) {
        placed_.first[v] = true;
        for (int k = 0; k < ready_.size(); ++k)
            if (ready_.first[k] == v) {
                ready_.first[k] = ready_.back();
                ready_.cut(ready_.size() - 1);
                break;
            }
        const std::int64_t end = made_.end.first[v] = made_.start.first[v] + costs_.first[v].time;
        for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i) free_at_.first[r_.slot.first[i]] = end;
        for (int i = held_.first.first[v]; i < held_.first.first[v + 1]; ++i)
            if (std::int64_t& until = in_use_until_.first[held_.buffer.first[i]]; end > until) until = end;
        memory_.execute(v, [&, this](int b) { list_release(p_.buffers.first[b].role, {in_use_until_.first[b], held_.bytes.first[b]}); });
        const stream_kind stream = p_.tasks.first[v].stream;
        for (int e = r_.first.first[v]; e < r_.first.first[v + 1]; ++e) {
            const int to = r_.task.first[r_.arrival.first[e]];
            const std::int64_t time = p_.tasks.first[to].stream == stream ? end : end + latency_;
            if (time > earliest_.first[to]) earliest_.first[to] = time;
            if (--missing_.first[to] == 0) ready_.push(to);
        }
    }
    constexpr void list_release(int role, release x) {
        vec<release>& list = released_.first[role];
        list.push(x);
        for (int k = list.size() - 1; k > 0 && list.first[k - 1].end > x.end; --k) {
            list.first[k] = list.first[k - 1];
            list.first[k - 1] = x;
        }
    }

    const Program& p_;
    const Occupancy& r_;
    const Costs& costs_;
    const Priorities& priorities_;
    span<const int> reference_;
    std::int64_t latency_;
    held_bytes held_;
    booked_memory<Program, Occupancy> memory_;
    basic_booking<Program> made_{};
    vec<int> missing_;                // by task: incoming edges that are not satisfied
    vec<std::int64_t> earliest_;      // by task: the start that the satisfied edges allow
    vec<bool> placed_;                // by task
    vec<std::int64_t> free_at_;       // by slot
    vec<std::int64_t> in_use_until_;  // by buffer
    vec<vec<release>> released_;      // by role, the latest end last
    vec<int> ready_;
    int next_ = 0;    // the first task of the reference order that is not placed
    int effort_ = 0;  // as many positions may have been examined
};

}  // namespace detail

// The order of less memory: the written one, or that of min_memory_order.
template <class Program, class Occupancy, class Edges>
constexpr auto reference_order(const Program& p, const Occupancy& r, const Edges& edges) {
    auto reference = written_order<room<int, decltype(p.tasks)>>(p.tasks.count, edges);
    const vec<int> other = min_memory_order(ir::view(p), {edges.begin(), edges.count});
    if (detail::peak_of(p, r, other.view()) < detail::peak_of(p, r, reference.view()))
        for (int k = 0; k < other.size(); ++k) reference.first[k] = other.first[k];
    return reference;
}

// The schedule within a budget, in hundredths (at least 100) of the peak of the reference order.
template <class Program, class Occupancy, class Edges, class Costs>
constexpr basic_booking<Program> booked_order(const Program& p, const Occupancy& r, const Edges& edges, const Costs& costs,
                                              span<const int> reference, int percent, const plan_options& s) {
    auto priority = priorities(p, r, costs, reference, s);
    if (s.preferred >= 0) raise_ancestors(priority, p, r, reference, s.preferred);
    return detail::booking_scheduler<Program, Occupancy, Edges, Costs, decltype(priority)>{p, r, edges, costs, priority, reference, s}.run(
        percent);
}

}  // namespace dovetail::pass
