// The roles of a rank: collected from its executors, queried by name.
#pragma once

#include "../../core/display.hpp"
#include "../engine/engine.hpp"
#include "../error.hpp"
#include "rank_roles.hpp"

#include <algorithm>

namespace dovetail::launch {

DOVETAIL_INLINE std::string rank_roles::conflict(const ir::graph& g, const tag* name, const geometry& where, int rank,
                                                 const store& given) const {
    for (const placed_role& r : placed(g, name, where))
        for (const placed_role& before : all_)
            if (before.elsewhere(r) && before.is_used_with(given))
                return "role `" + display(*r.name) + "` is on " + before.text() + " and on " + r.text() +
                       ", of which executors are made on rank " + std::to_string(rank) + ": " +
                       (before.ranks == r.ranks ? "list the roles in one order, by dv::roles<...> in both graphs and without "
                                                  "dv::roles_by_links"
                                                : "give the role equally many ranks in both graphs");
    return {};
}

DOVETAIL_INLINE void rank_roles::add(const std::shared_ptr<engine>& made) {
    known_ = true;
    for (placed_role& r : placed(made->graph, made->name, made->where)) {
        r.of = made;
        r.states = made->addresses.store();
        std::erase_if(all_, [&](const placed_role& known) {
            if (!same(known.name, r.name) || known.is_used_with(nullptr)) return false;
            return known.states.expired() || (!known.elsewhere(r) && known.states.lock() == r.states.lock());
        });
        all_.push_back(std::move(r));
    }
}

DOVETAIL_INLINE bool rank_roles::is(const tag& name, int rank) const {
    if (!known_) throw usage_error{"rank " + std::to_string(rank) + " does not know its role before an executor is made on it"};
    const auto r = std::find_if(all_.rbegin(), all_.rend(), [&](const placed_role& known) { return same(known.name, &name); });
    if (r == all_.rend())
        throw usage_error{"rank " + std::to_string(rank) + " is asked whether it plays `" + display(name) +
                          "`, which is no role of the graphs of its executors" + listed()};
    return rank >= r->first && rank < r->first + r->ranks;
}

DOVETAIL_INLINE std::string rank_roles::placed_role::text() const {
    const std::string from = std::to_string(first);
    return (ranks == 1 ? "rank " + from : "ranks " + from + " to " + std::to_string(first + ranks - 1)) + " in " +
           display_or(graph, "the graph");
}

DOVETAIL_INLINE bool rank_roles::placed_role::is_used_with(const store& given) const {
    const auto executed = of.lock();
    return (executed && executed->is_open()) || (given && states.lock() == given);
}
DOVETAIL_INLINE bool rank_roles::placed_role::elsewhere(const placed_role& other) const {
    return same(name, other.name) && (first != other.first || ranks != other.ranks);
}

DOVETAIL_INLINE std::vector<rank_roles::placed_role> rank_roles::placed(const ir::graph& g, const tag* name, const geometry& where) {
    std::vector<placed_role> all;
    for (int r = 0; r < g.roles.size(); ++r) {
        if (!named(g.roles[r].name)) continue;
        if (g.single_rank)
            all.push_back({g.roles[r].name, name, 0, where.ranks(), {}, {}});
        else
            all.push_back({g.roles[r].name, name, where.rank_at(r, 0), where.mesh_size(r), {}, {}});
    }
    return all;
}

DOVETAIL_INLINE std::string rank_roles::listed() const {
    std::string text;
    for (auto r = all_.begin(); r != all_.end(); ++r)
        if (std::none_of(all_.begin(), r, [&](const placed_role& before) { return same(before.name, r->name); }))
            text += (text.empty() ? ": " : ", ") + display(*r->name);
    return text;
}

}  // namespace dovetail::launch
