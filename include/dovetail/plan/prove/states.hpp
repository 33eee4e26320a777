// Which version of a state each access must meet: the number of updates written above it. Takes graph and program, gives
// one number per access, from the written order of the nodes alone.
#pragma once

#include "../plan.hpp"

namespace dovetail::plan::detail {

struct state_versions {
    vec<int> expected;  // by touch of a leaf of a state: updates of the leaf above it in a run; -1 where no statement makes it
    vec<int> first;     // by access: its first touch; empty where every access is one touch
    vec<int> updates;   // by leaf of a state: updates in one run

    // Of the i-th leaf of an access.
    constexpr int of(int access, int i) const { return expected[first.empty() ? access : first[access] + i]; }
};

// After check_conformance: each statement has its participation. A state is touched by statements of its role alone, which have only one.
constexpr state_versions versions_of(const ir::graph& g, const ir::program& p) {
    state_versions made;
    int touches = p.accesses.count;
    if (ir::has_parts(p)) {
        made.first = vec<int>(p.accesses.count, unset{});
        touches = 0;
        for (int a = 0; a < p.accesses.count; ++a) {
            made.first[a] = touches;
            touches += p.accesses.first[a].leaves;
        }
    }
    made.expected = vec<int>(touches, -1);
    made.updates = vec<int>(p.leaves.count);
    int *expected = made.expected.begin(), *version = made.updates.begin();
    vec<int> participation_of_node(g.nodes.count, -1);
    int* participation_of = participation_of_node.begin();
    for (int i = p.participations.count - 1; i >= 0; --i)
        if (const int node = p.members.first[p.participations.first[i].member].node; node >= 0) participation_of[node] = i;
    for (int n = 0; n < g.nodes.count; ++n) {
        if (participation_of[n] < 0) continue;
        const ir::participation& x = p.participations.first[participation_of[n]];
        const span<const ir::access> accesses = p.accesses.subspan(x.first_access, x.touches());
        for (int a = 0; a < accesses.count; ++a)
            for (int i = 0, touch = made.first.empty() ? x.first_access + a : made.first[x.first_access + a]; i < accesses[a].leaves; ++i)
                expected[touch + i] = version[accesses[a].leaf + i];
        for (const ir::access& a : accesses)
            for (int i = 0; i < a.leaves && writes(a.mode); ++i) ++version[a.leaf + i];
    }
    return made;
}

}  // namespace dovetail::plan::detail
