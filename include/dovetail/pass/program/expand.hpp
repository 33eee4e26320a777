// expand: from what the user wrote to what ranks do. Channels become transfers, inputs become tasks on the copy stream of
// every role that uses them, values get a buffer on each role that holds them, collectives get their members.
// Takes a checked graph, gives the program; a task's place among the tasks is that of its first use as written.
#pragma once

#include "buffer_creation.hpp"
#include "largest_program.hpp"
#include "symmetric_buffers.hpp"

namespace dovetail::pass {

namespace detail {

template <class Graph, class Table>
class expansion {
public:
    constexpr expansion(const Graph& g, const cost_model::expansion_options& s, span<const int> order, Table& to)
        : g_{g}, operands_{g.operands.first}, buffers_{g, s, order, to} {}

    constexpr void run(Table& to) {
        const auto& nodes = g_.nodes.first;
        for (int i = 0, count = g_.nodes.count; i < count; ++i)
            if (g_.views && nodes[i].op->view != view_kind::none)
                continue;  // not executed
            else if (nodes[i].nccl_group_id < 0)
                one(i, nodes[i]);
            else if (first_in_nccl_group(nodes[i].nccl_group_id) == i)
                several(i);
        buffers_.finish(to);
        if (over_roles_ && !g_.single_rank) find_symmetric_buffers(g_, to);
    }

private:
    static constexpr bool among(const int* list, int count, int x) {
        for (int i = 0; i < count; ++i)
            if (list[i] == x) return true;
        return false;
    }

    constexpr int first_in_nccl_group(int nccl_group_id) {
        if (first_in_nccl_group_.empty()) list_nccl_groups();
        return first_in_nccl_group_[nccl_group_id];
    }
    constexpr void list_nccl_groups() {
        int nccl_groups = 0;
        for (const ir::node *n = g_.nodes.begin(), *last = g_.nodes.end(); n != last; ++n)
            if (n->nccl_group_id >= nccl_groups) nccl_groups = n->nccl_group_id + 1;
        first_in_nccl_group_ = vec<int>(nccl_groups, -1);
        next_in_nccl_group_ = vec<int>(g_.nodes.count, unset{});
        for (int i = g_.nodes.count - 1; i >= 0; --i) {
            const int nccl_group_id = g_.nodes.first[i].nccl_group_id;
            if (nccl_group_id < 0) continue;
            next_in_nccl_group_[i] = first_in_nccl_group_[nccl_group_id];
            first_in_nccl_group_[nccl_group_id] = i;
        }
    }

    // Buffers of the arguments first: that may add tasks of their own.
    constexpr void make_arguments_available(const ir::node& n) {
        for (int i = n.first_argument, end = i + n.arguments; i < end; ++i) {
            const int a = operands_[i];
            buffers_.make_available(a, n.role >= 0 ? n.role : g_.symbols.first[a].role);
        }
        if (n.awaited > 0) make_awaited_available(n);
    }
    // ... and of the values that it starts after; a collective over roles waits on those of its roles that have the value.
    constexpr void make_awaited_available(const ir::node& n) {
        if (n.role < 0) list_group_roles(n);
        for (int a : g_.operands.view().subspan(n.first_awaited, n.awaited)) {
            if (n.role >= 0) buffers_.make_available(a, n.role);
            for (int k = 0; n.role < 0 && k < group_roles_.size(); ++k)
                if (waits_on(a, group_roles_[k])) buffers_.make_available(a, group_roles_[k]);
        }
    }
    constexpr bool waits_on(int symbol, int role) const {
        return buffers_.lives_on(g_.symbols.first[buffers_.where.whole_of(symbol)], role);
    }

    constexpr void one(int i, const ir::node& n) {
        const bool local = n.role >= 0;
        const int* here = nullptr;
        if (local) {
            here = buffers_.on(n.role);
            for (int a = n.first_argument, end = a + n.arguments; a < end; ++a)
                if (here[operands_[a]] == 0) buffers_.make_available(operands_[a], n.role);
            if (n.awaited > 0) make_awaited_available(n);
        } else {
            make_arguments_available(n);
        }
        const int first_participation = to_.participation_count, member = to_.member_count;
        add_member(i, n);
        if (local)
            local_participation(n, member, here);
        else
            add_participations(n, member, -1);
        const stream_kind stream = !local && g_.single_rank ? stream_kind::compute : stream_of(n);
        to_.task(first_participation, member, stream, n.kind, n.moved_by);
    }

    static constexpr stream_kind stream_of(const ir::node& n) {
        const bool beside_reduction = n.moved_by == transport::peer_copy && n.op->beside_reduction;
        return beside_reduction ? stream_kind::communication : detail::stream_of(n.kind, n.moved_by);
    }

    // An NCCL group: the members of the task are all its collectives, and the participations of each role are adjacent.
    constexpr void several(int first) {
        const auto& nodes = g_.nodes.first;
        const int* next = next_in_nccl_group_.begin();
        for (int i = first; i >= 0; i = next[i]) make_arguments_available(nodes[i]);
        const int first_participation = to_.participation_count, base = to_.member_count;
        for (int i = first; i >= 0; i = next[i]) add_member(i, nodes[i]);
        for (int role = 0; role < g_.roles.count; ++role)
            for (int i = first, member = base; i >= 0; i = next[i], ++member) {
                if (nodes[i].role == role)
                    local_participation(nodes[i], member, buffers_.on(role));
                else if (nodes[i].role < 0)
                    add_participations(nodes[i], member, role);
            }
        to_.task(first_participation, base, nodes[first].role < 0 && g_.single_rank ? stream_kind::compute : stream_kind::communication,
                 nodes[first].kind);
    }

    constexpr void add_member(int i, const ir::node& n) {
        int communicator = -1, root = n.root;
        bool local = false;
        if (n.kind != op_kind::compute && (is_communication(n.kind) || n.op->own_block_in_place)) {
            if (n.role >= 0) {
                if (n.axes != last_axes_ || n.role != last_role_) {
                    const int role = buffers_.rank_of(n.role);
                    last_communicator_ = to_.communicator(n.axes, {&role, 1});
                    last_axes_ = n.axes;
                    last_role_ = n.role;
                }
                communicator = last_communicator_;
            } else {
                over_roles_ = true;
                list_group_roles(n);
                root = -1;
                for (int k = 0; k < group_roles_.size(); ++k)
                    if (group_roles_[k] == n.root) root = k;
                local = g_.single_rank;
                if (!local) communicator = to_.communicator(0, group_roles_.view());
            }
        }
        to_.members[to_.member_count++] = {n.kind,   n.op,        i,    operands_[n.first_result], n.reduce, communicator, root,
                                           n.offset, n.zero_edge, local};
    }

    // The roles of a collective over roles, by group index: the senders; with a single sender (broadcast, scatter) the receivers, then
    // the sender if it does not receive.
    constexpr void list_group_roles(const ir::node& n) {
        group_roles_.clear();
        if (collective::begins_at_root(n.kind)) {
            for (int t : g_.operands.view().subspan(n.first_target, n.targets)) group_roles_.push(t);
            if (!ir::receives(g_, n, n.root)) group_roles_.push(n.root);
        } else {
            for (int a : g_.operands.view().subspan(n.first_argument, n.arguments)) group_roles_.push(g_.symbols.first[a].role);
        }
    }

    constexpr void add_participations(const ir::node& n, int member, int only_role) {
        list_group_roles(n);
        const int result = operands_[n.first_result];
        for (int role = 0; role < g_.roles.count; ++role) {
            if (only_role >= 0 && role != only_role) continue;
            for (int k = 0; k < group_roles_.size(); ++k) {
                if (group_roles_[k] != role) continue;
                const int first_access = to_.access_count;
                for (int a : g_.operands.view().subspan(n.first_argument, n.arguments))
                    if (g_.symbols.first[a].role == role) buffers_.touch(buffers_.on(role)[a] - 1, a, access_mode::read);
                if (ir::receives(g_, n, role)) buffers_.touch(buffers_.make_available(result, role), result, access_mode::write);
                to_.participation(buffers_.rank_of(role), member, k, first_access, access_awaited(n, role));
            }
        }
    }

    // `here`: by symbol, the buffer on the node's role, one more.
    constexpr void local_participation(const ir::node& n, int member, const int* here) {
        const int first_access = to_.access_count;
        access_arguments(n, here);
        for (int k = 0, count = n.results; k < count; ++k) access_result(n, k, here);
        if (n.op->has_workspace)
            if (const std::int64_t bytes = n.op->workspace(types_of(n)); bytes > 0)
                to_.touch(buffers_.scratch(n.role, {}, bytes), access_mode::write);
        if (g_.views) note_blocks(n, first_access);
        const int awaited = n.awaited > 0 ? access_awaited(n, n.role) : 0;
        to_.participations[to_.participation_count++] = {
            g_.single_rank ? 0 : n.role, member, 0, first_access, to_.access_count - first_access - awaited, awaited};
    }

    // The values that it starts after, on one role; returns how many.
    constexpr int access_awaited(const ir::node& n, int role) {
        const int before = to_.access_count;
        for (int a : g_.operands.view().subspan(n.first_awaited, n.awaited))
            if (n.role >= 0 || waits_on(a, role)) buffers_.touch(buffers_.on(role)[a] - 1, a, access_mode::read);
        return to_.access_count - before;
    }

    // A target that stands twice among the arguments is passed as inout the first time only.
    constexpr void access_arguments(const ir::node& n, const int* here) {
        const int first = n.first_argument;
        for (int k = 0, count = n.arguments; k < count; ++k) {
            const int a = operands_[first + k];
            const bool target = n.update && among(operands_ + n.first_result, n.results, a) && !among(operands_ + first, k, a);
            to_.touch(here[a] - 1, target ? access_mode::update : access_mode::read);
        }
    }
    // The k-th result; nothing of a target that is passed as inout.
    constexpr void access_result(const ir::node& n, int k, const int* here) {
        const int r = operands_[n.first_result + k];
        int b = r >= 0 ? here[r] - 1 : discarded(n, k);
        if (n.update && r >= 0) {
            if (among(operands_ + n.first_argument, n.arguments, r)) return;
            if (b < 0) b = buffers_.make_available(r, n.role);
        } else if (r >= 0) {
            if (b < 0)
                b = buffers_.where.is_part(r) ? buffers_.make_available(r, n.role) : buffers_.make(r, n.role, ir::storage::arena);
            else
                buffers_.settled = false;
            if (k == 0 && (n.op->in_place >= 0 || n.op->in_place_only)) buffers_.alias_argument(n, b);
        }
        to_.touch(b, access_mode::write);
    }

    // Which of the statement's accesses, from this one on, are of blocks: those of arguments and of results that are no targets.
    constexpr void note_blocks(const ir::node& n, int access) {
        for (int k = 0; k < n.arguments; ++k) buffers_.note_block(access++, operands_[n.first_argument + k]);
        for (int k = 0; k < n.results; ++k) {
            const int r = operands_[n.first_result + k];
            if (n.update && r >= 0 && among(operands_ + n.first_argument, n.arguments, r)) continue;
            if (r >= 0) buffers_.note_block(access, r);
            ++access;
        }
    }

    // A buffer for a result that is discarded.
    constexpr int discarded(const ir::node& n, int k) {
        tensor_type made[max_results] = {};
        n.op->infer(types_of(n), made);
        const bool over = k == 0 && n.op->in_place_only && !n.update;
        const int b = buffers_.scratch(n.role, made[k], made[k].bytes(), over ? ir::storage::arena : ir::storage::workspace);
        if (over) buffers_.alias_argument(n, b);
        return b;
    }

    // Of the arguments.
    constexpr const tensor_type* types_of(const ir::node& n) {
        types_.resize(n.arguments);
        for (int a = 0; a < n.arguments; ++a) types_[a] = g_.symbols.first[operands_[n.first_argument + a]].type;
        return types_.begin();
    }

    const Graph& g_;
    const decltype(Graph::operands.first)& operands_;
    buffer_creation<Graph, Table> buffers_;
    program_builder<Table>& to_ = buffers_.builder;
    vec<int> first_in_nccl_group_, next_in_nccl_group_;  // the nodes of each NCCL group
    vec<int> group_roles_;                               // of the collective at hand
    bool over_roles_ = false;                            // whether there is one over roles
    // Of the collective within a role that was met last.
    unsigned last_axes_ = 0;
    int last_role_ = -1, last_communicator_ = -1;
    vec<tensor_type> types_;
};

}  // namespace detail

// Into a program whose arrays have the room, see largest_program. `order`: the roles in the order of their ranks; empty: of their ids.
template <class Graph, class Table>
constexpr void expand(const Graph& g, const cost_model::expansion_options& s, span<const int> order, Table& to) {
    detail::expansion<Graph, Table>{g, s, order, to}.run(to);
}

template <class Graph>
constexpr ir::program_data expand(const Graph& g, const cost_model::expansion_options& s, span<const int> order = {}) {
    const ir::sizes<8> most = s.relays() ? detail::largest_tables_with_relays(g) : detail::largest_tables(g);
    ir::program_data made{vec<ir::buffer>(most.of[0], unset{}),
                          vec<ir::access>(most.of[1], unset{}),
                          vec<ir::participation>(most.of[2], unset{}),
                          vec<ir::member>(most.of[3], unset{}),
                          vec<ir::task>(most.of[4], unset{}),
                          vec<ir::communicator>(most.of[5], unset{}),
                          vec<int>(most.of[6], unset{}),
                          vec<ir::leaf>(most.of[7])};
    expand(g, s, order, made);
    return made;
}

// The sizes that the program's arrays have at most. How many leaves there are is known when the program is.
template <class Graph>
constexpr ir::sizes<8> largest_program(const Graph& g, const cost_model::expansion_options& s, span<const int> order) {
    ir::sizes<8> most = s.relays() ? detail::largest_tables_with_relays(g) : detail::largest_tables(g);
    if (g.views) most.of[7] = expand(g, s, order).leaves.size();
    return most;
}

}  // namespace dovetail::pass
