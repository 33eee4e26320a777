// The exact maximum-weight antichain of a partial order: by Dilworth's theorem for weights it is the total weight minus the maximum flow
// through the order, in which each element has its weight as capacity.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace support {

class flow_network {
public:
    explicit flow_network(int nodes) : out_(nodes) {}

    void edge(int from, int to, std::int64_t capacity) {
        out_[from].push_back(static_cast<int>(edges_.size()));
        edges_.push_back({to, capacity});
        out_[to].push_back(static_cast<int>(edges_.size()));
        edges_.push_back({from, 0});
    }
    // Dinic's algorithm: blocking flows along shortest paths.
    std::int64_t largest(int source, int sink) {
        std::int64_t total = 0;
        while (layers(source, sink)) {
            next_.assign(out_.size(), 0);
            while (const std::int64_t pushed = push(source, sink, std::numeric_limits<std::int64_t>::max())) total += pushed;
        }
        return total;
    }

private:
    struct edge_to {
        int to;
        std::int64_t capacity;
    };
    bool layers(int source, int sink) {
        layer_.assign(out_.size(), -1);
        layer_[source] = 0;
        std::vector<int> queue{source};
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (int e : out_[queue[i]])
                if (edges_[e].capacity > 0 && layer_[edges_[e].to] < 0) {
                    layer_[edges_[e].to] = layer_[queue[i]] + 1;
                    queue.push_back(edges_[e].to);
                }
        return layer_[sink] >= 0;
    }
    std::int64_t push(int at, int sink, std::int64_t limit) {
        if (at == sink) return limit;
        for (std::size_t& i = next_[at]; i < out_[at].size(); ++i) {
            const int e = out_[at][i];
            if (edges_[e].capacity == 0 || layer_[edges_[e].to] != layer_[at] + 1) continue;
            const std::int64_t pushed = push(edges_[e].to, sink, limit < edges_[e].capacity ? limit : edges_[e].capacity);
            if (pushed == 0) continue;
            edges_[e].capacity -= pushed;
            edges_[e ^ 1].capacity += pushed;
            return pushed;
        }
        return 0;
    }
    std::vector<std::vector<int>> out_;
    std::vector<edge_to> edges_;
    std::vector<int> layer_;
    std::vector<std::size_t> next_;
};

// before(i, j): whether i precedes j; must be transitive.
template <class Before>
std::int64_t heaviest_antichain(const std::vector<std::int64_t>& weights, Before before) {
    const int n = static_cast<int>(weights.size());
    flow_network network{2 * n + 2};
    std::int64_t sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += weights[i];
        network.edge(2 * n, i, weights[i]);
        network.edge(n + i, 2 * n + 1, weights[i]);
        for (int j = 0; j < n; ++j)
            if (i != j && before(i, j)) network.edge(i, n + j, std::numeric_limits<std::int64_t>::max());
    }
    return sum - network.largest(2 * n, 2 * n + 1);
}

}  // namespace support
