// The roles that a rank plays in the graphs of the executors made on it. In a single-rank graph it plays all of them.
#pragma once

#include "../core/display.hpp"
#include "../ir/graph.hpp"
#include "error.hpp"
#include "name_argument.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace dovetail::launch {

class rank_roles {
public:
    // An executor of this graph was made, for this role of it.
    void add_graph(const ir::graph& g, int role) {
        known_ = true;
        for (int r = 0; r < g.roles.size(); ++r) {
            if (!named(g.roles[r].name)) continue;
            add(all_, g.roles[r].name);
            if (g.single_rank || r == role) add(own_, g.roles[r].name);
        }
    }
    bool is(const tag& name, int rank) const {
        if (!known_) throw usage_error{"rank " + std::to_string(rank) + " does not know its role before an executor is made on it"};
        if (!contains(all_, name))
            throw usage_error{"rank " + std::to_string(rank) + " is asked whether it plays `" + display(name) +
                              "`, which is no role of the graphs of its executors" + listed()};
        return contains(own_, name);
    }
    // Of a name given as a constant: rank.is(dv::name<server>).
    template <class Name>
    bool is_named(int rank) const {
        if constexpr (dovetail::detail::is_name<Name>)
            return is(tag_of<dovetail::detail::name_of_constant<Name>>, rank);
        else
            return false;
    }

private:
    static bool contains(const std::vector<const tag*>& names, const tag& name) {
        return std::any_of(names.begin(), names.end(), [&](const tag* known) { return same(known, &name); });
    }
    static void add(std::vector<const tag*>& names, const tag* name) {
        if (!contains(names, *name)) names.push_back(name);
    }
    std::string listed() const {
        std::string text;
        for (const tag* name : all_) text += (text.empty() ? ": " : ", ") + display(*name);
        return text;
    }

    std::vector<const tag*> all_;  // roles of the graphs
    std::vector<const tag*> own_;  // by this rank
    bool known_ = false;
};

}  // namespace dovetail::launch
