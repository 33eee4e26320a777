// The order that data, memory and streams impose on the tasks of a plan, and which tasks share bytes of an arena. Takes a plan_view; the
// overlap report uses it to explain why two operations did not overlap.
#pragma once

#include "plan_view.hpp"

#include <cstdint>
#include <vector>

namespace dovetail::observe::detail {

// `data`: order by data alone; `memory`: also by shared bytes; `streams`: also by the streams of communication.
enum class along : unsigned char { data, memory, streams };
class order_of {
public:
    order_of(const plan_view& of, along which)
        : words_{static_cast<std::size_t>(of.program.tasks.size() + 63) / 64},
          bits_(static_cast<std::size_t>(of.program.tasks.size()) * words_) {
        const pass::adjacency in = pass::predecessors(of.program.tasks.size(), of.edges.view());
        std::vector<std::vector<int>> in_front(static_cast<std::size_t>(of.program.tasks.size()));  // on the streams of its roles
        for (int role = 0; which == along::streams && role < of.roles(); ++role) {
            int last[stream_count] = {-1, -1, -1};
            for (const ir::step& s : of.steps(role))
                if (of.communicates[static_cast<std::size_t>(s.task)]) {
                    if (last[s.stream] >= 0) in_front[static_cast<std::size_t>(s.task)].push_back(last[s.stream]);
                    last[s.stream] = s.task;
                }
        }
        for (const int v : of.plan.order) {
            for (int k = in.first[v]; k < in.first[v + 1]; ++k)
                if (which == along::memory || of.edges[in.edge[k]].kind == ir::edge_kind::flow) add(in.neighbour[k], v);
            for (const int from : in_front[static_cast<std::size_t>(v)]) add(from, v);
        }
    }
    bool before(int a, int b) const {
        return (bits_[static_cast<std::size_t>(b) * words_ + static_cast<std::size_t>(a) / 64] >> (a % 64) & 1u) != 0;
    }
    bool ordered(int a, int b) const { return before(a, b) || before(b, a); }

private:
    void add(int from, int to) {
        for (std::size_t w = 0; w < words_; ++w) at(to)[w] |= at(from)[w];
        at(to)[static_cast<std::size_t>(from) / 64] |= std::uint64_t{1} << (from % 64);
    }
    std::uint64_t* at(int v) { return bits_.data() + static_cast<std::size_t>(v) * words_; }
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

// Whether two tasks access common bytes of a role's arena, and at least one of them writes.
inline bool share_bytes(const plan_view& of, int role, int a, int b) {
    const ir::task &x = of.program.tasks[a], &y = of.program.tasks[b];
    for (const ir::participation& p : of.program.participations.subspan(x.first_participation, x.participations))
        for (const ir::participation& q : of.program.participations.subspan(y.first_participation, y.participations)) {
            if (p.role != role || q.role != role) continue;
            for (const ir::access& i : of.program.accesses.subspan(p.first_access, p.touches()))
                for (const ir::access& j : of.program.accesses.subspan(q.first_access, q.touches())) {
                    if (!writes(i.mode) && !writes(j.mode)) continue;
                    const int m = of.owner(i.buffer), n = of.owner(j.buffer);
                    std::int64_t from = of.plan.placements[m].offset, other = of.plan.placements[n].offset;
                    if (from < 0 || other < 0 ||
                        (of.program.buffers[m].where == ir::storage::host) != (of.program.buffers[n].where == ir::storage::host))
                        continue;
                    from += ir::offset_of(of.program, i);
                    other += ir::offset_of(of.program, j);
                    if (from < other + ir::bytes_of(of.program, j) && other < from + ir::bytes_of(of.program, i)) return true;
                }
        }
    return false;
}

}  // namespace dovetail::observe::detail
