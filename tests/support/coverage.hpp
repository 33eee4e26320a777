// Counts the features of the random graphs of a test, by name, so that a feature that the generator no longer draws is noticed.
#pragma once

#include "sketch.hpp"

#include <dovetail/plan/plan.hpp>

#include <cstdio>
#include <map>
#include <set>

namespace support {

class coverage {
public:
    coverage() {
        using enum dv::op_kind;
        for (int e = 1; e <= static_cast<int>(dv::element::uint64); ++e) see(element(static_cast<dv::element>(e)), false);
        for (int r = 1; r <= static_cast<int>(dv::reduction::average); ++r) see(reduction(static_cast<dv::reduction>(r)), false);
        for (const dv::collective::row& row : dv::collective::table)
            if (row.kind != input && row.kind != transfer && row.kind != local_reduce) see(operation(row.kind), false);
    }
    void graph(const sketch& s) {
        const int roles = static_cast<int>(s.roles.size());
        see("roles: 8 and more", roles >= 8);
        see("roles: 32", roles == 32);
        see("ranks: 64 and more", ranks_of(s) >= 64);
        see("ranks: 128", ranks_of(s) == 128);
        see("an open width", s.open_axes != 0);
        see("an axis over the network", s.network_axes != 0);
        see("roles connected by the network", roles > 1 && s.plan_options.between_roles == dv::link::network);
        see("inputs from the host", s.plan_options.host_inputs.count > 0);
        see("runs at short intervals", s.plan_options.objective == dv::objective_kind::interval && s.plan_options.in_flight > 1);
        see("links of pairs of GPUs", roles > 1 && s.plan_options.machine.links);
        see("roles in the order of links", roles > 1 && s.plan_options.roles_by_links);
        see("an output to finish first", s.plan_options.objective == dv::objective_kind::finish);
        see("one role with a name", roles == 1 && s.named_roles);
        see("single_rank", s.single_rank);
        for (int role = 0; role < roles; ++role) {
            bool used = false;
            for (const statement& n : s.nodes) {
                used = used || n.role == role || contains(n.targets, role);
                for (const int a : n.arguments) used = used || s.symbols[static_cast<std::size_t>(a)].role == role;
            }
            see("an idle role", !used);
            see("an idle role of several ranks", !used && width_of(s, role, ~0u) > 1);
        }
        see("in flight: 8, and more runs", s.plan_options.in_flight == 8 && s.runs > 8);
        see("channel slots: 4", s.plan_options.channel_slots == 4);
        see("256 operations and more", s.nodes.size() >= 256);
        int axes = 0, widest = 0;
        bool mixed = false;
        for (const auto& mesh : s.roles) {
            int own = 0;
            for (const auto& m : mesh) own += m.width > 1, widest = std::max(widest, m.width);
            axes = std::max(axes, own);
            mixed = mixed || mesh.size() != s.roles[0].size() || own_width(mesh) != own_width(s.roles[0]);
        }
        see("axes: 4", axes == 4);
        see("a width of 8", widest == 8);
        see("roles of unequal meshes", mixed);
        std::map<const dv::operation*, std::vector<dv::tensor_type>> used;
        for (const statement& n : s.nodes) statement_of(s, n, used);
        std::set<dv::element> elements;
        bool scalars = false, two_extents = false;
        for (const symbol& x : s.symbols) {
            elements.insert(x.type.type);
            scalars = scalars || (x.type.rank == 0 && x.index_axis < 0);
            two_extents = two_extents || x.type.rank == 2;
            const bool bound = x.kind == dv::ir::symbol_kind::input || x.kind == dv::ir::symbol_kind::state;
            see(element(x.type.type), true);
            see("replicated", bound && x.replicated != 0);
            see("from_store", x.from_store);
            see("a state that is overwritten first", x.kind == dv::ir::symbol_kind::state && !x.initialised);
            see("an input in host memory on every role", x.kind == dv::ir::symbol_kind::input && x.in_host_memory && x.role < 0);
        }
        see("scalars", scalars);
        see("two extents", two_extents);
        see("three element types, scalars and two extents in one graph", elements.size() >= 3 && scalars && two_extents);
    }
    void plan(const dv::ir::program& p, bool limited, bool fits) {
        see("a memory limit that is kept", limited && fits);
        see("a memory limit that no plan keeps", limited && !fits);
        see("512 buffers and more", p.buffers.size() >= 512);
        see("a copy over other roles", has_relay(p));
        for (const dv::ir::buffer& b : p.buffers) {
            if (b.alias < 0) continue;
            see("in place on an equal type", b.type == p.buffers[b.alias].type);
            see("in place on an unequal type", b.type != p.buffers[b.alias].type);
        }
    }
    void see(const std::string& what, bool seen) { times_[what] += seen ? 1 : 0; }

    // The features that were never drawn; prints all counts.
    int missing() const {
        int none = 0;
        for (const auto& [what, n] : times_) {
            std::printf("%10ld  %s\n", n, what.c_str());
            none += n == 0;
        }
        return none;
    }

private:
    // Whether a role sends on what a transfer has brought to it.
    static bool has_relay(const dv::ir::program& p) {
        std::vector<bool> brought(static_cast<std::size_t>(p.buffers.size()), false);
        for (const dv::ir::task& v : p.tasks) {
            if (v.kind != dv::op_kind::transfer) continue;
            for (const dv::ir::participation& x : p.participations.subspan(v.first_participation, v.participations)) {
                const dv::ir::access& a = p.accesses[x.first_access];
                const std::size_t buffer = static_cast<std::size_t>(a.buffer);
                if (a.mode == dv::access_mode::read && brought[buffer]) return true;
                if (a.mode == dv::access_mode::write) brought[buffer] = true;
            }
        }
        return false;
    }
    static std::string element(dv::element e) { return std::string("element: ") + dv::name_of(e); }
    static std::string reduction(dv::reduction r) { return std::string("reduction: ") + dv::name_of(r); }
    static std::string operation(dv::op_kind k) { return std::string("operation: ") + dv::name_of(k); }
    static int own_width(const std::vector<dv::ir::mesh_axis>& mesh) {
        int n = 1;
        for (const auto& m : mesh) n *= m.width;
        return n;
    }
    void statement_of(const sketch& s, const statement& n, std::map<const dv::operation*, std::vector<dv::tensor_type>>& used) {
        using enum dv::op_kind;
        const auto type_of = [&](int x) { return s.symbols[static_cast<std::size_t>(x)].type; };
        see(operation(n.kind), true);
        if (n.reduce != dv::reduction::none) see(reduction(n.reduce), true);
        if (n.role >= 0 && dv::is_collective(n.kind)) {
            unsigned all = 0;
            for (const auto& m : s.roles[static_cast<std::size_t>(n.role)]) all |= 1u << m.axis;
            see("a collective along some of the axes", n.axes != all);
            see("a collective along two axes and more", (n.axes & (n.axes - 1)) != 0);
        }
        if (over_roles(n)) {
            see("over roles: from one that gets nothing", (n.kind == broadcast || n.kind == scatter) && !contains(n.targets, n.root));
            see("over few of many roles", s.roles.size() >= 8 && n.arguments.size() + n.targets.size() <= 8);
            if (n.kind == reduce || n.kind == gather)
                for (const statement& m : s.nodes)
                    see("over roles: read at its root", contains(m.arguments, n.results[0]) && m.role == n.root);
        }
        if (n.role >= 0 && (n.kind == reduce || n.kind == gather))
            see("along axes: a root's output", s.symbols[static_cast<std::size_t>(n.results[0])].output);
        see("an edge of zeros", n.kind == shift && n.zero_edge);
        if (n.kind == permute) {
            const int width = width_of(s, n.role, n.axes);
            see("a permute of all positions", static_cast<int>(n.pairs.size()) == width && width > 1);
            see("a permute that leaves zeros", static_cast<int>(n.pairs.size()) < width);
            see("a permute into a state", n.update);
        }
        see("in an NCCL group", n.nccl_group_id >= 0);
        see("an update in an NCCL group", n.nccl_group_id >= 0 && n.update);
        see("nested", n.nested);
        see("an update by communication", n.update && dv::is_communication(n.kind));
        see("an update with a discarded result", n.update && contains(n.results, -1));
        for (const int x : n.awaited) {
            const symbol& y = s.symbols[static_cast<std::size_t>(x)];
            see("after a value", y.kind == dv::ir::symbol_kind::value);
            see("after an input", y.kind == dv::ir::symbol_kind::input);
            see("after a state", y.kind == dv::ir::symbol_kind::state);
            see("after another role's value", n.role >= 0 && y.role >= 0 && y.role != n.role);
            see("after a value: over roles", over_roles(n));
            see("after a value: along axes", n.role >= 0 && dv::is_communication(n.kind));
            see("after a value: in an NCCL group", n.nccl_group_id >= 0);
            see("after a value: an update", n.update);
            see("after two values", n.awaited.size() > 1);
        }
        if (n.kind != compute) return;
        see("more than three arguments", n.arguments.size() > 3);
        see("no arguments", n.arguments.empty());
        see("more than eight results", n.results.size() > 8);
        bool none = true;
        for (const int x : n.results) none = none && x < 0;
        see("all results discarded", none);
        see("in place at another argument", n.op->in_place > 0);
        see("in place only", n.op->in_place_only);
        if (!n.arguments.empty()) {
            auto& types = used[n.op];
            see("one operation on two types", !types.empty() && types[0] != type_of(n.arguments[0]));
            types.push_back(type_of(n.arguments[0]));
        }
        views(s, n);
        for (const int a : n.arguments) see("an axis index as argument", s.symbols[static_cast<std::size_t>(a)].index_axis >= 0);
        see("workspace that depends on arguments", n.op->workspace == workspace_like);
    }

    void views(const sketch& s, const statement& n) {
        const auto makes = [&](int x) -> const statement* {
            for (const statement& m : s.nodes)
                if (!m.update && contains(m.results, x)) return &m;
            return nullptr;
        };
        const auto is = [&](int x, dv::view_kind view) { return makes(x) != nullptr && makes(x)->op->view == view; };
        see("a value made of parts", n.op->view == dv::view_kind::concat);
        if (n.op->view == dv::view_kind::concat)
            for (const int x : n.arguments) {
                bool alone = false;
                for (const statement& m : s.nodes) alone = alone || (&m != &n && contains(m.arguments, x));
                see("a part that is read alone", alone);
                see("a part made by communication", makes(x)->kind != dv::op_kind::compute);
                see("a part made of parts", is(x, dv::view_kind::concat));
            }
        if (n.op->view != dv::view_kind::rows) return;
        const int x = n.arguments[0];
        const dv::ir::symbol_kind kind = s.symbols[static_cast<std::size_t>(x)].kind;
        see("rows of a value", kind == dv::ir::symbol_kind::value);
        see("rows of an input", kind == dv::ir::symbol_kind::input);
        see("rows of a state", kind == dv::ir::symbol_kind::state);
        see("rows of a value made of parts", is(x, dv::view_kind::concat));
        see("rows in host memory", s.symbols[static_cast<std::size_t>(x)].in_host_memory);
        for (const statement& m : s.nodes) {
            if (!contains(m.arguments, n.results[0])) continue;
            see("rows of another role's value",
                m.role >= 0 && s.symbols[static_cast<std::size_t>(x)].role >= 0 && m.role != s.symbols[static_cast<std::size_t>(x)].role);
            see("rows given to a collective along axes", m.role >= 0 && dv::is_collective(m.kind));
            see("rows given to a collective over roles", m.role < 0);
        }
    }

    std::map<std::string, long> times_;
};

}  // namespace support
