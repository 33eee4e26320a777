// Which compute members share one function: takes the planned graph, gives each member the one that stands for its combination of
// operation and tensors.
#pragma once

#include "../../plan/planned.hpp"

namespace dovetail::detail {

// Whether two members are one call: the same operation, on tensors of the same types, with results in the same places. Operations made of
// lambdas can be spelled alike (g++), so the operations are compared themselves; last, since with -fsanitize=undefined g++ does not compare
// addresses that differ in constant expressions.
constexpr bool are_one_call(const ir::graph& g, const ir::program& p, const ir::member& m, const ir::participation& of_m,
                            const ir::member& n, const ir::participation& of_n) {
    if (!same(m.op->name, n.op->name) || of_m.accesses != of_n.accesses) return false;
    if (g.nodes[m.node].update != g.nodes[n.node].update || g.nodes[m.node].arguments != g.nodes[n.node].arguments) return false;
    for (int i = 0; i < of_m.accesses; ++i) {
        const ir::access &a = p.accesses[of_m.first_access + i], &b = p.accesses[of_n.first_access + i];
        if (a.mode != b.mode || ir::type_of(p, a) != ir::type_of(p, b)) return false;
    }
    return m.op == n.op;
}

// Which member stands for each member's combination of operation and tensors; -1: nothing to call.
constexpr vec<int> representatives(const ir::graph& g, const ir::program& p) {
    vec<int> participation_at(p.members.size(), -1);
    for (int i = 0; i < p.participations.size(); ++i) participation_at[p.participations[i].member] = i;
    const auto part = [&](int m) -> const ir::participation& { return p.participations[participation_at[m]]; };
    vec<int> of(p.members.size(), -1);
    vec<int> distinct;
    for (int m = 0; m < p.members.size(); ++m) {
        if (p.members[m].kind != op_kind::compute) continue;
        of[m] = m;
        for (int d : distinct)
            if (of[m] == m && are_one_call(g, p, p.members[m], part(m), p.members[d], part(d))) of[m] = d;
        if (of[m] == m) distinct.push(m);
    }
    return of;
}

template <class G, class O>
struct combinations {
    using planned = plan::planned<G, O>;
    static constexpr int members = planned::program.members.size();
    static constexpr fixed<int, members> numbers() {
        fixed<int, members> f{};
        const vec<int> list = representatives(planned::graph, planned::program);
        copy_elements(list, f);
        return f;
    }
    static constexpr fixed<int, members> of = numbers();
    static constexpr int counted() {
        int n = 0;
        for (int m = 0; m < members; ++m) n += of[m] == m ? 1 : 0;
        return n;
    }
    static constexpr int count = counted();
    // The members that stand for the combinations, ascending.
    static constexpr fixed<int, count> listed() {
        fixed<int, count> f{};
        for (int m = 0, n = 0; m < members; ++m)
            if (of[m] == m) f[n++] = m;
        return f;
    }
    static constexpr fixed<int, count> list = listed();
};

}  // namespace dovetail::detail
