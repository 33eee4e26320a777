// Are the indices of program and plan inside their tables? Everything after this reads without looking, so that damaged
// tables give a verdict and not an access out of bounds.
#pragma once

#include "../plan.hpp"
#include "verdict.hpp"

namespace dovetail::plan::detail {

constexpr bool inside(int first, int count, int size) { return first >= 0 && count >= 0 && first <= size - count; }

// Vertices have their parts and members one after the other, so that each belongs to exactly one; parts of one role are adjacent,
// roles ascending.
constexpr verdict check_program_rows(const ir::graph& g, const ir::program& p) {
    const int accesses = p.accesses.count;
    // A negative index is a large one without its sign: one comparison for both ends; of x + 1 where -1 stands for none.
    const unsigned buffers = static_cast<unsigned>(p.buffers.count), symbols = static_cast<unsigned>(g.symbols.count), roles = static_cast<unsigned>(p.roles),
                   commons = static_cast<unsigned>(p.commons), nodes = static_cast<unsigned>(g.nodes.count),
                   communicators = static_cast<unsigned>(p.communicators.count);
    if (p.roles < 1 || p.commons < 0 || (p.roles > 1 && (g.folded || p.roles > g.roles.count))) return {flaw::bad_table};
    for (const ir::buffer *x = p.buffers.begin(), *end = p.buffers.end(); x != end; ++x)
        if (static_cast<unsigned>(x->role) >= roles || static_cast<unsigned>(x->symbol) + 1 > symbols || x->bytes < 0 || x->slots < 1 ||
            static_cast<unsigned>(x->alias) + 1 > buffers || static_cast<unsigned>(x->common) + 1 > commons)
            return {flaw::bad_table, x->role, -1, -1, static_cast<int>(x - p.buffers.begin())};
    for (const ir::access *a = p.accesses.begin(), *end = p.accesses.end(); a != end; ++a)
        if (static_cast<unsigned>(a->buffer) >= buffers) return {flaw::bad_table, -1, -1, -1, a->buffer};
    const ir::part* part = p.parts.begin();
    const ir::member* member = p.members.begin();
    int parts = 0, members = 0;
    for (int v = 0; v < p.vertices.count; ++v) {
        const ir::vertex* x = p.vertices.first + v;
        if (x->first_part != parts || x->first_member != members || x->parts < 1 || x->members < 1 || x->parts > p.parts.count - parts ||
            x->members > p.members.count - members)
            return {flaw::bad_table, -1, v};
        const int first_member = members;
        parts += x->parts;
        members += x->members;
        for (const ir::member* end = p.members.first + members; member != end; ++member)
            if (static_cast<unsigned>(member->node) + 1 > nodes || static_cast<unsigned>(member->symbol) + 1 > symbols ||
                static_cast<unsigned>(member->communicator) + 1 > communicators)
                return {flaw::bad_table, -1, v};
        int role = 0;
        for (const ir::part* end = p.parts.first + parts; part != end; ++part) {
            if (part->role < role || part->role >= p.roles || part->member < first_member || part->member >= members || part->first_access < 0 ||
                part->accesses < 0 || part->first_access > accesses - part->accesses)
                return {flaw::bad_table, part->role, v};
            role = part->role;
        }
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
    const unsigned vertices = static_cast<unsigned>(p.vertices.count);
    const int parts = p.parts.count, waits = made.waits.count;
    for (const ir::step *s = made.steps.begin() + r.first_step, *end = s + r.steps; s != end; ++s) {
        if (static_cast<unsigned>(s->vertex) >= vertices || s->parts < 1 || s->first_part < 0 || s->first_part > parts - s->parts || s->waits < 0 ||
            s->first_wait < 0 || s->first_wait > waits - s->waits)
            return {flaw::bad_table, role};
        if (static_cast<unsigned>(s->lane) >= static_cast<unsigned>(lane_count)) return {flaw::lane_wrong, role, s->vertex};
        if (s->event < -1 || s->event >= r.events) return {flaw::wait_unknown_event, role, s->vertex};
    }
    return {};
}

}  // namespace dovetail::plan::detail
