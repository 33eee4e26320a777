// Linear extensions of the edges: the written order, and list scheduling on the streams of all roles with critical-path priority. Each
// stream of each role later executes its own tasks in this order.
#pragma once

#include "../../cost/plan_options.hpp"
#include "../program/edges.hpp"
#include "occupancy.hpp"
#include "pairing_heap.hpp"

#include <initializer_list>

namespace dovetail::pass {

// The topological order nearest to the written one: always the ready task with the smallest number. If the edges have a cycle, the order
// has fewer entries than there are tasks.
template <class Order = vec<int>, class Edges = span<const ir::edge>>
constexpr Order written_order(int tasks, const Edges& edges) {
    auto order = Order::sized(tasks);
    if (leads_forward(edges)) {
        for (int v = 0; v < tasks; ++v) order.first[v] = v;
        return order;
    }
    const adjacency out = successors(tasks, {edges.begin(), edges.count});
    vec<int> missing(tasks), same_key(tasks), child(tasks, unset{}), sibling(tasks, unset{});
    for (const ir::edge& e : edges) ++missing[e.to];
    const pairing_heap<int*, int*> by_number{same_key.first, child.first, sibling.first};
    int ready = -1, count = 0;
    for (int v = 0; v < tasks; ++v)
        if (missing[v] == 0) ready = by_number.with(ready, v);
    while (ready >= 0) {
        const int v = ready;
        ready = by_number.without(v);
        order.first[count++] = v;
        for (int i = out.first[v]; i < out.first[v + 1]; ++i)
            if (--missing[out.neighbour[i]] == 0) ready = by_number.with(ready, out.neighbour[i]);
    }
    order.resize(count);
    return order;
}

// The length of the critical path from each task: the longest time from its start to the end of the run, over all roles.
template <class Program, class Occupancy, class Costs>
constexpr auto priorities(const Program& p, const Occupancy& r, const Costs& costs, span<const int> topological, const plan_options& s) {
    const auto& tasks = p.tasks.first;
    auto list = room<std::int64_t, decltype(p.tasks)>::sized(p.tasks.count);
    auto& longest = list.first;
    for (int k = topological.count - 1; k >= 0; --k) {
        const int v = topological.first[k];
        std::int64_t behind = 0;
        for (int e = r.first.first[v]; e < r.first.first[v + 1]; ++e) {
            const int to = r.task.first[r.arrival.first[e]];
            const std::int64_t way = tasks[to].stream == tasks[v].stream ? longest[to] : longest[to] + s.machine.edge_latency;
            if (way > behind) behind = way;
        }
        longest[v] = behind + costs.first[v].time;
    }
    return list;
}

// Raises the priorities of the tasks that write a value, and of all tasks before them, above those of all others.
template <class Priorities, class Program, class Occupancy>
constexpr void raise_ancestors(Priorities& priority, const Program& p, const Occupancy& r, span<const int> topological, int symbol) {
    std::int64_t longest = 0;
    for (int v = 0; v < p.tasks.count; ++v)
        if (priority.first[v] > longest) longest = priority.first[v];
    vec<char> before(p.tasks.count);
    for (int k = topological.count - 1; k >= 0; --k) {
        const int v = topological.first[k];
        bool raised = ir::writes_symbol(p, p.tasks.first[v], symbol);
        for (int e = r.first.first[v]; e < r.first.first[v + 1] && !raised; ++e) raised = before[r.task.first[r.arrival.first[e]]] != 0;
        if (!raised) continue;
        before[v] = 1;
        priority.first[v] += longest + 1;
    }
}

namespace detail {

// The ratio of two times in thousandths, at most `largest_ratio`.
inline constexpr std::int64_t largest_ratio = 4000;
constexpr std::int64_t ratio_of(std::int64_t communication, std::int64_t compute) {
    if (communication / 4 >= compute) return largest_ratio;
    return compute > INT64_MAX / 8000 ? communication / (compute / 1000) : 1000 * communication / compute;
}

}  // namespace detail

// Raises the priorities of compute tasks that unlock communication, after Johnson's rule for flow shops of two machines (S. M. Johnson,
// Optimal two- and three-stage production schedules, 1954): of independent pairs of compute and the communication after it, those with more
// communication than compute come first. A task is raised by up to the longest path of the graph, in proportion to the time of the
// communication over the time of the compute tasks until it starts, itself included; ratios above four count as four.
template <class Priorities, class Program, class Occupancy, class Costs>
constexpr void raise_unlocking(Priorities& priority, const Program& p, const Occupancy& r, const Costs& costs,
                               span<const int> topological) {
    const auto& tasks = p.tasks.first;
    vec<std::int64_t> compute(p.tasks.count), communication(p.tasks.count), unlocked(p.tasks.count);  // by task; the last is their ratio
    std::int64_t longest = 0;
    for (int v = 0; v < p.tasks.count; ++v)
        if (priority.first[v] > longest) longest = priority.first[v];
    for (int k = topological.count - 1; k >= 0; --k) {
        const int v = topological.first[k];
        if (tasks[v].stream != stream_kind::compute) continue;
        for (int e = r.first.first[v]; e < r.first.first[v + 1]; ++e) {
            const int to = r.task.first[r.arrival.first[e]];
            const bool computes = tasks[to].stream == stream_kind::compute;
            const std::int64_t before = costs.first[v].time + (computes ? compute.first[to] : 0);
            const std::int64_t after = computes ? communication.first[to] : costs.first[to].time;
            if (const std::int64_t found = detail::ratio_of(after, before); found > unlocked.first[v]) {
                compute.first[v] = before;
                communication.first[v] = after;
                unlocked.first[v] = found;
            }
        }
        // In two parts: the product may not fit in 64 bits.
        priority.first[v] += longest / detail::largest_ratio * unlocked.first[v] +
                             longest % detail::largest_ratio * unlocked.first[v] / detail::largest_ratio;
    }
}

namespace detail {

// List scheduling. A task waits for its edges, then until its stream is free on all its roles (a slot is a stream of a role). It occupies
// these slots from its start to its end:
//
//     waiting --- edges are met --> later --- time comes --> place: busy slot --> queue of that slot --- slot is free --> place
//                                                                   free slots --> ready, by stream --- choose --> running
template <class Program, class Occupancy, class Costs, class Priorities>
class list_scheduler {
public:
    constexpr list_scheduler(const Program& p, const Occupancy& r, const Costs& costs, const Priorities& priorities, const plan_options& s)
        : p_{p},
          r_{r},
          costs_{costs},
          priorities_{priorities},
          latency_{s.machine.edge_latency},
          order_(numbers::sized(p.tasks.count)),
          missing_(numbers::sized(p.tasks.count)),
          unplaced_(numbers::sized(p.tasks.count)),
          child_(numbers::sized(p.tasks.count)),
          sibling_(numbers::sized(p.tasks.count)),
          key_(times::sized(p.tasks.count)),
          start_(times::sized(p.tasks.count)),
          slots_(r.slots) {}
    list_scheduler(const list_scheduler&) = delete;  // the heaps point to the arrays

    // If the edges have a cycle, the order has fewer entries than there are tasks.
    constexpr auto run() {
        count_edges();
        do {
            for (int v = next_to_place(); v >= 0; v = next_to_place()) place(v);
        } while (issue_one() || advance());
        order_.resize(issued_);
        return static_cast<numbers&&>(order_);
    }

private:
    static constexpr std::int64_t free = -1;

    struct slot {
        std::int64_t until = free;  // when it becomes free
        int queue = -1;             // heap of the tasks that wait for it, by priority
    };
    using numbers = room<int, decltype(Program::tasks)>;
    using times = room<std::int64_t, decltype(Program::tasks)>;

    constexpr void count_edges() {
        for (int v = 0; v < p_.tasks.count; ++v) {
            for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i) missing_.first[v] += r_.incoming.first[i];
            if (missing_.first[v] == 0) unplaced_.first[unplaced_count_++] = v;
        }
    }
    constexpr int next_to_place() { return unplaced_count_ > 0 ? unplaced_.first[--unplaced_count_] : -1; }

    // Inserts a task into the queue of its slot that is busy longest or, if all are free, into the ready tasks of its stream.
    constexpr void place(int v) {
        int last = r_.slot.first[r_.occupants_of.first[v]];
        for (int i = r_.occupants_of.first[v] + 1; i < r_.occupants_of.first[v + 1]; ++i)
            if (const int slot = r_.slot.first[i]; slots_.first[slot].until > slots_.first[last].until) last = slot;
        key_.first[v] =
            costs_.first[v].time == 0 ? INT64_MIN : -priorities_.first[v];  // what takes no time delays nothing, so it goes first
        if (slots_.first[last].until == free) {
            push(ready_[last % stream_count], v);
            return;
        }
        push(slots_.first[last].queue, v);
        // The task now waits for one slot; the next task in the queue of each of its free slots may start instead.
        for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i)
            if (const int slot = r_.slot.first[i]; slots_.first[slot].until == free) call_next(slot);
    }
    constexpr void call_next(int slot) {
        if (slots_.first[slot].queue >= 0) unplaced_.first[unplaced_count_++] = pop(slots_.first[slot].queue);
    }

    // Starts the best ready task; false if none is ready.
    constexpr bool issue_one() {
        const int stream = choose_stream();
        if (ready_[stream] < 0) return false;
        const int v = pop(ready_[stream]);
        if (!all_free(v)) {
            unplaced_.first[unplaced_count_++] = v;
            return true;
        }
        const std::int64_t end = now_ + costs_.first[v].time;
        for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i) slots_.first[r_.slot.first[i]].until = end;
        order_.first[issued_++] = v;
        key_.first[v] = end;
        push(running_, v);
        return true;
    }
    // Communication before copies before compute: once a kernel fills the device, no communication kernel could start.
    constexpr int choose_stream() const {
        for (const stream_kind stream : {stream_kind::communication, stream_kind::copy})
            if (ready_[static_cast<int>(stream)] >= 0) return static_cast<int>(stream);
        return static_cast<int>(stream_kind::compute);
    }
    constexpr bool all_free(int v) const {
        for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i)
            if (slots_.first[r_.slot.first[i]].until != free) return false;
        return true;
    }

    // Advances to the next time at which a task ends or becomes ready; false if there is none.
    constexpr bool advance() {
        if (running_ < 0 && later_ < 0) return false;
        now_ = running_ < 0 || (later_ >= 0 && key_.first[later_] < key_.first[running_]) ? key_.first[later_] : key_.first[running_];
        while (running_ >= 0 && key_.first[running_] == now_) finish(pop(running_));
        while (later_ >= 0 && key_.first[later_] == now_) unplaced_.first[unplaced_count_++] = pop(later_);
        return true;
    }
    // Frees the slots of a task that ends now, and satisfies its edges.
    constexpr void finish(int v) {
        for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i) {
            slots_.first[r_.slot.first[i]].until = free;
            call_next(r_.slot.first[i]);
        }
        const int stream = r_.slot.first[r_.occupants_of.first[v]] % stream_count;
        for (int e = r_.first.first[v]; e < r_.first.first[v + 1]; ++e) {
            const int occupant = r_.arrival.first[e];
            meet_edge(r_.task.first[occupant], r_.slot.first[occupant] % stream_count == stream ? now_ : now_ + latency_);
        }
    }
    constexpr void meet_edge(int to, std::int64_t time) {
        if (time > start_.first[to]) start_.first[to] = time;
        if (--missing_.first[to] > 0) return;
        if (start_.first[to] <= now_) {
            unplaced_.first[unplaced_count_++] = to;
            return;
        }
        key_.first[to] = start_.first[to];
        push(later_, to);
    }

    constexpr void push(int& heap, int v) { heap = heaps_.with(heap, v); }
    constexpr int pop(int& heap) {
        const int v = heap;
        heap = heaps_.without(v);
        return v;
    }

    const Program& p_;
    const Occupancy& r_;
    const Costs& costs_;
    const Priorities& priorities_;
    std::int64_t latency_;
    numbers order_;
    numbers missing_;          // by task: incoming edges that are not satisfied
    numbers unplaced_;         // stack of tasks to be placed
    numbers child_, sibling_;  // links of the heaps
    times key_;                // by task: its key in the heap that contains it
    times start_;              // by task: the earliest start that the satisfied edges allow
    vec<slot> slots_;
    pairing_heap<decltype(times::first), decltype(numbers::first)> heaps_{key_.first, child_.first, sibling_.first};
    int ready_[stream_count] = {-1, -1, -1};  // heaps by stream, by priority
    int running_ = -1;                        // heap by end
    int later_ = -1;                          // heap by start
    std::int64_t now_ = 0;
    int issued_ = 0;
    int unplaced_count_ = 0;
};

}  // namespace detail

// List scheduling on the streams of all roles: first the task that can start earliest, then communication before copies before compute,
// then the higher priority, then the smaller number. A task of several roles occupies its stream on all of them at once.
template <class Program, class Occupancy, class Costs, class Priorities>
constexpr auto list_order(const Program& p, const Occupancy& r, const Costs& costs, const Priorities& priorities, const plan_options& s) {
    return detail::list_scheduler<Program, Occupancy, Costs, Priorities>{p, r, costs, priorities, s}.run();
}

}  // namespace dovetail::pass
