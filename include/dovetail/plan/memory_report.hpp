// The report if no schedule that was tried fits into the memory limit: the role that needs most bytes, and the two largest values that are
// alive at its peak. From a program, the plans of its roles and the order of its tasks.
#pragma once

#include "emit.hpp"

namespace dovetail::plan {

struct memory_report {
    int role = 0;
    std::int64_t needed = 0;
    int largest[2] = {-1, -1};  // source positions of their names
};

namespace detail {

// The positions in the order between which a buffer is alive; a state is always alive.
struct held {
    int first = -1, last = -1;
};

constexpr vec<held> held_by(const ir::program& p, int role, span<const int> order) {
    vec<held> list;
    list.resize(p.buffers.size());
    for (int at = 0; at < order.size(); ++at) {
        const ir::task& v = p.tasks[order[at]];
        for (const ir::participation& participation : p.participations.subspan(v.first_participation, v.participations)) {
            if (participation.role != role) continue;
            for (const ir::access& a : p.accesses.subspan(participation.first_access, participation.touches())) {
                const ir::buffer& b = p.buffers[a.buffer];
                // An in-place result counts as the buffer whose bytes it reuses.
                held& h = list[b.alias >= 0 ? b.alias : a.buffer];
                if (h.first < 0) h.first = at;
                if (h.last < at) h.last = b.output ? order.size() - 1 : at;
            }
        }
    }
    for (int i = 0; i < list.size(); ++i)
        if (p.buffers[i].where == ir::storage::state && p.buffers[i].role == role) list[i] = {0, order.size() - 1};
    return list;
}

constexpr bool counts(const ir::buffer& b) {
    return b.where == ir::storage::arena || b.where == ir::storage::state || b.where == ir::storage::workspace;
}

}  // namespace detail

constexpr memory_report memory_report_of(const ir::graph& g, const ir::program& p, span<const ir::role_plan> roles, span<const int> order) {
    memory_report e;
    for (int r = 0; r < roles.size(); ++r)
        if (bytes_of(roles[r]) > e.needed) {
            e.needed = bytes_of(roles[r]);
            e.role = r;
        }
    const vec<detail::held> list = detail::held_by(p, e.role, order);
    vec<std::int64_t> change;
    change.resize(order.size() + 1);
    for (std::int64_t& c : change) c = 0;
    for (int i = 0; i < list.size(); ++i)
        if (list[i].first >= 0 && detail::counts(p.buffers[i])) {
            change[list[i].first] += p.buffers[i].bytes * p.buffers[i].slots;
            change[list[i].last + 1] -= p.buffers[i].bytes * p.buffers[i].slots;
        }
    int peak = 0;
    std::int64_t now = 0, most = 0;
    for (int at = 0; at < order.size(); ++at) {
        now += change[at];
        if (now > most) {
            most = now;
            peak = at;
        }
    }
    std::int64_t bytes[2] = {-1, -1};
    for (int i = 0; i < list.size(); ++i) {
        const ir::buffer& b = p.buffers[i];
        if (b.symbol < 0 || !detail::counts(b) || list[i].first > peak || list[i].last < peak || list[i].first < 0) continue;
        const int slot = b.bytes > bytes[0] ? 0 : 1;
        if (slot == 1 && b.bytes <= bytes[1]) continue;
        if (slot == 0) {
            bytes[1] = bytes[0];
            e.largest[1] = e.largest[0];
        }
        bytes[slot] = b.bytes;
        e.largest[slot] = g.symbols[b.symbol].source_position;
    }
    return e;
}

}  // namespace dovetail::plan
