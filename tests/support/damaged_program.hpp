// Damages of the program: participations, accesses, members, communicators, types.
#pragma once

#include "damaged_rows.hpp"

#include <algorithm>

namespace support {

// The participation of one role in a communication is missing.
inline bool leave_out_partner(subject& s, int site) {
    for (int v = 0; v < s.program.tasks.size(); ++v) {
        dv::ir::task& x = s.program.tasks[v];
        if (x.participations < 2 || s.program.members[x.first_member].local) continue;
        for (int i = x.first_participation; i < x.first_participation + x.participations; ++i) {
            if (site-- != 0) continue;
            for (int k = 0; k < s.plan.steps.size(); ++k)
                if (i >= s.plan.steps[k].first_participation && i < s.plan.steps[k].first_participation + s.plan.steps[k].participations) {
                    if (s.plan.steps[k].participations == 1) detail::erase_step(s, k);
                    else --s.plan.steps[k].participations;
                    break;
                }
            for (dv::ir::step& y : s.plan.steps)
                if (y.first_participation > i) --y.first_participation;
            while (s.program.participations[i].touches() > 0) detail::erase_access(s, i, 0);
            detail::erase(s.program.participations, i);
            --x.participations;
            for (dv::ir::task& y : s.program.tasks)
                if (y.first_participation > i) --y.first_participation;
            return true;
        }
    }
    return false;
}
// A participation is listed twice.
inline bool repeat_participation(subject& s, int site) {
    if (site >= s.program.participations.size()) return false;
    const int v = detail::task_of_participation(s, site);
    dv::ir::participation x = s.program.participations[site];
    for (int k = 0; k < x.touches(); ++k) {
        const dv::ir::access a = s.program.accesses[x.first_access + k];
        detail::insert(s.program.accesses, x.first_access + x.touches() + k, a);
    }
    detail::insert(s.program.participations, site + 1, x);
    for (int i = site + 1; i < s.program.participations.size(); ++i) s.program.participations[i].first_access += x.touches();
    ++s.program.tasks[v].participations;
    for (dv::ir::task& y : s.program.tasks)
        if (y.first_participation > site) ++y.first_participation;
    for (dv::ir::step& y : s.plan.steps)
        if (y.first_participation > site) ++y.first_participation;
        else if (y.first_participation + y.participations > site) ++y.participations;
    return true;
}
// A role makes two calls of a group in the other order.
inline bool swap_calls_of_a_group(subject& s, int site) {
    if (s.graph.single_rank) return false;
    auto& parts = s.program.participations;
    for (int i = 0; i + 1 < parts.size(); ++i) {
        if (parts[i].role != parts[i + 1].role || parts[i].member == parts[i + 1].member) continue;
        if (detail::task_of_participation(s, i) != detail::task_of_participation(s, i + 1) || site-- != 0) continue;
        const auto accesses = s.program.accesses.begin() + parts[i].first_access;
        std::rotate(accesses, accesses + parts[i].touches(), accesses + parts[i].touches() + parts[i + 1].touches());
        std::swap(parts[i], parts[i + 1]);
        parts[i].first_access = parts[i + 1].first_access;
        parts[i + 1].first_access = parts[i].first_access + parts[i].touches();
        return true;
    }
    return false;
}
inline bool give_another_group_index(subject& s, int site) {
    const int i = detail::nth(s.program.participations, site, [&](const dv::ir::participation& x) {
        const dv::ir::member& m = s.program.members[x.member];
        return m.kind == dv::op_kind::transfer || detail::over_roles(s, m);
    });
    if (i >= 0) ++s.program.participations[i].group_index;
    return i >= 0;
}
// Two roles are exchanged in a collective and in its communicator, so that its participations are consistent.
inline bool exchange_group_indices(subject& s, int site) {
    const int m = detail::nth(s.program.members, site, [&](const dv::ir::member& x) { return detail::over_roles(s, x); });
    if (m < 0) return false;
    for (dv::ir::participation& x : s.program.participations)
        if (x.member == m && x.group_index < 2) x.group_index = 1 - x.group_index;
    int* roles = &s.program.communicator_roles[s.program.communicators[s.program.members[m].communicator].first_role];
    const int first = roles[0];
    roles[0] = roles[1];
    roles[1] = first;
    return true;
}
// The type of a symbol and of all its buffers, which get no larger: graph and program have the same mistake.
template <class F>
void change_type(subject& s, int symbol, F change) {
    change(s.graph.symbols[symbol].type);
    for (dv::ir::buffer& b : s.program.buffers)
        if (b.symbol == symbol) {
            b.type = s.graph.symbols[symbol].type;
            b.bytes = s.program.leaves[b.first_leaf].bytes = b.type.bytes();
        }
}
// The last argument of a collective over roles, or its result: `change` makes one type unlike the others.
template <class F>
bool change_argument(subject& s, int site, F change) {
    const int n = detail::nth(s.graph.nodes, site, [](const dv::ir::node& x) { return x.role < 0 && x.arguments > 1; });
    if (n >= 0) change_type(s, s.graph.operands[s.graph.nodes[n].first_argument + s.graph.nodes[n].arguments - 1], change);
    return n >= 0;
}
template <class F>
bool change_result(subject& s, int site, F change) {
    const int n = detail::nth(s.graph.nodes, site, [](const dv::ir::node& x) { return x.role < 0; });
    if (n >= 0) change_type(s, s.graph.operands[s.graph.nodes[n].first_result], change);
    return n >= 0;
}
inline void another_element(dv::tensor_type& t) {
    constexpr dv::element others[] = {dv::element::none,    dv::element::bfloat16, dv::element::float16, dv::element::int32,
                                      dv::element::int64,   dv::element::uint8,    dv::element::int8,    dv::element::float32,
                                      dv::element::float32, dv::element::uint64,   dv::element::int64};
    t.type = others[static_cast<int>(t.type)];  // of the same size
}
inline void half_as_many(dv::tensor_type& t) {
    if (t.rank == 0) t = t.with_extents(0);
    else t.extent[0] /= 2;
}
inline bool partner_with_another_element(subject& s, int site) { return change_argument(s, site, another_element); }
inline bool partner_with_another_count(subject& s, int site) { return change_argument(s, site, half_as_many); }
inline bool result_of_another_element(subject& s, int site) { return change_result(s, site, another_element); }
inline bool result_of_another_count(subject& s, int site) { return change_result(s, site, half_as_many); }
inline bool receive_another_type(subject& s, int site) {
    const int i = detail::nth(s.program.participations, site, [&](const dv::ir::participation& x) {
        return s.program.members[x.member].kind == dv::op_kind::transfer && x.group_index == 1;
    });
    if (i < 0) return false;
    another_element(s.program.buffers[s.program.accesses[s.program.participations[i].first_access].buffer].type);
    return true;
}
inline bool reduce_in_another_way(subject& s, int site) {
    const int m = detail::nth(s.program.members, site, [](const dv::ir::member& x) { return dv::is_reducing(x.kind); });
    if (m >= 0)
        s.program.members[m].reduce = s.program.members[m].reduce == dv::reduction::maximum ? dv::reduction::sum : dv::reduction::maximum;
    return m >= 0;
}
inline bool another_root(subject& s, int site) {
    const int m = detail::nth(s.program.members, site, [](const dv::ir::member& x) { return dv::is_rooted(x.kind); });
    if (m >= 0) s.program.members[m].root = s.program.members[m].root == 0 ? 1 : 0;
    return m >= 0;
}
inline bool another_kind(subject& s, int site) {
    const int m = detail::nth(s.program.members, site, [](const dv::ir::member& x) { return dv::is_collective(x.kind); });
    if (m >= 0)
        s.program.members[m].kind =
            s.program.members[m].kind == dv::op_kind::all_reduce ? dv::op_kind::all_to_all : dv::op_kind::all_reduce;
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
    if (site >= s.program.accesses.size()) return false;
    const int participation = detail::participation_of_access(s, site);
    detail::erase_access(s, participation, site - s.program.participations[participation].first_access);
    return true;
}
inline bool repeat_access(subject& s, int site) {
    if (site >= s.program.accesses.size()) return false;
    const int participation = detail::participation_of_access(s, site);
    detail::insert_access(s, participation, site - s.program.participations[participation].first_access, s.program.accesses[site]);
    return true;
}
// A participation reads one more buffer of its role, after all others.
inline bool read_beyond(subject& s, int site) {
    if (site >= s.program.participations.size()) return false;
    for (int b = 0; b < s.program.buffers.size(); ++b)
        if (s.program.buffers[b].role == s.program.participations[site].role && detail::in_arena(s.program.buffers[b])) {
            detail::insert_access(s, site, s.program.participations[site].accesses, whole(s.program, b, dv::access_mode::read));
            return true;
        }
    return false;
}
// A statement has one more participation, which only reads.
inline bool repeat_arguments(subject& s, int site) {
    if (!repeat_participation(s, site)) return false;
    const dv::ir::participation& x = s.program.participations[site + 1];
    for (int k = x.accesses - 1; k >= 0; --k)
        if (dv::writes(s.program.accesses[x.first_access + k].mode)) detail::erase_access(s, site + 1, k);
    return true;
}
// A statement has workspace that its operation does not need, or too much.
inline bool give_workspace(subject& s, int site) {
    if (site >= s.program.participations.size()) return false;
    dv::ir::buffer x;
    x.where = dv::ir::storage::workspace;
    x.role = s.program.participations[site].role;
    x.bytes = 256;
    std::int64_t& size = s.plan.roles[x.role].arena_bytes;
    const int b = add_whole(s.program, x);
    s.plan.placements.push({dv::ir::aligned(size), 256});
    size = dv::ir::aligned(size) + 256;
    detail::insert_access(s, site, s.program.participations[site].accesses, whole(s.program, b, dv::access_mode::write));
    return true;
}
// A participation waits for a state of its role that no `after` names.
inline bool await_a_state(subject& s, int site) {
    for (int i = 0; i < s.program.participations.size(); ++i)
        for (int b = 0; b < s.program.buffers.size(); ++b) {
            dv::ir::participation& x = s.program.participations[i];
            const dv::ir::buffer& state = s.program.buffers[b];
            if (state.role != x.role || state.where != dv::ir::storage::state || site-- != 0) continue;
            detail::insert_access(s, i, x.accesses, whole(s.program, b, dv::access_mode::read));
            --x.accesses;
            ++x.awaited;
            return true;
        }
    return false;
}
// A transfer moves another value of its sender to where a value is expected.
inline bool send_another_value(subject& s, int site) {
    for (dv::ir::participation& x : s.program.participations) {
        dv::ir::member& m = s.program.members[x.member];
        if (m.kind != dv::op_kind::transfer || x.group_index != 0) continue;
        dv::ir::access& a = s.program.accesses[x.first_access];
        for (int b = 0; b < s.program.buffers.size(); ++b) {
            const dv::ir::buffer &was = s.program.buffers[a.buffer], &other = s.program.buffers[b];
            if (b == a.buffer || other.role != was.role || other.symbol < 0 || other.symbol == was.symbol || other.type != was.type ||
                site-- != 0)
                continue;
            a = whole(s.program, b, a.mode);
            m.symbol = other.symbol;
            return true;
        }
    }
    return false;
}
// Two participations of a collective are exchanged; its communicator stays the same.
inline bool exchange_group_indices_only(subject& s, int site) {
    const int m =
        detail::nth(s.program.members, site, [&](const dv::ir::member& x) { return x.node >= 0 && s.graph.nodes[x.node].role < 0; });
    if (m < 0) return false;
    for (dv::ir::participation& x : s.program.participations)
        if (x.member == m && x.group_index < 2) x.group_index = 1 - x.group_index;
    return true;
}
// A role without steps and buffers that is not in the graph.
inline bool add_role(subject& s, int site) {
    if (site > 0) return false;
    s.plan.roles.push({});
    s.plan.roles.back().rank_order = s.program.roles++;
    return true;
}
inline bool touch_another_buffer(subject& s, int site) {
    if (site >= s.program.accesses.size()) return false;
    dv::ir::access& a = s.program.accesses[site];
    const auto& from = s.program.buffers[a.buffer];
    for (int b = 0; b < s.program.buffers.size(); ++b)
        if (s.program.buffers[b].symbol != from.symbol) {
            a = whole(s.program, b, a.mode);
            return true;
        }
    return false;
}
inline bool carry_out_another_statement(subject& s, int site) {
    const int m = detail::nth(s.program.members, site, [](const dv::ir::member& x) { return x.node > 0; });
    if (m >= 0) --s.program.members[m].node;
    return m >= 0;
}
// A statement has no task, and nothing waits for it.
inline bool leave_out_task(subject& s, int site) {
    if (site >= s.program.tasks.size()) return false;
    const dv::ir::task x = s.program.tasks[site];
    for (int k = s.plan.steps.size() - 1; k >= 0; --k)
        if (s.plan.steps[k].task == site) detail::erase_step(s, k);
    int first = s.program.participations[x.first_participation].first_access, accesses = 0;
    for (int i = 0; i < x.participations; ++i) accesses += s.program.participations[x.first_participation + i].touches();
    for (int i = 0; i < accesses; ++i) detail::erase(s.program.accesses, first);
    for (int i = 0; i < x.participations; ++i) detail::erase(s.program.participations, x.first_participation);
    for (int i = 0; i < x.members; ++i) detail::erase(s.program.members, x.first_member);
    detail::erase(s.program.tasks, site);
    for (dv::ir::participation& y : s.program.participations) {
        if (y.first_access > first) y.first_access -= accesses;
        if (y.member > x.first_member) y.member -= x.members;
    }
    for (dv::ir::task& y : s.program.tasks) {
        if (y.first_participation > x.first_participation) y.first_participation -= x.participations;
        if (y.first_member > x.first_member) y.first_member -= x.members;
    }
    for (int i = s.plan.order.size() - 1; i >= 0; --i)
        if (s.plan.order[i] == site) detail::erase(s.plan.order, i);
    for (int& v : s.plan.order) v -= v > site ? 1 : 0;
    for (dv::ir::step& k : s.plan.steps) {
        k.task -= k.task > site ? 1 : 0;
        if (k.first_participation > x.first_participation) k.first_participation -= x.participations;
    }
    return true;
}
// Two neighbouring tasks of one role become one.
inline bool join_tasks(subject& s, int site) {
    for (int v = 0; v + 1 < s.program.tasks.size(); ++v) {
        const int role = s.program.participations[s.program.tasks[v].first_participation].role;
        if (s.program.tasks[v].participations != 1 || s.program.tasks[v + 1].participations != 1 ||
            s.program.participations[s.program.tasks[v + 1].first_participation].role != role || site-- != 0)
            continue;
        s.program.tasks[v].participations = s.program.tasks[v].members = 2;
        detail::erase(s.program.tasks, v + 1);
        for (int i = s.plan.order.size() - 1; i >= 0; --i)
            if (s.plan.order[i] == v + 1) detail::erase(s.plan.order, i);
        for (int k = s.plan.steps.size() - 1; k >= 0; --k)
            if (s.plan.steps[k].task == v + 1) detail::erase_step(s, k);
        for (int& w : s.plan.order) w -= w > v ? 1 : 0;
        for (dv::ir::step& x : s.plan.steps) {
            if (x.task == v) x.participations = 2;
            x.task -= x.task > v ? 1 : 0;
        }
        return true;
    }
    return false;
}

}  // namespace support
