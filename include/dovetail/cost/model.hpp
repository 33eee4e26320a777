// The time of a task when nothing runs beside it, in picoseconds, and what limits it, from the declared cost of its operation and a machine
// description: the roofline model for compute, a latency and a bandwidth term for communication.
#pragma once

#include "../collective/traffic.hpp"
#include "measured.hpp"
#include "transport.hpp"
#include "work_key.hpp"

namespace dovetail::cost_model {

namespace detail {

constexpr std::int64_t flop_rate(const machine_description& m, element e) {
    switch (e) {
        case element::float64: return m.double_flops;
        case element::float16:
        case element::bfloat16: return m.half_flops;
        default: return m.float_flops;
    }
}

// The time of arithmetic that is divided into tiles: the multiprocessors work in waves, of which the last may be partly filled.
constexpr std::int64_t in_waves(std::int64_t arithmetic, tiles t, int multiprocessors) {
    if (t.count <= 0 || t.time <= 0 || multiprocessors <= 0) return arithmetic;
    const std::int64_t slots = (t.count + multiprocessors - 1) / multiprocessors * multiprocessors;
    const std::int64_t of_tiles = scaled(arithmetic, t.time);
    // The idle slots of the last wave are fewer than the multiprocessors, so that the product fits in 64 bits.
    return plus(of_tiles, of_tiles / t.count * (slots - t.count) + of_tiles % t.count * (slots - t.count) / t.count);
}

// The time of arithmetic on `used` of all multiprocessors.
constexpr std::int64_t on_fewer(std::int64_t arithmetic, int used, int all) {
    return used >= all ? arithmetic : times_ratio(arithmetic, all, used);
}

constexpr hardware executed_by(const ir::task& v) {
    if (v.moved_by == transport::peer_copy || v.kind == op_kind::input || v.kind == op_kind::to_host || v.kind == op_kind::from_host)
        return hardware::copy_engine;
    return collective::passes_between_members(v.kind) ? hardware::nccl : hardware::multiprocessors;
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
    // `order`: the roles in the order of their ranks.
    constexpr estimator(const Graph& g, const Program& p, const plan_options& s, span<const int> order)
        : g_{g}, p_{p}, s_{s}, in_parts_{ir::has_parts(p)}, declared_{g}, keys_{g, p, s}, links_{g, link_options{s}, order} {}

    // One task alone. The members of a group share one latency; their payloads are transferred one after the other.
    constexpr task_cost of(const ir::task& v) {
        task_cost alone = time_alone(v);
        alone.by = executed_by(v);
        return alone;
    }

private:
    constexpr task_cost time_alone(const ir::task& v) {
        if (v.kind == op_kind::input) return {copy_time(p_.members.first[v.first_member].symbol)};
        if (v.moved_by == transport::peer_copy) return by_profile(v, {copied_time(v)});
        if (v.members == 1) return time_of(v, v.first_member).alone;
        member_time together;
        for (int m = v.first_member, last = m + v.members; m < last; ++m) {
            const member_time& t = time_of(v, m).time;
            if (t.latency > together.latency) together.latency = t.latency;
            together.work = plus(together.work, t.work);
            together.limited_by = t.limited_by;
        }
        return by_profile(v, together.alone());
    }
    constexpr task_cost by_profile(const ir::task& v, const task_cost& estimate) {
        return s_.profile.rows.count == 0 ? estimate : measured(s_.profile, {keys_.of(v), v.stream, executed_by(v)}, estimate);
    }

    struct accessed {
        std::int64_t total = 0, largest = 0;
        friend constexpr bool operator==(const accessed&, const accessed&) = default;
    };
    struct link_along {
        int role = 0;
        unsigned axes = 0;
        gpu_pair link = {};
    };
    struct known {
        ir::member like = {};
        bool declared = false;  // whether its operation declares a cost
        accessed bytes = {};
        member_time time = {};
        task_cost alone = {};  // a task with this one member
    };

    // A communication by copy engines.
    constexpr std::int64_t copied_time(const ir::task& v) {
        const ir::member& m = p_.members.first[v.first_member];
        const std::int64_t largest = accessed_by(p_.participations.first[v.first_participation]).largest;
        if (v.kind == op_kind::transfer) return at_most_longest(cost_model::copy_time(link_of(m), largest));
        const int members = extent_of(g_, p_, m, s_).local;
        const collective::row& how = collective::of(m.kind);
        const gpu_pair link = link_of(m);
        return plus(link.latency * collective::copied_blocks(how, members),
                    time_at(collective::copied(how, largest, members), link.bandwidth));
    }

    // The slowest link that a communication uses: between the two roles of a channel, or between any two members along axes.
    constexpr gpu_pair link_of(const ir::member& m) {
        const gpu_pair alike{s_.machine.peer_bandwidth, s_.machine.peer_latency};
        if (!s_.machine.links || m.communicator < 0 || g_.single_rank) return alike;
        const ir::communicator& c = p_.communicators[m.communicator];
        const int first = p_.communicator_roles[c.first_role];
        if (c.axes != 0) return slowest_along(first, c.axes);
        return c.roles == 2 ? slower_of(links_.between(first, p_.communicator_roles[c.first_role + 1]),
                                        links_.between(p_.communicator_roles[c.first_role + 1], first))
                            : alike;
    }

    // Kept for each role and set of axes: all ranks of the role are looked at, which is too much for each communication of a large mesh.
    constexpr gpu_pair slowest_along(int role, unsigned axes) {
        for (const link_along& x : slowest_)
            if (x.role == role && x.axes == axes) return x.link;
        slowest_.push({role, axes, links_.along(role, axes)});
        return slowest_.back().link;
    }

    // The copy of an input. A device pointer is used in place; a pinned input is copied by from_host.
    constexpr std::int64_t copy_time(int symbol) const {
        if (s_.host_inputs.count == 0) return 0;
        const ir::symbol& x = g_.symbols.first[symbol];
        if (x.in_host_memory || !s_.host_inputs.has(x.name)) return 0;
        return plus(s_.machine.launch_latency, time_at(x.type.bytes(), s_.machine.host_bandwidth));
    }

    constexpr const known& time_of(const ir::task& v, int member) {
        const ir::member& m = p_.members.first[member];
        const bool declared = m.kind == op_kind::compute && m.node >= 0 && m.op->has_work;
        const accessed bytes = declared ? accessed{} : accessed_by(v, member);
        // Start the lookup at the entry found last: sequences of operations repeat.
        for (int k = 0; k < count_; ++k) {
            const known& x = seen_[last_];
            if (x.like.kind == m.kind && x.declared == declared &&
                (declared ? same_work(x.like, m) : x.bytes == bytes && same_ranks(x.like, m)))
                return x;
            if (++last_ >= count_) last_ = 0;
        }
        if (count_ < capacity)
            last_ = count_++;
        else if (++last_ == capacity)
            last_ = 0;
        known& x = seen_[last_];
        const member_time t = estimate(m, declared, bytes.total, bytes.largest);
        x = {m, declared, bytes, t, t.alone()};
        if (s_.profile.rows.count > 0) x.alone = measured(s_.profile, {keys_.of_member(v, member), v.stream, executed_by(v)}, x.alone);
        return x;
    }

    // The bytes that a participation reads and writes, and its payload: what it reads, or what it writes.
    constexpr accessed accessed_by(const ir::participation& x) const {
        std::int64_t read = 0, written = 0;
        const ir::access* const first = p_.accesses.first + x.first_access;
        const bool in_blocks = ir::touches_blocks(p_.members.first[x.member]);
        for (int k = 0; k < x.accesses; ++k) {
            const ir::access& a = first[k];
            const std::int64_t bytes = in_blocks   ? ir::touched_bytes(g_, p_, x, k)
                                       : in_parts_ ? ir::bytes_of(p_, a)
                                                   : p_.buffers.first[a.buffer].bytes;
            if (reads(a.mode)) read += bytes;
            if (writes(a.mode)) written += bytes;
        }
        return {read + written, read > written ? read : written};
    }

    // The same for a member: the bytes of all its participations, and the largest payload of one.
    constexpr accessed accessed_by(const ir::task& v, int member) const {
        const auto& participations = p_.participations.first;
        accessed all;
        for (int i = v.first_participation, end = i + v.participations; i < end; ++i) {
            if (participations[i].member != member) continue;
            const accessed one = accessed_by(participations[i]);
            all.total += one.total;
            if (one.largest > all.largest) all.largest = one.largest;
        }
        return all;
    }

    // Whether two members without declared costs, which access equally many bytes, are done by the same ranks and, for a profile, by the
    // same operation.
    constexpr bool same_ranks(const ir::member& a, const ir::member& b) const {
        if (a.kind == op_kind::compute && a.node >= 0 && b.node >= 0 && !same_work(a, b)) return false;
        return a.communicator == b.communicator && a.local == b.local;
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
            const ir::node& n = g_.nodes.first[m.node];
            const cost c = declared_.work(*m.op, n);
            const int used = m.op->sms > 0 && m.op->sms < on.multiprocessors ? m.op->sms : on.multiprocessors;
            const std::int64_t on_all = time_at(c.flops, flop_rate(on, c.arithmetic));
            const std::int64_t arithmetic = in_waves(on_fewer(on_all, used, on.multiprocessors), declared_.tiling(*m.op, n), used);
            const std::int64_t memory = time_at(c.bytes, on.memory_bandwidth);
            if (arithmetic > memory) return {on.launch_latency, arithmetic, work_class::compute_bound};
            return {on.launch_latency, memory, work_class::memory_bound};
        }
        if (m.kind == op_kind::to_host || m.kind == op_kind::from_host) return {on.launch_latency, time_at(largest, on.host_bandwidth)};
        if (m.kind == op_kind::local_reduce) return {on.launch_latency, time_at(total, on.memory_bandwidth), work_class::memory_bound};
        const extent n = m.local ? extent{} : extent_of(g_, p_, m, s_);
        if (n.ranks() <= 1) return {on.launch_latency, time_at(total, on.memory_bandwidth), work_class::memory_bound};
        const collective::row& row = collective::of(m.kind);
        if (row.passes == collective::traffic::own)
            return {on.launch_latency, time_at(2 * (largest / n.ranks()), on.memory_bandwidth), work_class::memory_bound};
        return communicated(row, largest, n, m);
    }

    // The parts of a communication within nodes and between nodes run at the same time, in a pipeline, so that the slower one counts.
    constexpr member_time communicated(const collective::row& r, std::int64_t bytes, const extent& n, const ir::member& m) {
        const machine_description& on = s_.machine;
        const collective::payload_by_link payload = collective::payload_on(r, bytes, n.local, n.nodes);
        const auto bandwidth = r.passes == collective::traffic::link ? sent_at(m) : on.bus_bandwidth;
        const std::int64_t within = n.local > 1 ? collective::passing(r.passes, time_at(payload.local, bandwidth), n.local) : 0;
        if (n.nodes == 1) return {on.link_latency, within};
        const std::int64_t between = collective::passing(r.passes, time_at(payload.network, on.network_bandwidth), n.nodes);
        return {on.network_latency, within > between ? within : between};
    }

    // NCCL sends over a link no faster than copies go.
    constexpr std::int64_t sent_at(const ir::member& m) {
        const std::int64_t bandwidth = s_.machine.link_bandwidth;
        if (!s_.machine.links) return bandwidth;
        const std::int64_t copied = link_of(m).bandwidth;
        return copied < bandwidth ? copied : bandwidth;
    }

    static constexpr int capacity = 32;
    const Graph& g_;
    const Program& p_;
    const plan_options& s_;
    const bool in_parts_;
    known seen_[capacity] = {};
    int count_ = 0, last_ = -1;
    declared_facts<Graph> declared_;
    work_keys<Graph, Program> keys_;
    rank_links<Graph> links_;
    vec<link_along> slowest_;
};

}  // namespace detail

// The costs of all tasks, into `to`. `order`: the roles in the order of their ranks; empty: of their ids.
template <class Graph, class Program>
constexpr void costs(const Graph& g, const Program& p, const plan_options& s, span<const int> order, auto& to) {
    detail::estimator<Graph, Program> each{g, p, s, order};
    const auto& tasks = p.tasks.first;
    for (int v = 0; v < p.tasks.count; ++v) to[v] = each.of(tasks[v]);
}
template <class Graph, class Program>
constexpr vec<task_cost> costs(const Graph& g, const Program& p, const plan_options& s, span<const int> order = {}) {
    vec<task_cost> list(p.tasks.count, unset{});
    costs(g, p, s, order, list.first);
    return list;
}

}  // namespace dovetail::cost_model
