// The roles and positions of ranks. Ranks are numbered by role, in order of appearance or as the plan says, within a role by position, the
// last axis fastest. Takes the graph and the size of the world, computes the widths of open axes, and gives the role, position and partners
// of each rank.
#pragma once

#include "../../core/display.hpp"
#include "../../ir/program.hpp"
#include "../../plan/plan.hpp"
#include "../axis_width.hpp"
#include "../error.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace dovetail {

inline std::string display_or(const tag* name, const char* otherwise) { return !named(name) ? otherwise : "`" + display(*name) + "`"; }

// The place of a rank in a list of ranks.
inline int index_among(const std::vector<int>& ranks, int rank) {
    return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

class geometry {
public:
    // `planned` says in which order the roles have ranks; empty: in that of their ids.
    geometry(const ir::graph& g, int ranks, const std::vector<axis_width>& given, span<const ir::role_plan> planned = {})
        : graph_{g}, ranks_{ranks} {
        roles_ = g.single_rank ? 1 : g.roles.size();
        resolve(given);
        for (int r = roles_; r < g.roles.size(); ++r)
            if (mesh_size_of(r) != mesh_size_of(0))
                throw world_error{"a single-rank graph needs equal meshes on all its roles; " + described()};
        if (const std::int64_t needed = ranks_needed(); needed != ranks)
            throw world_error{"the world has " + std::to_string(ranks) + " ranks and the graph needs " + std::to_string(needed) + ": " +
                              described()};
        for (int r = 0; r < roles_; ++r) mesh_sizes_.push_back(static_cast<int>(mesh_size_of(r)));
        number_ranks(planned);
        for (const ir::node& n : g.nodes)
            if (n.role >= 0 && n.root >= width_along(n.role, n.axes))
                throw world_error{"operation `" + display(*n.op->name) + "` has its root at index " + std::to_string(n.root) + " of " +
                                  std::to_string(width_along(n.role, n.axes)) + ": " + described()};
        for (const ir::node& n : g.nodes)
            if (collective::of(n.kind).moves == collective::flow::paired) check_positions(n);
    }

    int ranks() const { return ranks_; }
    int mesh_size(int role) const { return mesh_sizes_[role]; }
    int role_of(int rank) const {
        int r = 0;
        while (rank < first_[r] || rank >= first_[r] + mesh_sizes_[r]) ++r;
        return r;
    }
    int position_of(int rank) const { return rank - first_[role_of(rank)]; }
    int rank_at(int role, int position) const { return first_[role] + position; }
    int width(int role, int axis) const {
        const int w = ir::width_of(graph_, role, axis);
        return w == 0 ? open_[axis] : w;
    }

    // Index of the rank among the positions along the axes of `mask`, the last axis fastest.
    int coordinate(int rank, unsigned mask) const { return coordinate(role_of(rank), position_of(rank), mask); }

    // The ranks that take part with `rank` in one member of a task, in member order: for each of its participations, by group index, the
    // positions along the communicator's axes, or the one with equal coordinates. The order is the same on all of them.
    std::vector<int> partners(const ir::program& p, const ir::task& v, int member, int rank) const {
        const ir::member& m = p.members[member];
        const unsigned mask = m.communicator < 0 ? 0u : p.communicators[m.communicator].axes;
        std::vector<int> roles;
        for (const ir::participation& participation : p.participations.subspan(v.first_participation, v.participations))
            if (participation.member == member) {
                if (participation.group_index >= static_cast<int>(roles.size()))
                    roles.resize(static_cast<std::size_t>(participation.group_index) + 1, 0);
                roles[participation.group_index] = participation.role;
            }
        const int mine = role_of(rank);
        const int outside = coordinate(rank, ~mask);
        std::vector<int> found;
        for (const int role : roles) {
            if (mask == 0) {
                if (mesh_sizes_[role] != mesh_sizes_[mine]) throw world_error{"a channel joins roles of unequal meshes; " + described()};
                found.push_back(rank_at(role, position_of(rank)));
                continue;
            }
            for (const int other : ranks_at(role, mask, outside)) found.push_back(other);
        }
        return found;
    }
    // The rank and those of its role whose positions differ from its own along the axes of `mask` alone.
    std::set<int> ranks_along(int rank, unsigned mask) const { return ranks_at(role_of(rank), mask, coordinate(rank, ~mask)); }

    // Every position has a buffer for the result of a rooted collective along axes, but only the root's is written.
    bool is_off_root(int symbol, int rank) const {
        const int at = graph_.symbols[symbol].node;
        if (at < 0) return false;
        const ir::node& n = graph_.nodes[at];
        return n.role >= 0 && collective::ends_at_root(n.kind) && coordinate(rank, n.axes) != n.root;
    }
    // Whether any ranks communicate in a run. All ranks of the world then compare their plans, including those that do not communicate.
    bool communicates(const ir::program& p) const {
        for (const ir::task& v : p.tasks)
            for (const ir::participation& participation : p.participations.subspan(v.first_participation, v.participations)) {
                const ir::member& m = p.members[participation.member];
                if (is_communication(m.kind) && !m.local && partners(p, v, participation.member, rank_at(participation.role, 0)).size() > 1)
                    return true;
            }
        return false;
    }

    // "rank 3 (role `b`)"
    std::string describe(int rank) const {
        const tag* role = graph_.single_rank || graph_.roles.empty() ? &nameless : graph_.roles[role_of(rank)].name;
        return "rank " + std::to_string(rank) + (!named(role) ? "" : " (role `" + display(*role) + "`)");
    }

private:
    // Gives each role its first rank.
    void number_ranks(span<const ir::role_plan> planned) {
        first_.resize(static_cast<std::size_t>(roles_));
        const vec<int> order = dovetail::plan::by_rank(planned);
        int next = 0;
        for (int k = 0; k < roles_; ++k) {
            const int role = order.empty() ? k : order[k];
            first_[role] = next;
            next += mesh_sizes_[role];
        }
    }
    // Checks positions along open axes; those along axes of fixed width were checked at compile time.
    void check_positions(const ir::node& n) const {
        const std::int64_t width = width_along(n.role, n.axes);
        for (int i = 0; i < n.op->pair_count; ++i)
            if (const int last = std::max(n.op->pairs[i].source, n.op->pairs[i].target); last >= width)
                throw world_error{"operation `" + display(*n.op->name) + "` names position " + std::to_string(last) + " of " +
                                  std::to_string(width) + ": " + described()};
    }
    std::int64_t width_along(int role, unsigned mask) const {
        constexpr std::int64_t most = std::int64_t{1} << 32;  // more than a world has; larger products are cut to it
        std::int64_t n = 1;
        for (const ir::mesh_axis& m : graph_.mesh.subspan(graph_.roles[role].first_axis, graph_.roles[role].axes))
            if ((mask >> m.axis) & 1u) n = std::min(n * width(role, m.axis), most);
        return n;
    }
    std::int64_t mesh_size_of(int role) const { return width_along(role, ~0u); }
    // The ranks of a role at coordinate `outside` along all axes but those of `mask`.
    std::set<int> ranks_at(int role, unsigned mask, int outside) const {
        std::set<int> found;
        for (int position = 0; position < mesh_sizes_[role]; ++position)
            if (coordinate(role, position, ~mask) == outside) found.insert(rank_at(role, position));
        return found;
    }
    int coordinate(int role, int position, unsigned mask) const {
        const auto axes = graph_.mesh.subspan(graph_.roles[role].first_axis, graph_.roles[role].axes);
        int at = 0, scale = 1;
        for (int i = axes.size() - 1; i >= 0; --i) {
            const int w = width(role, axes[i].axis);
            if ((mask >> axes[i].axis) & 1u) {
                at += scale * (position % w);
                scale *= w;
            }
            position /= w;
        }
        return at;
    }
    // Gives every open axis a width: the one in the executor's arguments, or, of one axis at most, the one that the world leaves.
    void resolve(const std::vector<axis_width>& given) {
        open_.assign(static_cast<std::size_t>(graph_.axes.size()) + 1, 1);
        std::vector<bool> is_open = open_axes();
        for (const axis_width& w : given) take(w, is_open);
        if (const int unknown = only_open_axis(is_open); unknown >= 0) open_[unknown] = width_left_by_world(unknown);
    }
    std::vector<bool> open_axes() const {
        std::vector<bool> is_open(open_.size(), false);
        for (int r = 0; r < roles_; ++r)
            for (const ir::mesh_axis& m : graph_.mesh.subspan(graph_.roles[r].first_axis, graph_.roles[r].axes))
                if (m.width == 0) is_open[m.axis] = true;
        return is_open;
    }
    // A width that is given for an open axis, or once more for one whose width is known.
    void take(const axis_width& w, std::vector<bool>& is_open) {
        int axis = 0;
        while (axis < graph_.axes.size() && !same(graph_.axes[axis].name, w.axis)) ++axis;
        if (axis == graph_.axes.size()) throw world_error{"width given for " + display_or(w.axis, "?") + ", which is no axis of the graph"};
        const std::string given = "width " + std::to_string(w.width) + " given for axis " + display_or(w.axis, "?");
        if (w.width < 1) throw world_error{given + ": it must be at least 1"};
        if (w.width > ranks_) throw world_error{given + ", and the world has " + std::to_string(ranks_) + " ranks"};
        if (is_open[axis]) {
            open_[axis] = w.width;
            is_open[axis] = false;
        } else if (const int known = known_width(axis); known != w.width) {
            throw world_error{given + ", whose width is " + std::to_string(known)};
        }
    }
    // Stands in the type, or was given before.
    int known_width(int axis) const {
        int known = open_[axis];
        for (const ir::mesh_axis& m : graph_.mesh)
            if (m.axis == axis && m.width > 0) known = m.width;
        return known;
    }
    // -1: none.
    int only_open_axis(const std::vector<bool>& is_open) const {
        int unknown = -1;
        for (int a = 0; a < graph_.axes.size(); ++a) {
            if (!is_open[a]) continue;
            if (unknown >= 0)
                throw world_error{"axes " + display_or(graph_.axes[unknown].name, "?") + " and " + display_or(graph_.axes[a].name, "?") +
                                  " are both open: give all but one a width, dv::width<axis>(positions), as an argument of the executor"};
            unknown = a;
        }
        return unknown;
    }
    // The size of the world is linear in the one width that is not known: fixed + per_index * width.
    int width_left_by_world(int axis) {
        const std::int64_t with_one = ranks_with(axis, 1), per_index = ranks_with(axis, 2) - with_one, fixed = with_one - per_index;
        if (per_index <= 0 || ranks_ <= fixed || (ranks_ - fixed) % per_index != 0)
            throw world_error{"the world has " + std::to_string(ranks_) + " ranks, which fits no width of axis " +
                              display_or(graph_.axes[axis].name, "?") + ": the graph needs " +
                              (fixed > 0 ? std::to_string(fixed) + " + " : "") + std::to_string(per_index) + " x width"};
        return static_cast<int>((ranks_ - fixed) / per_index);
    }
    std::int64_t ranks_with(int axis, int width) {
        open_[axis] = width;
        return ranks_needed();
    }
    std::int64_t ranks_needed() const {
        std::int64_t ranks = 0;
        for (int r = 0; r < roles_; ++r) ranks += mesh_size_of(r);
        return ranks;
    }
    std::string described() const {
        std::string text;
        for (int r = 0; r < graph_.roles.size(); ++r)
            text += (r > 0 ? ", " : "") +
                    (!named(graph_.roles[r].name) ? std::string{"one role"} : "role " + display_or(graph_.roles[r].name, "")) + " x " +
                    std::to_string(mesh_size_of(r));
        return text;
    }

    ir::graph graph_;
    int ranks_ = 1;
    int roles_ = 1;
    std::vector<int> open_;   // width of each open axis
    std::vector<int> first_;  // rank of each role's position 0
    std::vector<int> mesh_sizes_;
};

}  // namespace dovetail
