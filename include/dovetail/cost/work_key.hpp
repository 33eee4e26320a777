// Keys of a profile: of the work of a task, whatever the plan, the rewrites and the rest of the graph; and of a graph as written. They are
// the same on every compiler, so of an operation's name they contain only the part that all compilers spell alike. The upper half of a
// work's key is the same for all sizes.
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

template <class Graph, class F>
constexpr void for_each_type(const Graph& g, const ir::node& n, F f) {
    const auto each = [&](int first, int count) {
        for (int i = first; i < first + count; ++i)
            if (const int symbol = g.operands.first[i]; symbol >= 0) f(g.symbols.first[symbol].type);
    };
    each(n.first_argument, n.arguments);
    each(n.first_result, n.results);
}
// The operation of a node, and the elements of its arguments and results ...
template <class Graph>
constexpr void add_operation(dovetail::detail::hasher& h, const Graph& g, const ir::node& n) {
    h.all(n.kind, n.arguments, n.results);
    add_name(h, *n.op->name);
    for_each_type(g, n, [&h](const tensor_type& t) { h.all(t.type); });
}
// ... and their types.
template <class Graph>
constexpr void add_types(dovetail::detail::hasher& h, const Graph& g, const ir::node& n) {
    for_each_type(g, n, [&h](const tensor_type& t) { h(t); });
}

}  // namespace detail

// The same for graphs of the same operations on the same tensors, whatever the order and the names of values.
template <class Graph>
constexpr std::uint64_t graph_key(const Graph& g) {
    std::uint64_t sum = 0;
    for (const ir::node& n : g.nodes) {
        dovetail::detail::hasher h;
        detail::add_operation(h, g, n);
        detail::add_types(h, g, n);
        sum += (h.h ^ h.h >> 29) * 0x9e3779b97f4a7c15ull;
    }
    return sum;
}

template <class Graph, class Program>
class work_keys {
public:
    constexpr work_keys(const Graph& g, const Program& p, const plan_options& s) : g_{g}, p_{p}, s_{s}, declared_{g} {}

    constexpr std::uint64_t of(const ir::task& v) {
        if (v.members == 1) return of_member(v, v.first_member);
        dovetail::detail::hasher kinds, sizes;
        for (int m = v.first_member, last = m + v.members; m < last; ++m) {
            const std::uint64_t key = of_member(v, m);
            kinds(key >> 32);
            sizes(key);
        }
        return joined(kinds, sizes);
    }
    // The work of one member of a task, as that of a task of its own.
    constexpr std::uint64_t of_member(const ir::task& v, int member) {
        const ir::member& m = p_.members.first[member];
        const bool computes = m.kind == op_kind::compute && m.node >= 0;
        dovetail::detail::hasher h;
        computes ? detail::add_operation(h, g_, g_.nodes.first[m.node]) : add_movement(h, v, m);
        const dovetail::detail::hasher kind = h;
        computes ? add_sizes(h, g_.nodes.first[m.node]) : add_bytes(h, v, member);
        return joined(kind, h);
    }

private:
    static constexpr std::uint64_t joined(const dovetail::detail::hasher& kind, const dovetail::detail::hasher& sized) {
        return kind.h >> 32 << 32 | sized.h >> 32;
    }
    constexpr void add_sizes(dovetail::detail::hasher& h, const ir::node& n) {
        detail::add_types(h, g_, n);
        if (!n.op->has_work) return;
        const cost work = declared_.work(*n.op, n);
        h.all(work.flops, work.bytes, work.arithmetic);
    }
    // The kind, the transport and the ranks, also of copies, and of what makes one block for each rank ...
    constexpr void add_movement(dovetail::detail::hasher& h, const ir::task& v, const ir::member& m) {
        const bool among_ranks = is_communication(m.kind) || ir::has_own_block_in_place(m);
        const extent ranks = among_ranks && !m.local ? extent_of(g_, p_, m, s_) : extent{};
        h.all(m.kind, v.moved_by, ranks.local, ranks.nodes);
    }
    // ... and the bytes.
    constexpr void add_bytes(dovetail::detail::hasher& h, const ir::task& v, int member) {
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
