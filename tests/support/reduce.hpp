// Makes a failing graph small: tries one cut after the other and keeps those with which it still fails. What a removed
// statement computed becomes an input, so that every cut leaves a valid graph.
#pragma once

#include "sketch.hpp"

#include <dovetail/core/display.hpp>

namespace support {

namespace detail {

// Results become inputs where they are read; updates just vanish. False where that would not be a valid graph.
inline bool remove_statement(sketch& s, int at) {
    const statement n = s.nodes[at];
    s.nodes.erase(s.nodes.begin() + at);
    if (n.update) {
        for (int x : n.results)
            if (x >= 0) s.symbols[x].initialised = true;
        return true;
    }
    for (int x : n.results) {
        if (x < 0) continue;
        dv::ir::symbol& v = s.symbols[x];
        for (const statement& m : s.nodes) {
            const int k = m.op->in_place_only && !m.update ? m.op->in_place : -1;
            if (k >= 0 && m.arguments[k] == x) return false;
        }
        v.kind = dv::ir::symbol_kind::input;
        v.output = false;
        v.node = -1;
    }
    return true;
}

inline bool remove_role(sketch& s, int role) {
    for (const statement& n : s.nodes) {
        if (n.role == role || std::find(n.targets.begin(), n.targets.end(), role) != n.targets.end()) return false;
        for (int a : n.arguments)
            if (s.symbols[a].role == role) return false;
    }
    const auto shift = [role](int& r) { r -= r > role ? 1 : 0; };
    for (statement& n : s.nodes) {
        shift(n.role);
        if (n.role < 0) shift(n.root);
        for (int& t : n.targets) shift(t);
    }
    for (dv::ir::symbol& x : s.symbols) shift(x.role);
    s.roles.erase(s.roles.begin() + role);
    return true;
}

inline bool remove_axis(sketch& s, int axis) {
    for (const statement& n : s.nodes) {
        if (n.axes >> axis & 1u) return false;
        for (int a : n.arguments)
            if (s.symbols[a].index_axis >> axis & 1u) return false;
    }
    bool had = false;
    for (auto& mesh : s.roles)
        for (std::size_t i = 0; i < mesh.size(); ++i)
            if (mesh[i].axis == axis) mesh.erase(mesh.begin() + static_cast<long>(i)), had = true;
    return had;
}

// Values that nobody needs any more become outputs.
inline void mend(sketch& s) {
    std::vector<int> reads(s.symbols.size(), 0);
    for (const statement& n : s.nodes)
        for (int a : n.arguments) ++reads[a];
    for (const statement& n : s.nodes)
        for (int x : n.results)
            if (x >= 0 && !n.update && reads[x] == 0 && !n.op->has_effect) s.symbols[x].output = true;
}

// The cut of this number; false where there is none of that kind here, `more` false past the last.
inline bool cut(sketch& s, int number, bool& more) {
    const int nodes = static_cast<int>(s.nodes.size()), symbols = static_cast<int>(s.symbols.size());
    more = true;
    if (number < nodes) return remove_statement(s, nodes - 1 - number);
    number -= nodes;
    const int roles = static_cast<int>(s.roles.size());
    if (number < roles) return roles > 1 && remove_role(s, number);
    number -= roles;
    if (number < s.axes) return remove_axis(s, number);
    number -= s.axes;
    if (number < symbols) {
        dv::ir::symbol& x = s.symbols[number];
        if (!x.output) return false;
        x.output = false;
        mend(s);
        return !x.output;
    }
    number -= symbols;
    for (statement& n : s.nodes) {
        if (n.kind == dv::op_kind::compute && n.arguments.size() > 0) {
            if (number < static_cast<int>(n.arguments.size())) {
                if (n.op->in_place >= 0 || n.arguments.size() == 1) return false;
                dv::operation* op = s.pool->operation(std::string(dv::spelled(*n.op->name)) + "'");
                const dv::tag* name = op->name;
                *op = *n.op;
                op->name = name;
                --op->arguments;
                n.arguments.erase(n.arguments.begin() + number);
                dv::tensor_type from[8], to[dv::max_results];
                for (std::size_t a = 0; a < n.arguments.size(); ++a) from[a] = s.symbols[n.arguments[a]].type;
                n.op = op;
                const int results = op->infer(from, to);
                if (results > static_cast<int>(n.arguments.size()) && op->infer == like_rule(results)) return false;
                for (int j = 0; j < results; ++j)
                    if (n.results[j] >= 0 && s.symbols[n.results[j]].type != to[j]) return false;
                return true;
            }
            number -= static_cast<int>(n.arguments.size());
        }
        if (number-- == 0) return n.bundle >= 0 && (n.bundle = -1, true);
        if (number-- == 0) return n.nested && (n.nested = false, true);
        if (number-- == 0) {
            if (n.op->workspace == nullptr && n.op->in_place < 0 && !n.op->has_effect) return false;
            dv::operation* op = s.pool->operation(std::string(dv::spelled(*n.op->name)));
            const dv::tag* name = op->name;
            *op = *n.op;
            op->name = name;
            op->workspace = nullptr;
            op->has_workspace = false;
            op->in_place = -1;
            op->in_place_only = op->has_effect = false;
            n.op = op;
            return true;
        }
    }
    if (number-- == 0) return s.runs > 1 && (--s.runs, true);
    if (number-- == 0) return s.settings.in_flight > 1 && (--s.settings.in_flight, true);
    if (number-- == 0) return s.settings.channel_slots > 1 && (--s.settings.channel_slots, true);
    if (number-- == 0) return s.settings.channels != dv::transport::nccl && (s.settings.channels = dv::transport::nccl, true);
    if (number-- == 0) return s.folded && (s.folded = false, true);
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
