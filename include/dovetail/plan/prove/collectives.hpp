// Checks that the participations of a communication between roles match the graph: every role that the graph names takes part, at its
// group index, and sends and receives the values that the graph says.
#pragma once

#include "statements.hpp"

namespace dovetail::plan::detail {

// The roles of a member, in the order of group indices, are joined by its communicator, or are all on the rank of a single-rank graph.
constexpr bool joins(const ir::graph& g, const ir::program& p, const ir::member& m, span<const int> roles) {
    if (m.local != g.single_rank) return false;
    if (g.single_rank) return true;
    if (m.communicator < 0) return false;
    const ir::communicator& c = p.communicators.first[m.communicator];
    if (c.axes != 0 || c.roles != roles.count) return false;
    for (int i = 0; i < roles.count; ++i)
        if (p.communicator_roles.first[c.first_role + i] != roles[i]) return false;
    return true;
}

// The roles of a collective over roles, by group index: the senders; with a single sender (broadcast, scatter) the receivers, then the
// sender if it does not receive.
constexpr vec<int> roles_of_group(const ir::graph& g, const ir::node& n) {
    vec<int> roles;
    const span<const int> targets = g.operands.subspan(n.first_target, n.targets);
    if (collective::begins_at_root(n.kind)) {
        for (int role : targets) roles.push(role);
        if (!contains(targets, n.root)) roles.push(n.root);
    } else {
        for (int a : g.operands.subspan(n.first_argument, n.arguments)) roles.push(g.symbols.first[a].role);
    }
    return roles;
}

// The argument that the role at a group index sends, or -1.
constexpr int argument_at(const ir::graph& g, const ir::node& n, int group_index, int role) {
    if (collective::begins_at_root(n.kind)) return role == n.root ? g.operands.first[n.first_argument] : -1;
    return g.operands.first[n.first_argument + group_index];
}

// Whether a value is a result that differs from role to role. Every role has only its own, and no transfer moves it.
constexpr bool is_piece(const ir::graph& g, const ir::symbol& s) {
    if (s.role >= 0 || s.node < 0) return false;
    const ir::node& n = g.nodes.first[s.node];
    if (n.op->view == view_kind::none) return !collective::has_equal_results(n.kind);
    return is_piece(g, g.symbols.first[g.operands.first[n.first_argument]]);  // the parts of a value are results of one collective
}

// In a single-rank graph all buffers are of one role; the group index from which such a result is written says whose it is.
constexpr verdict check_pieces(const ir::graph& g, const ir::program& p) {
    vec<int> holder(p.buffers.count, -1);
    for (const ir::participation& x : p.participations) {
        const int node = p.members.first[x.member].node;
        if (node < 0 || g.nodes.first[node].role >= 0) continue;
        const int role = roles_of_group(g, g.nodes.first[node])[x.group_index];
        for (const ir::access& a : p.accesses.subspan(x.first_access, x.accesses)) holder[a.buffer] = role;
    }
    for (const ir::participation& x : p.participations) {
        const int node = p.members.first[x.member].node, role = node < 0 ? -1 : g.nodes.first[node].role;
        if (role < 0) continue;
        for (const ir::access& a : p.accesses.subspan(x.first_access, x.touches()))
            if (holder[a.buffer] >= 0 && holder[a.buffer] != role) return {flaw::wrong_access, x.role, -1, -1, a.buffer};
    }
    return {};
}

// One value, or rows of it, from one role to another, in as many copies as a channel has slots. Both hold the same symbol, so that
// their types and sizes are equal. (A state stays on its role: replay finds no version that a transfer could read.)
constexpr verdict check_transfer(const ir::graph& g, const ir::program& p, const symbol_blocks& blocks, const partners& all,
                                 const ir::member& m, int v, int channel_slots) {
    if (m.symbol < 0) return {flaw::node_mismatch, -1, v};
    if (is_piece(g, g.symbols.first[blocks.value_of(m.symbol)])) return {flaw::wrong_access, -1, v};
    ir::participation end[2] = {};  // sender and receiver
    bool met[2] = {};
    int count = 0;
    all.each([&](const ir::participation& x) {
        ++count;
        if (static_cast<unsigned>(x.group_index) >= 2u || x.accesses != 1) return;
        end[x.group_index] = x;
        met[x.group_index] = true;
    });
    if (count != 2 || !met[0] || !met[1]) return {flaw::partner_missing, -1, v};
    const int roles[] = {end[0].role, end[1].role};
    if ((roles[0] == roles[1] && !g.single_rank) || !joins(g, p, m, {roles, 2})) return {flaw::wrong_communicator, roles[0], v};
    const ir::access &read = p.accesses.first[end[0].first_access], &written = p.accesses.first[end[1].first_access];
    const ir::buffer &from = p.buffers.first[read.buffer], &to = p.buffers.first[written.buffer];
    // A value that is read is not written as well: it would have two definitions.
    if (!blocks.holds(p, read, m.symbol)) return {flaw::wrong_access, roles[0], v, -1, read.buffer};
    if (written.mode != access_mode::write || !blocks.holds(p, written, m.symbol) || to.output)
        return {flaw::wrong_access, roles[1], v, -1, written.buffer};
    if (to.slots < channel_slots && !g.single_rank) return {flaw::too_few_slots, roles[1], v, -1, written.buffer};
    // The receiver of a peer copy finds the sender's bytes by their offset.
    if (p.tasks.first[v].moved_by == transport::peer_copy && from.where != ir::storage::arena)
        return {flaw::wrong_storage, roles[0], v, -1, read.buffer};
    return {};
}

// Symmetric buffers, which lie at equal offsets on all members of a collective: they have one number, unless what is passed begins at
// different offsets in them, or they differ in size. Two buffers may have different numbers only if one number for both would put two
// buffers of a role at one offset; and only buffers that collectives connect have the same number.
class symmetric_sets {
public:
    constexpr explicit symmetric_sets(const ir::program& p) : p_{p} {}

    constexpr bool agree(const ir::access& x, const ir::access& y) {
        const int a = ir::owner_of(p_, x.buffer), b = ir::owner_of(p_, y.buffer);
        if (p_.buffers.first[a].bytes != p_.buffers.first[b].bytes || ir::offset_of(p_, x) != ir::offset_of(p_, y)) return true;
        const int one = p_.buffers.first[a].symmetric_set;
        if (one < 0 || one != p_.buffers.first[b].symmetric_set) return exclude(a, b);
        join(a, b);
        return true;
    }

    // Called after all collectives: a buffer that has the number of buffers with which no collective connects it, or -1.
    constexpr int unconnected() const {
        if (next_.empty()) return -1;  // no two buffers of a collective differ
        for (int b = 0; b < p_.buffers.count; ++b)
            if (const int symmetric_set = p_.buffers.first[b].symmetric_set; symmetric_set >= 0 && top(b) != top(first_[symmetric_set]))
                return b;
        return -1;
    }

private:
    // The buffers that collectives connect are a tree (union-find).
    constexpr int top(int b) const {
        while (!above_.empty() && above_[b] >= 0) b = above_[b];
        return b;
    }
    constexpr void join(int a, int b) {
        if (above_.empty()) above_ = vec<int>(p_.buffers.count, -1);
        const int from = top(a), to = top(b);
        if (from != to) above_[to] = from;
    }
    constexpr bool exclude(int a, int b) {
        if (next_.empty()) {
            first_ = vec<int>(p_.symmetric_sets, -1);
            next_ = vec<int>(p_.buffers.count, -1);
            for (int i = p_.buffers.count - 1; i >= 0; --i)
                if (const int symmetric_set = p_.buffers.first[i].symmetric_set; symmetric_set >= 0) {
                    next_[i] = first_[symmetric_set];
                    first_[symmetric_set] = i;
                }
        }
        vec<bool> met(p_.roles);
        for (int i = first(a); i >= 0; i = next_[i]) met[p_.buffers.first[i].role] = true;
        for (int i = first(b); i >= 0; i = next_[i])
            if (met[p_.buffers.first[i].role]) return true;
        return false;
    }
    constexpr int first(int b) const { return p_.buffers.first[b].symmetric_set < 0 ? b : first_[p_.buffers.first[b].symmetric_set]; }

    const ir::program& p_;
    vec<int> above_;         // by buffer; -1: the top
    vec<int> first_, next_;  // the buffers of each number, listed when they are first asked for
};

// All senders send the same type, and the result has the size that the collective makes of it.
constexpr bool types_agree(const ir::graph& g, const ir::node& n) {
    const ir::symbol* symbols = g.symbols.first;
    const span<const int> arguments = g.operands.subspan(n.first_argument, n.arguments);
    const tensor_type &in = symbols[arguments[0]].type, &out = symbols[g.operands.first[n.first_result]].type;
    for (int a : arguments)
        if (symbols[a].type.type != in.type || symbols[a].type.size() != in.size()) return false;
    const collective::row& row = collective::of(n.kind);
    const int blocks_received = row.receives == collective::pieces::one_per_member ? n.arguments : 1;
    const int blocks_sent = row.sends == collective::pieces::one_per_member ? n.targets : 1;
    return in.type == out.type && in.size() * blocks_received == out.size() * blocks_sent;
}

// A collective over roles: each group index has one participation, which sends and receives what the graph says.
class collective_check {
public:
    constexpr collective_check(const ir::graph& g, const ir::program& p, const symbol_blocks& blocks, const ir::member& m,
                               const ir::node& n, int task, symmetric_sets& numbers)
        : g_{g},
          p_{p},
          blocks_{blocks},
          m_{m},
          n_{n},
          task_{task},
          numbers_{numbers},
          targets_{g.operands.subspan(n.first_target, n.targets)},
          result_{g.operands.first[n.first_result]},
          roles_{roles_of_group(g, n)},
          taken_(roles_.size()) {}

    constexpr verdict check(const partners& participations) {
        int group_indices = 0;
        participations.each([&, this](const ir::participation& x) {
            ++group_indices;
            if (bad_) take_group_index(x);
        });
        if (!bad_) return bad_;
        if (group_indices != roles_.size()) return {flaw::partner_missing, -1, task_};
        // A root that only sends in a broadcast passes its argument where the others pass their results. (A root that also receives has
        // its result there.)
        if (broadcast_.known && !lies_with(received_, broadcast_.of)) return {flaw::symmetric_offset, -1, task_, -1, broadcast_.of.buffer};
        if (!joins(g_, p_, m_, roles_.view())) return {flaw::wrong_communicator, -1, task_};
        if (!types_agree(g_, n_)) return {flaw::partner_mismatch, -1, task_};
        return {};
    }

private:
    constexpr bool take_group_index(const ir::participation& x) {
        if (static_cast<unsigned>(x.group_index) >= static_cast<unsigned>(roles_.size()) || taken_[x.group_index])
            return refuse(flaw::partner_missing, x);
        taken_[x.group_index] = true;
        const int role = roles_[x.group_index];  // in a single-rank graph the group index alone says which role it is
        const int argument = argument_at(g_, n_, x.group_index, role);
        const bool sends = argument >= 0, receives = contains(targets_, role);
        if (x.accesses != (sends ? 1 : 0) + (receives ? 1 : 0) || !awaits(g_, p_, blocks_, n_, x, role))
            return refuse(flaw::wrong_access, x);
        const ir::access* const a = p_.accesses.first + x.first_access;
        if (sends && !check_sent(x, a[0], argument, !receives)) return false;
        if (receives && !check_received(x, a[sends ? 1 : 0])) return false;
        if (x.role != (g_.single_rank ? 0 : role) || (x.group_index == m_.root) != (role == n_.root)) return refuse(flaw::node_mismatch, x);
        return true;
    }
    // A value that is sent is not written as well: it would have two definitions.
    constexpr bool check_sent(const ir::participation& x, const ir::access& a, int argument, bool only_sends) {
        if (!blocks_.holds(p_, a, argument)) return refuse(flaw::wrong_access, x, a.buffer);
        if (!lies_with(only_sends && collective::passes_argument_as_result(n_.kind) ? broadcast_ : sent_, a))
            return refuse(flaw::symmetric_offset, x, a.buffer);
        return true;
    }
    constexpr bool check_received(const ir::participation& x, const ir::access& a) {
        const ir::buffer& b = p_.buffers.first[a.buffer];
        if (a.mode != access_mode::write || !blocks_.holds(p_, a, result_) ||
            b.output != g_.symbols.first[blocks_.value_of(result_)].output)
            return refuse(flaw::wrong_access, x, a.buffer);
        if (!lies_with(received_, a)) return refuse(flaw::symmetric_offset, x, a.buffer);
        return true;
    }
    // An access in the arena, once there is one. No pointer: g++ with -fsanitize=null does not compare it while compiling.
    struct noted {
        ir::access of = {};
        bool known = false;
    };
    // Buffers in the arena have the number of the `first` one.
    constexpr bool lies_with(noted& first, const ir::access& a) {
        if (p_.buffers.first[a.buffer].where != ir::storage::arena) return true;
        if (first.known) return numbers_.agree(first.of, a);
        first = {a, true};
        return true;
    }
    constexpr bool refuse(flaw what, const ir::participation& x, int buffer = -1) {
        bad_ = {what, x.role, task_, -1, buffer};
        return false;
    }

    const ir::graph& g_;
    const ir::program& p_;
    const symbol_blocks& blocks_;
    const ir::member& m_;
    const ir::node& n_;
    int task_;
    symmetric_sets& numbers_;
    span<const int> targets_;  // the roles that receive the result
    int result_;
    vec<int> roles_;  // by group index
    vec<bool> taken_;
    noted sent_, broadcast_, received_;  // the first in the arena of each side
    verdict bad_;
};

}  // namespace dovetail::plan::detail
