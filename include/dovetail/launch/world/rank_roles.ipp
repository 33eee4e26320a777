// The roles of a rank: collected from its executors, queried by name.
#pragma once

#include "../../core/display.hpp"
#include "../error.hpp"
#include "../executable/geometry.hpp"
#include "rank_roles.hpp"

#include <algorithm>

namespace dovetail::launch {

DOVETAIL_INLINE void rank_roles::check_graph(const ir::graph& g, const tag* name, const geometry& where, int rank) const {
    for (const placed_role& r : placed(g, name, where)) {
        const placed_role* const before = find(*r.name);
        if (before == nullptr || (before->first == r.first && before->ranks == r.ranks)) continue;
        throw usage_error{"role `" + display(*r.name) + "` is on " + before->text() + " and on " + r.text() +
                          ", of which executors are made on rank " + std::to_string(rank) + ": " +
                          (before->ranks == r.ranks ? "list the roles in one order, by dv::roles<...> in both graphs"
                                                    : "give the role equally many ranks in both graphs")};
    }
}

DOVETAIL_INLINE void rank_roles::add_graph(const ir::graph& g, const tag* name, const geometry& where) {
    known_ = true;
    for (const placed_role& r : placed(g, name, where))
        if (find(*r.name) == nullptr) all_.push_back(r);
}

DOVETAIL_INLINE bool rank_roles::is(const tag& name, int rank) const {
    if (!known_) throw usage_error{"rank " + std::to_string(rank) + " does not know its role before an executor is made on it"};
    const placed_role* const r = find(name);
    if (r == nullptr)
        throw usage_error{"rank " + std::to_string(rank) + " is asked whether it plays `" + display(name) +
                          "`, which is no role of the graphs of its executors" + listed()};
    return rank >= r->first && rank < r->first + r->ranks;
}

DOVETAIL_INLINE std::string rank_roles::placed_role::text() const {
    const std::string from = std::to_string(first);
    return (ranks == 1 ? "rank " + from : "ranks " + from + " to " + std::to_string(first + ranks - 1)) + " in " +
           display_or(graph, "the graph");
}

DOVETAIL_INLINE std::vector<rank_roles::placed_role> rank_roles::placed(const ir::graph& g, const tag* name, const geometry& where) {
    std::vector<placed_role> all;
    for (int r = 0; r < g.roles.size(); ++r) {
        if (!named(g.roles[r].name)) continue;
        if (g.single_rank)
            all.push_back({g.roles[r].name, name, 0, where.ranks()});
        else
            all.push_back({g.roles[r].name, name, where.rank_at(r, 0), where.mesh_size(r)});
    }
    return all;
}

DOVETAIL_INLINE const rank_roles::placed_role* rank_roles::find(const tag& name) const {
    const auto at = std::find_if(all_.begin(), all_.end(), [&](const placed_role& known) { return same(known.name, &name); });
    return at == all_.end() ? nullptr : &*at;
}

DOVETAIL_INLINE std::string rank_roles::listed() const {
    std::string text;
    for (const placed_role& r : all_) text += (text.empty() ? ": " : ", ") + display(*r.name);
    return text;
}

}  // namespace dovetail::launch
