// A sketch in the language: the descriptors that dsl/describe.hpp makes of a graph's type, made at run time, and the graph that
// `lower` and `infer` make of them. How the same graph is written differs by seed: where declarations and outputs stand, one `on`
// of a role or several, groups, lists by `all`, the graph's mesh or the role's, axes named or left out where all are meant.
#pragma once

#include "records.hpp"
#include "sketch.hpp"

#include <dovetail/ir/lower.hpp>
#include <dovetail/pass/graph/infer.hpp>

namespace support {

class text {
public:
    using descriptor = record_pool::descriptor;
    using statement_descriptor = record_pool::statement_descriptor;

    explicit text(const sketch& s) : s_{s} {
        for (std::size_t r = 0; r < s.roles.size(); ++r) role_names_.push_back(name(*s.pool->tag("role" + std::to_string(r))));
        lines();
        blocks();
    }
    const descriptor& root() const { return *root_; }
    // Owns the descriptors, and the names of a graph made of them.
    std::shared_ptr<const void> pool() const { return pool_; }
    // The sketch's roles, in order of their first appearance: that is how ranks are numbered.
    const std::vector<int>& roles() const { return appeared_; }

private:
    using keyword = record_pool::keyword;
    static constexpr int outside = -1;
    struct line {
        int role = outside;
        statement_descriptor records = nullptr;
        word id = 0;
    };

    // A choice that depends on the seed and on what it is made for alone, so that it stays when a graph is reduced.
    word drawn(word what, int kind) const { return mix(mix(s_.seed + 77) ^ mix(what * 64 + static_cast<word>(kind))); }
    bool choose(int percent, word what, int kind) const { return static_cast<int>(drawn(what, kind) % 100) < percent; }
    static word id_of(const support::statement& n) {
        return n.op->name->hash + static_cast<word>(n.results.empty() ? 0 : n.results[0] + 1);
    }

    // ---- keywords of the language

    const descriptor* keep(descriptor r) { return pool_->keep(r); }
    const descriptor* name(const dv::tag& t) { return pool_->name(t); }
    const descriptor* composed(keyword kind, std::vector<const descriptor*> children) { return pool_->composed(kind, std::move(children)); }
    statement_descriptor stated(std::vector<const descriptor*> records) { return pool_->stated(std::move(records)); }
    const descriptor* named(int symbol) { return name(*s_.symbols[static_cast<std::size_t>(symbol)].name); }
    const descriptor* axes_of(keyword kind, unsigned mask) {
        std::vector<const descriptor*> list;
        for (int a = 0; a < most_axes; ++a)
            if (mask >> a & 1u) list.push_back(name(*axis_name(a)));
        return composed(kind, list);
    }
    const descriptor* mesh_of(int role) {
        std::vector<const descriptor*> list;
        for (const dv::ir::mesh_axis& m : s_.roles[static_cast<std::size_t>(role)]) {
            const keyword kind = s_.network_axes >> m.axis & 1u ? keyword::network_axis : keyword::axis;
            descriptor r = *composed(kind, {name(*axis_name(m.axis))});
            r.number = s_.open_axes >> m.axis & 1u ? 0 : m.width;
            list.push_back(keep(r));
        }
        return composed(keyword::mesh, list);
    }

    // ---- expressions

    const descriptor* operation(const support::statement& n) {
        std::vector<const descriptor*> where;
        const word id = id_of(n);
        const bool along_one_axis = n.kind == dv::op_kind::shift || n.kind == dv::op_kind::permute;
        if (along_one_axis || n.kind == dv::op_kind::own_rows || (n.role >= 0 && dv::is_collective(n.kind))) {
            unsigned all = 0;
            for (const auto& m : s_.roles[static_cast<std::size_t>(n.role)]) all |= 1u << m.axis;
            if (along_one_axis || n.axes != all || choose(50, id, 0))
                for (int a = 0; a < most_axes; ++a)
                    if (n.axes >> a & 1u) where.push_back(name(*axis_name(a)));
            if (where.size() > 1 && choose(50, id, 1)) std::swap(where.front(), where.back());
            for (std::size_t i = 0; i < n.pairs.size(); ++i) where.push_back(keep({keyword::pair}));
            if (dv::is_rooted(n.kind)) {
                const descriptor* root = pool_->numbered(keyword::root_index, n.root);
                where.insert(choose(50, id, 2) ? where.begin() : where.end(), root);
            }
        } else if (n.role < 0 && (n.kind == dv::op_kind::broadcast || n.kind == dv::op_kind::scatter)) {
            std::vector<const descriptor*> to;
            for (const int t : n.targets) to.push_back(role_names_[static_cast<std::size_t>(t)]);
            where.push_back(composed(keyword::to, to));
        } else if (n.role < 0 && dv::is_rooted(n.kind)) {
            where.push_back(composed(keyword::root, {role_names_[static_cast<std::size_t>(n.root)]}));
        }
        return pool_->composed(keyword::operation, where, *n.op->name);
    }
    const descriptor* argument(int symbol) {
        const support::symbol& x = s_.symbols[static_cast<std::size_t>(symbol)];
        if (x.kind == dv::ir::symbol_kind::axis_index) return composed(keyword::axis_index, {name(*axis_name(x.index_axis))});
        if (const support::statement* n = nested(symbol))
            return pool_->composed(keyword::expression, operation_and_arguments(*n), dv::nameless, n->op);
        return named(symbol);
    }
    const support::statement* nested(int symbol) const {
        for (const support::statement& n : s_.nodes)
            if (n.nested && !n.results.empty() && n.results[0] == symbol) return &n;
        return nullptr;
    }
    std::vector<const descriptor*> operation_and_arguments(const support::statement& n) {
        std::vector<const descriptor*> all{operation(n)};
        for (const int a : n.arguments) all.push_back(argument(a));
        // Arguments that are names may stand in a list.
        if (all.size() > 2 && choose(20, id_of(n), 3)) {
            const std::size_t at = 1 + drawn(id_of(n), 4) % (all.size() - 2);
            if (all[at]->kind == keyword::name && all[at + 1]->kind == keyword::name) {
                descriptor list = *composed(keyword::all, {all[at], all[at + 1]});
                list.arguments = 2;
                all[at] = keep(list);
                all.erase(all.begin() + static_cast<long>(at) + 1);
            }
        }
        return all;
    }

    // ---- statements

    void statement(const support::statement& n) {
        std::vector<const descriptor*> names;
        for (const int x : n.results) names.push_back(x < 0 ? keep({keyword::discard}) : named(x));
        const bool many = names.size() != 1 || names[0]->kind == keyword::discard || choose(10, id_of(n), 5);
        const descriptor* left = many ? composed(keyword::values, names) : names[0];
        std::vector<const descriptor*> records = operation_and_arguments(n);
        records.insert(records.begin(), left);
        descriptor head{n.update ? keyword::update : keyword::let};
        head.child_count = static_cast<int>(records.size());
        head.positions = 2;  // itself and the expression
        for (const descriptor* r : records) head.positions += r->positions;
        head.op = n.op;
        records.insert(records.begin(), keep(head));
        statement_descriptor written = stated(records);
        for (const int x : n.awaited) written = stated({pool_->stating(keyword::after, {stated({named(x)}), written})});
        add(n.role, written, id_of(n));
    }
    void declaration(int symbol) {
        const support::symbol& x = s_.symbols[static_cast<std::size_t>(symbol)];
        std::vector<const descriptor*> participations{named(symbol), pool_->tensor(x.type)};
        if (x.in_host_memory) participations.push_back(keep({keyword::pinned}));
        if (x.replicated != 0) participations.push_back(axes_of(keyword::replicated, x.replicated));
        if (x.kind == dv::ir::symbol_kind::state && x.initialised)
            participations.insert(participations.begin() + 2,
                         x.from_store ? keep({keyword::from_store}) : keep({keyword::no_shape_rule, *initialiser()}));
        const keyword kind = x.kind == dv::ir::symbol_kind::state ? keyword::state : keyword::input;
        add(x.role, stated({composed(kind, participations)}), x.name->hash);
    }
    static const dv::tag* initialiser() {
        static constexpr dv::tag tag = dv::detail::make_tag("fill_state", 10);
        return &tag;
    }
    void add(int role, statement_descriptor records, word id) { lines_.push_back({has_roles(s_) ? role : outside, records, id}); }

    void lines() {
        const std::size_t count = s_.nodes.size();
        std::vector<char> used(s_.symbols.size(), 0), output(s_.symbols.size(), 0);
        for (const support::statement& n : s_.nodes) {
            for (const int a : n.arguments) used[static_cast<std::size_t>(a)] = 1;
            for (const int a : n.awaited) used[static_cast<std::size_t>(a)] = 1;
            for (const int r : n.results)
                if (r >= 0 && n.update) used[static_cast<std::size_t>(r)] = 1;
                else if (r >= 0) output[static_cast<std::size_t>(r)] = s_.symbols[static_cast<std::size_t>(r)].output;
        }
        // Declarations and outputs stand above any statement; most declarations above all.
        std::vector<std::vector<int>> declared(count + 1), read(count + 1);
        for (std::size_t i = 0; i < s_.symbols.size(); ++i) {
            const support::symbol& x = s_.symbols[i];
            const bool declares = used[i] && (x.kind == dv::ir::symbol_kind::input || x.kind == dv::ir::symbol_kind::state);
            if (declares) declared[choose(70, x.name->hash, 6) ? 0 : drawn(x.name->hash, 7) % (count + 1)].push_back(static_cast<int>(i));
            if (output[i]) read[choose(60, x.name->hash, 8) ? count : drawn(x.name->hash, 9) % (count + 1)].push_back(static_cast<int>(i));
        }
        for (std::size_t i = 0; i <= count; ++i) {
            for (const int x : declared[i]) declaration(x);
            if (!read[i].empty()) outputs(read[i]);
            if (i < count && !s_.nodes[i].nested && (s_.nodes[i].nccl_group_id < 0 || starts_nccl_group(i))) nccl_group_or_statement(i);
        }
    }
    void outputs(const std::vector<int>& list) {
        std::vector<const descriptor*> names;
        for (const int x : list) names.push_back(named(x));
        const word id = s_.symbols[static_cast<std::size_t>(list[0])].name->hash;
        if (names.size() > 1 && choose(30, id, 10)) names = {composed(keyword::all, names)};
        add(outside, stated({composed(keyword::output, names)}), id);
    }
    bool starts_nccl_group(std::size_t at) const {
        for (std::size_t i = 0; i < at; ++i)
            if (s_.nodes[i].nccl_group_id == s_.nodes[at].nccl_group_id) return false;
        return true;
    }
    void nccl_group_or_statement(std::size_t at) {
        const support::statement& first = s_.nodes[at];
        if (first.nccl_group_id < 0) return statement(first);
        const std::size_t before = lines_.size();
        for (std::size_t i = at; i < s_.nodes.size(); ++i)
            if (s_.nodes[i].nccl_group_id == first.nccl_group_id && !s_.nodes[i].nested) statement(s_.nodes[i]);
        std::vector<statement_descriptor> list;
        for (std::size_t i = before; i < lines_.size(); ++i) list.push_back(lines_[i].records);
        lines_.resize(before);
        add(first.role, stated({pool_->stating(keyword::nccl_group, list)}), id_of(first));
    }

    // ---- on, group and repeat

    static bool equal(const std::vector<dv::ir::mesh_axis>& a, const std::vector<dv::ir::mesh_axis>& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [](const auto& x, const auto& y) { return x.axis == y.axis && x.width == y.width; });
    }
    // The mesh of role 0 stands in the graph, that of others in their `on`; or each in its own.
    bool graph_has_mesh() const { return !s_.roles[0].empty() && (!has_roles(s_) || choose(70, s_.seed, 11)); }
    bool needs_mesh(int role) const {
        return graph_has_mesh() ? !equal(s_.roles[static_cast<std::size_t>(role)], s_.roles[0])
                                : !s_.roles[static_cast<std::size_t>(role)].empty();
    }

    void blocks() {
        std::vector<statement_descriptor> top, inside;
        if (graph_has_mesh()) top.push_back(stated({mesh_of(0)}));
        const bool lists = list_roles(top);
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const line& x = lines_[i];
            if (x.role == outside) {
                top.push_back(x.records);
                continue;
            }
            inside.push_back(x.records);
            const bool goes_on = i + 1 < lines_.size() && lines_[i + 1].role == x.role && choose(70, x.id, 12);
            if (goes_on) continue;
            top.push_back(stated({on(x.role, std::move(inside), x.id)}));
            inside.clear();
        }
        for (int role = 0; lists && role < static_cast<int>(s_.roles.size()); ++role)  // an idle one has its mesh alone
            if (needs_mesh(role) && !contains(met_, role)) top.push_back(stated({on(role, {}, s_.seed)}));
        if (graph_has_mesh() && choose(30, s_.seed, 13)) std::rotate(top.begin(), top.begin() + 1, top.end());
        wrap(top, s_.seed);
        root_ = pool_->stating(keyword::graph, top);
        if (!has_roles(s_)) appeared_ = {0};
    }
    // Now and then the roles are listed, in some order, and always where one is idle.
    bool list_roles(std::vector<statement_descriptor>& top) {
        const int count = static_cast<int>(s_.roles.size());
        bool idle = false;
        for (int role = 0; role < count; ++role) {
            bool used = false;
            for (const line& x : lines_) used = used || x.role == role;
            idle = idle || !used;
        }
        if (!has_roles(s_) || (!idle && !choose(15, s_.seed, 20))) return false;
        std::vector<const descriptor*> names;
        for (int i = 0; i < count; ++i) {
            appeared_.push_back(static_cast<int>((static_cast<word>(i) + drawn(s_.seed, 21)) % static_cast<word>(count)));
            names.push_back(role_names_[static_cast<std::size_t>(appeared_.back())]);
        }
        if (choose(30, s_.seed, 22)) names = {composed(keyword::all, names)};
        top.insert(choose(50, s_.seed, 23) ? top.begin() : top.end(), stated({composed(keyword::roles, names)}));
        return true;
    }
    const descriptor* on(int role, std::vector<statement_descriptor> list, word id) {
        wrap(list, id);
        const bool first = !contains(met_, role);
        if (first) met_.push_back(role);
        if (!contains(appeared_, role)) appeared_.push_back(role);
        // The statements of a role may stand in several places, each with its mesh.
        if (needs_mesh(role) && (first || choose(20, id, 14)))
            list.insert(choose(70, id, 15) ? list.begin() : list.end(), stated({mesh_of(role)}));
        list.insert(list.begin(), stated({role_names_[static_cast<std::size_t>(role)]}));
        return pool_->stating(keyword::on, list);
    }
    // Some of the statements in a group, or as a body repeated; now and then an empty group.
    void wrap(std::vector<statement_descriptor>& list, word id) {
        if (list.empty() || !choose(25, id, 16)) return;
        const std::size_t begin = drawn(id, 17) % list.size(), end = begin + drawn(id, 18) % (list.size() - begin + 1);
        const std::vector<statement_descriptor> participation(list.begin() + static_cast<long>(begin),
                                                              list.begin() + static_cast<long>(end));
        list.erase(list.begin() + static_cast<long>(begin), list.begin() + static_cast<long>(end));
        list.insert(list.begin() + static_cast<long>(begin),
                    stated({pool_->stating(choose(50, id, 19) ? keyword::group : keyword::repeat, participation)}));
    }

    const sketch& s_;
    const std::shared_ptr<record_pool> pool_ = std::make_shared<record_pool>();
    std::vector<const descriptor*> role_names_;
    std::vector<line> lines_;
    std::vector<int> appeared_;  // or in the order of the list
    std::vector<int> met_;       // in an `on`
    const descriptor* root_ = nullptr;
};

// The graph that the library reads, with types; `wrong` tells what it found wrong with it.
inline dv::ir::graph_data emit(const sketch& s) {
    const text written{s};
    s.pool->kept.push_back(written.pool());
    dv::ir::graph_data g = dv::ir::lower(written.root(), s.single_rank);
    if (g.wrong) return g;
    return dv::pass::infer(dv::ir::view(g));
}

// The sketch's roles in order of their first appearance as it is written.
inline std::vector<int> roles_as_written(const sketch& s) { return text{s}.roles(); }

// The same with the widths of open axes, as the executors find them.
inline dv::ir::graph_data with_widths(dv::ir::graph_data g, const sketch& s) {
    for (dv::ir::mesh_axis& m : g.mesh)
        for (const auto& mesh : s.roles)
            for (const dv::ir::mesh_axis& known : mesh)
                if (m.width == 0 && dv::same(g.axes[m.axis].name, axis_name(known.axis))) m.width = known.width;
    return g;
}

}  // namespace support
