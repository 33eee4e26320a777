// Random graphs of several roles without meshes, whose operations are row-wise, as row_values.hpp evaluates them: values cross from role to
// role, by themselves and by collectives over roles. Some of their statements stand in a split.
#pragma once

#include "random_rows.hpp"

namespace support {

class random_roles {
public:
    // `blocks`: of the split; 0: there is none.
    random_roles(word seed, int blocks) : r_{mix(seed)} {
        const int roles = r_.between(2, 4), statements = r_.between(4, 12);
        for (int role = 0; role < roles; ++role) {
            graph.roles.push({names_.tag("role" + std::to_string(role)), 0, 0});
            dv::ir::symbol x;
            x.kind = dv::ir::symbol_kind::input;
            x.type = {dv::element::uint64, 2, {16, 32}};
            add(x, role);
        }
        const int first = r_.below(statements), last = r_.between(first, statements - 1);
        if (blocks > 0) graph.regions.push({dv::rewrite::split, blocks});
        for (int i = 0; i < statements; ++i) {
            region_ = blocks > 0 && i >= first && i <= last ? 0 : -1;
            r_.chance(40) ? collective() : compute(r_.below(roles));
        }
        region_ = -1;
        for (int role = 0; role < roles; ++role)  // each has a statement, and each input is read
            push(row_wise_operation(names_, graph.nodes.size(), 1, dv::elementwise(), 1), dv::op_kind::compute, role, {read(role)}, {});
        for (dv::ir::symbol& s : graph.symbols)
            if (s.kind == dv::ir::symbol_kind::value && (!read_[static_cast<std::size_t>(&s - graph.symbols.begin())] || r_.chance(15)))
                s.output = true;
        graph = dv::pass::infer(dv::ir::view(graph));
    }
    dv::ir::graph_data graph;

private:
    void add(dv::ir::symbol s, int role) {
        s.role = role;
        graph.symbols.push(s);
        read_.push_back(false);
    }
    int read(int symbol) { return read_[static_cast<std::size_t>(symbol)] = true, symbol; }

    // A value that a role can read: what a reduce has made is on its root alone.
    int for_role(int role) {
        const int s = r_.below(graph.symbols.size()), made_by = graph.symbols[s].node;
        const bool elsewhere = made_by >= 0 && graph.nodes[made_by].kind == dv::op_kind::reduce && graph.nodes[made_by].root != role;
        return elsewhere ? role : s;
    }
    void compute(int role) {
        std::vector<int> arguments;
        for (int a = r_.between(1, 3); a > 0; --a) arguments.push_back(read(for_role(role)));
        const dv::row_wise_extents by = arguments.size() == 1 ? dv::by_rows(0)
                                        : r_.chance(30)       ? dv::by_rows(0, 1)  // a third one as a whole
                                                              : dv::elementwise();
        push(row_wise_operation(names_, graph.nodes.size(), static_cast<int>(arguments.size()), by, 1), dv::op_kind::compute, role,
             arguments, {});
    }
    // A value of each of some roles; those that collectives over roles have made belong to none.
    std::vector<int> one_of_each_role() {
        std::vector<int> list, taken;
        for (int tries = 0; tries < 8; ++tries) {
            const int s = r_.below(graph.symbols.size()), role = graph.symbols[s].role;
            if (role < 0 || std::find(taken.begin(), taken.end(), role) != taken.end()) continue;
            taken.push_back(role);
            list.push_back(s);
        }
        return list;
    }
    void collective() {
        using enum dv::op_kind;
        std::vector<int> from = one_of_each_role(), roles;
        for (const int s : from) roles.push_back(graph.symbols[s].role);
        if (from.size() < 2) return this->compute(0);
        const dv::op_kind kind = r_.one_of(std::vector{all_reduce, reduce, broadcast});
        if (kind == broadcast) {
            if (r_.chance(50)) roles.erase(roles.begin());  // the sender does not receive
            from.resize(1);
        }
        if (kind == reduce) roles = {r_.one_of(roles)};
        for (const int s : from) read(s);
        push(&moves_, kind, -1, from, roles);
    }
    void push(const dv::operation* op, dv::op_kind kind, int role, const std::vector<int>& arguments, const std::vector<int>& receivers) {
        dv::ir::node n;
        n.op = op;
        n.kind = kind;
        n.role = role;
        n.statement = n.source_position = graph.nodes.size();
        n.region = region_;
        if (dv::is_reducing(kind)) n.reduce = static_cast<dv::reduction>(r_.between(1, 5));
        if (kind == dv::op_kind::broadcast) n.root = graph.symbols[arguments[0]].role;
        if (kind == dv::op_kind::reduce) n.root = receivers[0];
        n.first_argument = add(arguments);
        n.arguments = static_cast<int>(arguments.size());
        n.first_target = add(receivers);
        n.targets = static_cast<int>(receivers.size());
        n.first_result = add({graph.symbols.size()});
        n.results = 1;
        dv::ir::symbol made;
        made.node = graph.nodes.size();
        graph.nodes.push(n);
        add(made, role);
    }
    int add(const std::vector<int>& operands) {
        const int first = graph.operands.size();
        for (const int o : operands) graph.operands.push(o);
        return first;
    }

    chooser r_;
    int region_ = -1;  // of the statement being drawn
    dv::operation moves_;
    std::vector<bool> read_;  // by symbol
    names names_;
};

}  // namespace support
