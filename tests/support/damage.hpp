// Plans damaged on purpose. Each damage has sites, counted from 0: `apply(s, site)` changes the subject there, and is false
// where there is no such site. `certain`: no plan survives it at any site; the others may hit something that the plan does
// not need, such as a wait that a pass could have spared.
#pragma once

#include "hand_plan.hpp"

namespace support {

struct damage {
    const char* name;
    bool certain;
    bool (*apply)(subject&, int site);
};

namespace detail {

// The site-th element that `good` likes; -1: none.
template <class List, class Good>
int nth(const List& list, int site, Good good) {
    for (int i = 0; i < list.size(); ++i)
        if (good(list[i]) && site-- == 0) return i;
    return -1;
}

inline int role_of_step(const subject& s, int k) {
    int role = 0;
    while (k < s.plan.roles[role].first_step || k >= s.plan.roles[role].first_step + s.plan.roles[role].steps) ++role;
    return role;
}
inline int step_of_wait(const subject& s, int w) {
    return nth(s.plan.steps, 0, [w](const dv::ir::step& x) { return w >= x.first_wait && w < x.first_wait + x.waits; });
}

template <class T>
void erase(dv::vec<T>& list, int at) {
    for (int i = at; i + 1 < list.size(); ++i) list[i] = list[i + 1];
    list.cut(list.size() - 1);
}

inline void erase_step(subject& s, int k) {
    const int role = role_of_step(s, k), index = k - s.plan.roles[role].first_step;
    for (int i = s.plan.roles[role].first_step; i < s.plan.roles[role].first_step + s.plan.roles[role].steps; ++i)
        for (int w = s.plan.steps[i].first_wait; w < s.plan.steps[i].first_wait + s.plan.steps[i].waits; ++w)
            if (s.plan.waits[w].step > index) --s.plan.waits[w].step;
    erase(s.plan.steps, k);
    --s.plan.roles[role].steps;
    for (dv::ir::role_plan& r : s.plan.roles)
        if (r.first_step > k) --r.first_step;
}

// Steps k and k+1 of one role change places; waits keep naming the steps that record their events.
inline void swap_steps(subject& s, int k) {
    const int role = role_of_step(s, k), index = k - s.plan.roles[role].first_step;
    const dv::ir::step x = s.plan.steps[k];
    s.plan.steps[k] = s.plan.steps[k + 1];
    s.plan.steps[k + 1] = x;
    for (int i = s.plan.roles[role].first_step; i < s.plan.roles[role].first_step + s.plan.roles[role].steps; ++i)
        for (int w = s.plan.steps[i].first_wait; w < s.plan.steps[i].first_wait + s.plan.steps[i].waits; ++w) {
            int& by = s.plan.waits[w].step;
            if (by == index) by = index + 1;
            else if (by == index + 1) by = index;
        }
}

inline bool in_arena(const dv::ir::buffer& b) { return b.where == dv::ir::storage::arena && b.bytes > 0; }

// Do two vertices touch one buffer, one of them writing?
inline bool dependent(const subject& s, int v, int w) {
    for (const auto& x : s.program.parts.view().part(s.program.vertices[v].first_part, s.program.vertices[v].parts))
        for (const auto& y : s.program.parts.view().part(s.program.vertices[w].first_part, s.program.vertices[w].parts))
            for (const auto& a : s.program.accesses.view().part(x.first_access, x.accesses))
                for (const auto& b : s.program.accesses.view().part(y.first_access, y.accesses))
                    if (a.buffer == b.buffer && (dv::writes(a.mode) || dv::writes(b.mode))) return true;
    return false;
}

inline bool over_roles(const subject& s, const dv::ir::member& m) { return m.node >= 0 && s.graph.nodes[m.node].role < 0 && !m.local; }

}  // namespace detail

inline bool drop_wait(subject& s, int site) {
    const int w = detail::nth(s.plan.waits, site, [](const auto&) { return true; });
    if (w < 0) return false;
    dv::ir::step& x = s.plan.steps[detail::step_of_wait(s, w)];
    for (int i = w; i + 1 < x.first_wait + x.waits; ++i) s.plan.waits[i] = s.plan.waits[i + 1];
    --x.waits;
    return true;
}
inline bool drop_wrap_wait(subject& s, int site) {
    for (int w = 0; w < s.plan.waits.size(); ++w)
        if (s.plan.waits[w].lag > 0 && site-- == 0) return drop_wait(s, w);
    return false;
}
inline bool wait_for_another_event(subject& s, int site) {
    if (site >= s.plan.waits.size()) return false;
    const int events = s.plan.roles[detail::role_of_step(s, detail::step_of_wait(s, site))].events;
    s.plan.waits[site].event = (s.plan.waits[site].event + 1) % (events + 1);
    return true;
}
// Event and step both name another record, one of an earlier step: nothing is amiss but the ordering.
inline bool wait_for_an_earlier_step(subject& s, int site) {
    if (site >= s.plan.waits.size()) return false;
    const dv::ir::role_plan& r = s.plan.roles[detail::role_of_step(s, detail::step_of_wait(s, site))];
    dv::ir::wait& w = s.plan.waits[site];
    for (int i = w.step - 1; i >= 0; --i)
        if (s.plan.steps[r.first_step + i].event >= 0) {
            w.event = s.plan.steps[r.first_step + i].event;
            w.step = i;
            return true;
        }
    return false;
}
inline bool wait_one_run_further_back(subject& s, int site) {
    const int w = detail::nth(s.plan.waits, site, [](const dv::ir::wait& x) { return x.lag > 0; });
    if (w >= 0) ++s.plan.waits[w].lag;
    return w >= 0;
}
// As above, with rings that have room for it.
inline bool wait_one_run_further_back_in_longer_rings(subject& s, int site) {
    const bool done = wait_one_run_further_back(s, site);
    if (done) ++s.plan.rings;
    return done;
}
inline bool wait_for_this_run_instead(subject& s, int site) {
    const int w = detail::nth(s.plan.waits, site, [](const dv::ir::wait& x) { return x.lag > 0; });
    if (w >= 0) s.plan.waits[w].lag = 0;
    return w >= 0;
}
inline bool wait_for_the_run_before(subject& s, int site) {
    const int w = detail::nth(s.plan.waits, site, [](const dv::ir::wait& x) { return x.lag == 0; });
    if (w >= 0) s.plan.waits[w].lag = 1;
    return w >= 0;
}
inline bool leave_event_unrecorded(subject& s, int site) {
    const int k = detail::nth(s.plan.steps, site, [](const dv::ir::step& x) { return x.event >= 0; });
    if (k >= 0) s.plan.steps[k].event = -1;
    return k >= 0;
}
inline bool record_event_elsewhere(subject& s, int site) {
    const int k = detail::nth(s.plan.steps, site, [](const dv::ir::step& x) { return x.event >= 0; });
    if (k < 0) return false;
    const int role = detail::role_of_step(s, k), first = s.plan.roles[role].first_step, last = first + s.plan.roles[role].steps - 1;
    const int other = k < last ? k + 1 : k - 1;
    if (other < first) return false;
    const int e = s.plan.steps[other].event;
    s.plan.steps[other].event = s.plan.steps[k].event;
    s.plan.steps[k].event = e;
    return true;
}
inline bool record_event_twice(subject& s, int site) {
    const int k = detail::nth(s.plan.steps, site, [](const dv::ir::step& x) { return x.event >= 0; });
    if (k < 0) return false;
    const dv::ir::role_plan& r = s.plan.roles[detail::role_of_step(s, k)];
    for (int i = r.first_step + r.steps - 1; i >= r.first_step; --i)
        if (i != k) {
            s.plan.steps[i].event = s.plan.steps[k].event;
            return true;
        }
    return false;
}
inline bool swap_steps_of_one_role(subject& s, int site) {
    for (const dv::ir::role_plan& r : s.plan.roles)
        for (int k = r.first_step; k + 1 < r.first_step + r.steps; ++k)
            if (site-- == 0) {
                detail::swap_steps(s, k);
                return true;
            }
    return false;
}
// Two dependent vertices change places in the order and in all roles' steps.
inline bool swap_dependent_vertices(subject& s, int site) {
    for (int i = 0; i + 1 < s.plan.order.size(); ++i) {
        const int v = s.plan.order[i], w = s.plan.order[i + 1];
        if (!detail::dependent(s, v, w) || site-- != 0) continue;
        s.plan.order[i] = w;
        s.plan.order[i + 1] = v;
        for (int k = 0; k + 1 < s.plan.steps.size(); ++k)
            if (s.plan.steps[k].vertex == v && s.plan.steps[k + 1].vertex == w && detail::role_of_step(s, k) == detail::role_of_step(s, k + 1)) detail::swap_steps(s, k);
        return true;
    }
    return false;
}
inline bool repeat_in_order(subject& s, int site) {
    if (site + 1 >= s.plan.order.size()) return false;
    s.plan.order[site] = s.plan.order[site + 1];
    return true;
}
inline bool leave_out_step(subject& s, int site) {
    if (site >= s.plan.steps.size()) return false;
    detail::erase_step(s, site);
    return true;
}
inline bool duplicate_step(subject& s, int site) {
    if (site >= s.plan.steps.size()) return false;
    dv::ir::step x = s.plan.steps[site];
    x.event = -1;
    const int role = detail::role_of_step(s, site);
    s.plan.steps.push(x);
    for (int i = s.plan.steps.size() - 1; i > site; --i) s.plan.steps[i] = s.plan.steps[i - 1];
    s.plan.steps[site + 1] = x;
    const int index = site - s.plan.roles[role].first_step;
    ++s.plan.roles[role].steps;
    for (dv::ir::role_plan& r : s.plan.roles)
        if (r.first_step > site) ++r.first_step;
    for (int i = s.plan.roles[role].first_step; i < s.plan.roles[role].first_step + s.plan.roles[role].steps; ++i)
        for (int w = s.plan.steps[i].first_wait; w < s.plan.steps[i].first_wait + s.plan.steps[i].waits; ++w)
            if (s.plan.waits[w].step > index) ++s.plan.waits[w].step;
    return true;
}
// One role knows nothing of a communication that it takes part in.
inline bool leave_out_partner(subject& s, int site) {
    for (int v = 0; v < s.program.vertices.size(); ++v) {
        dv::ir::vertex& x = s.program.vertices[v];
        if (x.parts < 2 || s.program.members[x.first_member].local) continue;
        for (int i = x.first_part; i < x.first_part + x.parts; ++i) {
            if (site-- != 0) continue;
            for (int k = 0; k < s.plan.steps.size(); ++k)
                if (s.plan.steps[k].first_part == i) {
                    if (s.plan.steps[k].parts == 1) detail::erase_step(s, k);
                    else --s.plan.steps[k].parts;
                    break;
                }
            for (dv::ir::step& y : s.plan.steps)
                if (y.first_part > i) --y.first_part;
            detail::erase(s.program.parts, i);
            --x.parts;
            for (dv::ir::vertex& y : s.program.vertices)
                if (y.first_part > i) --y.first_part;
            return true;
        }
    }
    return false;
}
inline bool give_another_seat(subject& s, int site) {
    const int i = detail::nth(s.program.parts, site, [&](const dv::ir::part& x) {
        const dv::ir::member& m = s.program.members[x.member];
        return m.kind == dv::op_kind::transfer || detail::over_roles(s, m);
    });
    if (i >= 0) ++s.program.parts[i].seat;
    return i >= 0;
}
// Two roles change places in a collective, in the communicator too, so that its parts agree with one another.
inline bool exchange_seats(subject& s, int site) {
    const int m = detail::nth(s.program.members, site, [&](const dv::ir::member& x) { return detail::over_roles(s, x); });
    if (m < 0) return false;
    for (dv::ir::part& x : s.program.parts)
        if (x.member == m && x.seat < 2) x.seat = 1 - x.seat;
    int* roles = &s.program.communicator_roles[s.program.communicators[s.program.members[m].communicator].first_role];
    const int first = roles[0];
    roles[0] = roles[1];
    roles[1] = first;
    return true;
}
inline bool forget_output(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, [](const dv::ir::buffer& x) { return x.output; });
    if (b >= 0) s.program.buffers[b].output = false;
    return b >= 0;
}
inline bool forget_common(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, [](const dv::ir::buffer& x) { return x.common >= 0; });
    if (b >= 0) s.program.buffers[b].common = -1;
    return b >= 0;
}
// The symbols that a collective over roles takes, with all their buffers: `change` makes one type unlike the others.
template <class F>
bool change_argument(subject& s, int site, F change) {
    const int n = detail::nth(s.graph.nodes, site, [](const dv::ir::node& x) { return x.role < 0 && x.arguments > 1; });
    if (n < 0) return false;
    const int symbol = s.graph.operands[s.graph.nodes[n].first_argument + s.graph.nodes[n].arguments - 1];
    change(s.graph.symbols[symbol].type);
    for (dv::ir::buffer& b : s.program.buffers)
        if (b.symbol == symbol) b.type = s.graph.symbols[symbol].type;
    return true;
}
inline bool partner_with_another_element(subject& s, int site) {
    return change_argument(s, site, [](dv::tensor_type& t) { t.type = t.type == dv::element::float32 ? dv::element::int32 : bytes_of(t.type) == 2 ? dv::element::int8 : dv::element::uint8; });
}
inline bool partner_with_another_count(subject& s, int site) {
    return change_argument(s, site, [](dv::tensor_type& t) { if (t.rank == 0) t = t.with_extents(0); else t.extent[0] /= 2; });
}
inline bool receive_another_type(subject& s, int site) {
    const int i = detail::nth(s.program.parts, site, [&](const dv::ir::part& x) { return s.program.members[x.member].kind == dv::op_kind::transfer && x.seat == 1; });
    if (i < 0) return false;
    dv::tensor_type& t = s.program.buffers[s.program.accesses[s.program.parts[i].first_access].buffer].type;
    t.type = t.type == dv::element::int32 ? dv::element::float32 : dv::element::int32;
    return true;
}
inline bool reduce_in_another_way(subject& s, int site) {
    const int m = detail::nth(s.program.members, site, [](const dv::ir::member& x) { return dv::is_reducing(x.kind); });
    if (m >= 0) s.program.members[m].reduce = s.program.members[m].reduce == dv::reduction::maximum ? dv::reduction::sum : dv::reduction::maximum;
    return m >= 0;
}
inline bool another_root(subject& s, int site) {
    const int m = detail::nth(s.program.members, site, [](const dv::ir::member& x) { return dv::is_rooted(x.kind); });
    if (m >= 0) s.program.members[m].root = s.program.members[m].root == 0 ? 1 : 0;
    return m >= 0;
}
inline bool another_kind(subject& s, int site) {
    const int m = detail::nth(s.program.members, site, [](const dv::ir::member& x) { return dv::is_collective(x.kind); });
    if (m >= 0) s.program.members[m].kind = s.program.members[m].kind == dv::op_kind::all_reduce ? dv::op_kind::all_to_all : dv::op_kind::all_reduce;
    return m >= 0;
}
inline bool join_other_roles(subject& s, int site) {
    const int c = detail::nth(s.program.communicators, site, [](const dv::ir::communicator& x) { return x.roles > 1; });
    if (c < 0) return false;
    const dv::ir::communicator& x = s.program.communicators[c];
    s.program.communicator_roles[x.first_role] = s.program.communicator_roles[x.first_role + 1];
    return true;
}
inline bool forget_access(subject& s, int site) {
    const int i = detail::nth(s.program.parts, site, [](const dv::ir::part& x) { return x.accesses > 0; });
    if (i >= 0) --s.program.parts[i].accesses;
    return i >= 0;
}
inline bool touch_another_buffer(subject& s, int site) {
    if (site >= s.program.accesses.size()) return false;
    dv::ir::access& a = s.program.accesses[site];
    const auto& from = s.program.buffers[a.buffer];
    for (int b = 0; b < s.program.buffers.size(); ++b)
        if (s.program.buffers[b].symbol != from.symbol) {
            a.buffer = b;
            return true;
        }
    return false;
}
inline bool carry_out_another_statement(subject& s, int site) {
    const int m = detail::nth(s.program.members, site, [](const dv::ir::member& x) { return x.node > 0; });
    if (m >= 0) --s.program.members[m].node;
    return m >= 0;
}
inline bool shrink_arena(subject& s, int site) {
    if (site >= s.plan.roles.size()) return false;
    std::int64_t end = 0;
    for (int b = 0; b < s.program.buffers.size(); ++b) {
        const dv::ir::buffer& x = s.program.buffers[b];
        const dv::ir::placement& m = s.plan.placements[b];
        if (x.role == site && (detail::in_arena(x) || x.where == dv::ir::storage::workspace) && m.offset + (x.slots - 1) * m.stride + x.bytes > end)
            end = m.offset + (x.slots - 1) * m.stride + x.bytes;
    }
    if (end == 0) return false;
    s.plan.roles[site].arena_bytes = end - 1;
    return true;
}
inline bool misalign(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, detail::in_arena);
    if (b < 0) return false;
    s.plan.placements[b].offset += 8;
    s.plan.roles[s.program.buffers[b].role].arena_bytes += 256;
    return true;
}
inline bool move_one_of_a_collective(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, [&](const dv::ir::buffer& x) {
        int others = 0;
        for (const dv::ir::buffer& y : s.program.buffers) others += x.common >= 0 && y.common == x.common ? 1 : 0;
        return others > 1;
    });
    if (b < 0) return false;
    std::int64_t& size = s.plan.roles[s.program.buffers[b].role].arena_bytes;
    s.plan.placements[b].offset = dv::ir::aligned(size);
    size = dv::ir::aligned(size) + dv::ir::aligned(s.program.buffers[b].bytes);
    return true;
}
// The same, and nothing says any more where it should lie.
inline bool move_one_of_a_collective_away(subject& s, int site) {
    const dv::plan::plan_data placed = s.plan;
    if (!move_one_of_a_collective(s, site)) return false;
    for (int b = 0; b < s.program.buffers.size(); ++b)
        if (s.plan.placements[b].offset != placed.placements[b].offset) s.program.buffers[b].common = s.program.commons++;
    return true;
}
inline bool one_slot_for_all_runs(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, [](const dv::ir::buffer& x) { return x.slots > 1 && x.bytes > 0 && (x.where == dv::ir::storage::arena || x.where == dv::ir::storage::host); });
    if (b >= 0) s.plan.placements[b].stride = 0;
    return b >= 0;
}
// A result at the bytes of an argument of the same operation.
inline bool result_over_argument(subject& s, int site) {
    for (const dv::ir::part& x : s.program.parts) {
        const auto list = s.program.accesses.view().part(x.first_access, x.accesses);
        for (const dv::ir::access& a : list)
            for (const dv::ir::access& b : list) {
                const dv::ir::buffer &from = s.program.buffers[a.buffer], &to = s.program.buffers[b.buffer];
                if (a.mode != dv::access_mode::read || b.mode != dv::access_mode::write || !detail::in_arena(from) || !detail::in_arena(to) || to.alias >= 0 || site-- != 0) continue;
                s.plan.placements[b.buffer].offset = s.plan.placements[a.buffer].offset;
                std::int64_t& size = s.plan.roles[x.role].arena_bytes;
                size += to.slots * dv::ir::aligned(to.bytes);
                return true;
            }
    }
    return false;
}
// A buffer at the bytes of an output.
inline bool share_with_output(subject& s, int site) {
    for (int o = 0; o < s.program.buffers.size(); ++o)
        for (int b = 0; b < s.program.buffers.size(); ++b) {
            const dv::ir::buffer &x = s.program.buffers[o], &y = s.program.buffers[b];
            if (!x.output || !detail::in_arena(x) || !detail::in_arena(y) || x.role != y.role || b == o || y.alias >= 0 || x.slots == 1 || site-- != 0) continue;
            s.plan.placements[b].offset = s.plan.placements[o].offset;
            s.plan.roles[x.role].arena_bytes += y.slots * dv::ir::aligned(y.bytes);
            return true;
        }
    return false;
}
// An in-place result elsewhere than its argument.
inline bool part_from_argument(subject& s, int site) {
    const int b = detail::nth(s.program.buffers, site, [](const dv::ir::buffer& x) { return x.alias >= 0; });
    if (b < 0) return false;
    std::int64_t& size = s.plan.roles[s.program.buffers[b].role].arena_bytes;
    s.plan.placements[b].offset = dv::ir::aligned(size);
    size = dv::ir::aligned(size) + s.program.buffers[b].slots * dv::ir::aligned(s.program.buffers[b].bytes);
    return true;
}
// A result takes over an argument that its operation does not offer.
inline bool take_over_unoffered(subject& s, int site) {
    for (const dv::ir::part& x : s.program.parts) {
        const auto list = s.program.accesses.view().part(x.first_access, x.accesses);
        const dv::operation* op = s.program.members[x.member].op;
        if (op != nullptr && (op->in_place >= 0 || op->in_place_only)) continue;
        for (const dv::ir::access& a : list)
            for (const dv::ir::access& b : list) {
                dv::ir::buffer &from = s.program.buffers[a.buffer], &to = s.program.buffers[b.buffer];
                if (a.mode != dv::access_mode::read || b.mode != dv::access_mode::write || !detail::in_arena(from) || !detail::in_arena(to) || from.slots != to.slots ||
                    from.alias >= 0 || to.alias >= 0 || site-- != 0)
                    continue;
                to.alias = a.buffer;
                s.plan.placements[b.buffer] = s.plan.placements[a.buffer];
                return true;
            }
    }
    return false;
}
inline bool another_lane_for_a_step(subject& s, int site) {
    if (site >= s.plan.steps.size()) return false;
    s.plan.steps[site].lane = (s.plan.steps[site].lane + 1) % dv::lane_count;
    return true;
}
// The vertex goes to the copy lane on all its roles, its waits stay as they were.
inline bool another_lane_for_a_vertex(subject& s, int site) {
    const int v = detail::nth(s.program.vertices, site, [](const dv::ir::vertex& x) { return x.lane == dv::lane_kind::compute; });
    if (v < 0 || !s.plan.overlapped) return false;
    s.program.vertices[v].lane = dv::lane_kind::copy;
    for (dv::ir::step& x : s.plan.steps)
        if (x.vertex == v) x.lane = 2;
    return true;
}

inline constexpr damage damages[] = {
    {"drop_wait", false, drop_wait},
    {"drop_wrap_wait", false, drop_wrap_wait},
    {"wait_for_another_event", true, wait_for_another_event},
    {"wait_for_an_earlier_step", false, wait_for_an_earlier_step},
    {"wait_one_run_further_back", false, wait_one_run_further_back},
    {"wait_one_run_further_back_in_longer_rings", false, wait_one_run_further_back_in_longer_rings},
    {"wait_for_this_run_instead", false, wait_for_this_run_instead},
    {"wait_for_the_run_before", false, wait_for_the_run_before},
    {"leave_event_unrecorded", true, leave_event_unrecorded},
    {"record_event_elsewhere", true, record_event_elsewhere},
    {"record_event_twice", true, record_event_twice},
    {"swap_steps_of_one_role", true, swap_steps_of_one_role},
    {"swap_dependent_vertices", true, swap_dependent_vertices},
    {"repeat_in_order", true, repeat_in_order},
    {"leave_out_step", true, leave_out_step},
    {"duplicate_step", true, duplicate_step},
    {"leave_out_partner", true, leave_out_partner},
    {"give_another_seat", true, give_another_seat},
    {"exchange_seats", true, exchange_seats},
    {"forget_output", true, forget_output},
    {"forget_common", true, forget_common},
    {"partner_with_another_element", true, partner_with_another_element},
    {"partner_with_another_count", true, partner_with_another_count},
    {"receive_another_type", true, receive_another_type},
    {"reduce_in_another_way", true, reduce_in_another_way},
    {"another_root", true, another_root},
    {"another_kind", true, another_kind},
    {"join_other_roles", true, join_other_roles},
    {"forget_access", true, forget_access},
    {"touch_another_buffer", true, touch_another_buffer},
    {"carry_out_another_statement", true, carry_out_another_statement},
    {"shrink_arena", true, shrink_arena},
    {"misalign", true, misalign},
    {"move_one_of_a_collective", true, move_one_of_a_collective},
    {"move_one_of_a_collective_away", true, move_one_of_a_collective_away},
    {"one_slot_for_all_runs", true, one_slot_for_all_runs},
    {"result_over_argument", true, result_over_argument},
    {"share_with_output", true, share_with_output},
    {"part_from_argument", true, part_from_argument},
    {"take_over_unoffered", true, take_over_unoffered},
    {"another_lane_for_a_step", true, another_lane_for_a_step},
    {"another_lane_for_a_vertex", false, another_lane_for_a_vertex},
};

}  // namespace support
