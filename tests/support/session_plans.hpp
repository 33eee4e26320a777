// The graphs of a session planned, evaluated and made ready to run: executable plans whose operations are those of hash_ops.hpp and compare what
// they are given with what the sketches mean.
#pragma once

#include "launch_table.hpp"
#include "planner.hpp"
#include "session.hpp"

#include <dovetail/plan/make.hpp>

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

namespace support {

// A graph of the session with its plan and its meaning.
struct session_graph {
    dv::ir::graph_data written, concrete;           // as the library reads it, and with the widths of open axes
    dv::ir::graph_data rewritten, concrete_rewritten;  // the same once rewritten
    dv::plan::made made;
    dv::ir::graph graph, wide;                      // rewritten
    dv::ir::program program;
    dv::plan::plan plan;
    meaning m;
    std::vector<std::pair<int, int>> place_of;  // by rank: role of the graph and position
};

namespace detail {

// What launches and initialisers need to know.
struct running_session {
    struct call {
        int graph = 0, node = -1, graph_role = 0;
        const dv::operation* op = nullptr;
        std::vector<int> arguments, results;             // indices of pointers
        std::vector<dv::tensor_type> argument_types, result_types;
        std::int64_t workspace = 0;                      // bytes, as the operation asks for them
        std::vector<int> run_of;                         // by rank: runs it has done; touched only on the position that launches it
    };
    std::deque<session_graph> graphs;
    std::deque<call> calls;
    launch_table launches;                               // of calls and initialisers
    std::vector<std::vector<std::atomic<bool>>> made;    // by graph and rank: its executor; what is launched before is not a run's
    std::atomic<long> launch_count = 0, workspaces = 0;
    std::mutex guard;
    std::string fault;                                   // the first one

    void wrong(std::string text) {
        const std::lock_guard lock{guard};
        if (fault.empty()) fault = std::move(text);
    }
};

inline void launch_call(running_session& all, int number, dv::host::stream s, void* const* pointers) {
    running_session::call& c = all.calls[static_cast<std::size_t>(number)];
    const auto rank = static_cast<std::size_t>(s.rank);
    if (!all.made[static_cast<std::size_t>(c.graph)][rank]) return;
    session_graph& of = all.graphs[static_cast<std::size_t>(c.graph)];
    const int run = c.run_of[rank]++;
    ++all.launch_count;
    const std::string where = "statement " + std::to_string(c.node) + " of graph " + std::to_string(c.graph) + " on rank " +
                              std::to_string(s.rank) + " in run " + std::to_string(run);
    if (s.workspace_bytes != c.workspace ||
        (c.workspace > 0 && (s.workspace == nullptr || reinterpret_cast<std::uintptr_t>(s.workspace) % 256 != 0)))
        return all.wrong("not the workspace of " + std::to_string(c.workspace) + " bytes that the operation asks for: " + where);
    const piece scratch{static_cast<unsigned char*>(s.workspace), s.workspace_bytes};
    const word mark = mix(static_cast<word>(number * 256 + s.rank)) + static_cast<word>(run);
    fill(scratch, mark);
    std::vector<piece> in, out;
    const auto pieces = [&](const std::vector<int>& at, const std::vector<dv::tensor_type>& types, std::vector<piece>& to) {
        for (std::size_t i = 0; i < at.size(); ++i)
            to.push_back({static_cast<unsigned char*>(pointers[at[i]]), types[i].bytes(), types[i].type});
    };
    pieces(c.arguments, c.argument_types, in);
    pieces(c.results, c.result_types, out);
    // Late in one place or another, so that what is ordered by luck alone comes in another order.
    if (mark % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(mark / 8 % 200));
    const word effect = apply(c.op, in, out);
    if (mark % 8 == 1) std::this_thread::yield();
    const int position = of.place_of[rank].second;
    if (run >= of.m.runs || effect != of.m.effect(run, of.m.at(c.graph_role, position), c.node)) all.wrong("wrong arguments: " + where);
    if (scratch.bytes > 0) {
        ++all.workspaces;
        std::vector<word> left(static_cast<std::size_t>(words_of(scratch.bytes)));
        fill(snapshot(left, scratch.bytes), mark);
        if (!same(scratch, snapshot(left, scratch.bytes))) all.wrong("workspace written by another: " + where);
    }
}

inline void initialise_state(session_graph& of, int symbol, dv::host::stream s, void* const* pointers) {
    const piece from = of.m.initial_state(symbol, of.graph.symbols[symbol].role, of.place_of[static_cast<std::size_t>(s.rank)].second);
    if (from.bytes > 0) std::memcpy(pointers[0], from.data, static_cast<std::size_t>(from.bytes));
}

}  // namespace detail

class session_plans {
public:
    explicit session_plans(const session& x) : x_{x}, meaning_{x} {
        ranks_ = ranks_of(x.graphs[0]);
        for (int g = 0; g < static_cast<int>(x.graphs.size()) && all_.fault.empty(); ++g) prepare(g);
    }
    int ranks() const { return ranks_; }
    long launches() const { return all_.launch_count; }
    long workspaces() const { return all_.workspaces; }
    const std::deque<session_graph>& graphs() const { return all_.graphs; }

protected:
    struct prepared_plan {
        dv::vec<launch_table::pointer> launches, initialisers;
        dv::vec<bool> from_store;
        dv::executable_plan<dv::host::stream> of;
        std::vector<int> holder;  // by buffer: the graph's role whose statement writes it
    };

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    const sketch& of(int g) const { return x_.graphs[at(g)]; }
    int symbol_of(int g, int x) const {
        const dv::ir::graph& graph = all_.graphs[at(g)].graph;
        for (int i = 0; i < graph.symbols.size(); ++i)
            if (graph.symbols[i].kind == of(g).symbols[at(x)].kind && dv::same(graph.symbols[i].name, of(g).symbols[at(x)].name)) return i;
        return -1;
    }

    const session& x_;
    session_reference meaning_;
    detail::running_session all_;
    std::deque<prepared_plan> plans_;
    int ranks_ = 0;

private:
    void prepare(int g) {
        const sketch& s = of(g);
        session_graph& p = all_.graphs.emplace_back();
        p.written = emit(s);
        if (p.written.wrong) return all_.wrong("not a graph");
        p.concrete = with_widths(p.written, s);
        p.made = make_plan(dv::ir::view(p.written), s.plan_options);
        if (p.made.wrong || !p.made.fits) return all_.wrong("no plan");
        p.rewritten = dv::pass::detail::rewritten(dv::ir::view(p.written), p.made.options.rewrites);
        p.concrete_rewritten = with_widths(p.rewritten, s);
        p.graph = dv::ir::view(p.rewritten);
        p.wide = dv::ir::view(p.concrete_rewritten);
        p.program = dv::ir::view(p.made.program);
        p.plan = dv::ir::view(p.made.plan);
        p.m = renumbered(meaning_.of(g).as_read(dv::ir::view(p.concrete)), p.wide);
        all_.made.emplace_back(at(ranks_));
        for (const standing& place : meaning_.ranks(g)) p.place_of.push_back({graph_role(g, place.role), place.position});
        prepared_plan& i = plans_.emplace_back();
        i.launches.resize(p.program.members.size());
        i.initialisers.resize(p.graph.symbols.size());
        i.from_store.resize(p.graph.symbols.size());
        prepare_calls(g, i);
        prepare_states(g, i);
        // Each graph has roles of its own: where a role of two graphs is on other ranks in one, executors are refused.
        for (dv::ir::role& r : p.rewritten.roles)
            if (dv::named(r.name)) r.name = s.pool->tag(dv::display(*r.name) + "_of_" + std::to_string(g));
        i.of.graph = p.graph;
        i.of.program = p.program;
        i.of.plan = p.plan;
        i.of.s = s.plan_options;
        i.of.launches = i.launches.view();
        i.of.initialisers = i.initialisers.view();
        i.of.from_store = i.from_store.view();
        i.of.hash = dv::hash_of(p.graph, p.program, p.plan) + static_cast<word>(g);
    }
    int graph_role(int g, int role) const {
        const dv::ir::graph& graph = all_.graphs[at(g)].graph;
        for (int r = 0; r < graph.roles.size(); ++r)
            if (std::string_view(graph.roles[r].name->spelling.first, static_cast<std::size_t>(graph.roles[r].name->spelling.size)) ==
                "role" + std::to_string(role))
                return r;
        return 0;
    }
    launch_table::pointer launch(launch_table::function f) {
        const launch_table::pointer p = all_.launches.add(std::move(f));
        if (p == nullptr) all_.wrong("too many operations for the table of launches");
        return p;
    }
    void prepare_calls(int number, prepared_plan& i) {
        const session_graph& p = all_.graphs[at(number)];
        i.holder.assign(at(p.program.buffers.size()), 0);
        for (const dv::ir::participation& participation : p.program.participations) {
            const dv::ir::member& member = p.program.members[participation.member];
            const auto accesses = p.program.accesses.subspan(participation.first_access, participation.accesses);
            if (member.node < 0) continue;
            const dv::ir::node& n = p.graph.nodes[member.node];
            const int role = n.role >= 0 ? n.role : group_of(p.graph, n)[at(participation.group_index)];
            for (const dv::ir::access& a : accesses)
                if (dv::writes(a.mode)) i.holder[at(a.buffer)] = role;
            if (member.kind != dv::op_kind::compute) continue;
            const int call = static_cast<int>(all_.calls.size());
            all_.calls.push_back(call_of(number, member, accesses, role));
            i.launches[participation.member] = launch(
                [this, call](dv::host::stream s, void* const* pointers) { detail::launch_call(all_, call, s, pointers); });
        }
    }
    // Pointers stand in the order of accesses: arguments, an update's target that is also one once, then the other results.
    detail::running_session::call call_of(int number, const dv::ir::member& member, dv::span<const dv::ir::access> accesses, int role) {
        const session_graph& p = all_.graphs[at(number)];
        const dv::ir::node& n = p.graph.nodes[member.node];
        const std::vector<dv::tensor_type>& types = p.m.result_type[at(member.node)];
        detail::running_session::call c;
        c.graph = number;
        c.node = member.node;
        c.graph_role = role;
        c.op = member.op;
        c.run_of.assign(at(ranks_), 0);
        const auto is = [&](int a, int symbol) { return a < accesses.size() && is_of(p.graph, p.program, accesses[a], symbol); };
        for (int k = 0; k < n.arguments; ++k) {
            const int symbol = p.graph.operands[n.first_argument + k];
            if (!is(k, symbol)) all_.wrong("an argument of statement " + std::to_string(member.node) + " is not at its place");
            c.arguments.push_back(k);
            c.argument_types.push_back(p.graph.symbols[symbol].type);
        }
        if (c.op->workspace != nullptr) c.workspace = c.op->workspace(c.argument_types.data());
        int next = n.arguments;
        for (int k = 0; k < n.results; ++k) {
            const int symbol = p.graph.operands[n.first_result + k];
            int found = -1;
            for (int a = n.arguments - 1; a >= 0 && n.update && symbol >= 0; --a)
                if (is(a, symbol)) found = a;
            if (found < 0) found = next++;
            if (!is(found, symbol)) all_.wrong("a result of statement " + std::to_string(member.node) + " is not at its place");
            c.results.push_back(found);
            c.result_types.push_back(types[at(k)]);
        }
        return c;
    }
    void prepare_states(int number, prepared_plan& plan) {
        for (const symbol& x : of(number).symbols) {
            const int i = symbol_of(number, static_cast<int>(&x - of(number).symbols.data()));
            if (x.kind != dv::ir::symbol_kind::state || !x.initialised || i < 0) continue;
            plan.from_store[i] = x.from_store;
            if (x.from_store) continue;
            plan.initialisers[i] = launch([&g = all_.graphs[at(number)], i](dv::host::stream s, void* const* pointers) {
                detail::initialise_state(g, i, s, pointers);
            });
        }
    }
};

}  // namespace support
