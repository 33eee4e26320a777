// Several graphs on the same ranks: their sketches, the order in which every rank calls their executors, and the expected values. In graphs
// that share a store, states with equal name and tensor are the same state on each rank, whatever its roles in these graphs.
#pragma once

#include "random_graph.hpp"
#include "reference.hpp"
#include "written.hpp"

#include <dovetail/pass/program/role_order.hpp>

#include <map>
#include <utility>

namespace support {

enum class turn_kind : unsigned char { run, write, read };

// A run of a graph's executor, or a state of it that the program writes or reads on all ranks that have it.
struct turn {
    turn_kind kind = turn_kind::run;
    int graph = 0;
    int state = -1;  // symbol of the sketch
    word seed = 0;   // of what is written
};

struct session {
    std::vector<sketch> graphs;   // executors are made in this order
    std::vector<char> shares;     // by graph: whether it uses the shared store, or one of its own
    std::vector<turn> turns;
    word seed = 0;
};

// Where a rank stands in a graph, by its numbering: by role in order of first appearance, or as suits the links, within one by position.
struct standing {
    int role = 0, position = 0;  // of the sketch
};
inline std::vector<standing> ranks_in_order(const sketch& s) {
    std::vector<standing> list;
    if (s.single_rank) {
        for (int position = 0; position < width_of(s, 0, ~0u); ++position) list.push_back({0, position});
        return list;
    }
    const std::vector<int> written = roles_as_written(s);
    const dv::ir::graph_data data = emit(s);
    for (const int of_graph : dv::pass::role_order(dv::ir::view(data), dv::cost_model::link_options{s.plan_options})) {
        const int role = written[static_cast<std::size_t>(of_graph)];
        for (int position = 0; position < width_of(s, role, ~0u); ++position) list.push_back({role, position});
    }
    return list;
}

// Whether a symbol is used; an unused one is not written to the graph.
inline bool mentioned(const sketch& s, int x) {
    for (const statement& n : s.nodes)
        if (contains(n.arguments, x) || contains(n.awaited, x) || (n.update && contains(n.results, x))) return true;
    return false;
}

// Whether graph `b` updates a state of graph `a` and may let it differ on ranks on which `a` declares it to be equal.
inline bool lets_differ(const sketch& b, const sketch& a) {
    const auto updated = [&](int x) {
        return std::any_of(b.nodes.begin(), b.nodes.end(), [&](const statement& n) { return n.update && contains(n.results, x); });
    };
    const auto equal = [](const sketch& s, const symbol& x, standing p, standing q) {
        int from = p.position, to = q.position;
        bool same = p.role == q.role;
        const auto& mesh = s.roles[static_cast<std::size_t>(p.role)];
        for (auto m = mesh.rbegin(); m != mesh.rend(); from /= m->width, to /= m->width, ++m)
            same = same && ((x.replicated >> m->axis & 1u) != 0 || from % m->width == to % m->width);
        return same;
    };
    const std::vector<standing> in_a = ranks_in_order(a), in_b = ranks_in_order(b);
    for (const symbol& x : a.symbols)
        for (std::size_t i = 0; i < b.symbols.size(); ++i) {
            const symbol& y = b.symbols[i];
            if (x.kind != dv::ir::symbol_kind::state || y.kind != x.kind || !dv::same(x.name, y.name) || !(x.type == y.type)) continue;
            if (!updated(static_cast<int>(i))) continue;
            for (std::size_t p = 0; p < in_a.size(); ++p)
                for (std::size_t q = 0; q < in_a.size(); ++q)
                    if ((b.single_rank || in_b[p].role == y.role) && (a.single_rank || in_a[p].role == x.role) &&
                        equal(a, x, in_a[p], in_a[q]) && !equal(b, y, in_b[p], in_b[q]))
                        return true;
        }
    return false;
}

inline session random_session(word seed, knobs k, int most_graphs = 3) {
    chooser r{mix(seed + 31)};
    session x;
    x.seed = seed;
    const int count = r.chance(60) ? 1 : r.between(2, most_graphs);
    for (int i = 0; i < count; ++i) {
        knobs own = k;
        own.prefix = i == 0 ? std::string{} : "g" + std::to_string(i);
        if (i > 0) own.exactly = ranks_of(x.graphs[0]);
        own.beside = i == 0 ? nullptr : &x.graphs[static_cast<std::size_t>(r.below(i))];
        x.graphs.push_back(random_graph(mix(seed) + static_cast<word>(i) * 0x51ed2701, own));
        x.shares.push_back(count > 1 ? r.chance(85) : r.chance(50));
        const sketch& latest = x.graphs.back();
        for (std::size_t g = 0; g + 1 < x.graphs.size(); ++g)  // graphs of one store that do not agree have no executors
            if (x.shares[g] && (lets_differ(latest, x.graphs[g]) || lets_differ(x.graphs[g], latest))) x.shares.back() = false;
    }
    std::vector<int> left;
    for (int i = 0; i < count; ++i)
        for (int n = 0; n < x.graphs[static_cast<std::size_t>(i)].runs; ++n) left.push_back(i);
    r.shuffle(left);
    for (const int g : left) {
        x.turns.push_back({turn_kind::run, g, -1, 0});
        if (!r.chance(12)) continue;
        std::vector<int> states;
        const sketch& s = x.graphs[static_cast<std::size_t>(g)];
        for (int i = 0; i < static_cast<int>(s.symbols.size()); ++i)
            if (s.symbols[static_cast<std::size_t>(i)].kind == dv::ir::symbol_kind::state &&
                s.symbols[static_cast<std::size_t>(i)].initialised)
                states.push_back(i);
        if (!states.empty()) x.turns.push_back({r.chance(50) ? turn_kind::write : turn_kind::read, g, r.one_of(states), r.next()});
    }
    return x;
}

// What a session means: each run on the states as they are then.
class session_reference {
public:
    using key = std::pair<std::string, std::vector<std::int64_t>>;  // of a state in a store: the graph that owns it alone, name, tensor
    struct stored {
        int graph = 0, state = 0, rank = 0;
        std::vector<word> bytes;
    };

    explicit session_reference(const session& x) : x_{x} {
        for (const sketch& s : x.graphs) {
            standing_.push_back(ranks_in_order(s));
            of_.emplace_back(s);
        }
        for (int g = 0; g < static_cast<int>(x.graphs.size()); ++g) create(g);
        for (std::size_t t = 0; t < x.turns.size(); ++t) play(t);
        for (int g = 0; g < static_cast<int>(x.graphs.size()); ++g)
            for_states(g, [&](int state, int rank, int position) { load(g, state, rank, position); });
    }
    reference& of(int graph) { return of_[static_cast<std::size_t>(graph)]; }
    const std::vector<standing>& ranks(int graph) const { return standing_[static_cast<std::size_t>(graph)]; }
    // States that must be in the store before the executor of a graph is made.
    std::vector<stored> written_before(int graph, int rank) const { return select(before_, graph, rank); }
    // What a turn writes, or is to read, on a rank.
    std::vector<stored> at_turn(std::size_t turn, int rank) const { return select(turns_[turn], x_.turns[turn].graph, rank); }

    static word written_seed(const stored& s, word seed) { return mix(seed + static_cast<word>(s.rank * 64 + s.state)); }

private:
    template <class F>
    void for_states(int g, F f) {
        const sketch& s = x_.graphs[static_cast<std::size_t>(g)];
        for (int x = 0; x < static_cast<int>(s.symbols.size()); ++x) {
            const symbol& y = s.symbols[static_cast<std::size_t>(x)];
            if (y.kind != dv::ir::symbol_kind::state || !mentioned(s, x)) continue;
            for (int rank = 0; rank < static_cast<int>(ranks(g).size()); ++rank)
                if (const standing at = ranks(g)[static_cast<std::size_t>(rank)]; s.single_rank || at.role == y.role)
                    f(x, rank, at.position);
        }
    }
    static std::vector<stored> select(const std::vector<stored>& list, int graph, int rank) {
        std::vector<stored> found;
        for (const stored& s : list)
            if (s.graph == graph && s.rank == rank) found.push_back(s);
        return found;
    }
    const symbol& of(int g, int x) const { return x_.graphs[static_cast<std::size_t>(g)].symbols[static_cast<std::size_t>(x)]; }
    std::pair<int, key> place(int g, int x, int rank) const {
        const symbol& y = of(g, x);
        std::vector<std::int64_t> type{x_.shares[static_cast<std::size_t>(g)] ? -1 : g, static_cast<std::int64_t>(y.type.type),
                                       y.type.rank};
        type.insert(type.end(), y.type.extent, y.type.extent + y.type.rank);
        return {rank, {std::string(y.name->spelling.first, static_cast<std::size_t>(y.name->spelling.size)), type}};
    }
    std::vector<word> words(piece p) const {
        std::vector<word> w(static_cast<std::size_t>(words_of(p.bytes)));
        if (p.bytes > 0) std::memcpy(w.data(), p.data, static_cast<std::size_t>(p.bytes));
        return w;
    }
    // Its executors find the states in the store or initialise them.
    void create(int g) {
        for_states(g, [&](int x, int rank, int position) {
            const auto at = place(g, x, rank);
            if (store_.count(at) > 0) return;
            piece value = of_[static_cast<std::size_t>(g)].state(x, position);
            if (of(g, x).from_store) {
                before_.push_back({g, x, rank, {}});
                fill_values(value, written_seed(before_.back(), x_.seed));
                before_.back().bytes = words(value);
            }
            store_[at] = words(value);
        });
    }
    void load(int g, int x, int rank, int position) {
        const piece to = of_[static_cast<std::size_t>(g)].state(x, position);
        if (to.bytes > 0) std::memcpy(to.data, store_[place(g, x, rank)].data(), static_cast<std::size_t>(to.bytes));
    }
    void play(std::size_t number) {
        const turn& t = x_.turns[number];
        reference& r = of_[static_cast<std::size_t>(t.graph)];
        turns_.emplace_back();
        if (t.kind == turn_kind::run) for_states(t.graph, [&](int x, int rank, int position) { load(t.graph, x, rank, position); });
        if (t.kind == turn_kind::run) r.run();
        for_states(t.graph, [&](int x, int rank, int position) {
            if (t.kind == turn_kind::run) {
                store_[place(t.graph, x, rank)] = words(r.state(x, position));
            } else if (x == t.state) {
                stored s{t.graph, x, rank, store_[place(t.graph, x, rank)]};
                if (t.kind == turn_kind::write) {
                    fill_values(snapshot(s.bytes, of(t.graph, x).type.bytes(), of(t.graph, x).type.type), written_seed(s, t.seed));
                    store_[place(t.graph, x, rank)] = s.bytes;
                }
                turns_.back().push_back(std::move(s));
            }
        });
    }

    const session& x_;
    std::vector<std::vector<standing>> standing_;
    std::vector<reference> of_;
    std::map<std::pair<int, key>, std::vector<word>> store_;  // by rank
    std::vector<stored> before_;
    std::vector<std::vector<stored>> turns_;
};

}  // namespace support
