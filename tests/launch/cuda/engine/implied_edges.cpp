// The transitive reduction of captured graphs: of random ones, compared with its definition; and of runs that are captured on the simulated
// GPU, whose graphs keep the order of their nodes.
#include "support/samples.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/launch/cuda/engine/implied_edges.hpp>
#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace dv = dovetail;
using dv::cuda::graph_edge;

namespace {

using pairs = std::set<std::pair<int, int>>;
using matrix = std::vector<std::vector<bool>>;

// Which nodes come behind which, by paths (Warshall).
matrix closure(int nodes, const pairs& edges) {
    const auto n = static_cast<std::size_t>(nodes);
    matrix behind(n, std::vector<bool>(n));
    for (const auto& [from, to] : edges) behind[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = true;
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; behind[i][k] && j < n; ++j)
                if (behind[k][j]) behind[i][j] = true;
    return behind;
}
std::vector<graph_edge> as_list(const pairs& edges) {
    std::vector<graph_edge> list;
    for (const auto& [from, to] : edges) list.push_back({from, to});
    return list;
}
pairs without_implied(int nodes, pairs edges) {
    for (const graph_edge& e : dv::cuda::implied_edges(nodes, as_list(edges))) CHECK(edges.erase({e.from, e.to}) == 1);
    return edges;
}
// The transitive reduction of an acyclic graph is the one smallest set of its edges with the same closure.
void check_reduced(int nodes, const pairs& left, const matrix& wanted) {
    CHECK(closure(nodes, left) == wanted);
    for (const auto& e : left) {
        pairs fewer = left;
        fewer.erase(e);
        CHECK(closure(nodes, fewer) != wanted);
    }
}

using namespace samples;
struct beside;
// Reductions and computations in turn, and a computation beside the first.
struct taking_turns : dv::graph<dv::mesh<dv::axis<dp>>, dv::input<x, vector>, dv::let<a, all_reduce<average, dp>(add(x, x))>,
                           dv::let<beside, multiply(x, x)>, dv::let<b, all_reduce<average, dp>(add(a, a))>,
                           dv::let<y, add(b, beside)>, dv::output<y>> {};

struct before_and_after {
    int nodes = 0;
    pairs before, after;
};
std::mutex guard;
std::map<cudaGraph_t, before_and_after> captured;
decltype(dv::cuda::api::graph_instantiate) instantiate = nullptr;
decltype(dv::cuda::api::graph_get_edges) get_edges = nullptr;

}  // namespace

TEST_CASE("a chain, a diamond, and two streams in turn") {
    CHECK(without_implied(0, {}) == pairs{});
    CHECK(without_implied(3, {{0, 1}, {1, 2}}) == pairs{{0, 1}, {1, 2}});
    CHECK(without_implied(3, {{0, 1}, {1, 2}, {0, 2}}) == pairs{{0, 1}, {1, 2}});
    CHECK(without_implied(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}}) == pairs{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
    // Even nodes on one stream and odd ones on the other, each behind the one before it.
    CHECK(without_implied(6, {{0, 2}, {2, 4}, {1, 3}, {3, 5}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}) ==
          pairs{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
}

TEST_CASE("random graphs") {
    std::mt19937 random{7};
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 300; ++round) {
        const int nodes = 1 + below(24), percent = below(100);
        std::vector<int> number(static_cast<std::size_t>(nodes));
        for (int i = 0; i < nodes; ++i) number[static_cast<std::size_t>(i)] = i;
        std::shuffle(number.begin(), number.end(), random);
        pairs edges;
        for (int i = 0; i < nodes; ++i)
            for (int k = i + 1; k < nodes; ++k)
                if (below(100) < percent) edges.emplace(number[static_cast<std::size_t>(i)], number[static_cast<std::size_t>(k)]);
        check_reduced(nodes, without_implied(nodes, edges), closure(nodes, edges));
    }
}

TEST_CASE("captured runs") {
    const simulated::scope simulation;
    captured.clear();
    auto& table = dv::cuda::calls;
    get_edges = std::exchange(table.graph_get_edges, [](cudaGraph_t g, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                                                        std::size_t* count) {
        const auto& all = *reinterpret_cast<simulated::graph*>(g);
        const std::lock_guard lock{guard};
        if (from == nullptr) captured[g] = {static_cast<int>(all.nodes.size()), all.edges, {}};
        return get_edges(g, from, to, data, count);
    });
    instantiate = std::exchange(table.graph_instantiate, [](cudaGraphExec_t* e, cudaGraph_t g, unsigned long long flags) {
        const std::lock_guard lock{guard};
        captured[g].after = reinterpret_cast<simulated::graph*>(g)->edges;
        return instantiate(e, g, flags);
    });
    simulated::run(2, [](auto& rank) {
        dv::executor<taking_turns, samples::overlapped> step{rank, dv::replay};
        step.bind(dv::name<x>, std::vector<float>(8, 1.0f));
        CHECK(step.run().read(dv::name<y>).host() == std::vector<float>(8, 5.0f));
    });
    REQUIRE(captured.size() == 2);
    for (const auto& [graph, edges] : captured) {
        CHECK(edges.after.size() < edges.before.size());
        check_reduced(edges.nodes, edges.after, closure(edges.nodes, edges.before));
    }
}
