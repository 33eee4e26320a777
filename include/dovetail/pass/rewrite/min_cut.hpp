// A minimum cut of a network (Dinic's algorithm): which nodes lie on the sink's side of a cut of least capacity between source and sink.
// Of several such cuts, the one with the fewest nodes on the sink's side.
#pragma once

#include "../../core/vec.hpp"

#include <cstdint>

namespace dovetail::pass {

class min_cut {
public:
    static constexpr std::int64_t unbounded = std::int64_t{1} << 62;  // above the sum of all bounded capacities
    static constexpr int source = 0, sink = 1;

    // Source, sink and others, which have the numbers from 2 on.
    constexpr explicit min_cut(int nodes) : first_(nodes, -1), current_(nodes), level_(nodes) {}

    constexpr void add_arc(int from, int to, std::int64_t capacity) {
        add_half(from, to, capacity);
        add_half(to, from, 0);
    }

    // By node: whether it is on the sink's side.
    constexpr vec<char> sink_side() {
        while (find_levels()) {
            for (int v = 0; v < first_.size(); ++v) current_[v] = first_[v];
            while (augment()) {}
        }
        return reaching_sink();
    }

private:
    struct arc {
        int to = 0;
        int next = -1;  // of the arcs that leave the same node
        std::int64_t capacity = 0;
    };

    // An arc and the one back, which holds its flow, have the numbers 2 n and 2 n + 1.
    constexpr void add_half(int from, int to, std::int64_t capacity) {
        arcs_.push({to, first_[from], capacity});
        first_[from] = arcs_.size() - 1;
    }

    // Distances from the source along arcs with capacity left; whether the sink has one.
    constexpr bool find_levels() {
        for (int& level : level_) level = -1;
        level_[source] = 0;
        vec<int> queue;
        queue.push(source);
        for (int i = 0; i < queue.size() && level_[sink] < 0; ++i)
            for (int a = first_[queue[i]]; a >= 0; a = arcs_[a].next) {
                if (arcs_[a].capacity == 0 || level_[arcs_[a].to] >= 0) continue;
                level_[arcs_[a].to] = level_[queue[i]] + 1;
                queue.push(arcs_[a].to);
            }
        return level_[sink] >= 0;
    }

    // Sends flow along one more path of the level graph; false if there is none.
    constexpr bool augment() {
        path_.clear();
        for (int v = source; v != sink;) {
            if (const int a = admissible(v); a >= 0) {
                path_.push(a);
                v = arcs_[a].to;
            } else if (v == source) {
                return false;
            } else {  // a dead end: its predecessor goes on with its next arc
                const int last = path_[path_.size() - 1];
                path_.resize(path_.size() - 1);
                v = arcs_[last ^ 1].to;
                current_[v] = arcs_[last].next;
            }
        }
        send();
        return true;
    }
    constexpr int admissible(int v) {
        int& a = current_[v];
        while (a >= 0 && (arcs_[a].capacity == 0 || level_[arcs_[a].to] != level_[v] + 1)) a = arcs_[a].next;
        return a;
    }
    constexpr void send() {
        std::int64_t least = unbounded;
        for (const int a : path_)
            if (arcs_[a].capacity < least) least = arcs_[a].capacity;
        for (const int a : path_) {
            arcs_[a].capacity -= least;
            arcs_[a ^ 1].capacity += least;
        }
    }

    constexpr vec<char> reaching_sink() const {
        vec<char> reaches(first_.size());
        vec<int> queue;
        reaches[sink] = 1;
        queue.push(sink);
        for (int i = 0; i < queue.size(); ++i)
            for (int a = first_[queue[i]]; a >= 0; a = arcs_[a].next) {
                if (arcs_[a ^ 1].capacity == 0 || reaches[arcs_[a].to] != 0) continue;
                reaches[arcs_[a].to] = 1;
                queue.push(arcs_[a].to);
            }
        return reaches;
    }

    vec<arc> arcs_;
    vec<int> first_, current_, level_;  // by node: its arcs, the next of them to try, its distance from the source
    vec<int> path_;                     // arcs
};

}  // namespace dovetail::pass
