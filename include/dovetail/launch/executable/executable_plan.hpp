// What a backend runs: the tables of a graph and its plan, and the function behind every operation. Made by `bind` from
// types, by tests by hand; nothing past this header sees a user's type.
#pragma once

#include "../../core/hasher.hpp"
#include "../../cost/plan_options.hpp"
#include "../../plan/plan.hpp"
#include "../stream.hpp"

namespace dovetail {

// Launches one operation. Pointers are in the order of its accesses: arguments, then results; workspace is reached
// through the stream. An initialiser of a state gets one pointer, the state.
template <class Stream>
using launch_function = void (*)(Stream, void* const* pointers);

template <class Stream>
struct executable_plan {
    const tag* name = &nameless;  // of the graph, for messages
    ir::graph graph = {};
    ir::program program = {};
    dovetail::plan::plan plan = {};
    plan_options s = {};
    span<const launch_function<Stream>> launches = {};      // by member; null for communication and copies
    span<const launch_function<Stream>> initialisers = {};  // by symbol; null: none
    span<const bool> from_store = {};                       // by symbol: a state that the store must already hold; may be empty
    std::uint64_t hash = 0;                                 // of the tables and names: equal on all ranks
};

// The hash that `executable_plan::hash` holds. Two ranks with equal hashes issue matching communication.
constexpr std::uint64_t hash_of(const ir::graph& g, const ir::program& p, const dovetail::plan::plan& plan) {
    detail::hasher h;
    for (const ir::symbol& s : g.symbols) {
        h(s.name);
        h(s.type);
        h.all(s.kind, s.role, s.output);
    }
    for (const ir::role& r : g.roles) h(r.name);
    for (const ir::axis& a : g.axes) h(a.name);
    for (const ir::mesh_axis& m : g.mesh) h.all(m.axis, m.width);
    h.all(g.single_rank, p.roles);
    for (const ir::buffer& b : p.buffers) h.all(b.where, b.role, b.symbol, b.bytes, b.slots, b.leaves);
    for (const ir::access& a : p.accesses) h.all(a.buffer, a.mode, a.leaf, a.leaves);
    for (const ir::leaf& l : p.leaves) h.all(l.begin, l.bytes);
    for (const ir::participation& t : p.participations) h.all(t.role, t.member, t.group_index, t.accesses, t.awaited);
    for (const ir::member& m : p.members) {
        h.all(m.kind, m.symbol, m.reduce, m.communicator, m.root, m.offset, m.zero_edge, m.local);
        if (m.node >= 0) h(m.op->name);
    }
    for (const ir::task& v : p.tasks) h.all(v.participations, v.members, v.stream, v.kind, v.moved_by);
    for (const ir::communicator& c : p.communicators) h.all(c.axes, c.roles);
    for (const int v : plan.order) h.all(v);
    for (const ir::step& s : plan.steps) h.all(s.task, s.stream, s.waits, s.event);
    for (const ir::wait& w : plan.waits) h.all(w.event, w.distance);
    for (const ir::placement& a : plan.placements) h.all(a.offset, a.stride);
    for (const ir::role_plan& r : plan.roles) h.all(r.rank_order);
    h.all(plan.overlapped, plan.event_slots);
    return h.h;
}

}  // namespace dovetail
