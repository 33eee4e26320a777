// Which compute members share one function, and how the operation of each of these functions is called: takes the planned graph, gives
// each member the one that stands for its combination of operation and tensors.
//
// A constant that reads the tables of a plan costs nvcc's front end half a megabyte, so that one evaluation reads them for all calls.
#pragma once

#include "../../plan/planned.hpp"

namespace dovetail::detail {

// Whether two members are one call: the same operation, on tensors of the same types, with results in the same places. Operations made of
// lambdas can be spelled alike (g++), so the operations are compared themselves; last, since with -fsanitize=undefined g++ does not compare
// addresses that differ in constant expressions.
constexpr bool are_one_call(const ir::graph& g, const ir::program& p, const ir::member& m, const ir::participation& of_m,
                            const ir::member& n, const ir::participation& of_n) {
    if (!same(m.op->name, n.op->name) || of_m.accesses != of_n.accesses) return false;
    if (g.nodes[m.node].update != g.nodes[n.node].update || g.nodes[m.node].arguments != g.nodes[n.node].arguments) return false;
    for (int i = 0; i < of_m.accesses; ++i) {
        const ir::access &a = p.accesses[of_m.first_access + i], &b = p.accesses[of_n.first_access + i];
        if (a.mode != b.mode || ir::type_of(p, a) != ir::type_of(p, b)) return false;
    }
    return m.op == n.op;
}

// The number of each member's combination of operation and tensors, in the order in which they first occur; -1: nothing to call.
constexpr vec<int> number_combinations(const ir::graph& g, const ir::program& p) {
    vec<int> participation_at(p.members.size(), -1);
    for (int i = 0; i < p.participations.size(); ++i) participation_at[p.participations[i].member] = i;
    const auto part = [&](int m) -> const ir::participation& { return p.participations[participation_at[m]]; };
    vec<int> number(p.members.size(), -1);
    vec<int> first;  // the first member of each
    for (int m = 0; m < p.members.size(); ++m) {
        if (p.members[m].kind != op_kind::compute) continue;
        for (int c = 0; c < first.size() && number[m] < 0; ++c)
            if (are_one_call(g, p, p.members[m], part(m), p.members[first[c]], part(first[c]))) number[m] = c;
        if (number[m] >= 0) continue;
        number[m] = first.size();
        first.push(m);
    }
    return number;
}

// One view that an operation is passed.
struct passed_view {
    int access = 0;  // of the participation: where its pointer stands
    access_mode mode = access_mode::read;
    tensor_type type = {};
};
// How the operation of a compute member is called: source positions, and views in the order of its parameters.
template <int MostViews>
struct operation_call {
    int operation = -1, statement = -1;
    // An argument that is changed in place is one view, inout.
    fixed<passed_view, MostViews> views;
    // Or it is a view that is read, and the result another view behind the arguments; empty: the operation does not declare that.
    fixed<passed_view, MostViews> beside;
};

constexpr int most_accesses(const ir::program& p) {
    int most = 0;
    for (const ir::participation& x : p.participations)
        if (x.accesses > most) most = x.accesses;
    return most;
}
// Whether the only result of an update is its argument number `op->in_place`, and no argument before that.
constexpr bool changes_declared_argument(const ir::graph& g, const ir::node& n) {
    if (!n.update || n.results != 1 || n.op->in_place < 0) return false;
    int first = 0;
    while (first < n.arguments && g.operands[n.first_argument + first] != g.operands[n.first_result]) ++first;
    return first == n.op->in_place;
}
template <class Call>
constexpr void add_views(Call& call, const ir::graph& g, const ir::program& p, const ir::participation& part, const ir::node& n) {
    // An operation that works in place only gets the argument that it changes once, and not as a result too.
    const int changed = n.op->in_place_only && !n.update ? (n.op->in_place < 0 ? 0 : n.op->in_place) : -1;
    for (int i = 0; i < part.accesses; ++i) {
        const ir::access& a = p.accesses[part.first_access + i];
        const passed_view view{i, i == changed ? access_mode::update : a.mode, ir::type_of(p, a)};
        const bool workspace = !view.type.valid(), merged = changed >= 0 && i == n.op->arguments;
        if (!workspace && !merged) call.views[call.views.count++] = view;
    }
    if (!changes_declared_argument(g, n)) return;
    for (int i = 0; i <= n.arguments; ++i) {
        const int access = i < n.arguments ? i : n.op->in_place;
        call.beside[call.beside.count++] = {access, i < n.arguments ? access_mode::read : access_mode::write,
                                            ir::type_of(p, p.accesses[part.first_access + access])};
    }
}

// How the operation of each combination is called.
template <class Calls>
constexpr Calls calls_of(const ir::graph& g, const ir::program& p, const int* combination_of) {
    Calls calls{};
    for (auto& call : calls) call.views.count = call.beside.count = 0;
    for (const ir::participation& part : p.participations) {
        const int c = combination_of[part.member];
        if (c < 0 || calls[c].operation >= 0) continue;
        const ir::node& n = g.nodes[p.members[part.member].node];
        calls[c].operation = n.source_position + 1;
        calls[c].statement = n.statement;
        add_views(calls[c], g, p, part, n);
    }
    return calls;
}

template <class G, class O>
struct combinations {
    using planned = plan::planned<G, O>;
    static constexpr int members = planned::program.members.size();
    static constexpr fixed<int, members> numbers() {
        fixed<int, members> f{};
        const vec<int> list = number_combinations(planned::graph, planned::program);
        copy_elements(list, f);
        return f;
    }
    static constexpr fixed<int, members> of = numbers();
    static constexpr int counted() {
        int n = 0;
        for (const int c : of)
            if (c >= n) n = c + 1;
        return n;
    }
    static constexpr int count = counted();

    using call = operation_call<most_accesses(planned::program) + 1>;
    static constexpr fixed<call, count> calls = calls_of<fixed<call, count>>(planned::graph, planned::program, of.begin());
};

}  // namespace dovetail::detail
