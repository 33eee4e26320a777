// The time of a task when nothing runs beside it, in picoseconds, from the declared cost of its operation and a machine description: the
// roofline model for compute, a latency and a bandwidth term for communication.
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

// The number of ranks that communicate in a member: positions along its axes, or roles.
template <class Graph, class Program>
constexpr int width(const Graph& g, const Program& p, const ir::member& m, const plan_options& s) {
    if (m.communicator < 0) return 2;
    const ir::communicator& c = p.communicators[m.communicator];
    if (c.axes == 0) return c.roles;
    const ir::role& role = g.roles[p.communicator_roles[c.first_role]];
    int n = 1;
    for (const ir::mesh_axis& a : g.mesh.view().subspan(role.first_axis, role.axes))
        if ((c.axes >> a.axis & 1u) != 0) n *= a.width > 0 ? a.width : s.assumed_width;
    return n;
}

// The time of a member: a latency, and a part proportional to its bytes or arithmetic.
struct member_time {
    std::int64_t latency = 0;
    std::int64_t work = 0;
};

// Estimates the time of tasks. Layers repeat, so the estimates of the last 32 different members are cached.
template <class Graph, class Program>
class estimator {
public:
    constexpr estimator(const Graph& g, const Program& p, const plan_options& s) : g_{g}, p_{p}, s_{s} {}

    // The time of one task alone. The members of a group share one latency; their payloads are transferred one after the other.
    constexpr std::int64_t duration(const ir::task& v) {
        if (v.kind == op_kind::input) return 0;
        if (v.kind == op_kind::transfer && v.stream == stream_kind::copy)
            return plus(
                transfer_time(s_.machine, ir::bytes_of(p_, p_.accesses.first[p_.participations.first[v.first_participation].first_access]),
                              true),
                0);
        if (v.members == 1) return time_of(v.first_member, v.first_participation, v.participations).alone;
        std::int64_t latency = 0, work = 0;
        for (int m = v.first_member, last = m + v.members; m < last; ++m) {
            const member_time& t = time_of(m, v.first_participation, v.participations).time;
            if (t.latency > latency) latency = t.latency;
            work = plus(work, t.work);
        }
        return plus(work, latency);
    }

private:
    struct known {
        ir::member like = {};
        bool declared = false;  // whether its operation declares a cost
        std::int64_t total = 0, largest = 0;
        member_time time = {};
        std::int64_t alone = 0;  // latency and work together: the time of a task with this one member
    };

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
        x = {m, declared, total, largest, t, plus(t.work, t.latency)};
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
            if (!declared) return {on.launch_latency, time_at(total, on.memory_bandwidth)};
            const cost c = work_of(m);
            const std::int64_t arithmetic = time_at(c.flops, flop_rate(on, c.arithmetic));
            const std::int64_t memory = time_at(c.bytes, on.memory_bandwidth);
            return {on.launch_latency, arithmetic > memory ? arithmetic : memory};
        }
        if (m.kind == op_kind::input) return {};
        if (m.kind == op_kind::to_host || m.kind == op_kind::from_host) return {on.launch_latency, time_at(largest, on.host_bandwidth)};
        const int n = m.local ? 1 : width(g_, p_, m, s_);
        if (n <= 1) return {on.launch_latency, time_at(total, on.memory_bandwidth)};
        const collective::traffic passes = collective::of(m.kind).passes;
        const auto bandwidth = passes == collective::traffic::link ? on.link_bandwidth : on.bus_bandwidth;
        return {on.link_latency, collective::passing(passes, time_at(largest, bandwidth), n)};
    }

    constexpr cost work_of(const ir::member& m) {
        const ir::node& node = g_.nodes.first[m.node];
        const auto& ids = g_.operands.first;
        arguments_.resize(node.arguments);
        for (int i = 0; i < node.arguments; ++i) arguments_[i] = g_.symbols.first[ids[node.first_argument + i]].type;
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

template <class Graph, class Program>
constexpr std::int64_t duration(const Graph& g, const Program& p, const ir::task& v, const plan_options& s) {
    return detail::estimator<Graph, Program>{g, p, s}.duration(v);
}

// The durations of all tasks, into `to`.
template <class Graph, class Program>
constexpr void costs(const Graph& g, const Program& p, const plan_options& s, auto& to) {
    detail::estimator<Graph, Program> each{g, p, s};
    const auto& tasks = p.tasks.first;
    for (int v = 0; v < p.tasks.count; ++v) to[v] = each.duration(tasks[v]);
}
template <class Graph, class Program>
constexpr vec<std::int64_t> costs(const Graph& g, const Program& p, const plan_options& s) {
    vec<std::int64_t> list(p.tasks.count, unset{});
    costs(g, p, s, list.first);
    return list;
}

}  // namespace dovetail::cost_model
