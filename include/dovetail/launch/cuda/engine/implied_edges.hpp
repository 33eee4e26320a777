// Edges of a captured CUDA graph that other edges imply. A stream that goes behind an event of another stream keeps its own order too, also
// where the event comes after all of it. With such edges left in, a graph of small kernels in turn on two streams took 12.4 us a pair of
// kernels on an H200, and 8.8 us with a single chain.
#pragma once

#include "../api/api.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dovetail::cuda {

struct graph_edge {
    int from = 0, to = 0;
};

// Which nodes of an acyclic graph come behind which. Each node is on a chain of nodes of which each has an edge to the next, and knows how
// far down each chain the nodes before it are: as many numbers as there are chains, about as many as captured streams.
class node_chains {
public:
    explicit node_chains(int nodes) : places_(static_cast<std::size_t>(nodes)) {}

    // Adds a node, after those that have an edge to it.
    void add(int node, const std::vector<int>& before) {
        place here;
        here.chain = last_.size();
        for (const int b : before) {
            const place& there = at(b);
            here.behind.resize(std::max(here.behind.size(), there.behind.size()), -1);
            for (std::size_t c = 0; c < there.behind.size(); ++c) here.behind[c] = std::max(here.behind[c], there.behind[c]);
            if (last_[there.chain] == b) here.chain = there.chain;
        }
        here.behind.resize(std::max(here.behind.size(), here.chain + 1), -1);
        here.position = ++here.behind[here.chain];
        last_.resize(std::max(last_.size(), here.chain + 1));
        last_[here.chain] = node;
        places_[static_cast<std::size_t>(node)] = std::move(here);
    }
    // Whether the second node is the first or comes behind it.
    bool reaches(int from, int to) const {
        const place& first = at(from);
        const std::vector<int>& behind = at(to).behind;
        return first.chain < behind.size() && behind[first.chain] >= first.position;
    }

private:
    struct place {
        std::size_t chain = 0;
        int position = 0;
        std::vector<int> behind = {};  // by chain: the last position before the node, or its own; -1, or no entry: none
    };
    const place& at(int node) const { return places_[static_cast<std::size_t>(node)]; }

    std::vector<place> places_;
    std::vector<int> last_;  // by chain: its last node
};

// The edges of an acyclic graph that are not in its transitive reduction: those from whose first node a longer path leads to the second.
// Nodes are numbered from 0.
inline std::vector<graph_edge> implied_edges(int nodes, const std::vector<graph_edge>& edges) {
    std::vector<std::vector<int>> before(static_cast<std::size_t>(nodes)), after(static_cast<std::size_t>(nodes));
    for (const graph_edge& e : edges) {
        before[static_cast<std::size_t>(e.to)].push_back(e.from);
        after[static_cast<std::size_t>(e.from)].push_back(e.to);
    }
    std::vector<std::size_t> missing;  // by node: the nodes before it that were not visited
    std::vector<int> ready;
    for (int n = 0; n < nodes; ++n) {
        missing.push_back(before[static_cast<std::size_t>(n)].size());
        if (missing.back() == 0) ready.push_back(n);
    }
    std::vector<graph_edge> implied;
    node_chains chains{nodes};
    while (!ready.empty()) {
        const int node = ready.back();
        ready.pop_back();
        const std::vector<int>& all = before[static_cast<std::size_t>(node)];
        for (const int b : all)
            if (std::any_of(all.begin(), all.end(), [&](int other) { return other != b && chains.reaches(b, other); }))
                implied.push_back({b, node});
        chains.add(node, all);
        for (const int a : after[static_cast<std::size_t>(node)])
            if (--missing[static_cast<std::size_t>(a)] == 0) ready.push_back(a);
    }
    return implied;
}

// Removes them from a graph. Edges that carry more than an order, as those of programmatic launches do, stay and imply nothing.
inline void remove_implied_edges(cudaGraph_t graph) {
    std::size_t count = 0;
    check(calls.graph_get_edges(graph, nullptr, nullptr, nullptr, &count), "cudaGraphGetEdges");
    std::vector<cudaGraphNode_t> from(count), to(count);
    std::vector<cudaGraphEdgeData> data(count);
    if (count == 0) return;
    check(calls.graph_get_edges(graph, from.data(), to.data(), data.data(), &count), "cudaGraphGetEdges");
    std::unordered_map<cudaGraphNode_t, int> numbers;
    std::vector<cudaGraphNode_t> nodes;
    const auto number = [&](cudaGraphNode_t n) {
        const auto [at, is_new] = numbers.emplace(n, static_cast<int>(nodes.size()));
        if (is_new) nodes.push_back(n);
        return at->second;
    };
    std::vector<graph_edge> edges;
    for (std::size_t i = 0; i < count; ++i)
        if (data[i].type == cudaGraphDependencyTypeDefault && data[i].from_port == 0 && data[i].to_port == 0)
            edges.push_back({number(from[i]), number(to[i])});
    std::vector<cudaGraphNode_t> first, second;
    for (const graph_edge& e : implied_edges(static_cast<int>(nodes.size()), edges)) {
        first.push_back(nodes[static_cast<std::size_t>(e.from)]);
        second.push_back(nodes[static_cast<std::size_t>(e.to)]);
    }
    if (first.empty()) return;
    check(calls.graph_remove_dependencies(graph, first.data(), second.data(), first.size()), "cudaGraphRemoveDependencies");
}

}  // namespace dovetail::cuda
