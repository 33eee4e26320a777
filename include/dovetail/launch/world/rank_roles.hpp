// The roles of a rank in the graphs of the executors made on it. In a single-rank graph it has all of them.
#pragma once

#include "../../ir/graph.hpp"
#include "../calls/name_argument.hpp"
#include "../linkage.hpp"

#include <string>
#include <vector>

namespace dovetail {

class geometry;

}  // namespace dovetail

namespace dovetail::launch {

class rank_roles {
public:
    // Throws a usage_error if a role of this graph is on other ranks than in a graph of an earlier executor. It depends on the graphs and
    // the widths alone, so that all ranks throw.
    void check_graph(const ir::graph& g, const tag* name, const geometry& where, int rank) const;
    // Notes that an executor of this graph was made.
    void add_graph(const ir::graph& g, const tag* name, const geometry& where);
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
    // A role and its ranks, in all graphs that have it.
    struct placed_role {
        const tag* name = nullptr;
        const tag* graph = nullptr;  // the first that has it
        int first = 0, ranks = 0;

        std::string text() const;
    };
    static std::vector<placed_role> placed(const ir::graph& g, const tag* name, const geometry& where);
    const placed_role* find(const tag& name) const;
    std::string listed() const;

    std::vector<placed_role> all_;
    bool known_ = false;
};

}  // namespace dovetail::launch

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "rank_roles.ipp"
#endif
