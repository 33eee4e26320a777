// The roles of a rank: collected from its executors, queried by name.
#pragma once

#include "../../core/display.hpp"
#include "../error.hpp"
#include "rank_roles.hpp"

#include <algorithm>

namespace dovetail::launch {

DOVETAIL_INLINE void rank_roles::add_graph(const ir::graph& g, int role) {
    known_ = true;
    for (int r = 0; r < g.roles.size(); ++r) {
        if (!named(g.roles[r].name)) continue;
        add(all_, g.roles[r].name);
        if (g.single_rank || r == role) add(own_, g.roles[r].name);
    }
}

DOVETAIL_INLINE bool rank_roles::is(const tag& name, int rank) const {
    if (!known_) throw usage_error{"rank " + std::to_string(rank) + " does not know its role before an executor is made on it"};
    if (!contains(all_, name))
        throw usage_error{"rank " + std::to_string(rank) + " is asked whether it plays `" + display(name) +
                          "`, which is no role of the graphs of its executors" + listed()};
    return contains(own_, name);
}

DOVETAIL_INLINE bool rank_roles::contains(const std::vector<const tag*>& names, const tag& name) {
    return std::any_of(names.begin(), names.end(), [&](const tag* known) { return same(known, &name); });
}

DOVETAIL_INLINE void rank_roles::add(std::vector<const tag*>& names, const tag* name) {
    if (!contains(names, *name)) names.push_back(name);
}

DOVETAIL_INLINE std::string rank_roles::listed() const {
    std::string text;
    for (const tag* name : all_) text += (text.empty() ? ": " : ", ") + display(*name);
    return text;
}

}  // namespace dovetail::launch
