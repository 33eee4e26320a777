// Makes plans by hand: `maker` takes statements, tasks in order, waits and offsets, and gives a `subject` (graph, program
// and plan as owning tables, and the options of the plan). Usable in constant expressions.
#pragma once

#include <dovetail/cost/plan_options.hpp>
#include <dovetail/ir/table.hpp>
#include <dovetail/pass/program/cut.hpp>
#include <dovetail/plan/prove.hpp>

#include "whole.hpp"

#include <initializer_list>

namespace support {

namespace dv = dovetail;

struct subject {
    dv::ir::graph_data graph;
    dv::ir::program_data program;
    dv::plan::plan_data plan;
    dv::plan_options options;  // the options that the plan must satisfy

    constexpr dv::plan::verdict order() const {
        return dv::plan::prove_order(dv::ir::view(graph), dv::ir::view(program), dv::ir::view(plan), options);
    }
    // One role by itself, where the tables hold.
    constexpr dv::plan::verdict role(int r) const {
        const dv::ir::graph g = dv::ir::view(graph);
        const dv::ir::program p = dv::ir::view(program);
        const dv::plan::plan made = dv::ir::view(plan);
        if (const dv::plan::verdict bad = dv::plan::prove_tables(g, p, made, options); !bad) return bad;
        return dv::plan::prove_ordered_roles(g, p, made, r, r + 1);
    }
    // The proof as at compile time, without the separate check of the order.
    constexpr bool compiles() const {
        const dv::ir::graph g = dv::ir::view(graph);
        const dv::ir::program p = dv::ir::view(program);
        const dv::plan::plan made = dv::ir::view(plan);
        return dv::plan::prove_tables(g, p, made, options) && dv::plan::prove_ordered_roles(g, p, made, 0, p.roles);
    }
    constexpr dv::plan::verdict all() const {
        return dv::plan::prove(dv::ir::view(graph), dv::ir::view(program), dv::ir::view(plan), options);
    }
};

// Operations of one result, of the type that all values of these plans have unless they say otherwise; two results and scratch memory.
inline constexpr dv::tensor_type usual_type = {dv::element::uint64, 1, {64}};
constexpr int infer_usual(const dv::tensor_type*, dv::tensor_type* to) {
    to[0] = to[1] = usual_type;
    return 1;
}
constexpr int infer_two(const dv::tensor_type* arguments, dv::tensor_type* to) {
    infer_usual(arguments, to);
    to[1].extent[0] = 24;
    return 2;
}
constexpr std::int64_t little_scratch(const dv::tensor_type*) { return 300; }

constexpr dv::operation operation_with(int in_place, bool only = false) {
    dv::operation o;
    o.infer = infer_usual;
    o.in_place = in_place;
    o.in_place_only = only;
    return o;
}
inline constexpr dv::operation plain_operation = operation_with(-1);
inline constexpr dv::operation in_place_operation = operation_with(0);
inline constexpr dv::operation second_in_place_operation = operation_with(1, true);
inline constexpr dv::operation only_in_place_operation = operation_with(-1, true);
inline constexpr dv::operation two_in_place_operation = [] {
    dv::operation o = operation_with(0, true);
    o.infer = infer_two;
    o.has_effect = true;
    return o;
}();
inline constexpr dv::operation effect_operation = [] {
    dv::operation o = operation_with(-1);
    o.has_effect = true;
    return o;
}();
constexpr dv::operation view_operation(dv::view_kind view, int block = 0, int blocks = 0) {
    dv::operation o = operation_with(-1);
    o.view = view;
    o.block = block;
    o.blocks = blocks;
    return o;
}
inline constexpr dv::operation concat_of_parts = view_operation(dv::view_kind::concat),
                               first_half = view_operation(dv::view_kind::rows, 0, 2),
                               second_half = view_operation(dv::view_kind::rows, 1, 2),
                               second_quarter = view_operation(dv::view_kind::rows, 1, 4);
inline constexpr dv::operation scratch_operation = [] {
    dv::operation o;
    o.infer = infer_two;
    o.has_workspace = true;
    o.workspace = little_scratch;
    return o;
}();

struct maker {
    struct wanted_wait {
        int role, waiter, recorder, distance;
    };
    subject s;
    dv::vec<int> buffer_of;   // by symbol * 8 + role
    dv::vec<int> whole_of;    // by symbol: what it is rows of, itself if of none
    dv::vec<std::int64_t> begin_of;  // ... and from which byte on
    dv::vec<dv::pass::touched_block> blocks;
    dv::vec<wanted_wait> wanted;
    dv::tensor_type type = usual_type;

    constexpr explicit maker(int roles) {
        for (int r = 0; r < roles; ++r) s.graph.roles.push({});
        s.graph.axes.push({});
        s.program.roles = roles;
        s.plan.roles = dv::vec<dv::ir::role_plan>(roles);
        for (int r = 0; r < roles; ++r) s.plan.roles[r].rank_order = r;
        s.plan.overlapped = true;
    }

    constexpr int symbol(dv::ir::symbol_kind kind, int role) {
        dv::ir::symbol x;
        x.kind = kind;
        x.role = role;
        x.type = type;
        x.initialised = kind == dv::ir::symbol_kind::state;
        s.graph.symbols.push(x);
        for (int r = 0; r < 8; ++r) buffer_of.push(-1);
        whole_of.push(s.graph.symbols.size() - 1);
        begin_of.push(0);
        return s.graph.symbols.size() - 1;
    }
    constexpr int state(int role) { return symbol(dv::ir::symbol_kind::state, role); }
    constexpr int input(int role) { return symbol(dv::ir::symbol_kind::input, role); }

    // Rows of x, which are a symbol of their own.
    constexpr int rows(const dv::operation& which, int x) {
        s.graph.views = true;
        type = s.graph.symbols[x].type;
        type.extent[0] /= which.blocks;
        const int y = value(dv::op_kind::compute, s.graph.symbols[x].role, {x}, &which);
        s.graph.nodes.back().part = which.block;
        s.graph.nodes.back().parts = which.blocks;
        whole_of[y] = whole_of[x];
        begin_of[y] = begin_of[x] + which.block * type.bytes();
        type = usual_type;
        return y;
    }
    // A value made of these, none of which is part of another one so far.
    constexpr int concat(int role, std::initializer_list<int> participations) {
        s.graph.views = true;
        type.extent[0] = 0;
        for (int x : participations) type.extent[0] += s.graph.symbols[x].type.extent[0];
        const int y = value(dv::op_kind::compute, role, participations, &concat_of_parts);
        std::int64_t begin = 0;
        for (int x : participations) {
            whole_of[x] = y;
            begin_of[x] = begin;
            begin += s.graph.symbols[x].type.bytes();
        }
        type = usual_type;
        return y;
    }

    // A buffer is made at its first use.
    constexpr int at(int symbol, int role) {
        if (whole_of[symbol] != symbol && s.graph.symbols[whole_of[symbol]].role == role) return at(whole_of[symbol], role);
        int& b = buffer_of[symbol * 8 + role];
        if (b >= 0) return b;
        const dv::ir::symbol& y = s.graph.symbols[symbol];
        dv::ir::buffer x;
        x.role = role;
        x.symbol = symbol;
        x.type = y.type;
        x.bytes = y.type.bytes();
        if (y.kind == dv::ir::symbol_kind::state && y.role == role) x.where = dv::ir::storage::state;
        if (y.in_host_memory) x.where = dv::ir::storage::host;
        if (y.kind == dv::ir::symbol_kind::input) x.where = dv::ir::storage::input;
        if (y.kind == dv::ir::symbol_kind::axis_index) x.where = dv::ir::storage::constant;
        return b = add(x);
    }
    constexpr int add(const dv::ir::buffer& x) {
        s.plan.placements.push({});
        return add_whole(s.program, x);
    }
    // Scratch memory of one task: workspace, or a discarded result.
    constexpr int scratch(int role, const dv::tensor_type& type, std::int64_t bytes) {
        dv::ir::buffer x;
        x.where = dv::ir::storage::workspace;
        x.role = role;
        x.type = type;
        x.bytes = bytes;
        return add(x);
    }
    constexpr dv::ir::buffer& buffer(int symbol, int role) { return s.program.buffers[at(symbol, role)]; }
    constexpr void place(int symbol, int role, std::int64_t offset) { s.plan.placements[at(symbol, role)].offset = offset; }
    constexpr void output(int symbol, int role, int slots = 1) {
        s.graph.symbols[symbol].output = true;
        buffer(symbol, role).output = true;
        buffer(symbol, role).slots = slots;
    }

    // ---- statements: each adds a node and returns the symbol of its result
    constexpr int node(dv::op_kind kind, int role, std::initializer_list<int> arguments, int result,
                       const dv::operation* op = &plain_operation) {
        dv::ir::node n;
        n.op = op;
        n.kind = kind;
        n.role = role;
        n.first_argument = s.graph.operands.size();
        n.arguments = static_cast<int>(arguments.size());
        for (int a : arguments) s.graph.operands.push(a);
        n.first_result = s.graph.operands.size();
        n.results = 1;
        s.graph.operands.push(result);
        if (is_communication(kind) && role >= 0) n.axes = 1;
        if (is_reducing(kind)) n.reduce = dv::reduction::sum;
        s.graph.nodes.push(n);
        return s.graph.nodes.size() - 1;
    }
    constexpr int value(dv::op_kind kind, int role, std::initializer_list<int> arguments, const dv::operation* op = &plain_operation) {
        const int result = symbol(dv::ir::symbol_kind::value, role);
        s.graph.symbols[result].node = node(kind, role, arguments, result, op);
        s.graph.symbols[result].in_host_memory = kind == dv::op_kind::to_host;
        return result;
    }
    constexpr int compute(int role, std::initializer_list<int> arguments, const dv::operation* op = &plain_operation) {
        return value(dv::op_kind::compute, role, arguments, op);
    }
    constexpr int reduce(int role, int x) { return value(dv::op_kind::all_reduce, role, {x}); }
    // A collective along axes, with a result of `extent` elements.
    constexpr int along(dv::op_kind kind, int role, unsigned axes, int x, int root = -1, std::int64_t extent = 64) {
        type.extent[0] = extent;
        const int y = value(kind, role, {x});
        type = usual_type;
        s.graph.nodes.back().axes = axes;
        s.graph.nodes.back().root = root;
        return y;
    }
    constexpr int shift(int role, unsigned axes, int x, int offset, bool zero_edge = false) {
        const int y = along(dv::op_kind::shift, role, axes, x);
        s.graph.nodes.back().offset = offset;
        s.graph.nodes.back().zero_edge = zero_edge;
        return y;
    }
    constexpr int update(int role, int state, std::initializer_list<int> arguments) {
        const int n = node(dv::op_kind::compute, role, arguments, state);
        s.graph.nodes[n].update = true;
        return n;
    }

    static constexpr int place_among(dv::span<const int> list, int x) {
        int i = 0;
        while (i < list.size() && list[i] != x) ++i;
        return i;
    }
    static constexpr bool among(dv::span<const int> list, int x) { return place_among(list, x) < list.size(); }

    // ---- tasks, in the order of the plan
    constexpr int begin(dv::op_kind kind, int node, dv::stream_kind stream) {
        dv::ir::task v;
        v.first_participation = s.program.participations.size();
        v.first_member = s.program.members.size();
        v.members = 1;
        v.stream = stream;
        v.kind = kind;
        s.program.tasks.push(v);
        dv::ir::member m;
        m.kind = kind;
        m.node = node;
        if (node >= 0) {
            const dv::ir::node& n = s.graph.nodes[node];
            m.op = n.op;
            m.reduce = n.reduce;
            m.root = n.root;
            m.offset = n.offset;
            m.zero_edge = n.zero_edge;
            m.symbol = s.graph.operands[n.first_result];
        }
        s.program.members.push(m);
        s.plan.order.push(s.program.tasks.size() - 1);
        return s.program.tasks.size() - 1;
    }
    constexpr void participation(int role, int group_index) {
        s.program.participations.push({role, s.program.members.size() - 1, group_index, s.program.accesses.size(), 0});
        ++s.program.tasks.back().participations;
    }
    constexpr void touch(int b, dv::access_mode mode) {
        s.program.accesses.push(whole(s.program, b, mode));
        ++s.program.participations.back().accesses;
    }
    constexpr void touch(int symbol, int role, dv::access_mode mode) {
        const int b = at(symbol, role);
        touch(b, mode);
        if (s.program.buffers[b].symbol != symbol)
            blocks.push({s.program.accesses.size() - 1, begin_of[symbol], s.graph.symbols[symbol].type.bytes()});
    }
    constexpr void join(unsigned axes, std::initializer_list<int> roles) {
        s.program.members.back().communicator = s.program.communicators.size();
        s.program.communicators.push({axes, s.program.communicator_roles.size(), static_cast<int>(roles.size())});
        for (int r : roles) s.program.communicator_roles.push(r);
    }
    // The task of node n.
    constexpr int run_node(int n) {
        const dv::ir::node x = s.graph.nodes[n];
        const bool copies = x.kind == dv::op_kind::to_host || x.kind == dv::op_kind::from_host;
        const int v = begin(x.kind, n,
                            is_communication(x.kind) ? dv::stream_kind::communication
                            : copies                 ? dv::stream_kind::copy
                                                     : dv::stream_kind::compute);
        if (is_communication(x.kind)) join(x.axes, {x.role});
        participation(x.role, 0);
        const dv::span<const int> arguments = s.graph.operands.view().subspan(x.first_argument, x.arguments),
                                  results = s.graph.operands.view().subspan(x.first_result, x.results);
        dv::vec<dv::tensor_type> types;
        for (int a : arguments) {
            const bool inout = x.update && among(results, a) && types.size() == place_among(arguments, a);
            touch(a, x.role, inout ? dv::access_mode::update : dv::access_mode::read);
            types.push(s.graph.symbols[a].type);
        }
        for (int k = 0; k < results.size(); ++k) {
            if (results[k] >= 0) {
                if (!x.update || !among(arguments, results[k])) touch(results[k], x.role, dv::access_mode::write);
                continue;
            }
            dv::tensor_type made[dv::max_results] = {};
            x.op->infer(types.begin(), made);
            touch(scratch(x.role, made[k], made[k].bytes()), dv::access_mode::write);
        }
        if (x.op->has_workspace) touch(scratch(x.role, {}, x.op->workspace(types.begin())), dv::access_mode::write);
        return v;
    }
    constexpr int run(int symbol) { return run_node(s.graph.symbols[symbol].node); }
    // The last two tasks, of one role, become an NCCL group.
    constexpr void join_last_two() {
        s.plan.order.cut(s.plan.order.size() - 1);
        s.program.tasks.cut(s.program.tasks.size() - 1);
        s.program.tasks.back().participations = s.program.tasks.back().members = 2;
    }
    constexpr int bring(int symbol, int role) {
        const int v = begin(dv::op_kind::input, -1, dv::stream_kind::copy);
        s.program.members.back().symbol = symbol;
        participation(role, 0);
        touch(at(symbol, role), dv::access_mode::write);
        return v;
    }
    constexpr int send(int symbol, int from, int to) {
        const int v = begin(dv::op_kind::transfer, -1, dv::stream_kind::communication);
        s.program.members.back().symbol = symbol;
        join(0, {from, to});
        for (int r : {from < to ? from : to, from < to ? to : from}) {
            participation(r, r == from ? 0 : 1);
            touch(symbol, r, r == from ? dv::access_mode::read : dv::access_mode::write);
        }
        return v;
    }
    // A collective over roles 0, 1, 2: arguments and result.
    constexpr int over_roles(dv::op_kind kind, std::initializer_list<int> arguments) {
        const int result = value(kind, -1, arguments);
        dv::ir::node& n = s.graph.nodes[s.graph.symbols[result].node];
        n.first_target = s.graph.operands.size();
        n.targets = 3;
        for (int r = 0; r < 3; ++r) s.graph.operands.push(r);
        return result;
    }
    constexpr int run_over_roles(int result) {
        const int n = s.graph.symbols[result].node, symmetric_set = s.program.symmetric_sets;
        const int v = begin(s.graph.nodes[n].kind, n, dv::stream_kind::communication);
        join(0, {0, 1, 2});
        s.program.symmetric_sets += 2;
        for (int r = 0; r < 3; ++r) {
            participation(r, r);
            const dv::ir::node& x = s.graph.nodes[n];
            const bool gives = x.arguments > 1 || x.root == r;
            if (gives) {
                const int a = s.graph.operands[x.first_argument + (x.arguments > 1 ? r : 0)];
                touch(a, r, dv::access_mode::read);
                if (x.arguments > 1) buffer(a, r).symmetric_set = symmetric_set;
            }
            touch(at(result, r), dv::access_mode::write);
            buffer(result, r).symmetric_set = symmetric_set + 1;
        }
        return v;
    }
    constexpr void wait(int role, int waiter, int recorder, int distance = 0) {
        wanted.push({role, waiter, recorder, distance});
        if (distance > s.plan.event_slots) s.plan.event_slots = distance;
    }

    // Completes the plan: steps from the order, events from the waits, offsets of all buffers that have none.
    constexpr subject finish() {
        if (!blocks.empty()) dv::pass::cut(blocks, s.program);
        const int roles = s.program.roles, count = s.program.tasks.size();
        dv::vec<int> head(roles * count, -1), next(wanted.size(), -1), step_of(roles * count, -1), event_of(roles * count, -1);
        for (int i = wanted.size() - 1; i >= 0; --i) {
            int& h = head[wanted[i].role * count + wanted[i].waiter];
            next[i] = h;
            h = i;
        }
        for (int r = 0; r < roles; ++r) {
            dv::ir::role_plan& mine = s.plan.roles[r];
            mine.first_step = s.plan.steps.size();
            for (int v : s.plan.order) {
                dv::ir::step x;
                x.task = v;
                x.first_participation = -1;
                for (int i = s.program.tasks[v].first_participation;
                     i < s.program.tasks[v].first_participation + s.program.tasks[v].participations; ++i) {
                    if (s.program.participations[i].role != r) continue;
                    if (x.first_participation < 0) x.first_participation = i;
                    ++x.participations;
                }
                if (x.participations == 0) continue;
                x.stream = static_cast<int>(s.program.tasks[v].stream);
                step_of[r * count + v] = mine.steps++;
                s.plan.steps.push(x);
            }
            for (const wanted_wait& w : wanted)
                if (w.role == r && event_of[r * count + w.recorder] < 0) {
                    event_of[r * count + w.recorder] = mine.events;
                    s.plan.steps[mine.first_step + step_of[r * count + w.recorder]].event = mine.events++;
                }
            for (int k = mine.first_step; k < mine.first_step + mine.steps; ++k) {
                dv::ir::step& x = s.plan.steps[k];
                x.first_wait = s.plan.waits.size();
                for (int i = head[r * count + x.task]; i >= 0; i = next[i], ++x.waits)
                    s.plan.waits.push(
                        {event_of[r * count + wanted[i].recorder], wanted[i].distance, step_of[r * count + wanted[i].recorder]});
            }
        }
        // First the buffers with an offset, then all others, then aliases.
        for (int pass = 0; pass < 3; ++pass)
            for (int b = 0; b < s.program.buffers.size(); ++b) {
                const dv::ir::buffer& x = s.program.buffers[b];
                dv::ir::placement& m = s.plan.placements[b];
                if (x.where == dv::ir::storage::state && pass == 0) s.plan.roles[x.role].state_bytes += dv::ir::aligned(x.bytes);
                if (x.where != dv::ir::storage::arena && x.where != dv::ir::storage::workspace && x.where != dv::ir::storage::host)
                    continue;
                std::int64_t& size =
                    x.where == dv::ir::storage::host ? s.plan.roles[x.role].host_arena_bytes : s.plan.roles[x.role].arena_bytes;
                m.stride = dv::ir::aligned(x.bytes);
                if (x.alias >= 0) {
                    if (pass == 2) m = s.plan.placements[x.alias];
                } else if (pass == 0 ? m.offset >= 0 : m.offset < 0) {
                    if (m.offset < 0) m.offset = size;
                    if (size < m.offset + x.slots * m.stride) size = m.offset + x.slots * m.stride;
                }
            }
        return static_cast<subject&&>(s);
    }
};

}  // namespace support
