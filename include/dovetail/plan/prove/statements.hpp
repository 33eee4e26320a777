// Does a statement of one role do what the graph says: reads its arguments, writes its results, and has the scratch memory that its
// operation asks for?
#pragma once

#include "blocks.hpp"
#include "verdict.hpp"

namespace dovetail::plan::detail {

constexpr bool contains(span<const int> list, int x) {
    for (int y : list)
        if (x == y) return true;
    return false;
}

constexpr vec<tensor_type> argument_types(const ir::graph& g, const ir::node& n) {
    vec<tensor_type> types;
    for (int a : g.operands.subspan(n.first_argument, n.arguments)) types.push(g.symbols.first[a].type);
    return types;
}

constexpr bool is_memory(const ir::buffer& b, ir::storage where, const tensor_type& type, std::int64_t bytes) {
    return b.where == where && b.type == type && b.bytes == bytes;
}

// Whether a buffer without a symbol can hold result k of a statement: in the arena where it re-uses an argument's bytes.
constexpr bool is_discarded(const ir::graph& g, const ir::node& n, int k, const ir::buffer& b) {
    tensor_type made[max_results] = {};
    n.op->infer(argument_types(g, n).begin(), made);
    return is_memory(b, k == 0 && n.op->in_place_only ? ir::storage::arena : ir::storage::workspace, made[k], made[k].bytes());
}

// Of a collective along axes: its positions on one role.
constexpr bool joins_positions(const ir::program& p, const ir::member& m, unsigned axes, int role) {
    if (m.local || m.communicator < 0) return false;
    const ir::communicator& c = p.communicators.first[m.communicator];
    return c.axes == axes && c.roles == 1 && p.communicator_roles.first[c.first_role] == role;
}

// The participations of one member: [first, end), or, where those of others lie between them, a chain.
struct partners {
    const ir::participation* participations;
    const int* next;
    int first, end;

    constexpr bool empty() const { return first < 0; }
    constexpr bool several() const { return next == nullptr ? end - first > 1 : next[first] >= 0; }
    constexpr const ir::participation& front() const { return participations[first]; }

    template <class F>
    constexpr void each(F f) const {
        if (next == nullptr)
            for (int i = first; i < end; ++i) f(participations[i]);
        else
            for (int i = first; i >= 0; i = next[i]) f(participations[i]);
    }
};

// The participations of each member: all of its task if it is the only member. Those of members that share a task are chained.
class participations_of_members {
public:
    constexpr explicit participations_of_members(const ir::program& p) : participations_{p.participations.first} {
        if (p.members.count == p.tasks.count) return;  // Only for speed: no task has several members.
        first_ = vec<int>(p.members.count, -1);
        next_ = vec<int>(p.participations.count, -1);
        for (int i = p.participations.count - 1; i >= 0; --i) {
            next_[i] = first_[p.participations.first[i].member];
            first_[p.participations.first[i].member] = i;
        }
    }
    constexpr partners of(const ir::task& x, int member) const {
        if (x.members == 1) return {participations_, nullptr, x.first_participation, x.first_participation + x.participations};
        return {participations_, next_.begin(), first_[member], -1};
    }

private:
    const ir::participation* participations_;
    vec<int> first_, next_;  // by member, by participation; -1: none
};

// Whether the caller or a statement makes a value on this role.
constexpr bool has_value(const ir::graph& g, int role, int symbol) {
    const ir::symbol& s = g.symbols.first[symbol];
    if (s.role >= 0 || s.node < 0) return s.role < 0 || s.role == role;
    const ir::node& over_roles = g.nodes.first[s.node];
    return contains(g.operands.subspan(over_roles.first_target, over_roles.targets), role);
}

// Whether a participation reads, behind the accesses that are passed, the values that its node starts after; of a collective over roles
// those that its role has.
constexpr bool awaits(const ir::graph& g, const ir::program& p, const symbol_blocks& blocks, const ir::node& n, const ir::participation& x,
                      int role) {
    const ir::access *a = p.accesses.first + x.first_access + x.accesses, *const end = a + x.awaited;
    for (const int s : g.operands.subspan(n.first_awaited, n.awaited)) {
        if (n.role < 0 && !has_value(g, role, blocks.value_of(s))) continue;
        if (a == end || a->mode != access_mode::read || !blocks.holds(p, *a, s)) return false;
        ++a;
    }
    return a == end;
}

// A statement of one role, compared access by access with what its operation gets: arguments, results, workspace.
class statement {
public:
    constexpr statement(const ir::graph& g, const ir::program& p, const symbol_blocks& blocks, const ir::node& n,
                        const ir::participation& x, int task)
        : g_{g},
          p_{p},
          blocks_{blocks},
          n_{n},
          arguments_{g.operands.subspan(n.first_argument, n.arguments)},
          role_{x.role},
          task_{task},
          first_{p.accesses.first + x.first_access},
          next_{first_},
          end_{first_ + x.accesses} {}

    constexpr verdict check() {
        read_arguments();
        if (bad_) write_results();
        if (bad_) use_workspace();
        return bad_;
    }

private:
    constexpr void read_arguments() {
        access_mode mode = access_mode::read;
        for (const int *s = arguments_.begin(), *behind = arguments_.end(); s != behind; ++s, ++next_) {
            if (next_ == end_) return refuse(flaw::wrong_access);
            if (n_.update) mode = first_occurrence_of_target(s) ? access_mode::update : access_mode::read;
            if (!blocks_.holds(p_, *next_, *s) || next_->mode != mode) return refuse(flaw::wrong_access);
        }
    }

    // A target that is also an argument is passed as inout, once.
    constexpr bool first_occurrence_of_target(const int* s) const {
        const int *first = arguments_.begin(), before = static_cast<int>(s - first);
        return contains(g_.operands.subspan(n_.first_result, n_.results), *s) && !contains({first, before}, *s);
    }

    constexpr void write_results() {
        const int* s = g_.operands.first + n_.first_result;
        for (int k = 0; k < n_.results; ++k, ++s) {
            if (n_.update && contains(arguments_, *s)) continue;  // Only for speed: nothing else is its own argument.
            if (next_ == end_ || !blocks_.holds(p_, *next_, *s) || next_->mode != access_mode::write) return refuse(flaw::wrong_access);
            if (*s >= 0 && buffer().output != g_.symbols.first[blocks_.value_of(*s)].output) return refuse(flaw::wrong_access);
            if (*s < 0 && !is_discarded(g_, n_, k, buffer())) return refuse(flaw::wrong_storage);
            // The launch gets argument and result as one.
            if (k == 0 && n_.op->in_place_only && !n_.update && buffer().alias != ir::owner_of(p_, aliased_argument()))
                return refuse(flaw::alias_wrong);
            ++next_;
        }
    }
    constexpr int aliased_argument() const { return first_[n_.op->in_place < 0 ? 0 : n_.op->in_place].buffer; }

    constexpr void use_workspace() {
        const std::int64_t bytes = n_.op->has_workspace ? n_.op->workspace(argument_types(g_, n_).begin()) : 0;
        if (end_ - next_ != (bytes > 0 ? 1 : 0)) return refuse(flaw::wrong_access);
        if (bytes <= 0) return;
        if (next_->mode != access_mode::write || !is_whole(p_, *next_)) return refuse(flaw::wrong_access);
        // Of no type: so a launch tells it from a result.
        if (!is_memory(buffer(), ir::storage::workspace, {}, bytes)) refuse(flaw::wrong_storage);
    }

    constexpr const ir::buffer& buffer() const { return p_.buffers.first[next_->buffer]; }
    constexpr void refuse(flaw what) { bad_ = {what, role_, task_, -1, next_ == end_ ? -1 : next_->buffer}; }

    const ir::graph& g_;
    const ir::program& p_;
    const symbol_blocks& blocks_;
    const ir::node& n_;
    span<const int> arguments_;
    int role_, task_;
    const ir::access *first_, *next_, *end_;  // `next_`: to be compared
    verdict bad_;
};

constexpr verdict check_statement(const ir::graph& g, const ir::program& p, const symbol_blocks& blocks, const partners& participations,
                                  const ir::member& m, const ir::node& n, int v) {
    const ir::participation& x = participations.front();
    const int role = g.single_rank ? 0 : n.role;
    if (participations.several()) return {flaw::partner_missing, role, v};
    if (m.root != n.root || x.role != role || x.group_index != 0) return {flaw::node_mismatch, role, v};
    if ((is_communication(m.kind) || n.op->own_block_in_place) && !joins_positions(p, m, n.axes, role))
        return {flaw::wrong_communicator, role, v};
    if (!awaits(g, p, blocks, n, x, n.role)) return {flaw::wrong_access, role, v};
    return statement{g, p, blocks, n, x, v}.check();
}

// Brings the caller's binding in.
constexpr verdict check_input(const ir::program& p, const partners& participations, const ir::member& m, int v) {
    const ir::participation& x = participations.front();
    if (participations.several()) return {flaw::partner_missing, x.role, v};
    if (m.kind != op_kind::input || x.group_index != 0 || x.accesses != 1) return {flaw::node_mismatch, x.role, v};
    const ir::access& a = p.accesses.first[x.first_access];
    const ir::buffer& b = p.buffers.first[a.buffer];
    if (a.mode != access_mode::write || b.where != ir::storage::input || b.symbol != m.symbol || !is_whole(p, a))
        return {flaw::wrong_access, x.role, v, -1, a.buffer};
    return {};
}

}  // namespace dovetail::plan::detail
