// The time of a task when nothing runs beside it, in picoseconds, and what limits it, from the declared cost of its operation and a machine
// description: the roofline model for compute, a latency and a bandwidth term for communication.
#pragma once

#include "../collective/traffic.hpp"
#include "../ir/program.hpp"
#include "transport.hpp"

namespace dovetail::cost_model {

namespace detail {

constexpr std::int64_t plus(std::int64_t a, std::int64_t b) { return a < longest_duration - b ? a + b : longest_duration; }

constexpr std::int64_t flop_rate(const machine_description& m, element e) {
    switch (e) {
        case element::float64: return m.double_flops;
        case element::float16:
        case element::bfloat16: return m.half_flops;
        default: return m.float_flops;
    }
}

// The ranks that communicate in a member: those of one node, and the nodes. A machine without a network bandwidth is one node.
struct extent {
    int local = 1;
    int nodes = 1;

    constexpr void add(link between, int ranks, const machine_description& m) {
        (between == link::network && m.network_bandwidth > 0 ? nodes : local) *= ranks;
    }
};
// They are positions along the member's axes, or roles.
template <class Graph, class Program>
constexpr extent extent_of(const Graph& g, const Program& p, const ir::member& m, const plan_options& s) {
    extent n;
    if (m.communicator < 0) {
        n.add(s.between_roles, 2, s.machine);
        return n;
    }
    const ir::communicator& c = p.communicators[m.communicator];
    if (c.axes == 0) {
        n.add(s.between_roles, c.roles, s.machine);
        return n;
    }
    const ir::role& role = g.roles[p.communicator_roles[c.first_role]];
    for (const ir::mesh_axis& a : g.mesh.view().subspan(role.first_axis, role.axes))
        if ((c.axes >> a.axis & 1u) != 0) n.add(a.link, a.width > 0 ? a.width : s.assumed_width, s.machine);
    return n;
}

// The time of arithmetic that is divided into tiles: the multiprocessors work in waves, of which the last may be partly filled.
constexpr std::int64_t in_waves(std::int64_t arithmetic, tiles t, int multiprocessors) {
    if (t.count <= 0 || t.time <= 0 || multiprocessors <= 0) return arithmetic;
    const std::int64_t slots = (t.count + multiprocessors - 1) / multiprocessors * multiprocessors;
    if (arithmetic / 1000 >= longest_duration / t.time) return longest_duration;
    const std::int64_t of_tiles = arithmetic / 1000 * t.time + arithmetic % 1000 * t.time / 1000;
    // The idle slots of the last wave are fewer than the multiprocessors, so that the product fits in 64 bits.
    return plus(of_tiles, of_tiles / t.count * (slots - t.count) + of_tiles % t.count * (slots - t.count) / t.count);
}

// The time of a member: a latency, and a part proportional to its bytes or arithmetic.
struct member_time {
    std::int64_t latency = 0;
    std::int64_t work = 0;
    work_class limited_by = work_class::compute_bound;  // of what runs on the compute stream

    constexpr task_cost alone() const { return {plus(work, latency), work < latency ? work_class::latency_bound : limited_by}; }
};

// Estimates the time of tasks. Layers repeat, so the estimates of the last 32 different members are cached.
template <class Graph, class Program>
class estimator {
public:
    constexpr estimator(const Graph& g, const Program& p, const plan_options& s) : g_{g}, p_{p}, s_{s} {}

    // One task alone. The members of a group share one latency; their payloads are transferred one after the other.
    constexpr task_cost of(const ir::task& v) {
        task_cost alone = time_alone(v);
        if (v.moved_by == transport::peer_copy || v.kind == op_kind::input || v.kind == op_kind::to_host || v.kind == op_kind::from_host)
            alone.by = hardware::copy_engine;
        return alone;
    }

private:
    constexpr task_cost time_alone(const ir::task& v) {
        if (v.kind == op_kind::input) return {copy_time(p_.members.first[v.first_member].symbol)};
        if (v.moved_by == transport::peer_copy) return {copied_time(v)};
        if (v.members == 1) return time_of(v.first_member, v.first_participation, v.participations).alone;
        member_time together;
        for (int m = v.first_member, last = m + v.members; m < last; ++m) {
            const member_time& t = time_of(m, v.first_participation, v.participations).time;
            if (t.latency > together.latency) together.latency = t.latency;
            together.work = plus(together.work, t.work);
            together.limited_by = t.limited_by;
        }
        return together.alone();
    }

    struct known {
        ir::member like = {};
        bool declared = false;  // whether its operation declares a cost
        std::int64_t total = 0, largest = 0;
        member_time time = {};
        task_cost alone = {};  // a task with this one member
    };

    // A communication by copy engines.
    constexpr std::int64_t copied_time(const ir::task& v) const {
        const ir::member& m = p_.members.first[v.first_member];
        const ir::participation& x = p_.participations.first[v.first_participation];
        std::int64_t largest = 0;
        for (int a = x.first_access, end = a + x.accesses; a < end; ++a)
            if (const std::int64_t bytes = ir::bytes_of(p_, p_.accesses.first[a]); bytes > largest) largest = bytes;
        if (v.kind == op_kind::transfer) return plus(transfer_time(s_.machine, largest, true), 0);
        const int members = extent_of(g_, p_, m, s_).local;
        return plus(transfer_time(s_.machine, collective::copied(collective::of(m.kind), largest, members), true), 0);
    }

    // The copy of an input. A device pointer is used in place; a pinned input is copied by from_host.
    constexpr std::int64_t copy_time(int symbol) const {
        if (s_.host_inputs.count == 0) return 0;
        const ir::symbol& x = g_.symbols.first[symbol];
        if (x.in_host_memory || !s_.host_inputs.has(x.name)) return 0;
        return plus(s_.machine.launch_latency, time_at(x.type.bytes(), s_.machine.host_bandwidth));
    }

    constexpr const known& time_of(int member, int first_participation, int participations) {
        const ir::member& m = p_.members.first[member];
        const op_kind kind = m.kind;
        const bool declared = kind == op_kind::compute && m.node >= 0 && m.op->has_work;
        // The bytes of all buffers that the member accesses, and of the largest one: the payload of a collective.
        std::int64_t total = 0, largest = 0;
        if (!declared) {
            const auto& participation = p_.participations.first;
            const auto& access = p_.accesses.first;
            const auto& buffer = p_.buffers.first;
            const bool in_parts = ir::has_parts(p_);
            for (int i = first_participation, end = i + participations; i < end; ++i) {
                if (participation[i].member != member) continue;
                for (int a = participation[i].first_access, stop = a + participation[i].accesses; a < stop; ++a) {
                    const std::int64_t bytes = in_parts ? ir::bytes_of(p_, access[a]) : buffer[access[a].buffer].bytes;
                    total += bytes;
                    if (bytes > largest) largest = bytes;
                }
            }
        }
        // Start the lookup at the entry found last: sequences of operations repeat.
        for (int k = 0; k < count_; ++k) {
            const known& x = seen_[last_];
            if (x.like.kind == kind && x.declared == declared &&
                (declared ? same_work(x.like, m)
                          : x.total == total && x.largest == largest && x.like.communicator == m.communicator && x.like.local == m.local))
                return x;
            if (++last_ >= count_) last_ = 0;
        }
        if (count_ < capacity)
            last_ = count_++;
        else if (++last_ == capacity)
            last_ = 0;
        known& x = seen_[last_];
        const member_time t = estimate(m, declared, total, largest);
        x = {m, declared, total, largest, t, t.alone()};
        return x;
    }

    // Whether two members that declare their cost have the same operation and arguments of the same types.
    constexpr bool same_work(const ir::member& a, const ir::member& b) const {
        const ir::node &x = g_.nodes.first[a.node], &y = g_.nodes.first[b.node];
        // The hash of the name and the number of arguments first: comparing addresses that differ is not a constant expression everywhere
        // (core/tag.hpp).
        if (a.op->name->hash != b.op->name->hash || x.arguments != y.arguments || a.op != b.op) return false;
        const auto& operands = g_.operands.first;
        const auto& symbols = g_.symbols.first;
        for (int i = x.first_argument, end = i + x.arguments, j = y.first_argument; i < end; ++i, ++j)
            if (operands[i] != operands[j] && symbols[operands[i]].type != symbols[operands[j]].type) return false;
        return true;
    }

    constexpr member_time estimate(const ir::member& m, bool declared, std::int64_t total, std::int64_t largest) {
        const machine_description& on = s_.machine;
        if (m.kind == op_kind::compute) {
            if (!declared) return {on.launch_latency, time_at(total, on.memory_bandwidth), work_class::memory_bound};
            const cost c = work_of(m);
            const std::int64_t arithmetic = in_waves(time_at(c.flops, flop_rate(on, c.arithmetic)), tiles_of(m), on.multiprocessors);
            const std::int64_t memory = time_at(c.bytes, on.memory_bandwidth);
            if (arithmetic > memory) return {on.launch_latency, arithmetic, work_class::compute_bound};
            return {on.launch_latency, memory, work_class::memory_bound};
        }
        if (m.kind == op_kind::to_host || m.kind == op_kind::from_host) return {on.launch_latency, time_at(largest, on.host_bandwidth)};
        if (m.kind == op_kind::local_reduce) return {on.launch_latency, time_at(total, on.memory_bandwidth), work_class::memory_bound};
        const extent n = m.local ? extent{} : extent_of(g_, p_, m, s_);
        if (n.local * n.nodes <= 1) return {on.launch_latency, time_at(total, on.memory_bandwidth), work_class::memory_bound};
        const collective::row& row = collective::of(m.kind);
        if (row.passes == collective::traffic::own)
            return {on.launch_latency, time_at(2 * (largest / (n.local * n.nodes)), on.memory_bandwidth), work_class::memory_bound};
        return communicated(row, largest, n);
    }

    // The parts of a communication within nodes and between nodes run at the same time, in a pipeline, so that the slower one counts.
    constexpr member_time communicated(const collective::row& r, std::int64_t bytes, const extent& n) const {
        const machine_description& on = s_.machine;
        const collective::payload_by_link payload = collective::payload_on(r, bytes, n.local, n.nodes);
        const auto bandwidth = r.passes == collective::traffic::link ? on.link_bandwidth : on.bus_bandwidth;
        const std::int64_t within = n.local > 1 ? collective::passing(r.passes, time_at(payload.local, bandwidth), n.local) : 0;
        if (n.nodes == 1) return {on.link_latency, within};
        const std::int64_t between = collective::passing(r.passes, time_at(payload.network, on.network_bandwidth), n.nodes);
        return {on.network_latency, within > between ? within : between};
    }

    constexpr void take_arguments(const ir::node& node) {
        arguments_.resize(node.arguments);
        for (int i = 0; i < node.arguments; ++i) arguments_[i] = g_.symbols.first[g_.operands.first[node.first_argument + i]].type;
    }

    constexpr tiles tiles_of(const ir::member& m) {
        if (!m.op->has_tiles) return {};
        take_arguments(g_.nodes.first[m.node]);
        return m.op->tiling(arguments_.begin());
    }

    constexpr cost work_of(const ir::member& m) {
        const ir::node& node = g_.nodes.first[m.node];
        const auto& ids = g_.operands.first;
        take_arguments(node);
        tensor_type results[max_results] = {};
        bool discarded = false;
        for (int i = 0; i < node.results && i < max_results; ++i) {
            const int symbol = ids[node.first_result + i];
            if (symbol >= 0)
                results[i] = g_.symbols.first[symbol].type;
            else
                discarded = true;
        }
        // A discarded result has no symbol, so its type comes from the shape rule.
        if (discarded) m.op->infer(arguments_.begin(), results);
        return m.op->work(arguments_.begin(), results);
    }

    static constexpr int capacity = 32;
    const Graph& g_;
    const Program& p_;
    const plan_options& s_;
    known seen_[capacity] = {};
    int count_ = 0, last_ = -1;
    vec<tensor_type> arguments_;
};

}  // namespace detail

// The costs of all tasks, into `to`.
template <class Graph, class Program>
constexpr void costs(const Graph& g, const Program& p, const plan_options& s, auto& to) {
    detail::estimator<Graph, Program> each{g, p, s};
    const auto& tasks = p.tasks.first;
    for (int v = 0; v < p.tasks.count; ++v) to[v] = each.of(tasks[v]);
}
template <class Graph, class Program>
constexpr vec<task_cost> costs(const Graph& g, const Program& p, const plan_options& s) {
    vec<task_cost> list(p.tasks.count, unset{});
    costs(g, p, s, list.first);
    return list;
}

}  // namespace dovetail::cost_model
