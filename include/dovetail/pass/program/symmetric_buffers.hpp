// Which buffers lie at equal offsets on their roles: what the members of a collective over roles send and receive, as
// registered and symmetric buffers demand. A value of several collectives joins what all of them pass, unless that puts two buffers
// of one role at one place. Takes the graph and a program whose aliases and slots are settled; sets numbers and makes slots alike.
#pragma once

#include "../../core/vec.hpp"
#include "../../ir/program.hpp"

#include <cstdint>

namespace dovetail::pass {

namespace detail {

// Sets of buffers, at most one of each role. The number of a buffer is that of its set. Plain pointers: each element that is read by
// an operator is a call to the compiler.
template <class Table>
class symmetric_set_builder {
public:
    constexpr explicit symmetric_set_builder(Table& p)
        : p_{p},
          next_(p.buffers.size(), unset{}),
          first_(p.buffers.size(), unset{}),
          on_(p.buffers.size(), unset{}),
          met_(p.roles > 64 ? p.roles : 0) {}

    // Enters what one participation of a collective passes. `sides`: of arguments and of results the first access of any participation, -1
    // before.
    constexpr void pass(const ir::access* from, const ir::access* end, bool only_sends, int* sides) {
        const ir::access* const accesses = p_.accesses.begin();
        ir::buffer* const all = p_.buffers.begin();
        int *const next = next_.begin(), *const firsts = first_.begin();
        std::uint64_t *const on = on_.begin(), own = 0;
        int b = 0, to = 0;
        for (const ir::access* a = from; a != end; ++a) {
            b = a->buffer;
            if (all[b].alias >= 0) b = all[b].alias;
            if (all[b].where != ir::storage::arena) continue;
            int& first = sides[only_sends || a->mode == access_mode::write ? 1 : 0];
            if (first < 0) {
                first = static_cast<int>(a - accesses);
            } else if (to = ir::owner_of(p_, accesses[first].buffer); !in_parts_ || lie_alike(accesses[first], *a, all[to], all[b])) {
                to = all[to].symmetric_set;
                own = bit(all[b]);
                if (all[b].symmetric_set < 0 && (on[to] & own) == 0) {
                    all[b].symmetric_set = to;
                    on[to] |= own;
                    next[b] = firsts[to];
                    firsts[to] = b;
                    continue;
                }
                if (all[b].symmetric_set == to || join(all, to, b)) continue;
            }
            if (all[b].symmetric_set >= 0) continue;
            firsts[sets_] = b;
            on[sets_] = bit(all[b]);
            next[b] = -1;
            all[b].symmetric_set = sets_++;
        }
    }

    // One number for each set of more than one, the fewest copies that all of it need, and as many for their aliases.
    constexpr void number() {
        ir::buffer* const all = p_.buffers.begin();
        const int* const next = next_.begin();
        bool copies = false;
        p_.symmetric_sets = 0;
        for (const int *first = first_.begin(), *last = first + sets_; first != last; ++first) {
            if (*first < 0) continue;
            const int number = next[*first] < 0 ? -1 : p_.symmetric_sets++;
            int slots = 1;
            for (int b = *first; b >= 0; b = next[b]) {
                all[b].symmetric_set = number;
                if (slots < all[b].slots) slots = all[b].slots;
            }
            if (slots == 1 || number < 0) continue;
            copies = true;
            for (int b = *first; b >= 0; b = next[b]) all[b].slots = slots;
        }
        for (int b = 0, buffers = p_.buffers.size(); b < buffers && copies; ++b)
            if (all[b].alias >= 0) all[b].slots = all[all[b].alias].slots;
    }

private:
    // What begins at different places in its buffer, or in buffers of different sizes, is not at one place where these are.
    constexpr bool lie_alike(const ir::access& a, const ir::access& b, const ir::buffer& x, const ir::buffer& y) const {
        return x.bytes == y.bytes && ir::offset_of(p_, a) == ir::offset_of(p_, b);
    }
    static constexpr std::uint64_t bit(const ir::buffer& b) { return std::uint64_t{1} << b.role % 64; }

    // Brings the buffer, with its set, into set `to`, where no role has two then.
    constexpr bool join(ir::buffer* all, int to, int b) {
        int *const next = next_.begin(), *const firsts = first_.begin();
        std::uint64_t* const on = on_.begin();
        const int from = all[b].symmetric_set;
        if (from < 0) next[b] = -1;
        const int first = from < 0 ? b : firsts[from];
        const std::uint64_t roles = from < 0 ? bit(all[b]) : on[from];
        if ((on[to] & roles) != 0 && (p_.roles <= 64 || meet(all, firsts[to], first))) return false;
        int last = first;
        for (int i = first; i >= 0; i = next[i]) {
            all[i].symmetric_set = to;
            last = i;
        }
        next[last] = firsts[to];
        firsts[to] = first;
        on[to] |= roles;
        if (from >= 0) firsts[from] = -1;
        return true;
    }
    // Whether a role has a buffer in both chains.
    constexpr bool meet(const ir::buffer* all, int a, int b) {
        ++meetings_;
        for (; a >= 0; a = next_[a]) met_[all[a].role] = meetings_;
        for (; b >= 0; b = next_[b])
            if (met_[all[b].role] == meetings_) return true;
        return false;
    }

    Table& p_;
    const bool in_parts_ = ir::has_parts(p_);
    vec<int> next_, first_;  // the buffers of each set, in a chain
    vec<std::uint64_t> on_;  // by set: its roles, one bit each; more than 64 share bits
    vec<int> met_;           // by role: the last question that found it; used where they share bits
    int meetings_ = 0, sets_ = 0;
};

}  // namespace detail

template <class Graph, class Table>
constexpr void find_symmetric_buffers(const Graph& g, Table& p) {
    detail::symmetric_set_builder<Table> sets{p};
    vec<int> sides(2 * p.members.size(), -1);
    const ir::node* nodes = g.nodes.begin();
    const ir::member* members = p.members.begin();
    const ir::access *accesses = p.accesses.begin(), *from = nullptr;
    // A role that only sends comes after those that receive.
    bool last = false, more = true, only_sends = false;
    int node = 0;
    for (; more; last = true) {
        more = false;
        for (const ir::participation *x = p.participations.begin(), *end = x + p.participations.size(); x != end; ++x) {
            node = members[x->member].node;
            if (node < 0 || nodes[node].role >= 0) continue;
            from = accesses + x->first_access;
            only_sends = collective::passes_argument_as_result(nodes[node].kind) && ir::only_sends(p, *x);
            if (only_sends == last)
                sets.pass(from, from + x->accesses, only_sends, sides.begin() + 2 * x->member);
            else
                more = more || only_sends;
        }
    }
    sets.number();
}

}  // namespace dovetail::pass
