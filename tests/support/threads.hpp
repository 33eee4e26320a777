// Runs a graph that exists in arrays only on the host backend, or another that runs its operations: `on_threads` makes an image
// of its plan whose operations are those of hash_ops.hpp, runs it with several runs in flight and says what differs from the
// interpreter. One graph at a time: a launch is a plain function, so what it stands for lies in one table per process.
#pragma once

#include "interpreter.hpp"

#include <dovetail/launch/host/world.hpp>
#include <dovetail/launch/ticket.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace support {

namespace detail {

// What launches and initialisers of one graph need to know.
struct running_graph {
    struct call {
        int node = -1;
        const dv::operation* op = nullptr;
        int graph_role = 0;
        std::vector<int> arguments, results;                    // indices of pointers
        std::vector<std::int64_t> argument_bytes, result_bytes;
        std::vector<int> run_of;                                // by rank: runs it has done; touched only on the lane that launches it
    };
    meaning* m = nullptr;
    std::vector<call> calls;
    std::vector<int> states;                                    // symbols, by initialiser
    std::vector<std::atomic<bool>> made;                        // by rank: its executor; what is launched before is not a run's
    std::atomic<long> launches = 0, workspaces = 0;
    std::mutex guard;
    std::string fault;                                          // the first one

    void wrong(std::string text) {
        const std::lock_guard lock{guard};
        if (fault.empty()) fault = std::move(text);
    }
    // A rank's place in the mesh of a role of the graph.
    int lane_of(int rank) const { return m->g->folded ? rank : m->places[rank].lane; }
};

inline running_graph* now_running = nullptr;

inline void launch_call(int number, dv::host::stream s, void* const* pointers) {
    running_graph& all = *now_running;
    running_graph::call& c = all.calls[number];
    if (!all.made[s.rank]) return;
    const int run = c.run_of[s.rank]++;
    ++all.launches;
    const piece scratch{static_cast<unsigned char*>(s.workspace), s.workspace_bytes};
    const word mark = mix(static_cast<word>(number * 64 + s.rank)) + static_cast<word>(run);
    fill(scratch, mark);
    std::vector<piece> in, out;
    for (std::size_t i = 0; i < c.arguments.size(); ++i) in.push_back({static_cast<unsigned char*>(pointers[c.arguments[i]]), c.argument_bytes[i]});
    for (std::size_t i = 0; i < c.results.size(); ++i) out.push_back({static_cast<unsigned char*>(pointers[c.results[i]]), c.result_bytes[i]});
    // Late in one place or another, so that what is ordered by luck alone comes in another order.
    if (mark % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(mark / 8 % 200));
    const word effect = apply(c.op, in, out);
    if (mark % 8 == 1) std::this_thread::yield();
    const std::string where = "statement " + std::to_string(c.node) + " on rank " + std::to_string(s.rank) + " in run " + std::to_string(run);
    const int here = all.m->at(c.graph_role, all.lane_of(s.rank));
    if (effect != all.m->effects[run][static_cast<std::size_t>(here * all.m->g->nodes.size() + c.node)]) all.wrong("wrong arguments: " + where);
    if (scratch.bytes > 0) {
        ++all.workspaces;
        std::vector<word> left(static_cast<std::size_t>(meaning::words_of(scratch.bytes)));
        fill(snapshot(left, scratch.bytes), mark);
        if (!same(scratch, snapshot(left, scratch.bytes))) all.wrong("workspace written by another: " + where);
    }
}

inline void initialise_state(int number, dv::host::stream s, void* const* pointers) {
    const running_graph& all = *now_running;
    const int symbol = all.states[number];
    fill({static_cast<unsigned char*>(pointers[0]), all.m->g->symbols[symbol].type.bytes()}, all.m->state_seed(symbol, all.lane_of(s.rank)));
}

inline constexpr int most_calls = 96;
using launch_pointer = dv::launch_function<dv::host::stream>;
template <int... N>
constexpr dv::fixed<launch_pointer, most_calls> launch_table(std::integer_sequence<int, N...>) {
    return {most_calls, {[](dv::host::stream s, void* const* p) { launch_call(N, s, p); }...}};
}
template <int... N>
constexpr dv::fixed<launch_pointer, most_calls> state_table(std::integer_sequence<int, N...>) {
    return {most_calls, {[](dv::host::stream s, void* const* p) { initialise_state(N, s, p); }...}};
}
inline constexpr auto launch_of = launch_table(std::make_integer_sequence<int, most_calls>{});
inline constexpr auto state_of = state_table(std::make_integer_sequence<int, most_calls>{});

}  // namespace detail

class on_threads {
public:
    on_threads(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, const dv::settings& s, int runs, word seed)
        : g_{g}, p_{p}, seed_{seed}, in_flight_{s.in_flight}, m_{interpret(g, runs, seed)}, launches_(p.members.size(), nullptr), initialisers_(g.symbols.size(), nullptr) {
        all_.m = &m_;
        all_.made = std::vector<std::atomic<bool>>(m_.places.size());
        ranks_ = g.folded ? m_.lanes(0) : static_cast<int>(m_.places.size());
        prepare_calls();
        prepare_states();
        image_.graph = g;
        image_.program = p;
        image_.plan = plan;
        image_.s = s;
        image_.launches = launches_.view();
        image_.initialisers = initialisers_.view();
        image_.hash = dv::hash_of(g, p, plan);
    }

    // What went wrong; empty where nothing did.
    std::string fault() {
        return fault_on([this](const auto& body) { dv::host::world{ranks_}.run(body); });
    }
    // The same where `run_all(body)` calls body(rank) for every rank of a world of its own.
    template <class RunAll>
    std::string fault_on(const RunAll& run_all, dv::replay_mode how = dv::replay_mode::never) {
        if (!all_.fault.empty()) return all_.fault;
        detail::now_running = &all_;
        try {
            run_all([this, how](auto& rank) { this->play(rank, how); });
        } catch (const std::exception& e) {
            all_.wrong(e.what());
        }
        detail::now_running = nullptr;
        return all_.fault;
    }
    int ranks() const { return ranks_; }
    long launches() const { return all_.launches; }
    long workspaces() const { return all_.workspaces; }

private:
    void prepare_calls() {
        holder_.assign(static_cast<std::size_t>(p_.buffers.size()), 0);
        for (const dv::ir::part& part : p_.parts) {
            const dv::ir::member& member = p_.members[part.member];
            const auto accesses = p_.accesses.part(part.first_access, part.accesses);
            if (member.node < 0) continue;
            const dv::ir::node& n = g_.nodes[member.node];
            const int role = n.role >= 0 ? n.role : seats_of(g_, n)[part.seat];
            for (const dv::ir::access& a : accesses)
                if (dv::writes(a.mode)) holder_[a.buffer] = role;
            if (member.kind != dv::op_kind::compute) continue;
            detail::running_graph::call c;
            c.node = member.node;
            c.op = member.op;
            c.graph_role = role;
            c.run_of.assign(static_cast<std::size_t>(ranks_), 0);
            // Arguments stand first, in order; an update's target that is also an argument stands there once.
            std::vector<char> taken(static_cast<std::size_t>(part.accesses), 0);
            for (int k = 0; k < n.arguments; ++k) {
                const int a = find(accesses, g_.operands[n.first_argument + k], [&](int i) { return dv::reads(accesses[i].mode); });
                if (a < 0) return all_.wrong("an argument of statement " + std::to_string(member.node) + " is missing");
                c.arguments.push_back(a);
                c.argument_bytes.push_back(p_.buffers[accesses[a].buffer].bytes);
            }
            for (int k = 0; k < n.results; ++k) {
                // A result that is discarded lies in scratch memory, as workspace does, but has a type.
                const int a = find(accesses, g_.operands[n.first_result + k],
                                   [&](int i) { return dv::writes(accesses[i].mode) && taken[i] == 0 && p_.buffers[accesses[i].buffer].type.valid(); });
                if (a < 0) return all_.wrong("a result of statement " + std::to_string(member.node) + " is missing");
                taken[a] = 1;
                c.results.push_back(a);
                c.result_bytes.push_back(p_.buffers[accesses[a].buffer].bytes);
            }
            if (static_cast<int>(all_.calls.size()) == detail::most_calls) return all_.wrong("too many operations for the table of launches");
            launches_[part.member] = detail::launch_of[static_cast<int>(all_.calls.size())];
            all_.calls.push_back(std::move(c));
        }
    }
    template <class Good>
    int find(dv::span<const dv::ir::access> accesses, int symbol, Good good) const {
        for (int i = 0; i < accesses.size(); ++i)
            if (p_.buffers[accesses[i].buffer].symbol == symbol && good(i)) return i;
        return -1;
    }
    void prepare_states() {
        for (int i = 0; i < g_.symbols.size(); ++i) {
            const dv::ir::symbol& x = g_.symbols[i];
            if (x.kind != dv::ir::symbol_kind::state || !x.initialised) continue;
            if (static_cast<int>(all_.states.size()) == detail::most_calls) return all_.wrong("too many states for the table of initialisers");
            initialisers_[i] = detail::state_of[static_cast<int>(all_.states.size())];
            all_.states.push_back(i);
        }
    }

    // One rank: issues as many runs as may be in flight, sometimes fewer, and looks at the oldest one's outputs.
    template <class Rank>
    void play(Rank& rank, dv::replay_mode how) {
        dv::engine_options o;
        o.time_limit = std::chrono::seconds{60};
        o.replay = how;
        const std::shared_ptr<dv::engine> e = rank.make_engine(image_, std::move(o));
        all_.made[static_cast<std::size_t>(rank.index())] = true;
        struct closing {
            dv::engine& e;
            int unwinding = std::uncaught_exceptions();
            ~closing() { e.close(std::uncaught_exceptions() > unwinding); }
        } close{*e};
        chooser r{mix(seed_ + static_cast<word>(rank.index()))};
        std::vector<std::shared_ptr<dv::flight>> open;
        for (int run = 0; run < m_.runs; ++run) {
            for (const auto& in : e->memory_of.inputs()) {
                const dv::ir::symbol& x = g_.symbols[in.symbol];
                const piece value = m_.value(run, in.symbol, x.role >= 0 ? x.role : e->role, all_.lane_of(rank.index()));
                e->bind(in.symbol, {value.data, x.type.size(), r.chance(40), nullptr});
            }
            while (static_cast<int>(open.size()) >= in_flight_ || (!open.empty() && r.chance(20))) collect(*e, open, rank.index());
            open.push_back(e->run());
        }
        while (!open.empty()) collect(*e, open, rank.index());
        e->settle();
        for (const auto& s : e->memory_of.states()) {
            std::vector<word> now(static_cast<std::size_t>(meaning::words_of(g_.symbols[s.symbol].type.bytes())));
            e->memory_of.store()->read(*s.stored, now.data());
            const piece then = m_.value(0, s.symbol, g_.symbols[s.symbol].role, all_.lane_of(rank.index()));
            if (!same(snapshot(now, then.bytes), then)) all_.wrong("state symbol " + std::to_string(s.symbol) + " is wrong on rank " + std::to_string(rank.index()) + " at the end");
        }
    }
    void collect(dv::engine& e, std::vector<std::shared_ptr<dv::flight>>& open, int rank) {
        const std::shared_ptr<dv::flight> f = open.front();
        open.erase(open.begin());
        e.finish(f, std::nullopt);
        e.hold(*f);
        const int run = static_cast<int>(f->run), lane = all_.lane_of(rank);
        for (int b = 0; b < p_.buffers.size(); ++b) {
            const dv::ir::buffer& x = p_.buffers[b];
            if (!x.output || x.role != e.role) continue;
            const dv::ir::node& n = g_.nodes[g_.symbols[x.symbol].node];
            if (n.role >= 0 && dv::is_communication(n.kind) && !receives(n.kind, n.root, seat_of(n, lane))) continue;
            const piece now{static_cast<unsigned char*>(e.memory_of.at(b, run, f->inputs)), x.bytes};
            if (!same(now, m_.value(run, x.symbol, holder_[static_cast<std::size_t>(b)], lane)))
                all_.wrong("output symbol " + std::to_string(x.symbol) + " is wrong on rank " + std::to_string(rank) + " in run " + std::to_string(run));
        }
        e.release(*f);
    }
    int seat_of(const dv::ir::node& n, int lane) const {
        const auto lanes = m_.neighbours(n.role, lane, n.axes);
        return static_cast<int>(std::find(lanes.begin(), lanes.end(), lane) - lanes.begin());
    }

    const dv::ir::graph g_;
    const dv::ir::program p_;
    const word seed_;
    const int in_flight_;
    meaning m_;
    detail::running_graph all_;
    dv::vec<detail::launch_pointer> launches_, initialisers_;
    dv::image<dv::host::stream> image_;
    std::vector<int> holder_;   // by buffer: the graph's role whose statement writes it
    int ranks_ = 0;
};

}  // namespace support
