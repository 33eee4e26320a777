// Are the indices of program and plan inside their tables? Everything after this reads without looking, so that damaged
// tables give a verdict and not an access out of bounds.
#pragma once

#include "../../cost/machine.hpp"
#include "../plan.hpp"
#include "verdict.hpp"

namespace dovetail::plan::detail {

constexpr bool inside(int first, int count, int size) { return first >= 0 && count >= 0 && first <= size - count; }

// The bytes of a rank's arena, or of its states: so few that twice as many can be counted.
constexpr bool is_size(std::int64_t bytes) { return bytes >= 0 && bytes <= INT64_MAX / 4; }

// Tasks have their parts and members one after the other, and parts their accesses, so that each belongs to exactly one; a part
// touches the buffers of its own role.
constexpr verdict check_program_bounds(const ir::graph& g, const ir::program& p) {
    // A negative index is a large one without its sign: one comparison for both ends; of x + 1 where -1 stands for none, of x - 1
    // where there must be one.
    const unsigned buffers = static_cast<unsigned>(p.buffers.count), symbols = static_cast<unsigned>(g.symbols.count), roles = static_cast<unsigned>(p.roles),
                   symmetric_sets = static_cast<unsigned>(p.symmetric_sets), nodes = static_cast<unsigned>(g.nodes.count),
                   communicators = static_cast<unsigned>(p.communicators.count);
    if (p.roles != (g.single_rank ? 1 : g.roles.count) || symmetric_sets > buffers) return {flaw::bad_table};
    for (const ir::buffer *x = p.buffers.begin(), *end = p.buffers.end(); x != end; ++x)
        if (static_cast<unsigned>(x->role) >= roles || static_cast<unsigned>(x->symbol) + 1 > symbols || x->bytes < 0 ||
            static_cast<unsigned>(x->slots) - 1 >= most_slots || static_cast<unsigned>(x->alias) + 1 > buffers ||
            static_cast<unsigned>(x->symmetric_set) + 1 > symmetric_sets)
            return {flaw::bad_table, x->role, -1, -1, static_cast<int>(x - p.buffers.begin())};
    const ir::participation* participation = p.participations.begin();
    const ir::member* member = p.members.begin();
    // Of the task or part at hand; declared once, see check_conformance.
    const ir::member* members_end = nullptr;
    const ir::participation* participations_end = nullptr;
    const ir::access *a = p.accesses.begin(), *accesses_end = nullptr;
    unsigned own_participations = 0, own_members = 0, own_accesses = 0;
    int role = 0;
    unsigned participations = 0, members = 0, accesses = 0;
    unsigned participations_left = static_cast<unsigned>(p.participations.count), members_left = static_cast<unsigned>(p.members.count),
             accesses_left = static_cast<unsigned>(p.accesses.count);
    for (const ir::task *x = p.tasks.begin(), *last = p.tasks.end(); x != last; ++x) {
        own_participations = static_cast<unsigned>(x->participations);
        own_members = static_cast<unsigned>(x->members);
        if (static_cast<unsigned>(x->first_participation) != participations || static_cast<unsigned>(x->first_member) != members ||
            own_participations - 1 >= participations_left || own_members - 1 >= members_left)
            return {flaw::bad_table, -1, static_cast<int>(x - p.tasks.begin())};
        for (members_end = member + own_members; member != members_end; ++member)
            if (static_cast<unsigned>(member->node) + 1 > nodes || static_cast<unsigned>(member->symbol) + 1 > symbols ||
                static_cast<unsigned>(member->communicator) + 1 > communicators)
                return {flaw::bad_table, -1, static_cast<int>(x - p.tasks.begin())};
        for (participations_end = participation + own_participations; participation != participations_end; ++participation) {
            own_accesses = static_cast<unsigned>(participation->accesses);
            if (static_cast<unsigned>(participation->member) - members >= own_members || static_cast<unsigned>(participation->first_access) != accesses ||
                own_accesses > accesses_left)
                return {flaw::bad_table, participation->role, static_cast<int>(x - p.tasks.begin())};
            role = participation->role;
            for (accesses_end = a + own_accesses; a != accesses_end; ++a)
                if (static_cast<unsigned>(a->buffer) >= buffers || p.buffers.first[a->buffer].role != role)
                    return {flaw::wrong_access, role, static_cast<int>(x - p.tasks.begin()), -1, a->buffer};
            accesses += own_accesses;
            accesses_left -= own_accesses;
        }
        participations += own_participations;
        members += own_members;
        participations_left -= own_participations;
        members_left -= own_members;
    }
    for (const ir::communicator& c : p.communicators)
        if (!inside(c.first_role, c.roles, p.communicator_roles.count)) return {flaw::bad_table};
    return {participations_left == 0 && members_left == 0 && accesses_left == 0 ? flaw::none : flaw::bad_table};
}

// Steps are compared with the program in check_steps. Each records at most one event.
constexpr verdict check_plan_bounds(const ir::program& p, const plan& made) {
    if (made.roles.count != p.roles || made.placements.count != p.buffers.count || static_cast<unsigned>(made.event_slots) - 1 >= most_slots)
        return {flaw::bad_table};
    const unsigned waits = static_cast<unsigned>(made.waits.count);
    unsigned own_waits = 0, events = 0;
    for (int role = 0; role < p.roles; ++role) {
        const ir::role_plan& r = made.roles.first[role];
        events = static_cast<unsigned>(r.events);
        if (!inside(r.first_step, r.steps, made.steps.count) || events > static_cast<unsigned>(r.steps)) return {flaw::bad_table, role};
        if (!is_size(r.arena_bytes) || !is_size(r.host_arena_bytes) || !is_size(r.state_bytes)) return {flaw::bad_table, role};
        for (const ir::step *s = made.steps.begin() + r.first_step, *end = s + r.steps; s != end; ++s) {
            own_waits = static_cast<unsigned>(s->waits);
            if (own_waits > waits || static_cast<unsigned>(s->first_wait) > waits - own_waits) return {flaw::bad_table, role};
            if (static_cast<unsigned>(s->event) + 1 > events) return {flaw::wait_unknown_event, role, s->task};
        }
    }
    return {};
}

}  // namespace dovetail::plan::detail
