// Which buffers lie at equal offsets on their roles: what the members of a collective over roles give, and what they get, as
// registered and symmetric buffers demand. A value of several collectives joins what all of them pass, unless that puts two buffers
// of one role at one place. Takes the graph and a program whose aliases and slots are settled; sets numbers and makes slots alike.
#pragma once

#include "../core/vec.hpp"
#include "../ir/program.hpp"

namespace dovetail::pass {

namespace detail {

// Sets of buffers, at most one of each role. The number of a buffer is that of its set.
template <class Table>
class agreements {
public:
    constexpr explicit agreements(Table& p) : p_{p}, all_{p.buffers.begin()}, side_(2 * p.members.size(), -1) {}

    // A buffer that a member of a collective passes, with that of its first part.
    constexpr void pass(int buffer, int member, bool writes) {
        const int b = ir::owner_of(p_, buffer);
        if (all_[b].where != ir::storage::arena) return;
        int& first = side_[2 * member + (writes ? 1 : 0)];
        if (first < 0)
            first = b;
        else if (join(all_[first].common, b))
            return;
        if (all_[b].common >= 0) return;
        all_[b].common = p_.commons++;
        for (int r = 0; r < p_.roles; ++r) of_.push(r == all_[b].role ? b : -1);
    }

    // One number for each set of more than one, the fewest copies that all of it need, and as many for who takes over their bytes.
    constexpr void number() {
        const int buffers = p_.buffers.size();
        vec<int> count(p_.commons), slots(p_.commons), as(p_.commons, -1);
        bool copies = false;
        for (int b = 0; b < buffers; ++b) {
            const int c = all_[b].common;
            if (c < 0) continue;
            ++count[c];
            if (slots[c] < all_[b].slots) slots[c] = all_[b].slots;
            copies = copies || all_[b].slots > 1;
        }
        p_.commons = 0;
        for (int b = 0; b < buffers; ++b) {
            const int c = all_[b].common;
            if (c < 0) continue;
            if (as[c] < 0 && count[c] > 1) as[c] = p_.commons++;
            all_[b].common = as[c];
            all_[b].slots = slots[c];
        }
        for (int b = 0; b < buffers && copies; ++b)
            if (all_[b].alias >= 0) all_[b].slots = all_[all_[b].alias].slots;
    }

private:
    // Brings the buffer, with its set, into set `to`, where no role has two then.
    constexpr bool join(int to, int b) {
        const int roles = p_.roles, from = all_[b].common;
        int* into = of_.begin() + to * roles;
        if (from == to) return true;
        if (from < 0) {
            if (into[all_[b].role] >= 0) return false;
            into[all_[b].role] = b;
            all_[b].common = to;
            return true;
        }
        int* own = of_.begin() + from * roles;
        for (int r = 0; r < roles; ++r)
            if (into[r] >= 0 && own[r] >= 0) return false;
        for (int r = 0; r < roles; ++r) {
            if (own[r] < 0) continue;
            into[r] = own[r];
            all_[own[r]].common = to;
            own[r] = -1;
        }
        return true;
    }

    Table& p_;
    ir::buffer* const all_;
    vec<int> of_;    // at set * roles + role: the buffer
    vec<int> side_;  // by member: the first buffer that it reads, the first that it writes
};

}  // namespace detail

template <class Graph, class Table>
constexpr void agree(const Graph& g, Table& p) {
    detail::agreements<Table> sides{p};
    const auto& nodes = g.nodes.first;
    const ir::member* members = p.members.begin();
    const ir::access* accesses = p.accesses.begin();
    for (const ir::part *x = p.parts.begin(), *last = x + p.parts.size(); x != last; ++x) {
        const int node = members[x->member].node;
        if (node < 0 || nodes[node].role >= 0) continue;
        for (int a = x->first_access, end = a + x->accesses; a < end; ++a) sides.pass(accesses[a].buffer, x->member, accesses[a].mode == access_mode::write);
    }
    sides.number();
}

}  // namespace dovetail::pass
