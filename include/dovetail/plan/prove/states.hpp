// Which version of a state each access must meet: the number of updates written above it. Takes graph and program, gives
// one number per access, from the written order of the nodes alone.
#pragma once

#include "../plan.hpp"

namespace dovetail::plan::detail {

struct state_versions {
    vec<int> expected;  // by access of a state: updates of it above in a run; -1 where no statement makes it
    vec<int> updates;   // by buffer of a state: updates in one run
};

// After check_conformance: each statement has its part. A state is touched by statements of its role alone, which have only one.
constexpr state_versions versions_of(const ir::graph& g, const ir::program& p) {
    state_versions made;
    made.expected = vec<int>(p.accesses.count, -1);
    made.updates = vec<int>(p.buffers.count);
    int *expected = made.expected.begin(), *version = made.updates.begin();
    vec<int> participation_of_node(g.nodes.count, -1);
    int* participation_of = participation_of_node.begin();
    for (int i = p.participations.count - 1; i >= 0; --i)
        if (const int node = p.members.first[p.participations.first[i].member].node; node >= 0) participation_of[node] = i;
    for (int n = 0; n < g.nodes.count; ++n) {
        const ir::participation& x = p.participations.first[participation_of[n]];
        const span<const ir::access> accesses = p.accesses.subspan(x.first_access, x.accesses);
        for (int a = 0; a < accesses.count; ++a) expected[x.first_access + a] = version[accesses[a].buffer];
        for (const ir::access& a : accesses)
            if (writes(a.mode)) ++version[a.buffer];
    }
    return made;
}

}  // namespace dovetail::plan::detail
