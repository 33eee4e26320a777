// A graph with its program and plan, and what all observers need of it: dependencies, durations, names. Reads tables only; takes planned<G,
// O> or, at run time, the tables of an executor.
#pragma once

#include "../cost/options.hpp"
#include "../ir/parts.hpp"
#include "../launch/executable/buffer_addresses.hpp"
#include "../plan/pipeline.hpp"
#include "../plan/planned.hpp"
#include "format.hpp"

#include <string>
#include <vector>

namespace dovetail::observe {

// References to tables, which must live longer.
struct plan_tables {
    const tag* name = &nameless;
    ir::graph graph = {};
    ir::program program = {};
    dovetail::plan::plan plan = {};
    plan_options s = {};                           // with the rewrites that were decided
    dovetail::plan::rewrite_trials rewrites = {};  // those that were tried
    ir::graph written = {};                        // the graph before rewrites; empty where it is not known
};

template <class G, class O = options<>>
plan_tables tables_of() {
    using planned = dovetail::plan::planned<G, O>;
    if constexpr (device_pass)
        return {};  // no kernel depends on them
    else
        return {&tag_of<G>,
                planned::graph,
                planned::program,
                planned::plan,
                planned::options,
                planned::rewrites,
                dovetail::plan::typed<G>::value};
}

struct plan_view : plan_tables {
    explicit plan_view(const plan_tables& of)
        : plan_tables{of},
          edges{pass::edges(program)},
          costs{cost_model::costs(graph, program, s, dovetail::plan::by_rank(plan.roles).view())} {
        for (const ir::task& v : program.tasks) labels.push_back(label_of(v));
        for (const ir::task& v : program.tasks) communicates.push_back(is_communication(v.kind));
    }

    vec<ir::edge> edges;
    vec<task_cost> costs;            // by task
    std::vector<step_name> labels;   // by task
    std::vector<bool> communicates;  // by task

    std::string title() const { return named(name) ? display(*name) : std::string{"graph"}; }
    std::string label(int task) const {
        const step_name& n = labels[static_cast<std::size_t>(task)];
        return n.statement.empty() ? n.operation : n.operation + " " + n.statement;
    }
    // Which block of a split a task is; of how many, or 0.
    struct block_of_split {
        int block = 0, blocks = 0;
    };
    block_of_split block_of(int task) const {
        const int node = program.members[program.tasks[task].first_member].node;
        return node < 0 ? block_of_split{} : block_of_split{graph.nodes[node].block, graph.nodes[node].blocks};
    }
    // Whether a task is an NCCL group of several members: written as one, or a bucket.
    bool is_nccl_group(int task) const { return program.tasks[task].members > 1; }
    int roles() const { return plan.roles.size(); }
    std::string role_name(int role) const {
        if (graph.single_rank) return "all roles";
        return named(graph.roles[role].name) ? display(*graph.roles[role].name) : std::string{"the only role"};
    }
    // The same with a rank: "rank 3 receiver"; "rank 0" if the role has no name; the role alone for a prediction.
    std::string rank_name(int role, int rank) const {
        if (rank < 0) return role_name(role);
        return "rank " + std::to_string(rank) + (graph.single_rank || named(graph.roles[role].name) ? " " + role_name(role) : "");
    }
    span<const ir::step> steps(int role) const { return plan.steps.subspan(plan.roles[role].first_step, plan.roles[role].steps); }
    span<const ir::wait> waits(const ir::step& s) const { return plan.waits.subspan(s.first_wait, s.waits); }
    int wait_count(int role) const {
        int n = 0;
        for (const ir::step& s : steps(role)) n += s.waits;
        return n;
    }
    std::string buffer_name(int buffer) const {
        const ir::buffer& b = program.buffers[buffer];
        if (b.symbol < 0) return "workspace";
        const ir::symbol& x = graph.symbols[b.symbol];
        if (x.kind == ir::symbol_kind::axis_index) return "axis_index";
        if (std::string name = value_name(graph, b.symbol); !name.empty()) return name;
        return "(" + (x.node >= 0 ? operation_of(graph.nodes[x.node]) : std::string{"?"}) + ")";  // an unnamed nested expression
    }
    // The name of the value that an access reads or writes: a buffer's value, or rows of it.
    std::string access_name(const ir::access& a) const {
        const int symbol = located_.symbol_of(graph, program, a);
        if (symbol < 0 || symbol == program.buffers[a.buffer].symbol) return buffer_name(a.buffer);
        const std::string name = value_name(graph, symbol);
        return name.empty() ? "rows of " + buffer_name(a.buffer) : name;
    }
    // The buffer whose bytes are used: the buffer itself, or the one that it is an alias of.
    int owner(int buffer) const { return program.buffers[buffer].alias < 0 ? buffer : program.buffers[buffer].alias; }
    std::int64_t peak(int role) const { return ir::bytes_of(plan.roles[role]); }
    // The bytes that a task transfers or accesses on one role; an argument that is passed twice counts twice.
    std::int64_t bytes(const ir::step& s) const {
        std::int64_t sum = 0;
        for (const ir::participation& participation : program.participations.subspan(s.first_participation, s.participations))
            for (int k = 0; k < participation.accesses; ++k) sum += ir::touched_bytes(graph, program, participation, k);
        return sum;
    }

private:
    ir::locations located_{graph};

    static std::string operation_of(const ir::node& n) {
        return n.kind == op_kind::compute && named(n.op->name) ? display(*n.op->name) : std::string{name_of(n.kind)};
    }
    step_name label_of(const ir::task& v) const {
        step_name all;
        for (int m = v.first_member; m < v.first_member + v.members; ++m) {
            ir::step s;
            for (int i = v.first_participation; i < v.first_participation + v.participations; ++i)
                if (program.participations[i].member == m) s.first_participation = i;
            step_name one = name_of_step(graph, program, s);
            if (v.moved_by == transport::peer_copy) one.operation = v.kind == op_kind::transfer ? "peer_copy" : "put " + one.operation;
            if (m == v.first_member) {
                all = one;
                continue;
            }
            if (all.operation != one.operation) all.operation += "+" + one.operation;
            all.statement += "+" + one.statement;
        }
        return all;
    }
};

}  // namespace dovetail::observe
