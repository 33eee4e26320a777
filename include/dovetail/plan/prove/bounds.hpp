// Are the indices of program and plan inside their tables? All later checks use indices unchecked; damaged
// tables are refused here, and are never read out of bounds.
#pragma once

#include "../../cost/plan_options.hpp"
#include "../plan.hpp"
#include "verdict.hpp"

namespace dovetail::plan::detail {

constexpr bool inside(int first, int count, int size) { return first >= 0 && count >= 0 && first <= size - count; }

// The bytes of a rank's arena, or of its states: so few that twice as many can be counted.
constexpr bool is_size(std::int64_t bytes) { return bytes >= 0 && bytes <= INT64_MAX / 4; }

// Which buffers there are, and that the leaves of each tile it: whole blocks of the alignment, but for the last.
constexpr verdict check_buffer_rows(const ir::graph& g, const ir::program& p) {
    // A negative index is a large one without its sign: one comparison for both ends; of x + 1 where -1 stands for none, of x - 1
    // where there must be one.
    const unsigned buffers = static_cast<unsigned>(p.buffers.count), symbols = static_cast<unsigned>(g.symbols.count),
                   roles = static_cast<unsigned>(p.roles), symmetric_sets = static_cast<unsigned>(p.symmetric_sets);
    const ir::leaf *leaf = p.leaves.begin(), *leaves_end = nullptr;
    unsigned leaves = 0, own = 0, leaves_left = static_cast<unsigned>(p.leaves.count);
    std::int64_t at = 0;
    for (const ir::buffer *x = p.buffers.begin(), *end = p.buffers.end(); x != end; ++x) {
        own = static_cast<unsigned>(x->leaves);
        if (static_cast<unsigned>(x->role) >= roles || static_cast<unsigned>(x->symbol) + 1 > symbols ||
            static_cast<unsigned>(x->slots) - 1 >= most_slots || static_cast<unsigned>(x->alias) + 1 > buffers ||
            static_cast<unsigned>(x->symmetric_set) + 1 > symmetric_sets || static_cast<unsigned>(x->first_leaf) != leaves ||
            own - 1 >= leaves_left)
            return {flaw::bad_table, x->role, -1, -1, static_cast<int>(x - p.buffers.begin())};
        at = 0;
        for (leaves_end = leaf + own; leaf != leaves_end; ++leaf) {
            if (leaf->begin != at) return {flaw::bad_table, x->role, -1, -1, static_cast<int>(x - p.buffers.begin())};
            // Only for names: such leaves would share a cell with their neighbours, or have none.
            if (at % ir::alignment != 0 || leaf->bytes < 0 || leaf->bytes > x->bytes - at || (leaf->bytes == 0 && own > 1))
                return {flaw::bad_table, x->role, -1, -1, static_cast<int>(x - p.buffers.begin())};
            at += leaf->bytes;
        }
        if (at != x->bytes) return {flaw::bad_table, x->role, -1, -1, static_cast<int>(x - p.buffers.begin())};
        leaves += own;
        leaves_left -= own;
    }
    return {leaves_left == 0 ? flaw::none : flaw::bad_table};
}

// A participation accesses leaves of buffers of its own role.
constexpr verdict check_accesses(const ir::program& p, const ir::participation& x, const ir::access* a, int task) {
    const unsigned buffers = static_cast<unsigned>(p.buffers.count);
    const ir::buffer* touched = nullptr;
    unsigned leaves = 0, own = 0;
    for (const ir::access* end = a + x.accesses + x.awaited; a != end; ++a) {
        if (static_cast<unsigned>(a->buffer) >= buffers) return {flaw::wrong_access, x.role, task, -1, a->buffer};
        touched = p.buffers.first + a->buffer;
        leaves = static_cast<unsigned>(touched->leaves);
        own = static_cast<unsigned>(a->leaves);
        if (touched->role != x.role || own - 1 >= leaves ||
            static_cast<unsigned>(a->leaf) - static_cast<unsigned>(touched->first_leaf) > leaves - own)
            return {flaw::wrong_access, x.role, task, -1, a->buffer};
    }
    return {};
}

// The participations and members of each task follow those of the task before it, and so do the accesses of participations: each row
// belongs to exactly one.
class task_rows {
public:
    constexpr task_rows(const ir::graph& g, const ir::program& p)
        : p_{p},
          ordered_{!g.single_rank},
          symbols_{static_cast<unsigned>(g.symbols.count)},
          nodes_{static_cast<unsigned>(g.nodes.count)},
          communicators_{static_cast<unsigned>(p.communicators.count)},
          member_{p.members.begin()},
          participation_{p.participations.begin()},
          access_{p.accesses.begin()} {}

    constexpr verdict check() {
        int v = 0;
        for (const ir::task *x = p_.tasks.begin(), *end = p_.tasks.end(); x != end; ++x, ++v) {
            const unsigned participations = static_cast<unsigned>(x->participations), members = static_cast<unsigned>(x->members);
            if (x->first_participation != participation_ - p_.participations.begin() || x->first_member != member_ - p_.members.begin() ||
                participations - 1 >= static_cast<unsigned>(p_.participations.end() - participation_) ||
                members - 1 >= static_cast<unsigned>(p_.members.end() - member_))
                return {flaw::bad_table, -1, v};
            if (!take_members(x->members))  // Only for names: members are left over then.
                return {flaw::bad_table, -1, v};
            if (const verdict bad = take_participations(*x, v); !bad) return bad;  // Only for names: participations are left over then.
        }
        return {participation_ == p_.participations.end() && member_ == p_.members.end() && access_ == p_.accesses.end() ? flaw::none
                                                                                                                         : flaw::bad_table};
    }

private:
    constexpr bool take_members(int count) {
        for (const ir::member* end = member_ + count; member_ != end; ++member_)
            if (static_cast<unsigned>(member_->node) + 1 > nodes_ || static_cast<unsigned>(member_->symbol) + 1 > symbols_ ||
                static_cast<unsigned>(member_->communicator) + 1 > communicators_)
                return false;
        return true;
    }
    // Each role makes the calls of a group in the order of its participations, which is that of the members: so it is the same on all.
    constexpr verdict take_participations(const ir::task& x, int v) {
        const unsigned first = static_cast<unsigned>(x.first_member), members = static_cast<unsigned>(x.members);
        const ir::participation *start = participation_, *end = participation_ + x.participations;
        for (; participation_ != end; ++participation_) {
            if (ordered_ && participation_ != start && comes_before(participation_[0], participation_[-1]))
                return {flaw::bad_table, participation_->role, v};
            if (static_cast<unsigned>(participation_->member) - first >= members ||
                participation_->first_access != access_ - p_.accesses.begin() ||
                static_cast<unsigned>(participation_->accesses) > static_cast<unsigned>(p_.accesses.end() - access_) ||
                static_cast<unsigned>(participation_->awaited) >
                    static_cast<unsigned>(p_.accesses.end() - access_ - participation_->accesses))
                return {flaw::bad_table, participation_->role, v};
            if (const verdict bad = check_accesses(p_, *participation_, access_, v); !bad) return bad;
            access_ += participation_->accesses + participation_->awaited;
        }
        return {};
    }

    static constexpr bool comes_before(const ir::participation& x, const ir::participation& y) {
        return x.role != y.role ? x.role < y.role : x.member < y.member;
    }

    const ir::program& p_;
    bool ordered_;
    unsigned symbols_, nodes_, communicators_;
    const ir::member* member_;  // the first that no task has so far
    const ir::participation* participation_;
    const ir::access* access_;
};

constexpr verdict check_program_bounds(const ir::graph& g, const ir::program& p) {
    if (p.roles != (g.single_rank ? 1 : g.roles.count) || p.symmetric_sets < 0 || p.symmetric_sets > p.buffers.count)
        return {flaw::bad_table};
    if (const verdict bad = check_buffer_rows(g, p); !bad) return bad;
    if (const verdict bad = task_rows{g, p}.check(); !bad) return bad;
    for (const ir::communicator& c : p.communicators)
        if (!inside(c.first_role, c.roles, p.communicator_roles.count)) return {flaw::bad_table};
    return {};
}

// Steps are compared with the program in check_steps. Each records at most one event.
constexpr verdict check_plan_bounds(const ir::program& p, const plan& made) {
    if (made.roles.count != p.roles || made.placements.count != p.buffers.count ||
        static_cast<unsigned>(made.event_slots) - 1 >= most_slots)
        return {flaw::bad_table};
    const unsigned waits = static_cast<unsigned>(made.waits.count);
    unsigned own_waits = 0, events = 0;
    vec<bool> has_place(p.roles, false);
    for (int role = 0; role < p.roles; ++role) {
        const ir::role_plan& r = made.roles.first[role];
        if (static_cast<unsigned>(r.rank_order) >= static_cast<unsigned>(p.roles) || has_place[r.rank_order])
            return {flaw::bad_table, role};
        has_place[r.rank_order] = true;
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
