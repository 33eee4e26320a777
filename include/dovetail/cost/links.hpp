// The links between the ranks of a graph, on a machine where pairs of GPUs differ: which ranks a role has follows from the order of roles,
// and on which GPU a rank is from its number.
#pragma once

#include "../ir/graph.hpp"
#include "time.hpp"

namespace dovetail::cost_model {

// What the order of roles, and the way of copies between them, depend on.
struct link_options {
    gpu_pairs pairs = {};
    gpu_pair otherwise = {};  // between GPUs of two hosts
    int assumed_width = 1;
    bool relays = true;
    bool roles_by_links = false;

    constexpr link_options() = default;
    constexpr link_options(const plan_options& s)
        : pairs{s.machine.links},
          otherwise{s.machine.peer_bandwidth, s.machine.peer_latency},
          assumed_width{s.assumed_width},
          relays{s.relays},
          roles_by_links{s.roles_by_links} {}
};

constexpr std::int64_t copy_time(const gpu_pair& over, std::int64_t bytes) { return over.latency + time_at(bytes, over.bandwidth); }

// A copy over one, and a copy over the other: what both take at most.
constexpr gpu_pair slower_of(const gpu_pair& a, const gpu_pair& b) {
    return {a.bandwidth < b.bandwidth ? a.bandwidth : b.bandwidth, a.latency > b.latency ? a.latency : b.latency};
}

// Axes of open width are taken to have the assumed one. `order`: the roles in the order of their ranks; empty: in the order of their ids.
template <class Graph>
class rank_links {
public:
    constexpr rank_links(const Graph& g, const link_options& s, span<const int> order)
        : g_{g}, s_{s}, first_(g.roles.count), ranks_(g.roles.count) {
        int next = 0;
        for (int k = 0; k < g.roles.count; ++k) {
            const int role = order.empty() || g.single_rank ? k : order[k];
            first_[role] = next;
            ranks_[role] = ranks_of(role);
            next += ranks_[role];
        }
    }

    constexpr int ranks(int role) const { return ranks_[role]; }
    // Exchanges the ranks of two roles that have equally many.
    constexpr void exchange(int a, int b) {
        const int first = first_[a];
        first_[a] = first_[b];
        first_[b] = first;
    }

    // Between the ranks of two roles at equal coordinates: the slowest.
    constexpr gpu_pair between(int from, int to) const {
        const int gpus = s_.pairs.gpus, distance = first_[to] - first_[from];
        if (distance >= gpus || distance <= -gpus) return s_.otherwise;  // all on two hosts
        const int pairs = ranks_[from] < ranks_[to] ? ranks_[from] : ranks_[to];
        gpu_pair slowest = between_ranks(first_[from], first_[to]);
        for (int i = 1; i < pairs; ++i) slowest = slower_of(slowest, between_ranks(first_[from] + i, first_[to] + i));
        return slowest;
    }

    // Between the ranks of a role that differ in their coordinates along the axes alone: the slowest. GPUs of one host are compared, not
    // ranks: on each host they have the same links.
    constexpr gpu_pair along(int role, unsigned axes) const {
        const vec<int> groups = groups_along(role, axes);
        bool found = is_on_several_hosts(role, groups.view());
        gpu_pair slowest = s_.otherwise;
        for (int a = 0; a < s_.pairs.gpus; ++a)
            for (int b = a + 1; b < s_.pairs.gpus; ++b) {
                if (!share_a_group(role, groups.view(), a, b)) continue;
                const gpu_pair link = slower_of(s_.pairs.between(a, b), s_.pairs.between(b, a));
                slowest = found ? slower_of(slowest, link) : link;
                found = true;
            }
        return slowest;
    }

    // The last role before `to` on the shortest way of these bytes: copies from role to role, one after the other (E. W. Dijkstra, 1959).
    // It is `from` where one copy takes no longer than several.
    constexpr int relay(int from, int to, std::int64_t bytes) const {
        const int roles = ranks_.size();
        vec<std::int64_t> time(roles, INT64_MAX);
        vec<int> before(roles, from);
        vec<bool> settled(roles, false);
        time[from] = 0;
        for (int nearest = from; time[nearest] < time[to]; nearest = nearest_of(time, settled)) {
            settled[nearest] = true;
            for (int role = 0; role < roles; ++role) {
                if (settled[role] || !ir::same_mesh(g_, from, role)) continue;
                const std::int64_t over = plus(time[nearest], copy_time(between(nearest, role), bytes));
                if (over >= time[role]) continue;
                time[role] = over;
                before[role] = nearest;
            }
        }
        return before[to];
    }

private:
    static constexpr int nearest_of(const vec<std::int64_t>& time, const vec<bool>& settled) {
        int nearest = -1;
        for (int role = 0; role < time.size(); ++role)
            if (!settled[role] && (nearest < 0 || time[role] < time[nearest])) nearest = role;
        return nearest;
    }
    constexpr span<const ir::mesh_axis> axes_of(int role) const {
        return {g_.mesh.first + g_.roles.first[role].first_axis, g_.roles.first[role].axes};
    }
    constexpr int width_of(const ir::mesh_axis& a) const { return a.width > 0 ? a.width : s_.assumed_width; }
    // At most most_ranks: an assumed width may be any.
    constexpr int ranks_of(int role) const {
        std::int64_t ranks = 1;
        for (const ir::mesh_axis& a : axes_of(role)) {
            ranks *= width_of(a);
            if (ranks > ir::most_ranks) ranks = ir::most_ranks;
        }
        return static_cast<int>(ranks);
    }
    // By rank: the first one of those that differ from it along the axes alone.
    constexpr vec<int> groups_along(int role, unsigned axes) const {
        vec<int> first(ranks_[role], unset{});
        for (int rank = 0; rank < first.size(); ++rank) first[rank] = first_of_group(role, rank, axes);
        return first;
    }
    constexpr int first_of_group(int role, int rank, unsigned axes) const {
        const span<const ir::mesh_axis> of_role = axes_of(role);
        std::int64_t first = 0, scale = 1;  // while there is a rank left, the scale is no larger than the first one
        for (int i = of_role.size() - 1; i >= 0 && rank > 0; --i) {
            const int width = width_of(of_role[i]);
            if ((axes >> of_role[i].axis & 1u) == 0) first += scale * (rank % width);
            scale *= width;
            rank /= width;
        }
        return static_cast<int>(first);
    }
    // Whether a group has ranks on several hosts.
    constexpr bool is_on_several_hosts(int role, span<const int> groups) const {
        const int gpus = s_.pairs.gpus, first = first_[role];
        if (gpus <= 0) return false;
        for (int rank = 0; rank < groups.size(); ++rank)
            if ((first + rank) / gpus != (first + groups[rank]) / gpus) return true;
        return false;
    }
    // Whether ranks on two GPUs of a host, the first one lower, are in one group.
    constexpr bool share_a_group(int role, span<const int> groups, int a, int b) const {
        const int gpus = s_.pairs.gpus, first = first_[role];
        for (int on_gpu_0 = first / gpus * gpus - first; on_gpu_0 + b < groups.size(); on_gpu_0 += gpus)
            if (on_gpu_0 + a >= 0 && groups[on_gpu_0 + a] == groups[on_gpu_0 + b]) return true;
        return false;
    }
    constexpr gpu_pair between_ranks(int from, int to) const {
        const int gpus = s_.pairs.gpus;
        if (gpus <= 0 || from / gpus != to / gpus || from == to) return s_.otherwise;
        return s_.pairs.between(from % gpus, to % gpus);
    }

    const Graph& g_;
    const link_options s_;
    vec<int> first_, ranks_;  // by role
};

}  // namespace dovetail::cost_model
