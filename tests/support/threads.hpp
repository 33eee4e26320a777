// Runs a session of random graphs on the host backend, or another backend for its operations: `on_threads` issues the turns of the session
// on every rank, with several runs in flight, and returns the differences from the meaning of the sketches.
#pragma once

#include "session_plans.hpp"

#include <dovetail/launch/engine/engine.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/launch/ticket.hpp>

namespace support {

class on_threads : public session_plans {
public:
    using session_plans::session_plans;

    // The differences and errors; empty if there are none.
    std::string fault() {
        return fault_on([this](const auto& body) { dv::host::world{ranks_}.run(body); });
    }
    // The same where `run_all(body)` calls body(rank) for every rank of a world of its own.
    template <class RunAll>
    std::string fault_on(const RunAll& run_all, dv::replay_mode how = dv::replay_mode::never) {
        if (!all_.fault.empty()) return all_.fault;
        const launch_table::in_use launches{all_.launches};
        try {
            run_all([this, how](auto& rank) { this->play(rank, how); });
        } catch (const std::exception& e) {
            all_.wrong(e.what());
        }
        return all_.fault;
    }

    // How often an output of a run was bound.
    long bound_outputs() const { return bound_outputs_; }

private:
    struct open_run {
        std::shared_ptr<dv::run_state> run_state;
        std::vector<std::vector<word>> bound;  // what its inputs are bound to, until it is garbage
        std::vector<std::pair<int, dv::block>> outputs;  // buffers of outputs that are bound, and to what
    };
    struct executor {
        std::shared_ptr<dv::engine> engine;
        std::deque<open_run> open;
        int runs = 0;
    };

    template <class Rank>
    void play(Rank& rank, dv::replay_mode how) {
        const int me = rank.index();
        chooser r{mix(x_.seed + static_cast<word>(me))};
        const dv::store symmetric_set{rank};
        std::vector<executor> executors(x_.graphs.size());
        struct closing {
            std::vector<executor>& all;
            int unwinding = std::uncaught_exceptions();
            ~closing() {
                for (std::size_t i = all.size(); i-- > 0;)
                    if (all[i].engine) all[i].engine->close(std::uncaught_exceptions() > unwinding);
            }
        } close{executors};
        for (int g = 0; g < static_cast<int>(x_.graphs.size()); ++g) executors[at(g)].engine = make(rank, g, symmetric_set, how);
        for (std::size_t t = 0; t < x_.turns.size(); ++t) {
            const turn& now = x_.turns[t];
            executor& e = executors[at(now.graph)];
            if (now.kind == turn_kind::run) run(e, now.graph, me, r);
            else
                for (const auto& s : meaning_.at_turn(t, me)) touch(*e.engine, s, now.kind == turn_kind::write);
            for (executor& each : executors) spoil_released(each);
        }
        for (int g = 0; g < static_cast<int>(executors.size()); ++g)
            while (!executors[at(g)].open.empty()) collect(executors[at(g)], g, me);
        for (int g = 0; g < static_cast<int>(executors.size()); ++g) compare_states(*executors[at(g)].engine, g, me);
    }
    template <class Rank>
    std::shared_ptr<dv::engine> make(Rank& rank, int g, const dv::store& symmetric_set, dv::replay_mode how) {
        const session_graph& p = all_.graphs[at(g)];
        dv::engine_options o;
        o.time_limit = std::chrono::seconds{60};
        o.replay = how;
        o.record_times = how == dv::replay_mode::never && x_.seed % 4 == 0;
        o.store = x_.shares[at(g)] ? symmetric_set.core() : dv::store{rank}.core();
        const auto store = o.store;
        for (const auto& s : meaning_.written_before(g, rank.index())) {
            const symbol& x = of(g).symbols[at(s.state)];
            store->write(store->at(p.graph.symbols[symbol_of(g, s.state)].name, x.type), s.bytes.data());
        }
        // All widths but one have to be told; which, is the same on all ranks.
        int untold = static_cast<int>(x_.seed % 5);
        for (int a = 0; a < of(g).axes; ++a)
            if (of(g).open_axes >> a & 1u)
                for (const dv::ir::mesh_axis& m : of(g).roles[at(role_with(g, a))])
                    if (m.axis == a && untold-- != 0) o.widths.push_back({axis_name(a), m.width});
        const std::shared_ptr<dv::engine> e = rank.make_engine(plans_[at(g)].of, std::move(o));
        if (!p.graph.single_rank && e->role != p.place_of[at(rank.index())].first)
            all_.wrong("rank " + std::to_string(rank.index()) + " plays another role");
        all_.made[at(g)][at(rank.index())] = true;
        return e;
    }
    int role_with(int g, int axis) const {
        for (int role = 0; role < static_cast<int>(of(g).roles.size()); ++role)
            for (const auto& m : of(g).roles[at(role)])
                if (m.axis == axis) return role;
        return 0;
    }

    // Binds and issues; looks at older runs where there is no room, and now and then before.
    void run(executor& e, int g, int me, chooser& r) {
        session_graph& p = all_.graphs[at(g)];
        while (static_cast<int>(e.open.size()) >= of(g).plan_options.in_flight || (!e.open.empty() && r.chance(15))) collect(e, g, me);
        open_run next;
        const auto [role, position] = p.place_of[at(me)];
        for (int x = 0; x < p.graph.symbols.size(); ++x) {
            const dv::ir::symbol& y = p.graph.symbols[x];
            if (y.kind != dv::ir::symbol_kind::input) continue;
            std::vector<word>& bytes =
                next.bound.emplace_back(static_cast<std::size_t>(words_of(y.type.bytes())) + 1, 0x5555555555555555ull);
            const bool here = y.role < 0 || y.role == role || p.graph.single_rank;  // elsewhere it is ignored
            const piece value = p.m.value(e.runs, x, y.role < 0 ? role : y.role, position);
            if (here && value.bytes > 0) std::memcpy(bytes.data(), value.data, static_cast<std::size_t>(value.bytes));
            const auto from = r.one_of(std::vector{dv::binding_source::copied, dv::binding_source::borrowed, dv::binding_source::in_place});
            e.engine->bind(x, {bytes.data(), y.type.size(), from});
            if (from == dv::binding_source::copied) spoil(bytes);
        }
        bind_outputs(*e.engine, next, r);
        next.run_state = e.engine->run();
        if (next.run_state->run != e.runs) all_.wrong("a run has another number");
        ++e.runs;
        e.open.push_back(std::move(next));
    }
    // Now and then some outputs of a run are bound, on each rank others.
    void bind_outputs(dv::engine& e, open_run& next, chooser& r) {
        const bool some = r.chance(30);
        for (int i = 0; i < static_cast<int>(e.addresses.outputs().size()); ++i) {
            const auto output = e.addresses.outputs()[at(i)];
            if (e.addresses.output_of(output.symbol) != i) continue;  // of another role, in a graph on one rank
            e.unbind_output(output.symbol);
            const dv::tensor_type type = e.graph.symbols[output.symbol].type;
            if (!some || !r.chance(70) || !e.has_output(output.symbol) || type.size() == 0 || !e.addresses.can_be_bound(i)) continue;
            dv::external_tensor to;
            to.type = type;
            dv::detail::set_row_major(type, to.stride);
            next.outputs.emplace_back(output.buffer, dv::block{e.addresses.source(), type.bytes()});
            to.data = next.outputs.back().second.data();
            e.bind_output(output.symbol, to);
            ++bound_outputs_;
        }
    }
    // Where an output of a run that has ended is.
    static const void* place_of(const dv::engine& e, const open_run& run, int buffer) {
        for (const auto& [bound, memory] : run.outputs)
            if (bound == buffer) return memory.data();
        return e.addresses.at(buffer, run.run_state->run, run.run_state->bound);
    }
    // Inputs that are said to be released may be overwritten, and freed.
    void spoil_released(executor& e) {
        for (open_run& o : e.open)
            if (!o.bound.empty() && e.engine->inputs_released(*o.run_state)) {
                for (auto& bytes : o.bound) spoil(bytes);
                o.bound.clear();
            }
    }
    static void spoil(std::vector<word>& bytes) { std::fill(bytes.begin(), bytes.end(), 0xaaaaaaaaaaaaaaaaull); }
    void collect(executor& x, int g, int me) {
        dv::engine& e = *x.engine;
        session_graph& p = all_.graphs[at(g)];
        const auto [own, position] = p.place_of[at(me)];
        const std::shared_ptr<dv::run_state> f = x.open.front().run_state;
        e.finish(f, std::nullopt);
        if (!e.inputs_released(*f)) all_.wrong("a run that has ended holds its inputs");
        for (const dv::step_time& t : f->times)
            if (t.end_ns < t.start_ns) all_.wrong("a step ended before it began");
        const dv::thread_number reader = dv::launch::this_thread_number();
        e.hold(*f);
        const int run = static_cast<int>(f->run);
        const std::string where = " on rank " + std::to_string(me) + " in run " + std::to_string(run) + " of graph " + std::to_string(g);
        std::vector<char> wanted(at(p.graph.symbols.size()), 0);
        for (int role = 0; role < p.graph.roles.size(); ++role) {
            if (role != own && !p.graph.single_rank) continue;
            for (const int symbol : p.m.outputs[at(p.m.at(role, position))]) {
                wanted[at(symbol)] = 1;
                bool found = false;
                for (int b = 0; b < p.program.buffers.size(); ++b) {
                    const dv::ir::buffer& y = p.program.buffers[b];
                    if (!y.output || y.symbol != symbol || y.role != e.role || plans_[at(g)].holder[at(b)] != role) continue;
                    found = true;
                    std::vector<word> bytes(static_cast<std::size_t>(words_of(y.bytes)));
                    if (y.bytes > 0) e.addresses.source()->to_host(bytes.data(), place_of(e, x.open.front(), b), y.bytes);
                    if (!same(snapshot(bytes, y.bytes), p.m.value(run, symbol, role, position)))
                        all_.wrong("output symbol " + std::to_string(symbol) + " is wrong" + where);
                }
                if (!found) all_.wrong("output symbol " + std::to_string(symbol) + " is missing" + where);
            }
        }
        for (int symbol = 0; symbol < p.graph.symbols.size(); ++symbol)
            if (e.has_output(symbol) != (wanted[at(symbol)] != 0))
                all_.wrong("output symbol " + std::to_string(symbol) + (wanted[at(symbol)] ? " is not readable" : " is readable") + where);
        e.release(*f, reader);
        x.open.pop_front();
    }
    // A state that the program writes, or reads, between runs.
    void touch(dv::engine& e, const session_reference::stored& s, bool write) {
        dv::detail::stored_state& state = e.state_of(symbol_of(s.graph, s.state));
        e.drain();
        if (write) return e.addresses.store()->write(state, s.bytes.data());
        std::vector<word> now(s.bytes.size());
        e.addresses.store()->read(state, now.data());
        const std::int64_t bytes = of(s.graph).symbols[at(s.state)].type.bytes();
        std::vector<word> then = s.bytes;
        if (!same(snapshot(now, bytes), snapshot(then, bytes)))
            all_.wrong("state symbol " + std::to_string(s.state) + " of graph " + std::to_string(s.graph) +
                       " is wrong between runs on rank " + std::to_string(s.rank));
    }
    void compare_states(dv::engine& e, int g, int me) {
        session_graph& p = all_.graphs[at(g)];
        for (const auto& s : e.addresses.states()) {
            std::vector<word> now(static_cast<std::size_t>(words_of(p.graph.symbols[s.symbol].type.bytes())));
            e.addresses.store()->read(*s.stored, now.data());
            const piece then = p.m.state(s.symbol, p.graph.symbols[s.symbol].role, p.place_of[at(me)].second);
            if (!same(snapshot(now, then.bytes), then))
                all_.wrong("state symbol " + std::to_string(s.symbol) + " of graph " + std::to_string(g) + " is wrong on rank " +
                           std::to_string(me) + " at the end");
        }
    }

    std::atomic<long> bound_outputs_ = 0;
};

}  // namespace support
