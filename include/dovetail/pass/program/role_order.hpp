// The order of a graph's roles on the ranks of the world: that of the graph, or such that roles that send each other much are on GPUs with
// fast links between them. Takes the checked graph, gives its roles in the order of their ranks.
#pragma once

#include "../../cost/links.hpp"
#include "../../ir/parts.hpp"

namespace dovetail::pass {

namespace detail {

// What one role sends another in a run.
struct role_traffic {
    int from = 0, to = 0;
    std::int64_t bytes = 0;
};

class role_traffic_list {
public:
    constexpr void add(int from, int to, std::int64_t bytes) {
        if (from == to) return;
        for (role_traffic& known : list_)
            if (known.from == from && known.to == to) {
                known.bytes += bytes;
                return;
            }
        list_.push({from, to, bytes});
    }
    constexpr span<const role_traffic> all() const { return list_.view(); }

private:
    vec<role_traffic> list_;
};

// The role that sends a value to one that reads it: of the result of a collective over roles the first that has it. -1: the reader has it.
template <class Graph>
constexpr int source_of(const Graph& g, int symbol, int reader) {
    const ir::symbol& y = g.symbols.first[symbol];
    if (y.role >= 0 || y.node < 0) return y.role;
    const ir::node& n = g.nodes.first[y.node];
    return ir::receives(g, n, reader) ? -1 : g.operands.first[n.first_target];
}

// The values that cross from role to role, each counted once for each role that reads it, and the arguments of collectives over roles,
// which each of their roles sends to each other one.
template <class Graph>
constexpr role_traffic_list traffic_between_roles(const Graph& g) {
    role_traffic_list traffic;
    const ir::locations where{g};
    vec<bool> counted(g.roles.count * g.symbols.count, false);
    const auto add = [&](int symbol, int from, int to) {
        if (from < 0 || counted[to * g.symbols.count + symbol]) return;
        counted[to * g.symbols.count + symbol] = true;
        traffic.add(from, to, g.symbols.first[symbol].type.bytes());
    };
    for (const ir::node& n : g.nodes) {
        if (n.op->view != view_kind::none) continue;
        for (const int a : g.operands.view().subspan(n.first_argument, n.arguments)) {
            const int whole = where.whole_of(a);
            if (n.role >= 0)
                add(a, source_of(g, whole, n.role), n.role);
            else
                for (const int target : g.operands.view().subspan(n.first_target, n.targets)) add(a, source_of(g, whole, target), target);
        }
    }
    return traffic;
}

// The assignment of roles to ranks is a quadratic assignment problem (Koopmans and Beckmann, 1957). Local search: ranks of two roles are
// exchanged as long as the copies between roles then take less time in sum.
template <class Graph>
class role_assignment {
public:
    constexpr role_assignment(const Graph& g, const cost_model::link_options& s, vec<int> order)
        : traffic_{traffic_between_roles(g)}, order_{static_cast<vec<int>&&>(order)}, links_{g, s, order_.view()} {}

    constexpr vec<int> improved() {
        bool shorter = true;
        for (int round = 0; shorter && round < most_rounds; ++round) {
            shorter = false;
            for (int i = 0; i < order_.size(); ++i)
                for (int j = i + 1; j < order_.size(); ++j) shorter |= exchange_if_shorter(order_[i], order_[j]);
        }
        return order_;
    }

private:
    static constexpr int most_rounds = 8;

    constexpr bool exchange_if_shorter(int& a, int& b) {
        if (links_.ranks(a) != links_.ranks(b)) return false;
        const std::int64_t before = time_of(a, b);
        links_.exchange(a, b);
        if (time_of(a, b) >= before) {
            links_.exchange(a, b);
            return false;
        }
        const int role = a;
        a = b;
        b = role;
        return true;
    }
    // Of the copies from and to these two roles.
    constexpr std::int64_t time_of(int a, int b) const {
        std::int64_t sum = 0;
        for (const role_traffic& t : traffic_.all())
            if (t.from == a || t.from == b || t.to == a || t.to == b)
                sum = cost_model::plus(sum, cost_model::copy_time(links_.between(t.from, t.to), t.bytes));
        return sum;
    }

    const role_traffic_list traffic_;
    vec<int> order_;
    cost_model::rank_links<Graph> links_;
};

}  // namespace detail

// The search is for as many roles as a host has GPUs; more keep the order of the graph.
inline constexpr int most_ordered_roles = 16;

template <class Graph>
constexpr vec<int> role_order(const Graph& g, const cost_model::link_options& s) {
    vec<int> order(g.roles.count, unset{});
    for (int role = 0; role < g.roles.count; ++role) order[role] = role;
    if (!s.roles_by_links || !s.pairs || g.single_rank || g.roles.count > most_ordered_roles) return order;
    return detail::role_assignment<Graph>{g, s, static_cast<vec<int>&&>(order)}.improved();
}

}  // namespace dovetail::pass
