// Plans made by hand. Those of `by_hand` are correct and have no redundant wait; the programs of `wrong_by_hand` are wrong for every plan.
// Usable in constant expressions.
#pragma once

#include "hand_plan.hpp"

namespace support {

// One role on three streams: input copied in, compute beside a collective, result copied out.
constexpr subject three_streams() {
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

// An in-place result; a state read, communicated and updated, across streams and runs.
constexpr subject in_place() {
    maker m{1};
    const int w = m.state(0), x = m.compute(0, {}), y = m.compute(0, {x}, &in_place_operation), r = m.compute(0, {w}),
              z = m.compute(0, {y, r});
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

// Bytes reused by another stream, within a run and from run to run.
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

// An output in two slots that another stream still reads: the wait is on the second run before, and events have two slots.
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

// One role sends, all three receive.
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

// Collectives of every kind along two axes of a mesh, an index along one, states that a collective overwrites.
constexpr subject on_a_mesh() {
    maker m{1};
    m.s.options.in_flight = 2;
    m.s.graph.axes.push({});
    m.s.graph.mesh.push({0, 2});
    m.s.graph.mesh.push({1, 2});
    m.s.graph.roles[0].axes = 2;
    const int x = m.input(0), i = m.symbol(dv::ir::symbol_kind::axis_index, -1), w = m.state(0), q = m.state(0), a = m.compute(0, {x});
    m.s.graph.symbols[i].type = {dv::element::int32, 0, {}};
    m.s.graph.symbols[i].index_axis = 2;
    m.buffer(x, 0).slots = 2;
    const int both = m.along(dv::op_kind::all_reduce, 0, 3, a), wide = m.along(dv::op_kind::all_gather, 0, 2, a, -1, 128);
    const int there = m.along(dv::op_kind::reduce, 0, 1, a, 1), back = m.along(dv::op_kind::broadcast, 0, 1, there, 1);
    const int next = m.shift(0, 1, a, 1), edge = m.shift(0, 2, a, -1, true),
              participation = m.along(dv::op_kind::reduce_scatter, 0, 1, wide);
    const int k = m.compute(0, {q}), t = m.node(dv::op_kind::all_reduce, 0, {participation}, q);
    const int y = m.compute(0, {both, back, next, edge, participation, i, w, k}), u = m.node(dv::op_kind::all_reduce, 0, {y}, w);
    m.s.graph.nodes[t].update = m.s.graph.nodes[u].update = true;
    m.output(y, 0, 2);
    const int vx = m.bring(x, 0), va = m.run(a);
    for (const int c : {both, wide, there, back, next, edge}) m.run(c);
    const int vp = m.run(participation), vk = m.run(k), vt = m.run_node(t), vy = m.run(y), vu = m.run_node(u), vb = m.s.plan.order[2];
    m.wait(0, va, vx);
    m.wait(0, vb, va);
    m.wait(0, vy, vp);
    m.wait(0, vu, vy);
    m.wait(0, vx, va, 2);
    m.wait(0, vt, vk);
    m.wait(0, vk, vt, 1);
    return m.finish();
}

// Operations with workspace and with discarded results; two of one stream use the same bytes as workspace, one after the other.
constexpr subject with_scratch() {
    maker m{1};
    const int a = m.compute(0, {}), b = m.compute(0, {a}, &scratch_operation), c = m.reduce(0, b);
    m.type.extent[0] = 24;
    const int d = m.compute(0, {c}, &scratch_operation), e = m.compute(0, {b, d});
    m.type = usual_type;
    const int f = m.compute(0, {d, e});
    // b is the first of two results, d the second.
    for (const int wanted : {b, d}) {
        dv::ir::node& n = m.s.graph.nodes[m.s.graph.symbols[wanted].node];
        n.first_result = m.s.graph.operands.size();
        n.results = 2;
        m.s.graph.operands.push(wanted == b ? b : -1);
        m.s.graph.operands.push(wanted == b ? -1 : d);
    }
    m.s.graph.symbols[e].type = m.s.graph.symbols[f].type = usual_type;
    m.output(f, 0);
    const int va = m.run(a), vb = m.run(b), vc = m.run(c), vd = m.run(d);
    int shared = -1;
    for (int i = 0; i < m.s.program.buffers.size(); ++i)
        if (m.s.program.buffers[i].where == dv::ir::storage::workspace && m.s.program.buffers[i].type.rank == 0)
            m.s.plan.placements[i].offset = 0, shared = i;
    m.s.plan.placements[shared].offset = 0;
    m.run(e);
    m.run(f);
    m.wait(0, vc, vb);
    m.wait(0, vd, vc);
    static_cast<void>(va);
    return m.finish();
}

// Pinned host memory: an input, a value on its way back, an output in two slots.
constexpr subject through_host_memory() {
    maker m{1};
    m.s.options.in_flight = 2;
    const int x = m.input(0);
    m.s.graph.symbols[x].in_host_memory = true;
    const int a = m.value(dv::op_kind::from_host, 0, {x}), b = m.compute(0, {a}), h = m.value(dv::op_kind::to_host, 0, {b}),
              c = m.compute(0, {b, a});
    const int back = m.value(dv::op_kind::from_host, 0, {h}), d = m.compute(0, {c, back}), o = m.value(dv::op_kind::to_host, 0, {d});
    m.buffer(x, 0).slots = 2;
    m.output(o, 0, 2);
    const int vx = m.bring(x, 0), va = m.run(a), vb = m.run(b), vh = m.run(h);
    m.run(c);
    const int vr = m.run(back), vd = m.run(d), vo = m.run(o);
    static_cast<void>(vx);
    m.wait(0, vb, va);
    m.wait(0, vh, vb);
    m.wait(0, vd, vr);
    m.wait(0, vo, vd);
    return m.finish();
}

// Operations that work in place only, at their first argument and at their second; the last result is an output, so that what it
// takes over is there twice. Of the last operation nobody wants either result.
constexpr subject in_place_only() {
    maker m{1};
    m.s.options.in_flight = 2;
    const int a = m.compute(0, {}), b = m.compute(0, {a}, &only_in_place_operation), c = m.reduce(0, b);
    const int d = m.compute(0, {c}), e = m.compute(0, {c, d}, &second_in_place_operation), f = m.compute(0, {e}),
              g = m.compute(0, {f}, &two_in_place_operation);
    m.output(e, 0, 2);
    dv::ir::node& unwanted = m.s.graph.nodes[m.s.graph.symbols[g].node];
    unwanted.first_result = m.s.graph.operands.size();
    unwanted.results = 2;
    m.s.graph.operands.push(-1);
    m.s.graph.operands.push(-1);
    m.buffer(b, 0).alias = m.at(a, 0);
    m.buffer(d, 0).slots = 2;
    m.buffer(e, 0).alias = m.at(d, 0);
    const int va = m.run(a), vb = m.run(b), vc = m.run(c), vd = m.run(d);
    m.run(e);
    m.run(f);
    m.run(g);
    dv::ir::buffer& aliased_argument = m.s.program.buffers[m.s.program.buffers.size() - 2];
    aliased_argument.where = dv::ir::storage::arena;
    aliased_argument.alias = m.at(f, 0);
    static_cast<void>(va);
    m.wait(0, vc, vb);
    m.wait(0, vd, vc);
    return m.finish();
}

// A value that the sender's copy engine moves, into two slots in turn.
constexpr subject peer_copy() {
    maker m{2};
    m.s.options.channel_slots = 2;
    m.s.options.channels = dv::transport::peer_copy;
    const int a = m.compute(0, {}), b = m.compute(1, {a});
    m.output(b, 1);
    const int va = m.run(a), copied = m.send(a, 0, 1), vb = m.run(b);
    m.buffer(a, 1).slots = 2;
    m.s.program.tasks[copied].stream = dv::stream_kind::copy;
    m.s.program.tasks[copied].moved_by = dv::transport::peer_copy;
    m.wait(0, copied, va);
    m.wait(0, va, copied, 1);
    m.wait(1, vb, copied);
    m.wait(1, copied, vb, 2);
    return m.finish();
}

// States: one overwritten, read on another stream, updated twice in the same way and copied to the host; one that its own update
// mentions twice; one overwritten alone; two that are only read; one updated twice in the same way and not read.
constexpr subject states_in_turn() {
    maker m{1};
    const int w = m.state(0), v = m.state(0), c = m.state(0), d = m.state(0), e = m.state(0), f = m.state(0), x = m.compute(0, {});
    m.at(c, 0), m.at(d, 0);
    const int u0 = m.update(0, w, {x}), r = m.reduce(0, w), u1 = m.update(0, w, {w, c}), u2 = m.update(0, w, {w, c});
    const int h = m.value(dv::op_kind::to_host, 0, {w});
    const int u3 = m.update(0, v, {v, v, w}), u4 = m.update(0, e, {x}), y = m.compute(0, {w, v, c, d, e}), z = m.compute(0, {y, v});
    const int u5 = m.update(0, f, {f, c}), u6 = m.update(0, f, {f, c});
    m.s.graph.nodes[u0].op = &only_in_place_operation;
    for (const int o : {r, h, z}) m.output(o, 0);
    m.run(x);
    const int v0 = m.run_node(u0), vr = m.run(r), v1 = m.run_node(u1);
    const int v2 = m.run_node(u2), vh = m.run(h);
    m.run_node(u3);
    m.run_node(u4);
    m.run(y);
    m.run(z);
    m.run_node(u5);
    m.run_node(u6);
    m.wait(0, vr, v0);
    m.wait(0, v1, vr);
    m.wait(0, vh, v2);
    m.wait(0, v0, vh, 1);
    return m.finish();
}

// Nothing but inputs, in two slots, and states: no arena at all.
constexpr subject no_arena() {
    maker m{1};
    m.s.options.in_flight = 2;
    const int x = m.input(0), y = m.input(0), w = m.state(0), v = m.state(0), u = m.update(0, w, {w, x, y}), t = m.update(0, v, {v, w});
    m.buffer(x, 0).slots = m.buffer(y, 0).slots = 2;
    const int vx = m.bring(x, 0), vy = m.bring(y, 0), vu = m.run_node(u);
    m.run_node(t);
    m.wait(0, vu, vy);
    m.wait(0, vx, vu, 2);
    return m.finish();
}

// Bytes reused in other pieces: two values that copies to the host read, and one value over the bytes of both.
constexpr subject in_pieces() {
    maker m{1};
    const int a = m.compute(0, {}), b = m.compute(0, {}), there = m.value(dv::op_kind::to_host, 0, {a}),
              here = m.value(dv::op_kind::to_host, 0, {b});
    m.type.extent[0] = 128;
    const int c = m.compute(0, {}), d = m.reduce(0, c);
    m.type = usual_type;
    for (const int o : {there, here, d}) m.output(o, 0);
    m.place(a, 0, 0);
    m.place(b, 0, 512);
    m.place(c, 0, 0);
    const int va = m.run(a), copied = m.run(there), vb = m.run(b), last = m.run(here), vc = m.run(c), vd = m.run(d);
    m.wait(0, copied, va);
    m.wait(0, last, vb);
    m.wait(0, vc, last);
    m.wait(0, vd, vc);
    m.wait(0, va, vd, 1);
    return m.finish();
}

// Values whose types differ in one thing only, each beside the other; an operation that could work in place, but for its argument:
// an input, one that is smaller than its result, one that it gets twice.
constexpr subject many_types() {
    maker m{1};
    const int x = m.input(0), y = m.compute(0, {x}, &in_place_operation);
    constexpr dv::tensor_type types[] = {
        {dv::element::uint64, 1, {128}},     {dv::element::int64, 1, {128}},       {dv::element::int64, 2, {128, 1}},
        {dv::element::int64, 2, {128, 2}},   {dv::element::int64, 3, {128, 2, 1}}, {dv::element::int64, 3, {128, 2, 2}},
        {dv::element::uint64, 3, {4, 2, 2}}, {dv::element::uint64, 2, {4, 2, 0}},  {dv::element::uint64, 0, {}},
        {dv::element::uint64, 1, {0}},       {dv::element::uint8, 1, {3}}};
    dv::vec<int> values;
    values.push(y);
    for (const dv::tensor_type& t : types) {
        m.type = t;
        values.push(m.compute(0, {values.back()}, &in_place_operation));
    }
    m.type = usual_type;
    values.push(m.compute(0, {values[0], values[0]}, &in_place_operation));
    const int last = m.compute(0, {values.back(), values[1]});
    m.output(last, 0);
    m.bring(x, 0);
    for (const int value : values) m.run(value);
    const int vl = m.run(last);
    m.wait(0, m.s.plan.order[1], m.s.plan.order[0]);
    m.wait(0, m.s.plan.order[0], m.s.plan.order[1], 1);
    static_cast<void>(vl);
    return m.finish();
}

// Statements that exist for their effect alone, two of them equal, and two collectives of one value in one NCCL group.
constexpr subject effects_and_group() {
    maker m{1};
    const int a = m.compute(0, {}), b = m.reduce(0, a), c = m.value(dv::op_kind::all_reduce, 0, {a}, &in_place_operation),
              d = m.compute(0, {b, c});
    m.s.graph.nodes[m.s.graph.symbols[c].node].reduce = dv::reduction::maximum;
    int effects[2] = {};
    for (int& e : effects) {
        e = m.node(dv::op_kind::compute, 0, {b}, -1);
        m.s.graph.nodes[e].op = &effect_operation;
    }
    m.output(d, 0);
    const int va = m.run(a), vb = m.run(b);
    m.run(c);
    m.join_last_two();
    const int ve = m.run_node(effects[0]);
    m.run_node(effects[1]);
    m.run(d);
    m.wait(0, vb, va);
    m.wait(0, ve, vb);
    return m.finish();
}

// Programs that are wrong in themselves, however they are planned. What a collective gives role 1 for itself is sent to role 0, which
// takes it for its own.
constexpr subject piece_of_another() {
    maker m{3};
    m.type.extent[0] = 192;
    const int a[] = {m.compute(0, {}), m.compute(1, {}), m.compute(2, {})};
    m.type = usual_type;
    const int c = m.over_roles(dv::op_kind::reduce_scatter, {a[0], a[1], a[2]});
    const int y[] = {m.compute(0, {c}), m.compute(1, {c}), m.compute(2, {c})};
    for (int r = 0; r < 3; ++r) m.output(y[r], r);
    for (const int x : a) m.run(x);
    m.run_over_roles(c);
    dv::ir::buffer second = m.buffer(c, 0);
    second.symmetric_set = -1;
    m.begin(dv::op_kind::transfer, -1, dv::stream_kind::communication);
    m.s.program.members.back().symbol = c;
    m.join(0, {1, 0});
    const int taken = m.add(second);
    m.participation(0, 1);
    m.touch(taken, dv::access_mode::write);
    m.participation(1, 0);
    m.touch(m.at(c, 1), dv::access_mode::read);
    for (const int x : y) {
        const int v = m.run(x);
        if (x == y[0])
            m.s.program.accesses[m.s.program.participations[m.s.program.tasks[v].first_participation].first_access] =
                whole(m.s.program, taken, dv::access_mode::read);
    }
    m.s.plan.overlapped = false;
    for (dv::ir::task& v : m.s.program.tasks) v.stream = dv::stream_kind::compute;
    return m.finish();
}

// Scratch memory is sent to another role.
constexpr subject scratch_sent() {
    maker m{2};
    const int a = m.compute(0, {}), b = m.compute(1, {});
    dv::ir::node& n = m.s.graph.nodes[m.s.graph.symbols[a].node];
    n.first_result = m.s.graph.operands.size();
    n.results = 2;
    n.op = &scratch_operation;
    m.s.graph.operands.push(a);
    m.s.graph.operands.push(-1);
    m.output(a, 0);
    m.output(b, 1);
    m.run(a);
    m.run(b);
    int scratch = 0;
    while (m.s.program.buffers[scratch].symbol >= 0 || !m.s.program.buffers[scratch].type.valid()) ++scratch;
    dv::ir::buffer there = m.s.program.buffers[scratch];
    there.role = 1;
    m.begin(dv::op_kind::transfer, -1, dv::stream_kind::communication);
    m.join(0, {0, 1});
    m.participation(0, 0);
    m.touch(scratch, dv::access_mode::read);
    m.participation(1, 1);
    m.touch(m.add(there), dv::access_mode::write);
    m.s.plan.overlapped = false;
    for (dv::ir::task& v : m.s.program.tasks) v.stream = dv::stream_kind::compute;
    return m.finish();
}

// A role sends a value to itself.
constexpr subject sent_to_itself() {
    maker m{1};
    const int a = m.compute(0, {}), b = m.compute(0, {a});
    m.output(b, 0);
    m.run(a);
    const dv::ir::buffer there = m.buffer(a, 0);
    m.begin(dv::op_kind::transfer, -1, dv::stream_kind::communication);
    m.s.program.members.back().symbol = a;
    m.join(0, {0, 0});
    m.participation(0, 0);
    m.touch(m.at(a, 0), dv::access_mode::read);
    const int copy = m.add(there);
    m.participation(0, 1);
    m.touch(copy, dv::access_mode::write);
    const int v = m.run(b);
    m.s.program.accesses[m.s.program.participations[m.s.program.tasks[v].first_participation].first_access] =
        whole(m.s.program, copy, dv::access_mode::read);
    m.s.plan.overlapped = false;
    for (dv::ir::task& x : m.s.program.tasks) x.stream = dv::stream_kind::compute;
    return m.finish();
}

// A statement of role 1 that role 0 executes.
constexpr subject done_elsewhere() {
    maker m{2};
    const int a = m.compute(0, {}), b = m.compute(1, {}), c = m.compute(1, {});
    m.output(a, 0);
    m.output(c, 1);
    m.s.graph.symbols[b].output = true;
    m.run(a);
    m.run(c);
    m.begin(dv::op_kind::compute, m.s.graph.symbols[b].node, dv::stream_kind::compute);
    m.participation(0, 0);
    dv::ir::buffer there = m.buffer(a, 0);
    there.symbol = b;
    m.touch(m.add(there), dv::access_mode::write);
    return m.finish();
}

// Tensors that differ only behind their second extent, of which one is empty: it has as many bytes whatever its last extent.
constexpr subject many_extents() {
    maker m{1};
    m.type = {dv::element::uint64, 4, {4, 2, 0, 2}};
    const int a = m.compute(0, {});
    m.type = {dv::element::uint64, 4, {4, 2, 3, 2}};
    const int b = m.compute(0, {a});
    m.type = usual_type;
    const int c = m.compute(0, {b}), d = m.reduce(0, c);
    m.output(d, 0);
    m.run(a);
    m.run(b);
    const int vc = m.run(c), vd = m.run(d);
    m.wait(0, vd, vc);
    m.wait(0, vc, vd, 1);
    return m.finish();
}

// A statement that exists for its effect alone and is executed twice.
constexpr subject done_twice() {
    maker m{1};
    const int a = m.compute(0, {}), e = m.node(dv::op_kind::compute, 0, {a}, -1, &effect_operation);
    m.output(a, 0);
    m.run(a);
    m.run_node(e);
    m.run_node(e);
    return m.finish();
}

// Layers of compute and collective, memory used in turn, 2 * layers tasks, the last result in two slots. `layers` is a
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

// Rows of values: a value of two parts that two streams make, where another one was before; each block is read when it is there, a block that
// is no part as well; all of it is read, replaced in place, and read in blocks again; rows of a state above its update.
constexpr subject in_rows() {
    maker m{1};
    const int s = m.state(0), f = m.compute(0, {}), g = m.compute(0, {f, m.rows(first_half, s)});
    const int p = m.compute(0, {g}), q = m.reduce(0, g), y = m.concat(0, {p, q});
    const int first = m.rows(first_half, y), inner = m.rows(second_quarter, y), last = m.rows(second_half, y);
    m.type.extent[0] = 32;
    const int u = m.compute(0, {inner});
    m.type = usual_type;
    const int v = m.reduce(0, first), w = m.compute(0, {last, u, v});
    m.type.extent[0] = 128;
    const int z = m.compute(0, {y}, &in_place_operation);
    m.type = usual_type;
    const int r = m.rows(second_half, z), t = m.reduce(0, r), e = m.update(0, s, {s, t, w});
    m.place(f, 0, 512);
    m.place(y, 0, 0);
    m.buffer(z, 0).alias = m.at(y, 0);
    m.output(w, 0, 2);
    m.run(f);
    const int vg = m.run(g), vp = m.run(p), vq = m.run(q), vv = m.run(v);
    m.run(u);
    const int vw = m.run(w), vz = m.run(z), vt = m.run(t);
    m.wait(0, vq, vg);
    m.wait(0, vv, vp);
    m.wait(0, vw, vv);
    m.wait(0, vt, vz);
    m.wait(0, m.run_node(e), vt);
    return m.finish();
}
// Rows between roles: a part and a block of a whole are sent, copies of both for several runs; rows are given to a collective that one role
// passes from a value of its own size.
constexpr subject rows_across() {
    maker m{2};
    const int a = m.compute(0, {}), b = m.compute(0, {a}), y = m.concat(0, {a, b}), inner = m.rows(second_quarter, y);
    m.type.extent[0] = 32;
    const int c = m.compute(1, {inner});
    m.type = usual_type;
    const int i = m.input(1), d = m.compute(1, {b, c, m.rows(first_half, i)}), u = m.compute(0, {y, d});
    m.output(u, 0, 2);
    m.buffer(y, 0).slots = 2;
    m.buffer(inner, 1).slots = 2;
    m.buffer(b, 1).slots = 2;
    m.s.options.channel_slots = 2;
    const int vi = m.bring(i, 1), va = m.run(a), inner_sent = m.send(inner, 0, 1), vb = m.run(b), vc = m.run(c), b_sent = m.send(b, 0, 1),
              vd = m.run(d), back = m.send(d, 1, 0);
    const int vu = m.run(u);
    m.wait(0, inner_sent, va);
    m.wait(0, b_sent, vb);
    m.wait(0, vu, back);
    m.wait(1, vc, inner_sent);
    m.wait(1, vd, b_sent);
    m.wait(1, back, vd);
    m.wait(1, vd, vi);
    m.wait(1, vi, vd, 1);
    m.buffer(d, 0).slots = 2;
    return m.finish();
}

// A collective over roles that one role passes rows of a larger value, which cannot lie where the others' values do.
constexpr subject rows_summed() {
    maker m{3};
    m.type.extent[0] = 128;
    const int y = m.compute(0, {});
    m.type = usual_type;
    const int participation = m.rows(first_half, y), b = m.compute(1, {}), c = m.compute(2, {});
    const int sum = m.over_roles(dv::op_kind::all_reduce, {participation, b, c});
    int z[3] = {};
    for (int r = 0; r < 3; ++r) m.output(z[r] = m.compute(r, {sum}), r);
    const int vy = m.run(y), vb = m.run(b), vc = m.run(c), vs = m.run_over_roles(sum);
    m.buffer(participation, 0).symmetric_set = m.buffer(b, 1).symmetric_set = m.buffer(c, 2).symmetric_set = -1;
    for (int r = 0; r < 3; ++r) m.place(sum, r, 2048);
    m.wait(0, vs, vy);
    m.wait(1, vs, vb);
    m.wait(2, vs, vc);
    for (int r = 0; r < 3; ++r) m.wait(r, m.run(z[r]), vs);
    return m.finish();
}

// Rows that a task of their own makes of a value that was sent whole: there is nothing to launch.
constexpr subject rows_carried_out() {
    maker m{2};
    const int x = m.compute(0, {}), r = m.rows(first_half, x), y = m.compute(1, {r}), rows = m.s.graph.symbols[r].node;
    m.s.graph.nodes[rows].role = 1;
    m.output(y, 1);
    m.run(x);
    m.send(x, 0, 1);
    m.begin(dv::op_kind::compute, rows, dv::stream_kind::compute);
    m.participation(1, 0);
    m.touch(m.at(x, 1), dv::access_mode::read);
    m.touch(m.at(r, 1), dv::access_mode::write);
    m.run(y);
    m.s.plan.overlapped = false;
    for (dv::ir::task& v : m.s.program.tasks) v.stream = dv::stream_kind::compute;
    return m.finish();
}

struct hand_made {
    const char* name;
    subject (*make)();
};
inline constexpr hand_made by_hand[] = {
    {"three_streams", three_streams},       {"exchange", exchange},
    {"three_roles", three_roles},       {"in_place", in_place},
    {"sharing", sharing},               {"two_slots", two_slots},
    {"rooted", rooted},                 {"on_a_mesh", on_a_mesh},
    {"with_scratch", with_scratch},     {"through_host_memory", through_host_memory},
    {"in_place_only", in_place_only},   {"peer_copy", peer_copy},
    {"states_in_turn", states_in_turn}, {"no_arena", no_arena},
    {"in_pieces", in_pieces},           {"many_types", many_types},
    {"many_extents", many_extents},     {"effects_and_group", effects_and_group},
    {"in_rows", in_rows},               {"rows_across", rows_across},
    {"rows_summed", rows_summed}};

inline constexpr hand_made wrong_by_hand[] = {
    {"piece_of_another", piece_of_another}, {"scratch_sent", scratch_sent}, {"sent_to_itself", sent_to_itself},
    {"done_elsewhere", done_elsewhere},     {"done_twice", done_twice},     {"rows_carried_out", rows_carried_out}};

}  // namespace support
