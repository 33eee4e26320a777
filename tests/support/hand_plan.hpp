// Plans made by hand: `maker` takes statements, vertices in order, waits and offsets, and gives a `subject` (graph, program
// and plan as owning tables). The samples are correct and have no wait that could be spared. Usable in constant expressions.
#pragma once

#include <dovetail/ir/table.hpp>
#include <dovetail/plan/prove.hpp>

#include <initializer_list>

namespace support {

namespace dv = dovetail;

struct subject {
    dv::ir::graph_data graph;
    dv::ir::program_data program;
    dv::plan::plan_data plan;

    constexpr dv::plan::verdict order() const { return dv::plan::prove_order(dv::ir::view(graph), dv::ir::view(program), dv::ir::view(plan)); }
    constexpr dv::plan::verdict role(int r) const { return dv::plan::prove_role(dv::ir::view(graph), dv::ir::view(program), dv::ir::view(plan), r); }
    // As the compiler proves it, which does not look at the order for itself.
    constexpr bool compiles() const {
        const dv::ir::graph g = dv::ir::view(graph);
        const dv::ir::program p = dv::ir::view(program);
        const dv::plan::plan made = dv::ir::view(plan);
        bool good = static_cast<bool>(dv::plan::prove_tables(g, p, made));
        for (int r = 0; good && r < p.roles; ++r) good = static_cast<bool>(dv::plan::prove_ordered_roles(g, p, made, r, r + 1));
        return good;
    }
    constexpr dv::plan::verdict all() const { return dv::plan::prove(dv::ir::view(graph), dv::ir::view(program), dv::ir::view(plan)); }
};

inline constexpr dv::operation plain_operation{};
inline constexpr dv::operation in_place_operation = [] {
    dv::operation o;
    o.in_place = 0;
    return o;
}();

struct maker {
    struct wanted_wait {
        int role, waiter, recorder, lag;
    };
    subject s;
    dv::vec<int> buffer_of;   // by symbol * 8 + role
    dv::vec<wanted_wait> wanted;
    dv::tensor_type type = {dv::element::float32, 1, {128}};

    constexpr explicit maker(int roles) {
        for (int r = 0; r < roles; ++r) s.graph.roles.push({});
        s.graph.axes.push({});
        s.program.roles = roles;
        s.plan.roles = dv::vec<dv::ir::role_plan>(roles);
        s.plan.overlapped = true;
    }

    constexpr int symbol(dv::ir::symbol_kind kind, int role) {
        dv::ir::symbol x;
        x.kind = kind;
        x.role = role;
        x.type = type;
        s.graph.symbols.push(x);
        for (int r = 0; r < 8; ++r) buffer_of.push(-1);
        return s.graph.symbols.size() - 1;
    }
    constexpr int state(int role) { return symbol(dv::ir::symbol_kind::state, role); }
    constexpr int input(int role) { return symbol(dv::ir::symbol_kind::input, role); }

    // A buffer is made at its first use.
    constexpr int at(int symbol, int role) {
        int& b = buffer_of[symbol * 8 + role];
        if (b >= 0) return b;
        const dv::ir::symbol& y = s.graph.symbols[symbol];
        dv::ir::buffer x;
        x.role = role;
        x.symbol = symbol;
        x.type = y.type;
        x.bytes = y.type.bytes();
        if (y.kind == dv::ir::symbol_kind::state && y.role == role) x.where = dv::ir::storage::state;
        if (y.kind == dv::ir::symbol_kind::input) x.where = dv::ir::storage::input;
        if (y.in_host_memory) x.where = dv::ir::storage::host;
        s.program.buffers.push(x);
        s.plan.placements.push({});
        return b = s.program.buffers.size() - 1;
    }
    constexpr dv::ir::buffer& buffer(int symbol, int role) { return s.program.buffers[at(symbol, role)]; }
    constexpr void place(int symbol, int role, std::int64_t offset) { s.plan.placements[at(symbol, role)].offset = offset; }
    constexpr void output(int symbol, int role, int slots = 1) {
        s.graph.symbols[symbol].output = true;
        buffer(symbol, role).output = true;
        buffer(symbol, role).slots = slots;
    }

    // ---- statements: each makes its node and gives the symbol of its result
    constexpr int node(dv::op_kind kind, int role, std::initializer_list<int> arguments, int result, const dv::operation* op = &plain_operation) {
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
    constexpr int update(int role, int state, std::initializer_list<int> arguments) {
        const int n = node(dv::op_kind::compute, role, arguments, state);
        s.graph.nodes[n].update = true;
        return n;
    }

    // ---- vertices, in the order of the plan
    constexpr int begin(dv::op_kind kind, int node, dv::lane_kind lane) {
        dv::ir::vertex v;
        v.first_part = s.program.parts.size();
        v.first_member = s.program.members.size();
        v.members = 1;
        v.lane = lane;
        v.kind = kind;
        s.program.vertices.push(v);
        dv::ir::member m;
        m.kind = kind;
        m.node = node;
        if (node >= 0) {
            const dv::ir::node& n = s.graph.nodes[node];
            m.op = n.op;
            m.reduce = n.reduce;
            m.root = n.root;
        }
        s.program.members.push(m);
        s.plan.order.push(s.program.vertices.size() - 1);
        return s.program.vertices.size() - 1;
    }
    constexpr void part(int role, int seat) {
        s.program.parts.push({role, s.program.members.size() - 1, seat, s.program.accesses.size(), 0});
        ++s.program.vertices.back().parts;
    }
    constexpr void touch(int b, dv::access_mode mode) {
        s.program.accesses.push({b, mode});
        ++s.program.parts.back().accesses;
    }
    constexpr void join(unsigned axes, std::initializer_list<int> roles) {
        s.program.members.back().communicator = s.program.communicators.size();
        s.program.communicators.push({axes, s.program.communicator_roles.size(), static_cast<int>(roles.size())});
        for (int r : roles) s.program.communicator_roles.push(r);
    }
    // The vertex of node n.
    constexpr int run_node(int n) {
        const dv::ir::node x = s.graph.nodes[n];
        const bool copies = x.kind == dv::op_kind::to_host || x.kind == dv::op_kind::from_host;
        const int v = begin(x.kind, n, is_communication(x.kind) ? dv::lane_kind::communication : copies ? dv::lane_kind::copy : dv::lane_kind::compute);
        if (is_communication(x.kind)) join(1, {x.role});
        part(x.role, 0);
        const int result = s.graph.operands[x.first_result];
        bool inout = false;
        for (int i = 0; i < x.arguments; ++i) {
            const int a = s.graph.operands[x.first_argument + i];
            inout = inout || (x.update && a == result);
            touch(at(a, x.role), x.update && a == result ? dv::access_mode::update : dv::access_mode::read);
        }
        if (!inout) touch(at(result, x.role), dv::access_mode::write);
        return v;
    }
    constexpr int run(int symbol) { return run_node(s.graph.symbols[symbol].node); }
    constexpr int bring(int symbol, int role) {
        const int v = begin(dv::op_kind::input, -1, dv::lane_kind::copy);
        s.program.members.back().symbol = symbol;
        part(role, 0);
        touch(at(symbol, role), dv::access_mode::write);
        return v;
    }
    constexpr int send(int symbol, int from, int to) {
        const int v = begin(dv::op_kind::transfer, -1, dv::lane_kind::communication);
        s.program.members.back().symbol = symbol;
        join(0, {from, to});
        for (int r : {from < to ? from : to, from < to ? to : from}) {
            part(r, r == from ? 0 : 1);
            touch(at(symbol, r), r == from ? dv::access_mode::read : dv::access_mode::write);
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
        const int n = s.graph.symbols[result].node, common = s.program.commons;
        const int v = begin(s.graph.nodes[n].kind, n, dv::lane_kind::communication);
        join(0, {0, 1, 2});
        s.program.commons += 2;
        for (int r = 0; r < 3; ++r) {
            part(r, r);
            const dv::ir::node& x = s.graph.nodes[n];
            const bool gives = x.arguments > 1 || x.root == r;
            if (gives) {
                const int a = s.graph.operands[x.first_argument + (x.arguments > 1 ? r : 0)];
                touch(at(a, r), dv::access_mode::read);
                if (x.arguments > 1) buffer(a, r).common = common;
            }
            touch(at(result, r), dv::access_mode::write);
            buffer(result, r).common = common + 1;
        }
        return v;
    }
    constexpr void wait(int role, int waiter, int recorder, int lag = 0) {
        wanted.push({role, waiter, recorder, lag});
        if (lag > s.plan.rings) s.plan.rings = lag;
    }

    // Steps from the order, events from the waits, places for all buffers that have none yet.
    constexpr subject finish() {
        const int roles = s.program.roles, count = s.program.vertices.size();
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
                x.vertex = v;
                x.first_part = -1;
                for (int i = s.program.vertices[v].first_part; i < s.program.vertices[v].first_part + s.program.vertices[v].parts; ++i) {
                    if (s.program.parts[i].role != r) continue;
                    if (x.first_part < 0) x.first_part = i;
                    ++x.parts;
                }
                if (x.parts == 0) continue;
                x.lane = static_cast<int>(s.program.vertices[v].lane);
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
                for (int i = head[r * count + x.vertex]; i >= 0; i = next[i], ++x.waits)
                    s.plan.waits.push({event_of[r * count + wanted[i].recorder], wanted[i].lag, step_of[r * count + wanted[i].recorder]});
            }
        }
        for (int pass = 0; pass < 2; ++pass)
            for (int b = 0; b < s.program.buffers.size(); ++b) {
                const dv::ir::buffer& x = s.program.buffers[b];
                dv::ir::placement& m = s.plan.placements[b];
                if (x.where != dv::ir::storage::arena && x.where != dv::ir::storage::host) continue;
                std::int64_t& size = x.where == dv::ir::storage::host ? s.plan.roles[x.role].host_arena_bytes : s.plan.roles[x.role].arena_bytes;
                m.stride = dv::ir::aligned(x.bytes);
                if (x.alias >= 0) {
                    if (pass == 1) m = s.plan.placements[x.alias];
                } else if (pass == 0 ? m.offset >= 0 : m.offset < 0) {
                    if (m.offset < 0) m.offset = size;
                    if (size < m.offset + x.slots * m.stride) size = m.offset + x.slots * m.stride;
                }
            }
        return static_cast<subject&&>(s);
    }
};

// One role on three lanes: input copied in, compute beside a collective, result copied out.
constexpr subject three_lanes() {
    maker m{1};
    const int x = m.input(0), a = m.compute(0, {x}), b = m.reduce(0, a), c = m.compute(0, {a}), d = m.compute(0, {b, c});
    const int e = m.value(dv::op_kind::to_host, 0, {d});
    m.buffer(x, 0).slots = 2;
    m.output(e, 0, 2);
    const int vx = m.bring(x, 0), va = m.run(a), vb = m.run(b);
    m.run(c);
    const int vd = m.run(d), ve = m.run(e);
    m.wait(0, va, vx);
    m.wait(0, vb, va);
    m.wait(0, vd, vb);
    m.wait(0, ve, vd);
    return m.finish();
}

// Two roles, a value each way.
constexpr subject exchange() {
    maker m{2};
    const int a = m.compute(0, {}), b = m.compute(1, {}), u = m.compute(0, {a, b}), v = m.compute(1, {a, b});
    m.output(u, 0);
    m.output(v, 1);
    const int va = m.run(a), vb = m.run(b), there = m.send(a, 0, 1), back = m.send(b, 1, 0), vu = m.run(u), vv = m.run(v);
    m.wait(0, there, va);
    m.wait(0, vu, back);
    m.wait(1, back, vb);
    m.wait(1, vv, there);
    m.wait(1, vb, back, 1);
    m.wait(1, there, vv, 1);
    return m.finish();
}

// Three roles train together: gradients from states, one sum over the roles, an update each, a read after it.
constexpr subject three_roles() {
    maker m{3};
    int w[3] = {}, g[3] = {}, u[3] = {}, y[3] = {};
    for (int r = 0; r < 3; ++r) w[r] = m.state(r);
    for (int r = 0; r < 3; ++r) g[r] = m.compute(r, {w[r]});
    const int sum = m.over_roles(dv::op_kind::all_reduce, {g[0], g[1], g[2]});
    for (int r = 0; r < 3; ++r) u[r] = m.update(r, w[r], {w[r], sum});
    for (int r = 0; r < 3; ++r) {
        y[r] = m.compute(r, {w[r]});
        m.output(y[r], r);
    }
    int vg[3] = {};
    for (int r = 0; r < 3; ++r) vg[r] = m.run(g[r]);
    const int vs = m.run_over_roles(sum);
    for (int r = 0; r < 3; ++r) {
        m.wait(r, vs, vg[r]);
        m.wait(r, m.run_node(u[r]), vs);
    }
    for (int r = 0; r < 3; ++r) m.run(y[r]);
    return m.finish();
}

// An in-place result; a state read, communicated and updated, across lanes and runs.
constexpr subject in_place() {
    maker m{1};
    const int w = m.state(0), x = m.compute(0, {}), y = m.compute(0, {x}, &in_place_operation), r = m.compute(0, {w}), z = m.compute(0, {y, r});
    const int p = m.reduce(0, w), u = m.update(0, w, {p});
    const int q = m.compute(0, {z});
    m.output(q, 0);
    m.run(x);
    m.run(y);
    m.run(r);
    m.run(z);
    const int vp = m.run(p), vu = m.run_node(u);
    m.run(q);
    m.buffer(y, 0).alias = m.at(x, 0);
    m.wait(0, vu, vp);
    m.wait(0, vp, vu, 1);
    return m.finish();
}

// Bytes that change hands across lanes, within the run and from run to run.
constexpr subject sharing() {
    maker m{1};
    const int a = m.compute(0, {}), b = m.reduce(0, a), c = m.compute(0, {}), d = m.compute(0, {b, c}), e = m.reduce(0, d);
    const int f = m.value(dv::op_kind::to_host, 0, {e});
    m.output(f, 0);
    m.place(a, 0, 0);
    m.place(d, 0, 0);
    m.place(b, 0, 512);
    m.place(e, 0, 512);
    m.place(c, 0, 1024);
    const int va = m.run(a), vb = m.run(b);
    m.run(c);
    const int vd = m.run(d), ve = m.run(e), vf = m.run(f);
    m.wait(0, vb, va);
    m.wait(0, vd, vb);
    m.wait(0, ve, vd);
    m.wait(0, vf, ve);
    m.wait(0, va, ve, 1);
    m.wait(0, vb, vf, 1);
    return m.finish();
}

// An output in two slots that another lane still reads: the wait goes two runs back, the rings have two places.
constexpr subject two_slots() {
    maker m{1};
    const int a = m.compute(0, {}), b = m.reduce(0, a), o = m.compute(0, {b}), h = m.value(dv::op_kind::to_host, 0, {o});
    m.output(o, 0, 2);
    m.output(h, 0, 2);
    const int va = m.run(a), vb = m.run(b), vo = m.run(o), vh = m.run(h);
    m.wait(0, vb, va);
    m.wait(0, vo, vb);
    m.wait(0, vh, vo);
    m.wait(0, vo, vh, 2);
    return m.finish();
}

// One role gives, all three receive.
constexpr subject rooted() {
    maker m{3};
    const int a = m.compute(1, {}), c = m.over_roles(dv::op_kind::broadcast, {a});
    m.s.graph.nodes[m.s.graph.symbols[c].node].root = 1;
    int y[3] = {};
    for (int r = 0; r < 3; ++r) {
        y[r] = m.compute(r, {c});
        m.output(y[r], r);
    }
    for (int r = 0; r < 3; ++r) m.place(c, r, 0);
    const int va = m.run(a), vc = m.run_over_roles(c);
    m.wait(1, vc, va);
    for (int r = 0; r < 3; ++r) {
        const int vy = m.run(y[r]);
        m.wait(r, vy, vc);
        if (r != 1) m.wait(r, vc, vy, 1);   // role 1 has it from vc's wait for va
    }
    return m.finish();
}

// Layers of compute and collective, memory used in turn, 2 * layers vertices, the last result in two slots. `layers` is a
// multiple of four.
constexpr subject layered(int layers) {
    maker m{1};
    dv::vec<int> c, r, vc, vr;
    for (int i = 0; i < layers; ++i) {
        c.push(i == 0 ? m.compute(0, {}) : i == 1 ? m.compute(0, {c[0]}) : m.compute(0, {c[i - 1], r[i - 2]}));
        r.push(m.reduce(0, c[i]));
    }
    m.output(r[layers - 1], 0, 2);
    for (int i = 0; i < layers; ++i) {
        m.place(c[i], 0, 512 * (i % 4));
        if (i + 1 < layers) m.place(r[i], 0, 2048 + 512 * (i % 4));
        vc.push(m.run(c[i]));
        vr.push(m.run(r[i]));
        m.wait(0, vr[i], vc[i]);
        if (i > 1) m.wait(0, vc[i], vr[i - 2]);
    }
    return m.finish();
}

}  // namespace support
