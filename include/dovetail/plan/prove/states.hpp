// Which version of a state each access must meet: the number of updates written above it. Takes graph and program, gives
// one number per access, from the written order of the nodes alone.
#pragma once

#include "../plan.hpp"

namespace dovetail::plan::detail {

struct state_versions {
    vec<int> expected;  // by access: updates of its state above it in a run; -1: not a state; -2: no version is right
    vec<int> updates;   // by buffer: updates in one run
};

// A state that another role reads goes there by one transfer, which has no place of its own in the written order: it
// stands at the first statement that uses the copy, and no update may stand between that one and the last.
struct carried {
    int access = 0;
    int first = 0;
    int last = -1;
    int next = -1;
};

// Only the accesses of `role`, or all of them where it is -1.
constexpr state_versions versions_of(const ir::graph& g, const ir::program& p, int role) {
    state_versions made;
    const ir::buffer* buffers = p.buffers.begin();
    made.expected = vec<int>(p.accesses.count, -1);
    made.updates = vec<int>(p.buffers.count);
    int *expected = made.expected.begin(), *version = made.updates.begin();

    // parts by node, and the transfers of states
    vec<int> first_of_node(g.nodes.count, -1), next_of_part(p.parts.count, -1);
    int *first_part = first_of_node.begin(), *next_part = next_of_part.begin();
    vec<carried> transfers;
    vec<int> copies;
    for (int i = p.parts.count - 1; i >= 0; --i) {
        const ir::part& x = p.parts.first[i];
        const ir::member& m = p.members.first[x.member];
        if (m.node >= 0) {
            next_part[i] = first_part[m.node];
            first_part[m.node] = i;
        } else if (m.kind == op_kind::transfer && m.symbol >= 0 && g.symbols.first[m.symbol].kind == ir::symbol_kind::state && x.accesses == 1) {
            if (x.seat != 0)
                copies.push(i);
            else if (role < 0 || x.role == role)
                transfers.push({x.first_access, -1, -1, i});
        }
    }
    vec<int> anchored(transfers.empty() ? 0 : g.nodes.count, -1);
    if (!transfers.empty()) {
        vec<int> first_reader(p.buffers.count, -1), last_reader(p.buffers.count, -1), copy_of_member(p.members.count, -1);
        for (const ir::part& x : p.parts) {
            const int node = p.members.first[x.member].node;
            for (const ir::access& a : p.accesses.part(x.first_access, x.accesses)) {
                if (node < 0 || !reads(a.mode)) continue;
                if (first_reader[a.buffer] < 0 || node < first_reader[a.buffer]) first_reader[a.buffer] = node;
                if (node > last_reader[a.buffer]) last_reader[a.buffer] = node;
            }
        }
        for (int i : copies) copy_of_member[p.parts.first[i].member] = p.accesses.first[p.parts.first[i].first_access].buffer;
        for (int t = 0; t < transfers.size(); ++t) {
            carried& c = transfers[t];
            const int copy = copy_of_member[p.parts.first[c.next].member];
            c.next = -1;
            expected[c.access] = -2;
            if (copy < 0 || first_reader[copy] < 0 || buffers[p.accesses.first[c.access].buffer].where != ir::storage::state) continue;
            c.first = first_reader[copy];
            c.last = last_reader[copy];
            c.next = anchored[c.first];
            anchored[c.first] = t;
        }
    }
    for (int n = 0; n < g.nodes.count; ++n) {
        if (!transfers.empty())
            for (int t = anchored[n]; t >= 0; t = transfers[t].next) expected[transfers[t].access] = version[p.accesses.first[transfers[t].access].buffer];
        for (int t = 0; t < transfers.size(); ++t)
            if (transfers[t].last == n && expected[transfers[t].access] != version[p.accesses.first[transfers[t].access].buffer])
                expected[transfers[t].access] = -2;
        for (int i = first_part[n]; i >= 0; i = next_part[i]) {
            const ir::part& x = p.parts.first[i];
            if (role >= 0 && x.role != role) continue;
            int written = 0;
            for (int a = x.first_access, end = a + x.accesses; a < end; ++a) {
                const ir::access& y = p.accesses.first[a];
                if (buffers[y.buffer].where != ir::storage::state) continue;
                expected[a] = version[y.buffer];
                written += writes(y.mode) ? 1 : 0;
            }
            if (written == 0) continue;
            for (const ir::access& y : p.accesses.part(x.first_access, x.accesses))
                if (buffers[y.buffer].where == ir::storage::state && writes(y.mode)) ++version[y.buffer];
        }
    }
    return made;
}

}  // namespace dovetail::plan::detail
