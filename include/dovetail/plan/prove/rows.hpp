// Are the indices of program and plan inside their tables? Everything after this reads without looking, so that damaged
// tables give a verdict and not an access out of bounds.
#pragma once

#include "../plan.hpp"
#include "verdict.hpp"

namespace dovetail::plan::detail {

constexpr bool inside(int first, int count, int size) { return first >= 0 && count >= 0 && first <= size - count; }

// Every part and member belongs to exactly one vertex; parts of one role are adjacent, roles ascending.
constexpr verdict check_program_rows(const ir::graph& g, const ir::program& p) {
    const int accesses = p.accesses.count;
    // A negative index is a large one without its sign: one comparison for both ends; of x + 1 where -1 stands for none.
    const unsigned buffers = static_cast<unsigned>(p.buffers.count), symbols = static_cast<unsigned>(g.symbols.count), roles = static_cast<unsigned>(p.roles),
                   commons = static_cast<unsigned>(p.commons), nodes = static_cast<unsigned>(g.nodes.count),
                   communicators = static_cast<unsigned>(p.communicators.count);
    if (p.roles < 1 || p.commons < 0 || (p.roles > 1 && (g.folded || p.roles > g.roles.count))) return {flaw::bad_table};
    for (int b = 0; b < p.buffers.count; ++b) {
        const ir::buffer& x = p.buffers.first[b];
        if (static_cast<unsigned>(x.role) >= roles || static_cast<unsigned>(x.symbol) + 1 > symbols || x.bytes < 0 || x.slots < 1 ||
            static_cast<unsigned>(x.alias) + 1 > buffers || static_cast<unsigned>(x.common) + 1 > commons)
            return {flaw::bad_table, x.role, -1, -1, b};
    }
    for (const ir::access *a = p.accesses.begin(), *end = p.accesses.end(); a != end; ++a)
        if (static_cast<unsigned>(a->buffer) >= buffers) return {flaw::bad_table, -1, -1, -1, a->buffer};
    vec<char> part_owned(p.parts.count), member_owned(p.members.count);
    char *part_seen = part_owned.begin(), *member_seen = member_owned.begin();
    int parts = 0, members = 0;
    for (int v = 0; v < p.vertices.count; ++v) {
        const ir::vertex& x = p.vertices.first[v];
        if (x.parts < 1 || x.members < 1 || !inside(x.first_part, x.parts, p.parts.count) || !inside(x.first_member, x.members, p.members.count))
            return {flaw::bad_table, -1, v};
        for (int m = x.first_member, end = m + x.members; m < end; ++m) {
            const ir::member& y = p.members.first[m];
            if (member_seen[m]++ != 0 || static_cast<unsigned>(y.node) + 1 > nodes || static_cast<unsigned>(y.symbol) + 1 > symbols ||
                static_cast<unsigned>(y.communicator) + 1 > communicators)
                return {flaw::bad_table, -1, v};
        }
        for (int i = x.first_part, role = 0, end = i + x.parts; i < end; ++i) {
            const ir::part& y = p.parts.first[i];
            if (part_seen[i]++ != 0 || y.role < role || y.role >= p.roles || y.member < x.first_member || y.member >= x.first_member + x.members ||
                y.first_access < 0 || y.accesses < 0 || y.first_access > accesses - y.accesses)
                return {flaw::bad_table, y.role, v};
            role = y.role;
        }
        parts += x.parts;
        members += x.members;
    }
    for (const ir::communicator& c : p.communicators)
        if (!inside(c.first_role, c.roles, p.communicator_roles.count)) return {flaw::bad_table};
    return {parts == p.parts.count && members == p.members.count ? flaw::none : flaw::bad_table};
}

constexpr verdict check_plan_rows(const ir::program& p, const plan& made, int role) {
    if (role < 0 || role >= p.roles || made.roles.count != p.roles || made.placements.count != p.buffers.count || made.rings < 1)
        return {flaw::bad_table, role};
    const ir::role_plan& r = made.roles.first[role];
    if (!inside(r.first_step, r.steps, made.steps.count) || r.events < 0) return {flaw::bad_table, role};
    for (const ir::step *s = made.steps.begin() + r.first_step, *end = s + r.steps; s != end; ++s) {
        if (s->vertex < 0 || s->vertex >= p.vertices.count || s->parts < 1 || !inside(s->first_part, s->parts, p.parts.count) || s->waits < 0 ||
            !inside(s->first_wait, s->waits, made.waits.count))
            return {flaw::bad_table, role};
        if (s->lane < 0 || s->lane >= lane_count) return {flaw::lane_wrong, role, s->vertex};
        if (s->event < -1 || s->event >= r.events) return {flaw::wait_unknown_event, role, s->vertex};
    }
    return {};
}

}  // namespace dovetail::plan::detail
