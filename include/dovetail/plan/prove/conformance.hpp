// Does the program say what the graph says? Every statement has its one task, whose participations access the right buffers in
// the right way on the right roles; every communication has all its partners, and they agree.
#pragma once

#include "../../cost/transport.hpp"
#include "buffers.hpp"
#include "collectives.hpp"

namespace dovetail::plan::detail {

// Every member of every task with the statement, the transfer or the input that it carries out.
class members_check {
public:
    constexpr members_check(const ir::graph& g, const ir::program& p, const plan_options& options)
        : g_{g},
          p_{p},
          options_{options},
          copies_from_{cost_model::peer_copies_from(options)},
          blocks_{g},
          lists_{p},
          numbers_{p},
          task_of_(g.nodes.count, -1) {}

    constexpr verdict check() {
        const ir::task* x = p_.tasks.first;
        for (int v = 0; v < p_.tasks.count; ++v, ++x) {
            if (x->kind != p_.members.first[x->first_member].kind) return {flaw::node_mismatch, -1, v};
            for (int k = x->first_member, end = k + x->members; k < end; ++k)
                if (const verdict bad = check_member(*x, v, k); !bad) return bad;
        }
        if (const int b = numbers_.unconnected(); b >= 0) return {flaw::symmetric_offset, p_.buffers.first[b].role, -1, -1, b};
        for (int n = 0; n < g_.nodes.count; ++n)
            if (task_of_[n] < 0 && g_.nodes.first[n].op->view == view_kind::none)
                return {flaw::node_missing, g_.nodes.first[n].role, -1, -1, -1, -1, n};
        return {};
    }

private:
    constexpr verdict check_member(const ir::task& x, int v, int k) {
        const ir::member& m = p_.members.first[k];
        const partners participations = lists_.of(x, k);
        if (participations.empty()) return {flaw::partner_missing, -1, v};
        if (const verdict bad = check_transport(x, m, participations, v); !bad) return bad;
        if (m.node >= 0) return check_node(m, participations, v);
        return m.kind == op_kind::transfer ? check_transfer(g_, p_, blocks_, participations, m, v, options_.channel_slots)
                                           : check_input(p_, participations, m, v);
    }
    // A statement is moved by what the graph says, and so is a transfer, or else by copy engines only from the size on from which the
    // options have them. What copy engines move is not in a group, and goes into an arena: only there a sender knows its place.
    constexpr verdict check_transport(const ir::task& x, const ir::member& m, const partners& participations, int v) const {
        const bool copied = x.moved_by == transport::peer_copy;
        if (!copied && x.moved_by != transport::nccl) return {flaw::node_mismatch, -1, v};
        if (m.kind != op_kind::transfer && x.moved_by != (m.node < 0 ? transport::nccl : g_.nodes.first[m.node].moved_by))
            return {flaw::node_mismatch, -1, v};
        if (m.kind == op_kind::transfer && !g_.single_rank && !may_send(x, m, copied)) return {flaw::node_mismatch, -1, v};
        if (!copied) return {};
        if (x.members != 1) return {flaw::node_mismatch, -1, v};
        verdict bad;
        participations.each([&, this](const ir::participation& of) {
            for (const ir::access& a : p_.accesses.subspan(of.first_access, of.accesses))
                if (writes(a.mode) && p_.buffers.first[a.buffer].where != ir::storage::arena)
                    bad = {flaw::wrong_storage, of.role, v, -1, a.buffer};
        });
        return bad;
    }
    constexpr bool may_send(const ir::task& x, const ir::member& m, bool copied) const {
        const transport said = m.symbol < 0 ? transport::automatic : g_.symbols.first[m.symbol].sent_by;
        if (said != transport::automatic) return copied == (said == transport::peer_copy);
        const ir::access& sent = p_.accesses.first[p_.participations.first[x.first_participation].first_access];
        return !copied || ir::bytes_of(p_, sent) >= copies_from_;
    }
    constexpr verdict check_node(const ir::member& m, const partners& participations, int v) {
        const ir::node& n = g_.nodes.first[m.node];
        if (n.op->view != view_kind::none || m.kind != n.kind || m.reduce != n.reduce || m.offset != n.offset ||
            m.zero_edge != n.zero_edge || m.op != n.op)
            return {flaw::node_mismatch, n.role, v};
        int& by = task_of_[m.node];
        if (by >= 0) return {flaw::node_twice, -1, v, by};
        by = v;
        return n.role >= 0 ? check_statement(g_, p_, blocks_, participations, m, n, v)
                           : collective_check{g_, p_, blocks_, m, n, v, numbers_}.check(participations);
    }

    const ir::graph& g_;
    const ir::program& p_;
    const plan_options& options_;
    const std::int64_t copies_from_;
    const symbol_blocks blocks_;
    participations_of_members lists_;
    symmetric_sets numbers_;
    vec<int> task_of_;  // by node; -1: no task so far
};

constexpr verdict check_conformance(const ir::graph& g, const ir::program& p, const plan_options& options) {
    if (const verdict bad = check_buffers(g, p, options); !bad) return bad;
    if (const verdict bad = check_definitions(p); !bad) return bad;
    if (const verdict bad = members_check{g, p, options}.check(); !bad) return bad;
    return g.single_rank ? check_pieces(g, p) : verdict{};
}

}  // namespace dovetail::plan::detail
