// Which compute members share one function: takes the planned graph, gives each member the one that stands for its combination of
// operation and tensors.
#pragma once

#include "../../plan/planned.hpp"

namespace dovetail::detail {

// Which member stands for each member's combination of operation and tensors; -1: nothing to call.
constexpr vec<int> representatives(const ir::program& p) {
    vec<int> participation_at(p.members.size(), -1);
    for (int i = 0; i < p.participations.size(); ++i) participation_at[p.participations[i].member] = i;
    vec<int> of(p.members.size(), -1);
    vec<int> distinct;
    for (int m = 0; m < p.members.size(); ++m) {
        if (p.members[m].kind != op_kind::compute) continue;
        const ir::participation& mine = p.participations[participation_at[m]];
        for (int d : distinct) {
            const ir::participation& other = p.participations[participation_at[d]];
            bool same = dovetail::same(p.members[d].op->name, p.members[m].op->name) && mine.accesses == other.accesses;
            for (int i = 0; same && i < mine.accesses; ++i) {
                const ir::access& a = p.accesses[mine.first_access + i];
                const ir::access& b = p.accesses[other.first_access + i];
                same = a.mode == b.mode && ir::type_of(p, a) == ir::type_of(p, b);
            }
            if (same) {
                of[m] = d;
                break;
            }
        }
        if (of[m] >= 0) continue;
        of[m] = m;
        distinct.push(m);
    }
    return of;
}

template <class G, class O>
struct combinations {
    using planned = plan::planned<G, O>;
    static constexpr int members = planned::program.members.size();
    static constexpr fixed<int, members> numbers() {
        fixed<int, members> f{};
        const vec<int> list = representatives(planned::program);
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
