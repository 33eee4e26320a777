// The regions that ask for one rewrite, so that it goes over all of them in one walk. One inside of another one of its kind is part of
// that.
#pragma once

#include "../../ir/graph.hpp"

namespace dovetail::pass {

// What a rewrite works on: the regions whose statements ask for it, or the graph as one region.
enum class scope : unsigned char { regions, graph };

class regions_of_kind {
public:
    constexpr regions_of_kind(const ir::graph& g, rewrite kind, scope of) : g_{g}, kind_{kind}, whole_graph_{of == scope::graph} {}

    // The rows of a table by region.
    constexpr int size() const { return whole_graph_ ? 1 : g_.regions.size(); }
    // The outermost region of the kind around a node; -1: there is none.
    constexpr int around(const ir::node& n) const {
        int outermost = whole_graph_ ? 0 : -1;
        for (int r = whole_graph_ ? -1 : n.region; r >= 0; r = g_.regions[r].parent)
            if (g_.regions[r].kind == kind_) outermost = r;
        return outermost;
    }
    // The first one of the kind that has none of these nodes; -1: each has one.
    template <class IsOne>
    constexpr int first_without(IsOne is_one) const {
        vec<char> has(g_.regions.size());
        for (int i = 0; i < g_.nodes.size(); ++i)
            for (int r = is_one(i) ? g_.nodes[i].region : -1; r >= 0; r = g_.regions[r].parent) has[r] = 1;
        for (int r = 0; r < has.size(); ++r)
            if (g_.regions[r].kind == kind_ && has[r] == 0) return r;
        return -1;
    }

private:
    const ir::graph& g_;
    const rewrite kind_;
    const bool whole_graph_;
};

}  // namespace dovetail::pass
