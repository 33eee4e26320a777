// What a vertex takes when nothing runs beside it, in picoseconds, from the declared facts of its operation and a machine
// description: the roofline for compute, the textbook bandwidth terms for communication.
#pragma once

#include "../ir/program.hpp"
#include "transport.hpp"

namespace dovetail::pass {

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

// Ranks that talk to each other in a member: lanes along its axes, or roles.
constexpr int width(const ir::graph& g, const ir::program& p, const ir::member& m, const settings& s) {
    if (m.communicator < 0) return 2;
    const ir::communicator& c = p.communicators[m.communicator];
    if (c.axes == 0) return c.roles;
    const ir::role& role = g.roles[p.communicator_roles[c.first_role]];
    int n = 1;
    for (const ir::mesh_axis& a : g.mesh.part(role.first_axis, role.axes))
        if ((c.axes >> a.axis & 1u) != 0) n *= a.width > 0 ? a.width : s.assumed_width;
    return n;
}

// The operands of one member after another: what nobody has written is not made anew for each.
struct operands {
    vec<tensor_type> arguments{64};
    tensor_type results[max_results] = {};
};

constexpr cost work_of(const ir::graph& g, const ir::member& m, operands& on) {
    const ir::node& node = g.nodes.first[m.node];
    const int* ids = g.operands.first;
    if (node.arguments > on.arguments.size()) on.arguments.resize(node.arguments);
    tensor_type* arguments = on.arguments.begin();
    for (int i = 0; i < node.arguments; ++i) arguments[i] = g.symbols.first[ids[node.first_argument + i]].type;
    bool discarded = false;
    for (int i = 0; i < node.results && i < max_results; ++i) {
        const int symbol = ids[node.first_result + i];
        if (symbol >= 0)
            on.results[i] = g.symbols.first[symbol].type;
        else
            discarded = true;
    }
    // A discarded result has no symbol to tell its type.
    if (discarded && m.kind == op_kind::compute) m.op->infer(arguments, on.results);
    return m.op->work(arguments, on.results);
}

// What a member takes: a latency, and a time that its bytes or operations need.
struct member_time {
    std::int64_t latency = 0;
    std::int64_t work = 0;
};

// `total` and `largest`: bytes of all buffers that the member touches, and of the largest one, which is the payload of a
// collective whichever side it stands on.
constexpr member_time time_of(const ir::graph& g, const ir::program& p, const ir::member& m, const settings& s, std::int64_t total, std::int64_t largest,
                              operands& room) {
    const machine_description& on = s.machine;
    if (m.kind == op_kind::compute) {
        if (m.node < 0 || !m.op->has_work) return {on.launch_latency, time_at(total, on.memory_bandwidth)};
        const cost c = work_of(g, m, room);
        const std::int64_t arithmetic = time_at(c.flops, flop_rate(on, c.arithmetic));
        const std::int64_t memory = time_at(c.bytes, on.memory_bandwidth);
        return {on.launch_latency, arithmetic > memory ? arithmetic : memory};
    }
    if (m.kind == op_kind::input) return {};
    if (m.kind == op_kind::to_host || m.kind == op_kind::from_host) return {on.launch_latency, time_at(largest, on.host_bandwidth)};
    const int n = m.local ? 1 : width(g, p, m, s);
    if (n <= 1) return {on.launch_latency, time_at(total, on.memory_bandwidth)};
    const std::int64_t bus = time_at(largest, on.bus_bandwidth);
    switch (m.kind) {
        case op_kind::transfer:
        case op_kind::shift: return {on.link_latency, time_at(largest, on.link_bandwidth)};
        case op_kind::broadcast:
        case op_kind::reduce: return {on.link_latency, bus};
        case op_kind::all_reduce: return {on.link_latency, 2 * (bus - bus / n)};
        default: return {on.link_latency, bus - bus / n};
    }
}

}  // namespace detail

// One vertex alone. The members of a group share one latency; their payloads follow each other.
constexpr std::int64_t duration(const ir::graph& g, const ir::program& p, const ir::vertex& v, const settings& s, detail::operands& room) {
    const ir::access* accesses = p.accesses.first;
    const ir::buffer* buffers = p.buffers.first;
    if (v.kind == op_kind::transfer && v.lane == lane_kind::copy)
        return detail::plus(transfer_time(s.machine, buffers[accesses[p.parts.first[v.first_part].first_access].buffer].bytes, true), 0);
    std::int64_t latency = 0, work = 0;
    for (int m = v.first_member; m < v.first_member + v.members; ++m) {
        std::int64_t total = 0, largest = 0;
        for (const ir::part *part = p.parts.first + v.first_part, *end = part + v.parts; part != end; ++part) {
            if (part->member != m) continue;
            for (const ir::access *a = accesses + part->first_access, *last = a + part->accesses; a != last; ++a) {
                const std::int64_t b = buffers[a->buffer].bytes;
                total += b;
                if (b > largest) largest = b;
            }
        }
        const detail::member_time t = detail::time_of(g, p, p.members.first[m], s, total, largest, room);
        if (t.latency > latency) latency = t.latency;
        work = detail::plus(work, t.work);
    }
    return detail::plus(work, latency);
}
constexpr std::int64_t duration(const ir::graph& g, const ir::program& p, const ir::vertex& v, const settings& s) {
    detail::operands room;
    return duration(g, p, v, s, room);
}

// Every vertex.
constexpr vec<std::int64_t> costs(const ir::graph& g, const ir::program& p, const settings& s) {
    vec<std::int64_t> list(p.vertices.size());
    detail::operands room;
    std::int64_t* to = list.begin();
    for (int v = 0; v < p.vertices.count; ++v) to[v] = duration(g, p, p.vertices.first[v], s, room);
    return list;
}

}  // namespace dovetail::pass
