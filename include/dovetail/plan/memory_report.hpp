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

// The role that needs most bytes, the first of several.
constexpr int largest_role(span<const ir::role_plan> roles) {
    int largest = 0;
    for (int r = 1; r < roles.size(); ++r)
        if (bytes_of(roles[r]) > bytes_of(roles[largest])) largest = r;
    return largest;
}

// The position in the order at which most bytes are alive.
constexpr int peak_of(const ir::program& p, const vec<held>& list, int positions) {
    vec<std::int64_t> change(positions + 1);  // by position: the bytes that become alive there, less those that are no longer
    for (int i = 0; i < list.size(); ++i)
        if (list[i].first >= 0 && counts(p.buffers[i])) {
            change[list[i].first] += p.buffers[i].bytes * p.buffers[i].slots;
            change[list[i].last + 1] -= p.buffers[i].bytes * p.buffers[i].slots;
        }
    int peak = 0;
    std::int64_t now = 0, most = 0;
    for (int at = 0; at < positions; ++at) {
        now += change[at];
        if (now > most) {
            most = now;
            peak = at;
        }
    }
    return peak;
}

// The two largest of the values that are added, in descending order.
struct largest_two {
    struct value {
        std::int64_t bytes = -1;
        int source_position = -1;
    };
    value first = {}, second = {};

    constexpr void add(const value& x) {
        if (x.bytes > first.bytes) {
            second = first;
            first = x;
        } else if (x.bytes > second.bytes) {
            second = x;
        }
    }
};

}  // namespace detail

constexpr memory_report memory_report_of(const ir::graph& g, const ir::program& p, span<const ir::role_plan> roles, span<const int> order) {
    memory_report e;
    e.role = detail::largest_role(roles);
    e.needed = bytes_of(roles[e.role]);
    const vec<detail::held> list = detail::held_by(p, e.role, order);
    const int peak = detail::peak_of(p, list, order.size());
    detail::largest_two values;
    for (int i = 0; i < list.size(); ++i) {
        const ir::buffer& b = p.buffers[i];
        if (b.symbol < 0 || !detail::counts(b) || list[i].first > peak || list[i].last < peak || list[i].first < 0) continue;
        values.add({b.bytes, g.symbols[b.symbol].source_position});
    }
    e.largest[0] = values.first.source_position;
    e.largest[1] = values.second.source_position;
    return e;
}

}  // namespace dovetail::plan
