// The roles of a rank in the graphs of the executors made on it. In a single-rank graph it has all of them.
#pragma once

#include "../../ir/graph.hpp"
#include "../calls/name_argument.hpp"
#include "../linkage.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dovetail {

class engine;
class geometry;

namespace detail {
class store_core;
}

}  // namespace dovetail

namespace dovetail::launch {

class rank_roles {
public:
    using store = std::shared_ptr<dovetail::detail::store_core>;

    // Whether a role of this graph is on other ranks than in that of an executor that exists, or had this store (null: its own), as the
    // text of a usage_error; empty if not. The ranks tell each other (compare_plans), since not all may have that store.
    std::string conflict(const ir::graph& g, const tag* name, const geometry& where, int rank, const store& given) const;
    // Notes that an executor was made.
    void add(const std::shared_ptr<engine>& made);
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
    // A role and its ranks, in the graph of one executor.
    struct placed_role {
        const tag* name = nullptr;
        const tag* graph = nullptr;
        int first = 0, ranks = 0;
        std::weak_ptr<engine> of = {};
        std::weak_ptr<dovetail::detail::store_core> states = {};

        std::string text() const;
        bool is_used_with(const store& given) const;
        bool elsewhere(const placed_role& other) const;
    };
    static std::vector<placed_role> placed(const ir::graph& g, const tag* name, const geometry& where);
    std::string listed() const;

    std::vector<placed_role> all_;  // the latest last; of each role at least that
    bool known_ = false;
};

}  // namespace dovetail::launch

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "rank_roles.ipp"
#endif
