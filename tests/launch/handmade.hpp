// Executable plans made by hand for tests of the launch layer: a program written task by task, and the simplest safe plan of it: tasks in
// written order, no two buffers at the same bytes, a wait for every change of streams.
#pragma once

#include "../support/whole.hpp"

#include <dovetail/ir/table.hpp>
#include <dovetail/launch/binding/binding.hpp>
#include <dovetail/launch/engine/engine.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/launch/ticket.hpp>

#include <memory>

namespace handmade {
namespace dv = dovetail;
namespace ir = dovetail::ir;

template <class T, class... E>
dv::tensor_type tensor(E... e) {
    return dv::tensor_type{dv::element_of<T>, 0, {}}.with_extents(e...);
}

// As dv::name<N>, without the words of the language.
template <class N>
struct named {
    using type = N;
};

struct participation {
    int role;
    int member;   // within the task
    std::vector<ir::access> accesses;
};

class maker {
public:
    ir::graph_data g;
    ir::program_data p;
    dv::plan::plan_data plan;
    dv::plan_options s;
    const dv::tag* name = &dv::nameless;
    bool sequential = false;
    dv::vec<dv::launch_function<dv::host::stream>> launches, initialisers;
    dv::vec<bool> from_store;

    int axis(const dv::tag* t) {
        g.axes.push({t, -1});
        return g.axes.size() - 1;
    }
    int role(const dv::tag* t, std::vector<ir::mesh_axis> mesh = {}) {
        g.roles.push({t == nullptr ? &dv::nameless : t, g.mesh.size(), static_cast<int>(mesh.size()), -1});
        for (const auto& m : mesh) g.mesh.push(m);
        p.roles = g.roles.size();
        return g.roles.size() - 1;
    }
    int symbol(const dv::tag* t, dv::tensor_type type, int role = 0, ir::symbol_kind kind = ir::symbol_kind::value) {
        ir::symbol x;
        x.name = t;
        x.kind = kind;
        x.type = type;
        x.role = role;
        x.initialised = kind == ir::symbol_kind::state;
        g.symbols.push(x);
        return g.symbols.size() - 1;
    }
    int buffer(int symbol, int role = 0, ir::storage where = ir::storage::arena, bool output = false) {
        ir::buffer b;
        b.where = where;
        b.role = role;
        b.symbol = symbol;
        b.type = g.symbols[symbol].type;
        b.bytes = b.type.bytes();
        b.output = output;
        b.slots = output || where == ir::storage::input ? s.in_flight : 1;
        return support::add_whole(p, b);
    }
    // A value with its one buffer.
    int value(const dv::tag* t, dv::tensor_type type, int role = 0, bool output = false) {
        return buffer(symbol(t, type, role), role, ir::storage::arena, output);
    }
    int input(const dv::tag* t, dv::tensor_type type, int role = 0) {
        const int b = buffer(symbol(t, type, -1, ir::symbol_kind::input), role, ir::storage::input);
        ir::member m;
        m.kind = dv::op_kind::input;
        m.symbol = p.buffers[b].symbol;
        task(dv::stream_kind::copy, {m}, {{role, 0, {{b, dv::access_mode::write}}}});
        return b;
    }
    int task(dv::stream_kind stream, std::vector<ir::member> members, std::vector<participation> participations,
             dv::launch_function<dv::host::stream> f = nullptr) {
        ir::task v{
            p.participations.size(), static_cast<int>(participations.size()), p.members.size(), static_cast<int>(members.size()), stream,
            members[0].kind};
        for (const auto& m : members) {
            p.members.push(m);
            launches.push(f);
        }
        std::vector<int> participants(members.size(), 0);
        for (const auto& t : participations) {
            p.participations.push({t.role, v.first_member + t.member, participants[static_cast<std::size_t>(t.member)]++, p.accesses.size(),
                                   static_cast<int>(t.accesses.size())});
            for (const auto& a : t.accesses) p.accesses.push(support::whole(p, a.buffer, a.mode));
        }
        p.tasks.push(v);
        return p.tasks.size() - 1;
    }
    // One operation: reads, then writes, by buffer.
    int compute(const dv::operation* op, dv::launch_function<dv::host::stream> f, std::vector<int> in, std::vector<int> out, int role = 0) {
        ir::member m;
        m.op = op;
        m.symbol = p.buffers[out[0]].symbol;
        return task(dv::stream_kind::compute, {m}, {{role, 0, list(in, out)}}, f);
    }
    static std::vector<ir::access> list(const std::vector<int>& in, const std::vector<int>& out) {
        std::vector<ir::access> a;
        for (const int b : in) a.push_back({b, dv::access_mode::read});
        for (const int b : out) a.push_back({b, dv::access_mode::write});
        return a;
    }
    int transfer(int from, int to, bool local = false) {
        ir::member m;
        m.kind = dv::op_kind::transfer;
        m.symbol = p.buffers[from].symbol;
        m.local = local;
        return task(dv::stream_kind::communication, {m},
                      {{p.buffers[from].role, 0, list({from}, {})}, {p.buffers[to].role, 0, list({}, {to})}});
    }
    // In one role, along the axes of the mask.
    int collective(ir::member m, unsigned axes, int in, int out, int role = 0) {
        p.communicators.push({axes, 0, 1});
        m.communicator = p.communicators.size() - 1;
        m.symbol = p.buffers[out].symbol;
        std::vector<ir::access> a = in == out ? std::vector<ir::access>{{in, dv::access_mode::update}} : list({in}, {out});
        return task(dv::stream_kind::communication, {m}, {{role, 0, a}});
    }

    dv::executable_plan<dv::host::stream> executable() {
        plan = {};
        plan.overlapped = !sequential;
        for (int v = 0; v < p.tasks.size(); ++v) plan.order.push(v);
        plan.placements.resize(p.buffers.size());
        for (int r = 0; r < p.roles; ++r) {
            ir::role_plan row;
            row.first_step = plan.steps.size();
            for (int b = 0; b < p.buffers.size(); ++b) {
                const auto& x = p.buffers[b];
                if (x.role != r) continue;
                std::int64_t& end = x.where == ir::storage::host ? row.host_arena_bytes : row.arena_bytes;
                if (x.where != ir::storage::arena && x.where != ir::storage::host && x.where != ir::storage::workspace) continue;
                plan.placements[b] = {end, ir::aligned(x.bytes)};
                end += ir::aligned(x.bytes) * x.slots;
            }
            for (int v = 0; v < p.tasks.size(); ++v) {
                ir::step s;
                s.task = v;
                s.first_participation = -1;
                for (int i = 0; i < p.tasks[v].participations; ++i)
                    if (p.participations[p.tasks[v].first_participation + i].role == r) {
                        if (s.first_participation < 0) s.first_participation = p.tasks[v].first_participation + i;
                        ++s.participations;
                    }
                if (s.first_participation < 0) continue;
                s.stream = sequential ? 0 : static_cast<int>(p.tasks[v].stream);
                s.event = sequential ? -1 : row.events++;
                plan.steps.push(s);
                ++row.steps;
            }
            if (!sequential) wait_for_all(row);
            row.rank_order = r;
            plan.roles.push(row);
        }
        dv::executable_plan<dv::host::stream> made;
        made.name = name;
        made.graph = ir::view(g);
        made.program = ir::view(p);
        made.plan = ir::view(plan);
        made.s = s;
        made.launches = launches.view();
        made.initialisers = initialisers.view();
        made.from_store = from_store.view();
        made.hash = dv::hash_of(made.graph, made.program, made.plan);
        return made;
    }

private:
    // Each step waits for the latest step of the other streams, the first of a stream for the last of the run before.
    void wait_for_all(const ir::role_plan& row) {
        int latest[dv::stream_count] = {-1, -1, -1}, last[dv::stream_count] = {-1, -1, -1};
        for (int i = 0; i < row.steps; ++i) last[plan.steps[row.first_step + i].stream] = i;
        for (int i = 0; i < row.steps; ++i) {
            ir::step& s = plan.steps[row.first_step + i];
            s.first_wait = plan.waits.size();
            for (int l = 0; l < dv::stream_count; ++l) {
                if (l == s.stream || last[l] < 0) continue;
                if (latest[l] >= 0) plan.waits.push({plan.steps[row.first_step + latest[l]].event, 0, latest[l]});
                if (latest[s.stream] < 0) plan.waits.push({plan.steps[row.first_step + last[l]].event, 1, last[l]});
            }
            s.waits = plan.waits.size() - s.first_wait;
            latest[s.stream] = i;
        }
    }
};

struct running {
    std::shared_ptr<dv::engine> e;

    running(dv::host::rank& rank, maker& m, dv::engine_options o = {}) : e{rank.make_engine(m.executable(), std::move(o))} {}
    ~running() { e->close(false); }
    dv::basic_ticket run() { return {e, e->run()}; }
    template <class T>
    void bind(int symbol, const std::vector<T>& values, bool in_place = false) {
        e->bind(symbol, {values.data(), static_cast<std::int64_t>(values.size()),
                         in_place ? dv::binding_source::in_place : dv::binding_source::copied});
    }
    template <class T>
    std::vector<T> read(const dv::basic_ticket& t, int symbol) {
        t.wait();
        const dv::basic_reading r{e, t.record(), symbol};
        std::vector<T> values(static_cast<std::size_t>(e->graph.symbols[symbol].type.size()));
        r.copy(values.data(), 0, static_cast<std::int64_t>(values.size() * sizeof(T)));
        return values;
    }
};

}  // namespace handmade
