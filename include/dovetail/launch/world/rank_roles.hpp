// The roles of a rank in the graphs of the executors made on it. In a single-rank graph it has all of them.
#pragma once

#include "../../ir/graph.hpp"
#include "../calls/name_argument.hpp"
#include "../linkage.hpp"

#include <string>
#include <vector>

namespace dovetail::launch {

class rank_roles {
public:
    // Notes that an executor of this graph was made, with this role.
    void add_graph(const ir::graph& g, int role);
    // Throws if no executor was made, or none of a graph that has this role.
    bool is(const tag& name, int rank) const;
    // The same for a name given as a constant: rank.is(dv::name<server>).
    template <class Name>
    bool is_named(int rank) const {
        if constexpr (dovetail::detail::is_name<Name>)
            return is(tag_of<dovetail::detail::name_of_constant<Name>>, rank);
        else
            return false;
    }

private:
    static bool contains(const std::vector<const tag*>& names, const tag& name);
    static void add(std::vector<const tag*>& names, const tag* name);
    std::string listed() const;

    std::vector<const tag*> all_;  // roles of the graphs
    std::vector<const tag*> own_;  // those of this rank
    bool known_ = false;
};

}  // namespace dovetail::launch

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "rank_roles.ipp"
#endif
