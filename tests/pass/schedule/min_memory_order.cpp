// The order of little memory: it is a linear extension, and its peak is near the smallest peak of any order.
#include "support/random_graph.hpp"
#include "support/written.hpp"

#include <dovetail/pass/program/expand.hpp>
#include <dovetail/pass/schedule/min_memory_order.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

using namespace support;

namespace {

// Bytes of the role that holds most while one more task runs, `done` of them being through: by task bits.
std::int64_t bytes_held(const dv::ir::program& p, const dv::pass::detail::held_bytes& h, const std::vector<unsigned>& touching,
                        unsigned done, int next) {
    std::vector<std::int64_t> now(h.always.begin(), h.always.end());
    for (int b = 0; b < p.buffers.size(); ++b) {
        const unsigned by = touching[static_cast<std::size_t>(b)];
        const bool begun = (by & (done | 1u << next)) != 0, over = !h.output[b] && (by & ~done) == 0;
        if (begun && !over) now[static_cast<std::size_t>(p.buffers[b].role)] += h.bytes[b];
    }
    return *std::max_element(now.begin(), now.end());
}

std::vector<unsigned> touching_tasks(const dv::ir::program& p, const dv::pass::detail::held_bytes& h) {
    std::vector<unsigned> by(static_cast<std::size_t>(p.buffers.size()));
    for (int v = 0; v < p.tasks.size(); ++v)
        for (int i = h.first[v]; i < h.first[v + 1]; ++i) by[static_cast<std::size_t>(h.buffer[i])] |= 1u << v;
    return by;
}

std::int64_t most_of(const dv::ir::program& p, const dv::pass::detail::held_bytes& h, const std::vector<unsigned>& touching,
                     const dv::vec<int>& order) {
    std::int64_t most = 0;
    unsigned done = 0;
    for (const int v : order) {
        most = std::max(most, bytes_held(p, h, touching, done, v));
        done |= 1u << v;
    }
    return most;
}

// The fewest of all orders, found set by set.
std::int64_t fewest(const dv::ir::program& p, const dv::pass::detail::held_bytes& h, const std::vector<unsigned>& touching,
                    const dv::vec<dv::ir::edge>& edges) {
    const int n = p.tasks.size();
    std::vector<unsigned> before(static_cast<std::size_t>(n));
    for (const dv::ir::edge& e : edges) before[static_cast<std::size_t>(e.to)] |= 1u << e.from;
    std::map<unsigned, std::int64_t> sets{{0u, 0}};
    for (int i = 0; i < n; ++i) {
        std::map<unsigned, std::int64_t> larger;
        for (const auto& [done, most] : sets)
            for (int v = 0; v < n; ++v) {
                if ((done >> v & 1u) != 0 || (before[static_cast<std::size_t>(v)] & ~done) != 0) continue;
                const std::int64_t bytes = std::max(most, bytes_held(p, h, touching, done, v));
                std::int64_t& least = larger.try_emplace(done | 1u << v, bytes).first->second;
                least = std::min(least, bytes);
            }
        sets = std::move(larger);
    }
    return sets.begin()->second;
}

}  // namespace

TEST_CASE("on random graphs the order for little memory keeps every dependency, and mostly needs the fewest bytes of all orders") {
    std::vector<double> ratio;
    constexpr word seed = 9;
    MESSAGE("seed " << seed);
    for (int i = 0; i < 600; ++i) {
        const sketch s = random_graph(mix(seed) + static_cast<word>(i), {});
        const dv::ir::graph_data data = emit(s);
        const dv::ir::program_data expanded = dv::pass::expand(dv::ir::view(data), s.plan_options);
        const dv::ir::program p = dv::ir::view(expanded);
        const dv::vec<dv::ir::edge> edges = dv::pass::edges(p);
        CAPTURE(i);
        const dv::vec<int> order = dv::pass::min_memory_order(p, edges.view());
        REQUIRE(order.size() == p.tasks.size());
        std::vector<int> place(static_cast<std::size_t>(order.size()), -1);
        for (int k = 0; k < order.size(); ++k) place[static_cast<std::size_t>(order[k])] = k;
        CHECK(std::count(place.begin(), place.end(), -1) == 0);
        for (const dv::ir::edge& e : edges) CHECK(place[static_cast<std::size_t>(e.from)] < place[static_cast<std::size_t>(e.to)]);
        if (order.size() > 16) continue;

        const dv::pass::detail::held_bytes h = dv::pass::detail::held_by_tasks(p);
        const std::vector<unsigned> touching = touching_tasks(p, h);
        const std::int64_t front = dv::pass::detail::min_memory_scheduler{p, h, edges.view(), false, {}}.run().bytes,
                           back = dv::pass::detail::min_memory_scheduler{p, h, edges.view(), true, {}}.run().bytes;
        const std::int64_t bytes = most_of(p, h, touching, order), least = fewest(p, h, touching, edges);
        CHECK(bytes == std::min(front, back));  // as the pass counts them
        CHECK(bytes >= least);
        ratio.push_back(least > 0 ? static_cast<double>(bytes) / static_cast<double>(least) : 1.0);
    }
    std::sort(ratio.begin(), ratio.end());
    const auto fewest_of_all = std::count(ratio.begin(), ratio.end(), 1.0);
    MESSAGE(ratio.size() << " graphs of at most 16 tasks: " << fewest_of_all << " orders need the fewest bytes, the worst " << ratio.back()
                         << " times as many");
    CHECK(fewest_of_all >= static_cast<std::ptrdiff_t>(ratio.size() * 95 / 100));
    CHECK(ratio.back() <= 1.5);
}
