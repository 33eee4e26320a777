// Keys of a profile: of the work of a task, whatever the plan, the rewrites and the rest of the graph; of such work of any size; and of a
// graph as written. They are the same on every compiler, so of an operation's name they contain only the part that all compilers spell
// alike.
#pragma once

#include "../collective/table.hpp"
#include "../core/hasher.hpp"
#include "../ir/program.hpp"
#include "declared_facts.hpp"
#include "extent.hpp"

namespace dovetail::cost_model {

namespace detail {

// The name of a type without namespaces and template arguments.
constexpr letters plain_name(const tag& t) {
    const char* const p = t.spelling.first;
    int begin = 0, end = t.spelling.size, depth = 0;
    for (int i = 0; i < t.spelling.size; ++i) {
        if (p[i] == '<' && depth++ == 0) end = i;
        if (p[i] == '>') --depth;
        if (depth > 0 || (p[i] != ':' && p[i] != ' ')) continue;
        begin = i + 1;
        end = t.spelling.size;
    }
    return {p + begin, end - begin};
}

constexpr void add_name(dovetail::detail::hasher& h, const tag& t) {
    const letters name = plain_name(t);
    for (int i = 0; i < name.size; ++i) h(static_cast<unsigned char>(name.first[i]));
}

// The operation of a node, and the types of its arguments and results or, for any size, their elements.
template <class Graph>
constexpr void add_node(dovetail::detail::hasher& h, const Graph& g, const ir::node& n, bool any_size = false) {
    h.all(n.kind, n.arguments, n.results);
    add_name(h, *n.op->name);
    const auto add_types = [&](int first, int count) {
        for (int i = first; i < first + count; ++i)
            if (const int symbol = g.operands.first[i]; symbol >= 0) {
                const tensor_type& type = g.symbols.first[symbol].type;
                any_size ? h.all(type.type) : h(type);
            }
    };
    add_types(n.first_argument, n.arguments);
    add_types(n.first_result, n.results);
}

}  // namespace detail

// The same for graphs of the same operations on the same tensors, whatever the order and the names of values.
template <class Graph>
constexpr std::uint64_t graph_key(const Graph& g) {
    std::uint64_t sum = 0;
    for (const ir::node& n : g.nodes) {
        dovetail::detail::hasher h;
        detail::add_node(h, g, n);
        sum += (h.h ^ h.h >> 29) * 0x9e3779b97f4a7c15ull;
    }
    return sum;
}

template <class Graph, class Program>
class work_keys {
public:
    constexpr work_keys(const Graph& g, const Program& p, const plan_options& s) : g_{g}, p_{p}, s_{s}, declared_{g} {}

    constexpr std::uint64_t of(const ir::task& v) { return of(v, false); }
    constexpr std::uint64_t of_any_size(const ir::task& v) { return of(v, true); }
    // The work of one member of a task, as that of a task of its own.
    constexpr std::uint64_t of_member(const ir::task& v, int member, bool any_size = false) {
        const ir::member& m = p_.members.first[member];
        dovetail::detail::hasher h;
        if (m.kind == op_kind::compute && m.node >= 0)
            add_computation(h, g_.nodes.first[m.node], any_size);
        else
            add_communication(h, v, member, any_size);
        return h.h;
    }

private:
    constexpr std::uint64_t of(const ir::task& v, bool any_size) {
        if (v.members == 1) return of_member(v, v.first_member, any_size);
        dovetail::detail::hasher h;
        for (int m = v.first_member, last = m + v.members; m < last; ++m) h(of_member(v, m, any_size));
        return h.h;
    }
    constexpr void add_computation(dovetail::detail::hasher& h, const ir::node& n, bool any_size) {
        detail::add_node(h, g_, n, any_size);
        if (!n.op->has_work || any_size) return;
        const cost work = declared_.work(*n.op, n);
        h.all(work.flops, work.bytes, work.arithmetic);
    }
    // The kind, the transport, the ranks and the bytes: also of copies.
    constexpr void add_communication(dovetail::detail::hasher& h, const ir::task& v, int member, bool any_size) {
        const ir::member& m = p_.members.first[member];
        const extent ranks = is_communication(m.kind) && !m.local ? extent_of(g_, p_, m, s_) : extent{};
        h.all(m.kind, v.moved_by, ranks.local, ranks.nodes);
        if (any_size) return;
        for (int i = v.first_participation, end = i + v.participations; i < end; ++i) {
            const ir::participation& x = p_.participations.first[i];
            if (x.member != member) continue;
            for (int a = x.first_access, last = a + x.accesses; a < last; ++a)
                h(static_cast<std::uint64_t>(ir::bytes_of(p_, p_.accesses.first[a])));
        }
    }

    const Graph& g_;
    const Program& p_;
    const plan_options& s_;
    declared_facts<Graph> declared_;
};

}  // namespace dovetail::cost_model
