// The communication statements of a random graph: along axes, over roles, in groups, to and from the host, into states. Reductions use only
// values for which the result is a finite number.
#pragma once

#include "random_compute.hpp"

#include <climits>

namespace support::detail {

class communicating : protected computing {
public:
    using computing::computing;

protected:
    void update(int role) {
        std::vector<int> states;
        for (int i = 0; i < symbols(); ++i)
            if (at(i).kind == dv::ir::symbol_kind::state && at(i).role == role) states.push_back(i);
        if (states.empty()) return compute(role);
        const int first = r.one_of(states);
        if (k.collectives && r.chance(25) && update_by_communication(role, first, -1)) return;
        update_by_operation(role, first, states);
    }
    bool update_by_communication(int role, int state, int nccl_group_id) {
        if (nccl_group_id < 0 && r.chance(15)) {  // from pinned host memory
            for (int i = 0; i < symbols(); ++i)
                if (at(i).in_host_memory && locked[static_cast<std::size_t>(i)] == 0 && (at(i).role == role || at(i).role < 0) &&
                    at(i).type == at(state).type && (at(i).varies & at(state).replicated) == 0 && at(i).magnitude <= 1) {
                    statement n = communication(dv::op_kind::from_host, 1);
                    n.role = role;
                    n.update = true;
                    n.arguments = {i};
                    n.results = {state};
                    n.types = {at(state).type};
                    place(std::move(n));
                    return true;
                }
        }
        statement n;
        if (!along_axes(n, role) || n.kind == dv::op_kind::reduce || n.kind == dv::op_kind::gather) return false;
        n.update = true;
        n.nccl_group_id = nccl_group_id;
        const int width = width_of(s, role, n.axes);
        const int x = pick(role, [&](int i) {
            return free_in_nccl_group(i, state) && collected(n.kind, at(i).type, width) == at(state).type &&
                   (variation(n, i) & at(state).replicated) == 0 && at(i).magnitude <= 1;
        });
        if (x < 0 || !choose_reduction(n, x, width, true)) return false;
        n.arguments = {x};
        n.results = {state};
        n.types = {at(state).type};
        place(std::move(n));
        return true;
    }

    dv::op_kind collective_kind(bool positions) {
        std::vector<dv::op_kind> kinds;
        for (const dv::collective::row& row : dv::collective::table)
            if (dv::is_collective(row.kind) || (positions && (joins_pairs(row.kind) || row.kind == dv::op_kind::own_rows)))
                kinds.push_back(row.kind);
        return r.one_of(kinds);
    }
    // Along one axis, from each to one other at most.
    static bool joins_pairs(dv::op_kind kind) { return kind == dv::op_kind::shift || kind == dv::op_kind::permute; }
    // Some positions of an axis to others, or to themselves; sometimes all of them.
    std::vector<dv::position_pair> some_pairs(int width) {
        std::vector<int> sources, targets;
        for (int i = 0; i < width; ++i) sources.push_back(i), targets.push_back(i);
        r.shuffle(sources);
        r.shuffle(targets);
        const int count = r.chance(40) ? width : r.between(1, width);
        std::vector<dv::position_pair> pairs;
        for (int i = 0; i < count; ++i) pairs.push_back({sources[static_cast<std::size_t>(i)], targets[static_cast<std::size_t>(i)]});
        return pairs;
    }
    void set_pairs(statement& n, std::vector<dv::position_pair> pairs) {
        n.pairs = pairs;
        const auto kept = std::make_shared<const std::vector<dv::position_pair>>(std::move(pairs));
        s.pool->kept.push_back(kept);
        s.pool->operations.back().pairs = kept->data();
        s.pool->operations.back().pair_count = static_cast<int>(kept->size());
    }
    statement communication(dv::op_kind kind, int arguments) {
        statement n;
        n.kind = kind;
        if (kind == dv::op_kind::shift) {
            n.offset = r.chance(50) ? 1 : r.between(-2, 2);
            if (n.offset == 0) n.offset = -1;
            n.zero_edge = r.chance(50);
        }
        dv::operation* op = operation(dv::name_of(kind), kind, arguments);
        op->offset = n.offset;
        op->zero_edge = n.zero_edge;
        if (kind == dv::op_kind::all_reduce) op->in_place = 0;
        n.op = op;
        return n;
    }
    // A kind of communication along axes of the role, without its argument. Where a width is open, shapes cannot change.
    bool along_axes(statement& n, int role) {
        if (mesh(role).empty()) return false;
        n = communication(collective_kind(true), 1);
        n.role = role;
        if (joins_pairs(n.kind)) n.axes = 1u << r.one_of(mesh(role)).axis;
        else
            while (n.axes == 0) n.axes = some_of(axes_of(role), r.chance(20) ? 100 : 60);
        if ((n.axes & s.open_axes) != 0 && collected(n.kind, vector_of_words(720), 2) != vector_of_words(720)) return false;
        if ((n.axes & s.open_axes) != 0 && n.kind == dv::op_kind::all_to_all) return false;
        if (dv::is_rooted(n.kind)) n.root = r.below(width_of(s, role, n.axes));
        if (n.kind == dv::op_kind::permute) set_pairs(n, some_pairs(width_of(s, role, n.axes)));
        return true;
    }
    static dv::tensor_type vector_of_words(std::int64_t extent) { return dv::tensor_type{dv::element::uint64, 0, {}}.with_extents(extent); }
    // Axes along which the result of a communication of x may differ.
    unsigned variation(const statement& n, int x) const {
        using enum dv::op_kind;
        if (n.kind == all_reduce || n.kind == all_gather || n.kind == broadcast) return at(x).varies & ~n.axes;
        return dv::is_collective(n.kind) || n.kind == own_rows || leaves_zeros(n) ? at(x).varies | n.axes : at(x).varies;
    }

    // On an axis of open width it is not known whether every position is a target.
    bool leaves_zeros(const statement& n) const {
        if (n.kind != dv::op_kind::permute) return n.zero_edge;
        return (n.axes & s.open_axes) != 0 || static_cast<int>(n.pairs.size()) < width_of(s, n.role, n.axes);
    }

    // The largest power of two that an element may reach.
    static int most_magnitude(dv::element e) { return e == dv::element::float16 ? 15 : e == dv::element::float64 ? 1000 : 120; }
    static int logarithm(int n) {
        int log = 0;
        while (1 << log < n) ++log;
        return log;
    }
    // A reduction of x over n members that gives numbers. `steady`: no larger ones than before.
    bool choose_reduction(statement& c, int x, int n, bool steady) {
        if (!dv::is_reducing(c.kind)) return true;
        const symbol& y = at(x);
        const bool floating = dv::is_floating(y.type.type);
        const int most = most_magnitude(y.type.type);
        std::vector<dv::reduction> list{dv::reduction::minimum, dv::reduction::maximum};
        const bool sums = !floating || y.magnitude + logarithm(n) <= most;
        if (sums && !(floating && steady)) list.push_back(dv::reduction::sum), list.push_back(dv::reduction::sum);
        if (floating ? sums : dv::bytes_of(y.type.type) <= 4) list.push_back(dv::reduction::average);
        if (!floating || (!steady && y.nonzero && n <= 12 && y.magnitude * n <= most)) list.push_back(dv::reduction::product);
        c.reduce = r.one_of(list);
        s.pool->operations.back().reduce = c.reduce;
        return true;
    }
    int communicated(const statement& n, int x, int members, int role) {
        const int y = add(dv::ir::symbol_kind::value, collected(n.kind, at(x).type, members), role);
        at(y).magnitude = at(x).magnitude + (n.reduce == dv::reduction::sum       ? logarithm(members)
                                             : n.reduce == dv::reduction::product ? at(x).magnitude * (members - 1)
                                                                                  : 0);
        at(y).nonzero = at(x).nonzero && n.reduce == dv::reduction::none && !leaves_zeros(n);
        return y;
    }
    bool fits(dv::op_kind kind, int x, int members) const {
        const dv::tensor_type t = collected(kind, at(x).type, members);
        return t.valid() && t.size() <= k.extent;
    }

    bool collective_over_mesh(int role, int nccl_group_id, int below) {
        statement n;
        if (!along_axes(n, role)) return false;
        n.nccl_group_id = nccl_group_id;
        const int width = width_of(s, role, n.axes);
        int x = pick(role, [&](int i) { return i < below && free_in_nccl_group(i, -1) && fits(n.kind, i, width); });
        if (x < 0 || !choose_reduction(n, x, width, false)) return false;
        x = some_rows(x, n, width, role);
        n.arguments = {x};
        const int y = communicated(n, x, width, role);
        at(y).varies = variation(n, x);
        n.results = {y};
        n.types = {at(y).type};
        const statement made = n;
        place(std::move(n));
        if (made.kind != dv::op_kind::reduce && made.kind != dv::op_kind::gather) return true;
        rooted[static_cast<std::size_t>(y)] = 1;  // only the root may read it
        if (nccl_group_id < 0 && r.chance(60)) back_from_root(made, y, width);
        return true;
    }
    // A collective along axes once more; of rows perhaps of other ones.
    bool repeat_collective() {
        std::vector<int> list;
        for (int i = 0; i < static_cast<int>(s.nodes.size()); ++i) {
            const statement& n = s.nodes[static_cast<std::size_t>(i)];
            if (dv::is_collective(n.kind) && n.role >= 0 && !n.update && readable(whole_of(n.arguments[0]), n.role)) list.push_back(i);
        }
        if (list.empty()) return false;
        statement n = s.nodes[static_cast<std::size_t>(r.one_of(list))];
        n.nccl_group_id = -1;
        const int x = n.arguments[0], width = width_of(s, n.role, n.axes);
        if (const int whole = whole_of(x); whole != x)
            n.arguments = {rows_of(whole, static_cast<int>(at(whole).type.extent[0] / at(x).type.extent[0]), n.role)};
        const int y = communicated(n, x, width, n.role);
        at(y).varies = variation(n, x);
        rooted[static_cast<std::size_t>(y)] = n.kind == dv::op_kind::reduce || n.kind == dv::op_kind::gather ? 1 : 0;
        n.results = {y};
        place(std::move(n));
        return true;
    }
    // What x is rows of, or itself.
    int whole_of(int x) const {
        const int p = producer[static_cast<std::size_t>(x)];
        if (p < 0 || s.nodes[static_cast<std::size_t>(p)].op->view != dv::view_kind::rows) return x;
        return s.nodes[static_cast<std::size_t>(p)].arguments[0];
    }
    // Rows of x in its place, where the communication can do with them. Within a group a state would be seen as the group leaves it.
    int some_rows(int x, const statement& n, int width, int role) {
        const int blocks = n.nccl_group_id >= 0 && at(x).kind == dv::ir::symbol_kind::state ? 1 : blocks_of(x);
        dv::tensor_type type = at(x).type;
        if (blocks > 1) type.extent[0] /= blocks;
        return collected(n.kind, type, width).valid() ? rows_of(x, blocks, role) : x;
    }
    // What a root alone has goes to all, or a block to each.
    void back_from_root(const statement& made, int y, int width) {
        const dv::op_kind kind = r.chance(50) ? dv::op_kind::broadcast : dv::op_kind::scatter;
        if (!fits(kind, y, width) || ((made.axes & s.open_axes) != 0 && kind == dv::op_kind::scatter)) return;
        statement n = communication(kind, 1);
        n.role = made.role;
        n.axes = made.axes;
        n.root = made.root;
        n.arguments = {y};
        n.results = {communicated(n, y, width, made.role)};
        n.types = {at(n.results[0]).type};
        at(n.results[0]).varies = variation(n, y);
        place(std::move(n));
    }

    // The members: some of the roles with the same mesh as the first one, few if there are many.
    std::vector<int> some_roles() {
        const int lead = r.below(roles());
        std::vector<int> members;
        for (int i = 0; i < roles(); ++i)
            if (i != lead && same_mesh(lead, i)) members.push_back(i);
        r.shuffle(members);
        const std::size_t most = roles() > 4 && r.chance(70) ? static_cast<std::size_t>(r.between(1, 3)) : members.size();
        std::vector<int> taken{lead};
        for (const int m : members)
            if (taken.size() <= most && r.chance(75)) taken.push_back(m);
        r.shuffle(taken);
        return taken;
    }
    // The statements of one nccl_group_id have the same roles as roots and members; `model` is a statement to match, or null.
    bool collective_over_roles(int nccl_group_id, int below, const statement* model) {
        using enum dv::op_kind;
        std::vector<int> members;
        dv::op_kind kind = collective_kind(false);
        bool fans_out = kind == broadcast || kind == scatter;
        int first = -1;
        if (model != nullptr) {
            const bool out = model->kind == broadcast || model->kind == scatter;
            if (out != fans_out || dv::is_rooted(model->kind) != dv::is_rooted(kind)) kind = model->kind;
            fans_out = out;
            for (const int a : model->arguments) members.push_back(at(a).role);
            if (out) members = model->targets;
            first = out || dv::is_rooted(kind) ? model->root : members[0];
        } else {
            members = some_roles();
            if (members.size() < 2) return false;
            first = r.one_of(members);
            if (fans_out && r.chance(40)) members.erase(std::find(members.begin(), members.end(), first));  // the sender receives nothing
        }
        const int count = static_cast<int>(members.size());
        const auto here = [&](int role) {
            return [this, role, below](int i) {
                return i < below && at(i).kind != dv::ir::symbol_kind::axis_index && at(i).kind != dv::ir::symbol_kind::state &&
                       at(i).role == role;
            };
        };
        const int x = pick(first, [&](int i) { return here(first)(i) && fits(kind, i, count); });
        if (x < 0) return false;
        statement n = communication(kind, 1);
        n.nccl_group_id = nccl_group_id;
        if (dv::is_rooted(kind)) n.root = first;
        n.targets = members;
        int boldest = x;  // the argument of which least is known
        if (fans_out) {
            n.arguments = {x};
        } else {
            for (const int m : members) {
                const int y = m == first ? x : pick(m, [&](int i) { return here(m)(i) && at(i).type == at(x).type; });
                if (y < 0) return false;
                n.arguments.push_back(y);
                if (at(y).magnitude > at(boldest).magnitude) boldest = y;
            }
            if (dv::is_rooted(kind)) n.targets = {first};
        }
        bool nonzero = true;
        for (const int a : n.arguments) nonzero = nonzero && at(a).nonzero;
        const bool kept = at(boldest).nonzero;
        at(boldest).nonzero = nonzero;
        choose_reduction(n, boldest, count, false);
        const int whole_boldest = boldest;
        s.pool->operations.back().arguments = static_cast<int>(n.arguments.size());
        // Of all the same number of rows.
        dv::tensor_type type = at(x).type;
        if (const int blocks = blocks_of(x); blocks > 1) {
            type.extent[0] /= blocks;
            if (collected(kind, type, count).valid())
                for (int& a : n.arguments) {
                    const int whole = a;
                    a = rows_of(whole, blocks, at(whole).role);
                    if (whole == boldest) boldest = a;
                }
        }
        const int y = communicated(n, boldest, count, -1);
        at(whole_boldest).nonzero = kept;
        at(y).varies = varies(n.arguments);
        n.results = {y};
        n.types = {at(y).type};
        place(std::move(n));
        return true;
    }
    void nccl_group_id(int role) {
        const int below = symbols();
        const bool over = roles() > 1 && r.chance(40);
        values_before = below;
        for (int i = r.between(2, 3); i > 0; --i) {
            const statement last = s.nodes.back();
            const int state = r.chance(30) ? untouched_state(role) : -1;
            if (over) collective_over_roles(nccl_groups, below, last.nccl_group_id == nccl_groups ? &last : nullptr);
            else if (state < 0 || !update_by_communication(role, state, nccl_groups)) collective_over_mesh(role, nccl_groups, below);
            if (s.nodes.back().nccl_group_id != nccl_groups) continue;
            for (const int a : s.nodes.back().arguments) touched_in_nccl_group.push_back(a);
            if (s.nodes.back().update) set_in_nccl_group.push_back(s.nodes.back().results[0]);
        }
        touched_in_nccl_group.clear();
        set_in_nccl_group.clear();
        values_before = INT_MAX;
        ++nccl_groups;
    }
    // Of the statements in one group none sets a state that another touches, or reads what another makes.
    bool free_in_nccl_group(int i, int but) const { return i < values_before && (i == but || !contains(set_in_nccl_group, i)); }
    int untouched_state(int role) {
        std::vector<int> states;
        for (int i = 0; i < symbols(); ++i)
            if (at(i).kind == dv::ir::symbol_kind::state && at(i).role == role && !contains(touched_in_nccl_group, i) &&
                !contains(set_in_nccl_group, i))
                states.push_back(i);
        return states.empty() ? -1 : r.one_of(states);
    }
    bool host_copy(int role) {
        std::vector<int> pinned;
        for (int i = 0; i < symbols(); ++i)
            if (at(i).in_host_memory && locked[static_cast<std::size_t>(i)] == 0 &&
                (at(i).role == role || (at(i).role < 0 && at(i).kind == dv::ir::symbol_kind::input)))
                pinned.push_back(i);
        const bool back = !pinned.empty() && r.chance(60);
        const int x = back ? r.one_of(pinned) : pick(role, [&](int i) { return at(i).kind != dv::ir::symbol_kind::axis_index; });
        if (x < 0) return false;
        statement n = communication(back ? dv::op_kind::from_host : dv::op_kind::to_host, 1);
        n.role = role;
        n.arguments = {rows_of(x, blocks_of(x), role)};
        const int y = add(dv::ir::symbol_kind::value, at(n.arguments[0]).type, role);
        at(y).in_host_memory = !back;
        at(y).magnitude = at(x).magnitude;
        at(y).nonzero = at(x).nonzero;
        at(y).varies = at(x).varies;
        n.results = {y};
        n.types = {at(y).type};
        place(std::move(n));
        return true;
    }

private:
    int nccl_groups = 0;
    std::vector<int> touched_in_nccl_group, set_in_nccl_group;  // states, by the group being drawn
    int values_before = INT_MAX;                        // what it may read
};

}  // namespace support::detail
