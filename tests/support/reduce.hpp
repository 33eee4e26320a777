// Reduces a failing graph: tries one cut after the other and keeps those after which it still fails. The results of a removed statement
// become inputs, so that nearly every cut leaves a valid graph.
#pragma once

#include "sketch.hpp"

#include <dovetail/collective/shape.hpp>
#include <dovetail/core/display.hpp>

namespace support {

namespace detail {

// Results become inputs where they are read; updates just vanish. False where that would not be a valid graph.
inline bool remove_statement(sketch& s, int at) {
    const statement n = s.nodes[static_cast<std::size_t>(at)];
    for (const int x : n.results)
        for (const statement& m : s.nodes)
            if (x >= 0 && !n.update && m.op->in_place_only && !m.update &&
                m.arguments[static_cast<std::size_t>(std::max(m.op->in_place, 0))] == x)
                return false;
    s.nodes.erase(s.nodes.begin() + at);
    for (const int x : n.results) {
        if (x < 0) continue;
        symbol& v = s.symbols[static_cast<std::size_t>(x)];
        v.initialised = v.initialised || n.update;
        if (n.update) continue;
        v.kind = dv::ir::symbol_kind::input;
        v.output = false;
    }
    return true;
}

inline bool remove_role(sketch& s, int role) {
    for (const statement& n : s.nodes) {
        if (n.role == role || contains(n.targets, role)) return false;
        for (const auto* list : {&n.arguments, &n.awaited})
            for (const int a : *list)
                if (s.symbols[static_cast<std::size_t>(a)].role == role) return false;
    }
    const auto shift = [role](int& r) { r -= r > role ? 1 : 0; };
    for (statement& n : s.nodes) {
        if (n.role < 0) shift(n.root);
        shift(n.role);
        for (int& t : n.targets) shift(t);
    }
    for (symbol& x : s.symbols) {
        if (x.role == role) x.role = 0;  // nothing mentions it
        shift(x.role);
    }
    s.roles.erase(s.roles.begin() + role);
    return true;
}

inline bool remove_axis(sketch& s, int axis) {
    for (const statement& n : s.nodes) {
        if (n.axes >> axis & 1u) return false;
        for (const int a : n.arguments)
            if (s.symbols[static_cast<std::size_t>(a)].index_axis == axis) return false;
    }
    bool had = false;
    for (auto& mesh : s.roles)
        for (std::size_t i = 0; i < mesh.size(); ++i)
            if (mesh[i].axis == axis) mesh.erase(mesh.begin() + static_cast<long>(i)), had = true;
    for (symbol& x : s.symbols) x.replicated &= ~(1u << axis);
    return had;
}

// Axes get narrower, where no shape depends on it.
inline bool narrow_axis(sketch& s, int axis) {
    using enum dv::op_kind;
    for (const statement& n : s.nodes)
        if ((n.axes >> axis & 1u) != 0 && (dv::collective::needs_width(dv::collective::of(n.kind)) || n.root > 0 || n.kind == permute))
            return false;
    bool narrower = false;
    for (auto& mesh : s.roles)
        for (auto& m : mesh)
            if (m.axis == axis && m.width > 1) --m.width, narrower = true;
    return narrower;
}

// Values without readers become outputs.
inline void mend(sketch& s) {
    std::vector<int> reads(s.symbols.size(), 0);
    for (std::size_t i = s.nodes.size(); i-- > 0;) {  // rows stand in front of those that read them
        const statement& n = s.nodes[i];
        if (n.op->view == dv::view_kind::rows && reads[static_cast<std::size_t>(n.results[0])] == 0)
            s.nodes.erase(s.nodes.begin() + static_cast<long>(i));
        else
            for (const auto* list : {&n.arguments, &n.awaited})
                for (const int a : *list) ++reads[static_cast<std::size_t>(a)];
    }
    for (const statement& n : s.nodes)
        for (const int x : n.results)
            if (x >= 0 && !n.update && reads[static_cast<std::size_t>(x)] == 0 && !n.op->has_effect)
                s.symbols[static_cast<std::size_t>(x)].output = true;
}

inline dv::operation* copy_of(sketch& s, const dv::operation& from) {
    dv::operation* op = s.pool->operation(std::string(dv::spelled(*from.name)) + "'");
    const dv::tag* name = op->name;
    *op = from;
    op->name = name;
    return op;
}

// Without one of its arguments, where its results stay what they are.
inline bool remove_argument(sketch& s, statement& n, int at) {
    if (n.op->in_place >= 0 || n.op->in_place_only || n.update || n.op->workspace == workspace_like || n.arguments.size() == 1)
        return false;
    dv::operation* op = copy_of(s, *n.op);
    --op->arguments;
    n.arguments.erase(n.arguments.begin() + at);
    n.op = op;
    std::vector<dv::tensor_type> from(static_cast<std::size_t>(most_arguments + dv::max_results)), to(dv::max_results);
    for (std::size_t a = 0; a < n.arguments.size(); ++a) from[a] = s.symbols[static_cast<std::size_t>(n.arguments[a])].type;
    const int results = op->infer(from.data(), to.data());
    for (int j = 0; j < results; ++j)
        if (n.types[static_cast<std::size_t>(j)] != to[static_cast<std::size_t>(j)]) return false;
    return true;
}
inline bool remove_facts(sketch& s, statement& n) {
    if (n.kind != dv::op_kind::compute || (n.op->workspace == nullptr && n.op->in_place < 0 && !n.op->in_place_only && !n.op->has_effect))
        return false;
    dv::operation* op = copy_of(s, *n.op);
    op->workspace = nullptr;
    op->has_workspace = op->in_place_only = op->has_effect = false;
    op->in_place = -1;
    n.op = op;
    return true;
}

// The cut of this number; false where there is none of that kind here, `more` false past the last.
inline bool cut(sketch& s, int number, bool& more) {
    const int nodes = static_cast<int>(s.nodes.size()), symbols = static_cast<int>(s.symbols.size()),
              roles = static_cast<int>(s.roles.size());
    more = true;
    if (number < nodes) return remove_statement(s, nodes - 1 - number);
    number -= nodes;
    if (number < roles) return roles > 1 && remove_role(s, number);
    number -= roles;
    if (number < s.axes) return remove_axis(s, number);
    number -= s.axes;
    if (number < s.axes) return narrow_axis(s, number);
    number -= s.axes;
    if (number < symbols) {
        symbol& x = s.symbols[static_cast<std::size_t>(number)];
        if (!x.output) return false;
        x.output = false;
        mend(s);
        return !x.output;
    }
    number -= symbols;
    for (statement& n : s.nodes) {
        const int arguments = n.kind == dv::op_kind::compute ? static_cast<int>(n.arguments.size()) : 0;
        if (number < arguments) return remove_argument(s, n, number);
        number -= arguments;
        if (number-- == 0) return n.nccl_group_id >= 0 && (n.nccl_group_id = -1, true);
        if (number-- == 0) return n.nested && (n.nested = false, true);
        if (number-- == 0) return remove_facts(s, n);
        if (number-- == 0) return !n.awaited.empty() && (n.awaited.pop_back(), mend(s), true);
    }
    if (number-- == 0) return s.runs > 1 && (--s.runs, true);
    if (number-- == 0) return s.plan_options.in_flight > 1 && (--s.plan_options.in_flight, true);
    if (number-- == 0) return s.plan_options.channel_slots > 1 && (--s.plan_options.channel_slots, true);
    if (number-- == 0) return s.plan_options.channels != dv::transport::nccl && (s.plan_options.channels = dv::transport::nccl, true);
    if (number-- == 0) return s.plan_options.roles_by_links && (s.plan_options.roles_by_links = false, true);
    if (number-- == 0) return s.plan_options.machine.links && (s.plan_options.machine.links = {}, true);
    if (number-- == 0) return s.limit > 0 && (s.limit = 0, true);
    if (number-- == 0) return s.open_axes != 0 && (s.open_axes = 0, true);
    if (number-- == 0) return s.single_rank && (s.single_rank = false, true);
    more = false;
    return false;
}

}  // namespace detail

// `fails` takes a sketch. Gives the smallest found in `attempts` tries.
template <class Fails>
sketch reduced(sketch s, Fails fails, int attempts = 4000) {
    for (bool smaller = true; smaller && attempts > 0;) {
        smaller = false;
        bool more = true;
        for (int number = 0; more && attempts > 0; ++number) {
            sketch candidate = s;
            if (!detail::cut(candidate, number, more)) continue;
            detail::mend(candidate);
            if (candidate.nodes.empty()) continue;
            --attempts;
            if (!fails(candidate)) continue;
            s = std::move(candidate);
            smaller = true;
            --number;
        }
    }
    return s;
}

}  // namespace support
