// Graphs that the library reads wrongly, as with a defect in lowering: one row of the graph is changed after `lower`, and the planned,
// proven and simulated result is compared with the meaning of the sketch. Every change is noticed or does not change the meaning.
#include "support/how_many.hpp"
#include "support/interpreter.hpp"
#include "support/planner.hpp"
#include "support/random_graph.hpp"
#include "support/reference.hpp"
#include "support/simulator.hpp"
#include "support/written.hpp"

#include <dovetail/plan/make.hpp>
#include <dovetail/plan/prove.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <map>

using namespace support;

namespace {

using graph_data = dv::ir::graph_data;

template <class Good>
dv::ir::node* some_node(graph_data& g, chooser& r, Good good) {
    std::vector<dv::ir::node*> list;
    for (dv::ir::node& n : g.nodes)
        if (good(n)) list.push_back(&n);
    return list.empty() ? nullptr : r.one_of(list);
}
int width_along(const graph_data& g, const dv::ir::node& n) {
    int positions = 1;
    for (int i = 0; i < g.roles[n.role].axes; ++i)
        if (const dv::ir::mesh_axis& m = g.mesh[g.roles[n.role].first_axis + i]; n.axes >> m.axis & 1u) positions *= m.width;
    return positions;
}
// Two of the operands in [first, first + count) that differ, and whose symbols are of one type, change places.
bool swap_operands(graph_data& g, chooser& r, int first, int count) {
    if (count < 2) return false;
    const int a = first + r.below(count), b = first + r.below(count);
    int &x = g.operands[a], &y = g.operands[b];
    if (x == y || x < 0 || y < 0 || g.symbols[x].type != g.symbols[y].type) return false;
    std::swap(x, y);
    return true;
}
void swap_nodes(graph_data& g, int a, int b) {
    std::swap(g.nodes[a], g.nodes[b]);
    for (dv::ir::symbol& x : g.symbols) x.node = x.node == a ? b : x.node == b ? a : x.node;
}
bool touches(const graph_data& g, const dv::ir::node& n, int state) {
    for (int i = 0; i < n.arguments; ++i)
        if (g.operands[n.first_argument + i] == state) return true;
    for (int i = 0; i < n.results; ++i)
        if (n.update && g.operands[n.first_result + i] == state) return true;
    return false;
}

struct misreading {
    const char* name;
    bool (*apply)(graph_data& g, chooser& r);  // false where the graph has nothing of the kind
};

constexpr misreading misreadings[] = {
    {"a shift goes the other way",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n = some_node(g, r, [](const auto& x) { return x.kind == dv::op_kind::shift; });
         return n != nullptr && (n->offset = -n->offset, true);
     }},
    {"the edge of a shift",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n = some_node(g, r, [](const auto& x) { return x.kind == dv::op_kind::shift; });
         return n != nullptr && (n->zero_edge = !n->zero_edge, true);
     }},
    {"a pair of a permute goes the other way",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n = some_node(g, r, [](const auto& x) { return x.kind == dv::op_kind::permute; });
         if (n == nullptr) return false;
         static std::deque<std::vector<dv::position_pair>> pairs;
         static std::deque<dv::operation> operations;
         pairs.emplace_back(n->op->pairs, n->op->pairs + n->op->pair_count);
         for (dv::position_pair& p : pairs.back()) std::swap(p.source, p.target);
         operations.push_back(*n->op);
         operations.back().pairs = pairs.back().data();
         n->op = &operations.back();
         return true;
     }},
    {"another reduction",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n = some_node(g, r, [](const auto& x) { return x.reduce != dv::reduction::none; });
         return n != nullptr && (n->reduce = static_cast<dv::reduction>(1 + static_cast<int>(n->reduce) % 5), true);
     }},
    {"another root along axes",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n = some_node(g, r, [](const auto& x) { return x.role >= 0 && x.root >= 0; });
         return n != nullptr && (n->root = (n->root + 1) % width_along(g, *n), true);
     }},
    {"another root among roles",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n =
             some_node(g, r, [](const auto& x) { return x.role < 0 && (x.kind == dv::op_kind::reduce || x.kind == dv::op_kind::gather); });
         if (n == nullptr) return false;
         n->root = g.operands[n->first_target] = g.symbols[g.operands[n->first_argument + r.below(n->arguments)]].role;
         return true;
     }},
    {"two arguments in the wrong order",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n = some_node(g, r, [](const auto& x) { return x.arguments > 1; });
         return n != nullptr && swap_operands(g, r, n->first_argument, n->arguments);
     }},
    {"another argument",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n = some_node(g, r, [](const auto& x) { return x.role >= 0 && x.arguments > 0; });
         if (n == nullptr) return false;
         int& a = g.operands[n->first_argument + r.below(n->arguments)];
         for (int i = 0; i < g.symbols.size(); ++i)
             if (const dv::ir::symbol& x = g.symbols[i]; i != a && x.kind == dv::ir::symbol_kind::input && !x.in_host_memory &&
                                                         (x.role < 0 || x.role == n->role) && x.type == g.symbols[a].type)
                 return a = i, true;
         return false;
     }},
    {"two results in the wrong order",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n = some_node(g, r, [](const auto& x) { return x.results > 1; });
         return n != nullptr && swap_operands(g, r, n->first_result, n->results);
     }},
    {"two receivers in the wrong order",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n = some_node(g, r, [](const auto& x) { return x.targets > 1 && x.kind == dv::op_kind::scatter; });
         return n != nullptr && (std::swap(g.operands[n->first_target], g.operands[n->first_target + 1]), true);
     }},
    {"other axes",
     [](graph_data& g, chooser& r) {
         dv::ir::node* n = some_node(g, r, [](const auto& x) { return x.kind == dv::op_kind::all_reduce && x.role >= 0; });
         return n != nullptr && (n->axes ^= 1u << g.mesh[g.roles[n->role].first_axis + r.below(g.roles[n->role].axes)].axis, n->axes != 0);
     }},
    {"the index of another axis",
     [](graph_data& g, chooser&) {
         for (dv::ir::symbol& x : g.symbols)
             if (x.kind == dv::ir::symbol_kind::axis_index && g.axes.size() > 1) return x.index_axis = x.index_axis == 1 ? 2 : 1, true;
         return false;
     }},
    {"the axes of all meshes in the wrong order",
     [](graph_data& g, chooser&) {
         bool any = false;
         for (const dv::ir::role& role : g.roles)
             if (role.axes > 1) std::swap(g.mesh[role.first_axis], g.mesh[role.first_axis + 1]), any = true;
         return any;
     }},
    {"one role for another",
     [](graph_data& g, chooser&) { return g.roles.size() > 1 && !g.single_rank && (std::swap(g.roles[0].name, g.roles[1].name), true); }},
    {"statements on a state in the wrong order",
     [](graph_data& g, chooser& r) {
         for (int tries = 0; tries < 10; ++tries) {
             const int i = r.below(g.nodes.size()), j = r.below(g.nodes.size());
             for (int s = 0; s < g.symbols.size(); ++s)
                 if (i != j && g.symbols[s].kind == dv::ir::symbol_kind::state && touches(g, g.nodes[i], s) && touches(g, g.nodes[j], s))
                     return swap_nodes(g, i, j), true;
         }
         return false;
     }},
    {"an output forgotten",
     [](graph_data& g, chooser& r) {
         std::vector<dv::ir::symbol*> list;
         for (dv::ir::symbol& x : g.symbols)
             if (x.output) list.push_back(&x);
         return !list.empty() && (r.one_of(list)->output = false, true);
     }},
};

// How a changed graph is found to be another one; empty where nothing finds it.
std::string found(const sketch& s, const dv::ir::graph& g, meaning& m) {
    const dv::plan::made made = make_plan(g, s.plan_options);
    if (made.wrong || !made.fits) return "no plan";
    const dv::ir::program program = dv::ir::view(made.program);
    const dv::plan::plan plan = dv::ir::view(made.plan);
    if (!prove_plan(g, program, plan, s.plan_options)) return "not proven";
    for (word times = 0; times < 2; ++times) try {
            simulate(g, program, plan, m, {mix(s.seed + times), {0, 1, 2}, 4, s.plan_options.in_flight});
        } catch (const failure& f) {
            return f.what();
        }
    return {};
}

}  // namespace

TEST_CASE("a graph that is read wrongly does not do what the sketch means") {
    std::map<std::string, int> noticed, harmless;
    const how_many many{usual_graphs};
    MESSAGE("seed " << many.seed << ", " << many.count << " graphs");
    for (long i = many.first(); i < many.last(); ++i) {
        chooser r{many.of(i)};
        knobs k;
        k.limits = false;
        k.width = 4;
        k.nodes_low = 10;
        k.nodes_high = 40;
        const sketch s = random_graph(r.next(), k);
        graph_data data = emit(s);
        REQUIRE(!data.wrong);
        const misreading& how = misreadings[static_cast<std::size_t>(i) % std::size(misreadings)];
        if (!how.apply(data, r)) continue;
        CAPTURE(i);
        CAPTURE(std::string(how.name));
        const dv::ir::graph g = dv::ir::view(data);
        std::string what;
        meaning m;
        try {
            m = read_sketch(s, g, s.runs);
            what = found(s, g, m);
        } catch (const failure& f) {
            what = f.what();
        }
        if (!what.empty()) {
            ++noticed[how.name];
            continue;
        }
        ++harmless[how.name];
        meaning same = interpret_as(g, m);
        CHECK(difference(m, same) == "");
    }
    for (const misreading& how : misreadings) {
        MESSAGE(std::string(how.name) << ": " << noticed[how.name] << " noticed, " << harmless[how.name] << " mean the same");
        if (many.only < 0 && many.count >= usual_graphs) CHECK(noticed[how.name] >= 3);
    }
}
