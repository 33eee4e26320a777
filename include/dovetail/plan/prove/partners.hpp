// Do the parts of a communication between roles belong together: everybody whom the graph names, on the seat that it says, with
// what it gives and gets there?
#pragma once

#include "../plan.hpp"
#include "verdict.hpp"

namespace dovetail::plan::detail {

constexpr bool contains(span<const int> list, int x) {
    for (int y : list)
        if (x == y) return true;
    return false;
}

// The parts of one member: [first, end), or, where they stand among those of others, a chain.
struct partners {
    const ir::part* parts;
    const int* next;
    int first, end;

    template <class F>
    constexpr void each(F f) const {
        if (next == nullptr)
            for (int i = first; i < end; ++i) f(parts[i]);
        else
            for (int i = first; i >= 0; i = next[i]) f(parts[i]);
    }
};

// Seats are 0 ... n-1, each once; the communicator joins exactly these roles: in the order of seats, or (two ends of a
// transfer may share one made for both directions) in any.
constexpr flaw check_seats(const ir::program& p, const partners& all, const ir::member& m, int n, bool in_order) {
    vec<int> role_of_seat(n, -1);
    bool good = true;
    all.each([&](const ir::part& x) {
        if (x.seat < 0 || x.seat >= n || role_of_seat[x.seat] >= 0)
            good = false;
        else
            role_of_seat[x.seat] = x.role;
    });
    if (!good) return flaw::partner_missing;
    if (m.local) return p.roles == 1 ? flaw::none : flaw::wrong_communicator;
    for (int i = 0; i < n; ++i)
        if (contains(role_of_seat.view().part(0, i), role_of_seat[i])) return flaw::partner_missing;
    if (m.communicator < 0) return flaw::wrong_communicator;
    const ir::communicator& c = p.communicators.first[m.communicator];
    const span<const int> joined = p.communicator_roles.part(c.first_role, c.roles);
    if (c.axes != 0 || (in_order && c.roles != n)) return flaw::wrong_communicator;
    for (int i = 0; i < n; ++i)
        if (in_order ? joined[i] != role_of_seat[i] : !contains(joined, role_of_seat[i])) return flaw::wrong_communicator;
    return flaw::none;
}

// Who sits where in a collective over roles: those who give, or, where one gives, those who receive and the giver last if it does
// not receive. -1: nobody.
constexpr int role_at(const ir::graph& g, const ir::node& n, int seat) {
    const bool one_gives = n.kind == op_kind::broadcast || n.kind == op_kind::scatter;
    if (seat >= 0 && seat < (one_gives ? n.targets : n.arguments))
        return one_gives ? g.operands.first[n.first_target + seat] : g.symbols.first[g.operands.first[n.first_argument + seat]].role;
    return one_gives && seat == n.targets && !contains(g.operands.part(n.first_target, n.targets), n.root) ? n.root : -1;
}

// What a collective over roles gives each of them for itself. It is nobody else's, and no transfer brings it there.
constexpr bool is_piece(const ir::graph& g, int symbol) {
    const ir::symbol& s = g.symbols.first[symbol];
    if (s.role >= 0 || s.node < 0) return false;
    const op_kind kind = g.nodes.first[s.node].kind;
    return kind != op_kind::all_reduce && kind != op_kind::all_gather && kind != op_kind::broadcast;
}

// Where one rank plays all roles, the buffer's role does not say whose piece it holds, but the seat that it is written from.
constexpr verdict check_pieces(const ir::graph& g, const ir::program& p) {
    vec<int> holder(p.buffers.count, -1);
    for (int pass = 0; pass < 2; ++pass)
        for (const ir::part& x : p.parts) {
            const int at = p.members.first[x.member].node;
            if (at < 0) continue;
            const ir::node& n = g.nodes.first[at];
            for (const ir::access& a : p.accesses.part(x.first_access, x.accesses)) {
                int& whose = holder[a.buffer];
                if (pass == 0 && n.role < 0 && a.mode == access_mode::write) whose = role_at(g, n, x.seat);
                if (pass == 1 && n.role >= 0 && whose >= 0 && whose != n.role) return {flaw::wrong_access, x.role, -1, -1, a.buffer};
            }
        }
    return {};
}

// One value from one role to another.
constexpr verdict check_transfer(const ir::graph& g, const ir::program& p, const partners& all, const ir::member& m, int v) {
    int count = 0, role = -1, buffer[2] = {-1, -1};
    bool good = true;
    all.each([&](const ir::part& x) {
        role = x.role;
        ++count;
        if (x.seat < 0 || x.seat > 1 || x.accesses != 1) {
            good = false;
            return;
        }
        const ir::access& a = p.accesses.first[x.first_access];
        buffer[x.seat] = a.buffer;
        good = good && a.mode == (x.seat == 0 ? access_mode::read : access_mode::write) && p.buffers.first[a.buffer].role == x.role &&
               p.buffers.first[a.buffer].symbol == m.symbol;
    });
    if (count != 2) return {flaw::partner_missing, role, v};
    if (!good || m.symbol < 0 || is_piece(g, m.symbol) || p.buffers.first[buffer[1]].output) return {flaw::wrong_access, role, v};
    if (const flaw f = check_seats(p, all, m, 2, false); f != flaw::none) return {f, role, v};
    const ir::buffer &from = p.buffers.first[buffer[0]], &to = p.buffers.first[buffer[1]];
    if (from.type != to.type || from.bytes != to.bytes) return {flaw::partner_mismatch, role, v, -1, buffer[1]};
    // The receiver of a peer copy finds the sender's bytes by their offset.
    if (p.vertices.first[v].lane == lane_kind::copy && (from.where != ir::storage::arena || to.where != ir::storage::arena))
        return {flaw::wrong_storage, role, v, -1, buffer[0]};
    return {};
}

// Registered and symmetric buffers lie at equal offsets on all members of a collective: they have one number. It is enough to know
// of two that one number for both would put two buffers of a role at one place, where numbers join only what collectives join.
class common_numbers {
public:
    constexpr explicit common_numbers(const ir::program& p) : p_{p} {}

    constexpr bool agree(int a, int b) {
        a = ir::owner_of(p_, a);
        b = ir::owner_of(p_, b);
        const int one = p_.buffers.first[a].common, other = p_.buffers.first[b].common;
        return a == b || (one == other && one >= 0) || exclude(a, b);
    }

    // After all collectives were asked for: a buffer that has a number without need, or -1.
    constexpr int unasked(const ir::graph& g) const {
        if (next_.empty()) return -1;  // nobody was excused
        // Of each number the buffers that collectives join, from its first one on.
        vec<int> by(p_.buffers.count, -1), sides(2 * p_.members.count, -1);
        const auto top = [&](int b) {
            while (by[b] >= 0) b = by[b];
            return b;
        };
        for (const bool last : {false, true})  // who only gives is compared with those that get a result
            for (const ir::part& x : p_.parts) {
                const int node = p_.members.first[x.member].node;
                if (node < 0 || g.nodes.first[node].role >= 0) continue;
                const bool gives = g.nodes.first[node].kind == op_kind::broadcast && ir::only_gives(p_, x);
                for (const ir::access& a : p_.accesses.part(x.first_access, x.accesses)) {
                    const int b = ir::owner_of(p_, a.buffer);
                    if (gives != last || p_.buffers.first[b].where != ir::storage::arena) continue;
                    int& first = sides[2 * x.member + (gives || a.mode != access_mode::read ? 1 : 0)];
                    if (first < 0) first = b;
                    if (p_.buffers.first[first].common != p_.buffers.first[b].common) continue;
                    const int from = top(first), to = top(b);
                    if (from != to) by[to] = from;
                }
            }
        for (int b = 0; b < p_.buffers.count; ++b)
            if (const int common = p_.buffers.first[b].common; common >= 0 && top(b) != top(first_[common])) return b;
        return -1;
    }

private:
    constexpr bool exclude(int a, int b) {
        if (next_.empty()) {
            first_ = vec<int>(p_.commons, -1);
            next_ = vec<int>(p_.buffers.count, -1);
            for (int i = p_.buffers.count - 1; i >= 0; --i)
                if (const int common = p_.buffers.first[i].common; common >= 0) {
                    next_[i] = first_[common];
                    first_[common] = i;
                }
        }
        vec<bool> met(p_.roles);
        for (int i = first(a); i >= 0; i = next_[i]) met[p_.buffers.first[i].role] = true;
        for (int i = first(b); i >= 0; i = next_[i])
            if (met[p_.buffers.first[i].role]) return true;
        return false;
    }
    constexpr int first(int b) const { return p_.buffers.first[b].common < 0 ? b : first_[p_.buffers.first[b].common]; }

    const ir::program& p_;
    vec<int> first_, next_;  // the buffers of each number, listed when they are first asked for
};

// A collective over roles: each argument is given by one part, each receiving role gets its result in one part.
constexpr verdict check_collective(const ir::graph& g, const ir::program& p, const partners& all, const ir::member& m, const ir::node& n, int v,
                                   common_numbers& numbers) {
    const span<const int> arguments = g.operands.part(n.first_argument, n.arguments), results = g.operands.part(n.first_result, n.results),
                          targets = g.operands.part(n.first_target, n.targets);
    int seats = 0, given = 0, received = 0;
    int giver = -1, taker = -1, only_giver = -1;  // a buffer of the arguments, of the results
    tensor_type in, out;
    verdict bad;
    all.each([&](const ir::part& x) {
        ++seats;
        int reads_here = 0, writes_here = 0;
        const int role = role_at(g, n, x.seat);  // where one rank plays all roles, the seat alone says whose part it is
        if (role < 0 || (!g.folded && x.role != role)) bad = {flaw::node_mismatch, x.role, v};
        for (const ir::access& a : p.accesses.part(x.first_access, x.accesses)) {
            const ir::buffer& b = p.buffers.first[a.buffer];
            if (b.where == ir::storage::workspace && b.role == x.role && a.mode == access_mode::write) continue;
            const bool argument = a.mode == access_mode::read;
            if (b.role != x.role || a.mode == access_mode::update || !contains(argument ? arguments : results, b.symbol) || b.symbol < 0 ||
                (argument ? g.symbols.first[b.symbol].role != role : b.output != g.symbols.first[b.symbol].output))
                bad = {flaw::wrong_access, x.role, v, -1, a.buffer};
            if (!argument && !contains(targets, role)) bad = {flaw::node_mismatch, x.role, v, -1, a.buffer};
            if (!g.folded && b.where == ir::storage::arena) {
                int& other = n.kind == op_kind::broadcast && ir::only_gives(p, x) ? only_giver : argument ? giver : taker;
                if (other < 0)
                    other = a.buffer;
                else if (!numbers.agree(other, a.buffer))
                    bad = {flaw::common_offset, x.role, v, -1, a.buffer};
            }
            tensor_type& type = argument ? in : out;
            if (type.valid() && (type.type != b.type.type || type.size() != b.type.size())) bad = {flaw::partner_mismatch, x.role, v, -1, a.buffer};
            type = b.type;
            ++(argument ? reads_here : writes_here);
        }
        given += reads_here;
        received += writes_here;
        if (reads_here > 1 || writes_here > 1) bad = {flaw::wrong_access, x.role, v};
        if (is_rooted(m.kind) && x.seat == m.root && role != n.root) bad = {flaw::node_mismatch, x.role, v};
    });
    if (!bad) return bad;
    if (only_giver >= 0 && taker >= 0 && !numbers.agree(taker, only_giver)) return {flaw::common_offset, -1, v, -1, only_giver};
    // a family of equal results is one name, defined in every receiving role
    if (given != n.arguments || received != n.targets) return {flaw::partner_missing, -1, v};
    if (is_rooted(m.kind) && (m.root < 0 || m.root >= seats)) return {flaw::node_mismatch, -1, v};
    if (const flaw f = check_seats(p, all, m, seats, true); f != flaw::none) return {f, -1, v};
    if (in.valid() && out.valid()) {
        const bool grows = m.kind == op_kind::all_gather || m.kind == op_kind::gather,
                   shrinks = m.kind == op_kind::reduce_scatter || m.kind == op_kind::scatter;
        if (in.type != out.type || in.size() * (grows ? n.arguments : 1) != out.size() * (shrinks ? n.targets : 1)) return {flaw::partner_mismatch, -1, v};
    }
    return {};
}

}  // namespace dovetail::plan::detail
