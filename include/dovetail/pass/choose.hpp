// Candidate schedules, and the choice among them by predicted time. Each candidate is a function of its own, so that each
// can be its own constant evaluation: compile-time limits are per evaluation.
#pragma once

#include "order.hpp"
#include "predict.hpp"

namespace dovetail::pass {

// Everything on one lane, as written.
constexpr schedule sequential_schedule(const ir::program& p, span<const ir::edge> edges, span<const std::int64_t> costs, const settings& s) {
    const vec<int> order = written_order(p.vertices.size(), edges);
    return predict(p, edges, costs, order.view(), false, s);
}

// Three lanes, each as written.
constexpr schedule overlapped_written_schedule(const ir::program& p, span<const ir::edge> edges, span<const std::int64_t> costs, const settings& s) {
    const vec<int> order = written_order(p.vertices.size(), edges);
    return predict(p, edges, costs, order.view(), true, s);
}

// Three lanes, by list scheduling.
constexpr schedule overlapped_list_schedule(const ir::program& p, span<const ir::edge> edges, span<const std::int64_t> costs, const settings& s) {
    const vec<int> written = written_order(p.vertices.size(), edges);
    const vec<std::int64_t> priority = priorities(p, edges, costs, written.view(), s);
    const vec<int> order = list_order(p, edges, costs, priority.view(), s);
    return predict(p, edges, costs, order.view(), true, s);
}

// Vertices up to which `improved` does anything, and how much: predictions times vertices.
inline constexpr int improved_vertices = 32;
inline constexpr int improvement_budget = 1024;
inline constexpr int improvement_window = 8;

// A better order of a small graph: one vertex at a time is tried earlier, by at most a window, and stays there if the
// prediction gains. A larger graph, or a sequential schedule, comes back as it is.
constexpr schedule improved(const schedule& given, const ir::program& p, span<const ir::edge> edges, span<const std::int64_t> costs, const settings& s) {
    schedule best = given;
    const int n = p.vertices.size();
    if (!best.overlapped || best.length < 0 || n > improved_vertices) return best;
    const adjacency in = predecessors(n, edges);
    const seats at = seats_of(p, true);
    vec<int> order = best.order;
    int left = n > 0 ? improvement_budget / n : 0;
    for (int from = 1; from < n; ++from) {
        bool beside = false;  // a vertex on the same slot has been passed since the last try
        const int v = order[from];
        for (int to = from - 1; to >= 0 && from - to < improvement_window && left > 0; --to) {
            const int passed = order[to];
            bool depends = false;
            for (int i = in.first[v]; i < in.first[v + 1]; ++i) depends = depends || in.neighbour[i] == passed;
            if (depends) break;
            for (int i = at.first[v]; i < at.first[v + 1]; ++i)
                for (int j = at.first[passed]; j < at.first[passed + 1]; ++j) beside = beside || at.slot[i] == at.slot[j];
            if (!beside) continue;
            vec<int> tried = order;
            for (int k = from; k > to; --k) tried[k] = tried[k - 1];
            tried[to] = v;
            --left;
            schedule other = predict(p, edges, costs, tried.view(), true, s);
            beside = false;
            if (other.length >= best.length) continue;
            best = static_cast<schedule&&>(other);
            order = static_cast<vec<int>&&>(tried);
            break;
        }
    }
    return best;
}

// Whether an overlapped schedule gains more over the sequential one than the prediction may be wrong by.
constexpr bool gains(std::int64_t overlapped, std::int64_t sequential, const settings& s) {
    if (!s.overlap || overlapped < 0) return false;
    // Whole thousandths first: lengths of many long vertices times 1000 do not fit in 64 bits.
    const std::int64_t margin = sequential / 1000 * s.machine.model_error + sequential % 1000 * s.machine.model_error / 1000;
    return sequential - overlapped > margin;
}

// The overlapped candidate of the shortest prediction where it gains, else the sequential one.
constexpr schedule best_schedule(const ir::program& p, span<const ir::edge> edges, span<const std::int64_t> costs, const settings& s) {
    schedule sequential = sequential_schedule(p, edges, costs, s);
    if (!s.overlap) return sequential;
    schedule best = overlapped_written_schedule(p, edges, costs, s);
    schedule listed = overlapped_list_schedule(p, edges, costs, s);
    if (listed.length < best.length) best = static_cast<schedule&&>(listed);
    best = improved(best, p, edges, costs, s);
    if (gains(best.length, sequential.length, s)) return best;
    return sequential;
}

}  // namespace dovetail::pass
