// The roles that a rank plays in the graphs of the executors made on it. In a folded graph it plays all of them.
#pragma once

#include "../core/tag.hpp"
#include "../ir/graph.hpp"
#include "error.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace dovetail::launch {

class played_roles {
public:
    // An executor of this graph was made, for this role of it.
    void learn(const ir::graph& g, int role) {
        known_ = true;
        for (int r = 0; r < g.roles.size(); ++r)
            if ((g.folded || r == role) && named(g.roles[r].name) && !plays(*g.roles[r].name)) names_.push_back(g.roles[r].name);
    }
    bool is(const tag& name, int rank) const {
        if (!known_) throw usage_error{"rank " + std::to_string(rank) + " does not know its role before an executor is made on it"};
        return plays(name);
    }

private:
    bool plays(const tag& name) const {
        return std::any_of(names_.begin(), names_.end(), [&](const tag* played) { return same(played, &name); });
    }
    std::vector<const tag*> names_;
    bool known_ = false;
};

}  // namespace dovetail::launch
