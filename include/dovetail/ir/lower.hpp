// lower: the records of a graph to arrays. First every statement is found and what it defines gets an id, then arguments
// are looked up and each operation, nested ones before those that use them, becomes a node. Takes the root record, gives
// a graph whose values have no types yet, with the first mistake in names, placement or form in `wrong`.
// Long: one walk over one tree; its two halves share every table.
#pragma once

#include "../dsl/record.hpp"
#include "graph.hpp"
#include "names.hpp"
#include "table.hpp"

namespace dovetail::ir {

namespace detail {

using dsl::record;
using dsl::word;

struct room {
    int symbols = 0, nodes = 0, operands = 0, roles = 1, axes = 0;
};

constexpr void add_room(const record& r, room& to) {
    switch (r.kind) {
        case word::input:
        case word::state: ++to.symbols; return;
        case word::let:
        case word::update: {
            const record &names = *r.children[0], &e = *r.children[1];
            const int count = names.kind == word::values ? names.child_count : 1;
            // What stands below an argument may be an expression, a lane or another argument each.
            const int below = e.kind != word::expression ? 0 : e.mentions - e.children[0]->mentions - e.child_count;
            to.symbols += count + below;
            to.nodes += 1 + below;
            to.operands += count + e.child_count + 2 * below;
            if (accepted(*e.op) && is_communication(e.op->kind)) to.operands += e.mentions;
            return;
        }
        case word::mesh: to.axes += r.child_count; return;
        case word::on: ++to.roles; break;
        case word::group:
        case word::grouped:
        case word::repeat:
        case word::graph: break;
        default: return;
    }
    for (int i = 0; i < r.child_count; ++i) add_room(*r.children[i], to);
}

}  // namespace detail

// The sizes that the graph's arrays have at most.
constexpr sizes<6> largest_graph(const dsl::record& root) {
    detail::room r;
    detail::add_room(root, r);
    return {{r.symbols, r.nodes, r.operands, r.roles, r.axes, r.axes * r.roles}};
}

namespace detail {

inline constexpr int outside = -2;  // outside every role, in a graph that has roles

class lowering {
public:
    constexpr lowering(const record& root, const sizes<6>& most) : names_{most.of[0]} {
        graph_.symbols.reserve(most.of[0]);
        graph_.nodes.reserve(most.of[1]);
        graph_.operands.reserve(most.of[2]);
        items_.reserve(most.of[1] + 8);
        names_roles_ = has_roles(root);
        if (!names_roles_) graph_.roles.push({});
        find(root, 0, names_roles_ ? outside : 0, -1);
        place_meshes();
        for (const item *i = items_.begin(), *end = items_.end(); i != end; ++i) {
            if (graph_.wrong) return;
            connect(*i);
        }
        if (!graph_.wrong && graph_.nodes.empty()) fail(make_fault(fault_kind::empty_graph, 0));
    }
    constexpr graph_data take() { return static_cast<graph_data&&>(graph_); }

private:
    // A let, update or output as found: where it stands and, for a let, its first symbol.
    struct item {
        const record* r = nullptr;
        int mention = 0;
        int role = 0;
        int symbol = -1;
        int bundle = -1;
    };
    struct mesh_found {
        const record* r = nullptr;
        int mention = 0;
        int role = -1;  // -1: the graph's
    };

    static constexpr bool has_roles(const record& r) {
        for (int i = 0; i < r.child_count; ++i) {
            const record& c = *r.children[i];
            if (c.kind == word::on) return true;
            if ((c.kind == word::group || c.kind == word::repeat || c.kind == word::grouped) && has_roles(c)) return true;
        }
        return false;
    }

    constexpr void fail(const fault& f) {
        if (!graph_.wrong) graph_.wrong = f;
    }

    constexpr void arity(int name, int op, int given) {
        fault f = make_fault(fault_kind::wrong_arity, name, op);
        f.number = given;
        fail(f);
    }

    // ---- first walk: what is defined

    constexpr void find(const record& parent, int mention, int role, int bundle) {
        const record* const* child = parent.children;
        const int count = parent.child_count;
        int at = mention + 1;
        for (int i = 0; i < count; at += child[i]->mentions, ++i) {
            if (i == 0 && parent.kind == word::on) continue;
            statement(*child[i], at, role, bundle);
        }
    }

    constexpr void statement(const record& r, int mention, int role, int bundle) {
        switch (r.kind) {
            case word::group:
            case word::repeat: find(r, mention, role, bundle); return;
            case word::grouped: find(r, mention, role, bundles_++); return;
            case word::on: {
                if (role >= 0) return fail(make_fault(fault_kind::on_in_on, mention + 1));
                const int id = role_id(r.children[0]->id, mention + 1);
                int statements = r.child_count - 1;
                for (int i = 1; i < r.child_count; ++i) statements -= r.children[i]->kind == word::mesh ? 1 : 0;
                if (statements == 0) fail(make_fault(fault_kind::unused_role, mention + 1));
                find(r, mention, id, bundle);
                return;
            }
            case word::mesh: meshes_.push({&r, mention, role >= 0 && names_roles_ ? role : -1}); return;
            case word::input:
            case word::state: declare(r, mention, role); return;
            case word::let: {
                items_.push({&r, mention, role, graph_.symbols.size(), bundle});
                const record& names = *r.children[0];
                if (names.kind == word::values) {
                    int at = mention + 2;
                    for (int i = 0; i < names.child_count; at += names.children[i]->mentions, ++i)
                        if (names.children[i]->kind != word::discard) define({names.children[i]->id, symbol_kind::value}, *names.children[i], at, role, i);
                } else {
                    define({names.id, symbol_kind::value}, names, mention + 1, role, 0);
                }
                return;
            }
            case word::update:
            case word::output: items_.push({&r, mention, role, -1, bundle}); return;
            default: return fail(make_fault(fault_kind::not_a_statement, mention));
        }
    }

    constexpr int define(symbol s, const record& name, int mention, int role, int result) {
        if (name.kind == word::operation || name.kind == word::no_shape_rule)
            fail(make_fault(fault_kind::operation_as_value, mention, mention));
        else if (name.kind != word::name)
            fail(make_fault(fault_kind::not_a_statement, mention));
        s.role = role < 0 ? -1 : role;
        s.result = result;
        s.mention = mention;
        const int id = graph_.symbols.size();
        graph_.symbols.push(s);
        if (name.kind == word::name && names_.insert(s.name, id) != id) fail(make_fault(fault_kind::defined_twice, mention));
        return id;
    }

    constexpr void declare(const record& r, int mention, int role) {
        symbol s;
        s.name = r.children[0]->id;
        s.kind = r.kind == word::input ? symbol_kind::input : symbol_kind::state;
        s.type = *r.children[1]->type;
        if (!s.type.valid()) return fail(make_fault(fault_kind::not_a_statement, mention));
        if (s.type.bytes() < 0) fail(make_fault(fault_kind::size_overflow, mention + 1).tensor(s.type));
        if (r.kind == word::state && role == outside) fail(make_fault(fault_kind::outside_role, mention + 1));
        int at = mention + 1 + r.children[0]->mentions + r.children[1]->mentions;
        for (int i = 2; i < r.child_count; at += r.children[i]->mentions, ++i) {
            const record& a = *r.children[i];
            if (a.kind == word::pinned && r.kind == word::input)
                s.in_host_memory = true;
            else if (a.kind == word::replicated)
                replicated_.push({&a, at, graph_.symbols.size()});
            else if (r.kind == word::state && (a.kind == word::from_store || a.kind == word::no_shape_rule))
                s.initialised = true;
            else
                fail(make_fault(fault_kind::not_a_statement, at));
        }
        define(s, *r.children[0], mention + 1, role, 0);
    }

    constexpr int role_id(const tag* name, int mention) {
        for (int i = 0; i < graph_.roles.size(); ++i)
            if (same(graph_.roles[i].name, name)) return i;
        graph_.roles.push({name, 0, 0, mention});
        return graph_.roles.size() - 1;
    }
    constexpr int find_role(const tag* name) const {
        for (int i = 0; i < graph_.roles.size(); ++i)
            if (same(graph_.roles[i].name, name)) return i;
        return -1;
    }
    constexpr int find_axis(const tag* name) const {
        for (int i = 0; i < graph_.axes.size(); ++i)
            if (same(graph_.axes[i].name, name)) return i;
        return -1;
    }

    constexpr void place_meshes() {
        for (int role = 0; role < graph_.roles.size(); ++role) {
            const mesh_found* found = nullptr;
            for (const mesh_found& m : meshes_)
                if (m.role == role || (m.role == -1 && found == nullptr)) found = &m;
            if (found == nullptr) continue;
            graph_.roles[role].first_axis = graph_.mesh.size();
            int at = found->mention + 1;
            for (int i = 0; i < found->r->child_count; at += found->r->children[i]->mentions, ++i) {
                const record& a = *found->r->children[i];
                if (a.kind != word::axis || a.number < 0) return fail(make_fault(fault_kind::not_a_statement, at));
                int id = find_axis(a.children[0]->id);
                if (id < 0) {
                    id = graph_.axes.size();
                    graph_.axes.push({a.children[0]->id, at + 1});
                    if (id >= 32) return fail(make_fault(fault_kind::axis_twice, at + 1));
                }
                for (int j = graph_.roles[role].first_axis; j < graph_.mesh.size(); ++j)
                    if (graph_.mesh[j].axis == id) fail(make_fault(fault_kind::axis_twice, at + 1));
                graph_.mesh.push({id, a.number});
            }
            graph_.roles[role].axes = graph_.mesh.size() - graph_.roles[role].first_axis;
        }
        for (const replication& p : replicated_) {
            int at = p.mention + 1;
            for (int i = 0; i < p.r->child_count; at += p.r->children[i]->mentions, ++i) {
                const int axis = find_axis(p.r->children[i]->id);
                if (axis < 0)
                    fail(make_fault(fault_kind::unknown_axis, graph_.symbols[p.symbol].mention, at));
                else
                    graph_.symbols[p.symbol].replicated |= 1u << axis;
            }
        }
    }

    // ---- second walk: what uses what

    constexpr void connect(const item& i) {
        if (i.r->kind == word::output) return outputs(*i.r, i.mention);
        const record& names = *i.r->children[0];
        const record& expression = *i.r->children[1];
        const int at = i.mention + 1 + names.mentions;
        const bool many = names.kind == word::values;
        const int count = many ? names.child_count : 1;
        const int name_mention = many ? i.mention + 2 : i.mention + 1;
        const int id = operation_node(expression, at, i.role, name_mention, i.bundle);
        if (id < 0) return;
        node& n = graph_.nodes[id];
        n.update = i.r->kind == word::update;
        n.first_result = graph_.operands.size();
        n.results = count;
        int symbol = i.symbol;
        int name_at = name_mention;
        for (int k = 0; k < count; name_at += (many ? *names.children[k] : names).mentions, ++k) {
            const record& name = many ? *names.children[k] : names;
            if (name.kind == word::discard) {
                graph_.operands.push(-1);
            } else if (n.update) {
                const int s = name.kind == word::name ? names_.find(name.id) : -1;
                if (s < 0) return fail(make_fault(fault_kind::unknown_name, name_mention, name_at));
                if (graph_.symbols[s].kind != symbol_kind::state) return fail(make_fault(fault_kind::not_a_state, name_at));
                if (graph_.symbols[s].role != n.role) return fail(make_fault(fault_kind::state_crosses_roles, name_at));
                for (int j = n.first_result; j < graph_.operands.size(); ++j)
                    if (graph_.operands[j] == s) return fail(make_fault(fault_kind::defined_twice, name_at));
                graph_.operands.push(s);
            } else {
                graph_.symbols[symbol].node = id;
                graph_.operands.push(symbol++);
            }
        }
        bool named = false;
        for (int k = 0; k < count; ++k) named = named || graph_.operands[n.first_result + k] >= 0;
        if (!named) fail(make_fault(fault_kind::unused, name_mention));
    }

    constexpr void outputs(const record& r, int mention) {
        int at = mention + 1;
        for (int i = 0; i < r.child_count; at += r.children[i]->mentions, ++i) {
            const record& c = *r.children[i];
            if (c.kind == word::all) {
                outputs(c, at);
                continue;
            }
            const int s = c.kind == word::name ? names_.find(c.id) : -1;
            if (s < 0) return fail(make_fault(c.kind == word::operation ? fault_kind::operation_as_value : fault_kind::unknown_output, at, at));
            if (graph_.symbols[s].kind != symbol_kind::value) return fail(make_fault(fault_kind::output_not_a_value, at));
            if (graph_.symbols[s].output) return fail(make_fault(fault_kind::output_twice, at));
            graph_.symbols[s].output = true;
        }
    }

    // The node of an expression; its arguments' nodes come first. `name` is the mention of the statement's name.
    constexpr int operation_node(const record& e, int mention, int role, int name, int bundle) {
        if (e.kind == word::ellipsis) return fail(make_fault(fault_kind::ellipsis, name, mention + 1)), -1;
        if (e.kind != word::expression) return fail(make_fault(fault_kind::not_an_operation, name, mention)), -1;
        const record& op = *e.children[0];
        if (op.kind == word::no_shape_rule) return fail(make_fault(fault_kind::no_shape_rule, mention + 1)), -1;
        if (op.kind != word::operation) return fail(make_fault(fault_kind::not_an_operation, name, mention + 1)), -1;

        // One stack for all expressions: an array of its own for each is where nvcc's front end forgets to release some.
        const int base = arguments_.size();
        collect(e, 1, mention + 1 + op.mentions, role, name);
        if (graph_.wrong) return -1;
        const int count = arguments_.size() - base;
        if (!accepted(*e.op)) return arity(name, mention + 1, count), -1;

        node n;
        n.op = e.op;
        n.kind = e.op->kind;
        n.role = role < 0 ? -1 : role;
        n.reduce = e.op->reduce;
        n.offset = e.op->offset;
        n.open = e.op->open;
        n.bundle = bundle;
        n.statement = name;
        n.mention = mention;
        n.first_argument = graph_.operands.size();
        n.arguments = count;
        for (const int *a = arguments_.begin() + base, *end = arguments_.end(); a != end; ++a) graph_.operands.push(*a);
        arguments_.resize(base);
        if (bundle >= 0 && !is_communication(n.kind)) return fail(make_fault(fault_kind::not_communication, name, mention + 1)), -1;
        if (role == outside && !is_collective(n.kind)) return fail(make_fault(fault_kind::outside_role, name)), -1;
        if (is_communication(n.kind))
            place(n, op, mention + 1, name);
        else if ((n.kind == op_kind::to_host || n.kind == op_kind::from_host) && n.arguments != 1)
            arity(name, mention + 1, n.arguments);
        if (graph_.wrong) return -1;
        graph_.nodes.push(n);
        return graph_.nodes.size() - 1;
    }

    constexpr void collect(const record& parent, int from, int mention, int role, int name) {
        int at = mention;
        for (int i = from; i < parent.child_count && !graph_.wrong; at += parent.children[i]->mentions, ++i) {
            const record& a = *parent.children[i];
            if (a.kind == word::all)
                collect(a, 0, at + 1, role, name);
            else if (a.kind == word::lane)
                arguments_.push(lane_index(*a.children[0], at + 1, role, name));
            else if (a.kind == word::expression || a.kind == word::ellipsis)
                arguments_.push(nested(a, at, role, name));
            else if (a.kind == word::operation || a.kind == word::no_shape_rule)
                fail(make_fault(fault_kind::operation_as_value, name, at));
            else if (a.kind != word::name)
                fail(make_fault(fault_kind::not_a_statement, at));
            else
                arguments_.push(named(a, at, role, name));
        }
    }

    constexpr int named(const record& a, int mention, int role, int name) {
        const int s = names_.find(a.id);
        if (s < 0) return fail(make_fault(fault_kind::unknown_name, name, mention)), -1;
        const symbol& found = graph_.symbols[s];
        if (found.kind == symbol_kind::state && found.role != role) return fail(make_fault(fault_kind::state_crosses_roles, mention)), -1;
        return s;
    }

    constexpr int nested(const record& e, int mention, int role, int name) {
        if (role == outside) return fail(make_fault(fault_kind::outside_role, name)), -1;
        const int id = operation_node(e, mention, role, name, -1);
        if (id < 0) return -1;
        symbol s;
        s.role = role;
        s.node = id;
        s.mention = mention;
        graph_.nodes[id].first_result = graph_.operands.size();
        graph_.nodes[id].results = 1;
        graph_.operands.push(graph_.symbols.size());
        graph_.symbols.push(s);
        return graph_.symbols.size() - 1;
    }

    constexpr int lane_index(const record& a, int mention, int role, int name) {
        const int axis = find_axis(a.id);
        if (role < 0 || axis < 0 || !has_axis(role, axis)) return fail(make_fault(fault_kind::unknown_axis, name, mention)), -1;
        for (int i = 0; i < lanes_.size(); ++i)
            if (graph_.symbols[lanes_[i]].index_axis == 1u << axis) return lanes_[i];
        symbol s;
        s.name = a.id;
        s.kind = symbol_kind::lane_index;
        s.type = scalar<std::int32_t>::type;
        s.index_axis = 1u << axis;
        s.mention = mention;
        lanes_.push(graph_.symbols.size());
        graph_.symbols.push(s);
        return graph_.symbols.size() - 1;
    }

    constexpr bool has_axis(int role, int axis) const {
        const ir::role& r = graph_.roles[role];
        for (int i = 0; i < r.axes; ++i)
            if (graph_.mesh[r.first_axis + i].axis == axis) return true;
        return false;
    }

    // Axes, root and receiving roles of a communication.
    constexpr void place(node& n, const record& op, int mention, int name) {
        const bool over_roles = n.role < 0;
        if (!over_roles && n.arguments != 1) return arity(name, mention, n.arguments);
        if (is_reducing(n.kind) && n.reduce == reduction::none) return fail(make_fault(fault_kind::bad_reduction, name, mention));
        n.first_target = graph_.operands.size();
        int at = mention + 1;
        for (int i = 0; i < op.child_count; at += op.children[i]->mentions, ++i) {
            const record& w = *op.children[i];
            if (w.kind == word::root_lane && !over_roles && is_rooted(n.kind) && n.root < 0) {
                n.root = w.number;
            } else if (w.kind == word::root && over_roles && (n.kind == op_kind::reduce || n.kind == op_kind::gather) && n.root < 0) {
                n.root = find_role(w.children[0]->id);
                if (n.root < 0) return fail(make_fault(fault_kind::unknown_role, name, at + 1));
                graph_.operands.push(n.root);
                n.targets = 1;
            } else if (w.kind == word::to && over_roles && (n.kind == op_kind::broadcast || n.kind == op_kind::scatter)) {
                int to_at = at + 1;
                for (int k = 0; k < w.child_count; to_at += w.children[k]->mentions, ++k) target(n, w.children[k]->id, to_at, name);
            } else if (w.kind == word::name && !over_roles) {
                const int axis = find_axis(w.id);
                if (axis < 0 || !has_axis(n.role, axis)) return fail(make_fault(fault_kind::unknown_axis, name, at));
                if ((n.axes >> axis & 1u) != 0) return fail(make_fault(fault_kind::axis_twice, at));
                n.axes |= 1u << axis;
            } else {
                return fail(make_fault(fault_kind::bad_root, name, mention, at));
            }
        }
        if (over_roles) return seats(n, mention, name);
        if (n.axes == 0)
            for (int i = 0; i < graph_.roles[n.role].axes; ++i) n.axes |= 1u << graph_.mesh[graph_.roles[n.role].first_axis + i].axis;
        if (n.axes == 0) return fail(make_fault(fault_kind::member_count, name, mention));
        if (is_rooted(n.kind) && n.root < 0) fail(make_fault(fault_kind::bad_root, name, mention, mention));
    }

    constexpr void target(node& n, const tag* role, int mention, int name) {
        const int id = find_role(role);
        if (id < 0) return fail(make_fault(fault_kind::unknown_role, name, mention));
        for (int j = 0; j < n.targets; ++j)
            if (graph_.operands[n.first_target + j] == id) return fail(make_fault(fault_kind::role_twice, name, mention));
        graph_.operands.push(id);
        ++n.targets;
    }

    // A collective over roles: one argument per role; everybody receives unless a root or receivers are named.
    constexpr void seats(node& n, int mention, int name) {
        for (int i = 0; i < n.arguments; ++i) {
            const symbol& s = graph_.symbols[graph_.operands[n.first_argument + i]];
            if (s.role < 0) return fail(make_fault(fault_kind::outside_role, s.mention));
            for (int j = 0; j < i; ++j)
                if (graph_.symbols[graph_.operands[n.first_argument + j]].role == s.role) return fail(make_fault(fault_kind::role_twice, name, s.mention));
        }
        if (n.kind == op_kind::broadcast || n.kind == op_kind::scatter) {
            if (n.arguments != 1) return arity(name, mention, n.arguments);
            if (n.targets == 0) return fail(make_fault(fault_kind::bad_root, name, mention, mention));
            n.root = graph_.symbols[graph_.operands[n.first_argument]].role;
        } else if (n.arguments < 2) {
            return fail(make_fault(fault_kind::member_count, name, mention));
        } else if (is_rooted(n.kind)) {
            if (n.root < 0) return fail(make_fault(fault_kind::bad_root, name, mention, mention));
            bool member = false;
            for (int i = 0; i < n.arguments; ++i) member = member || graph_.symbols[graph_.operands[n.first_argument + i]].role == n.root;
            if (!member) fail(make_fault(fault_kind::unknown_role, name, graph_.roles[n.root].mention));
        } else {
            for (int i = 0; i < n.arguments; ++i) graph_.operands.push(graph_.symbols[graph_.operands[n.first_argument + i]].role);
            n.targets = n.arguments;
        }
    }

    struct replication {
        const record* r = nullptr;
        int mention = 0;
        int symbol = 0;
    };

    graph_data graph_;
    name_table names_;
    vec<item> items_;
    vec<mesh_found> meshes_;
    vec<replication> replicated_;
    vec<int> lanes_;
    vec<int> arguments_;  // of the expressions being read
    bool names_roles_ = false;
    int bundles_ = 0;
};

}  // namespace detail

constexpr graph_data lower(const dsl::record& root, bool folded, const sizes<6>& most) {
    graph_data g = detail::lowering{root, most}.take();
    g.folded = folded;
    return g;
}
constexpr graph_data lower(const dsl::record& root, bool folded = false) { return lower(root, folded, largest_graph(root)); }

}  // namespace dovetail::ir
