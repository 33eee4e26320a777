// The overlap report as a struct: how much of the communication of each rank had computation beside it, by the three definitions in
// use, what was gained, and what could have covered the rest. Takes a timeline and that of the same graph on one stream.
#pragma once

#include "timeline.hpp"

namespace dovetail::observe {

// Why an operation of the rank did not run beside an exposed communication.
enum class obstacle : unsigned char {
    dependency,   // one needs what the other makes
    memory,       // ordered only because they share bytes
    elsewhere,    // it runs beside another communication
    queue,        // it makes or needs what another communication moves, which the stream takes before or after this one
    interference  // nothing forbids it: by the prediction it gains less than slow-down, latencies and the model's error cost
};
inline constexpr int obstacle_count = 5;

inline const char* name_of(obstacle o) {
    static constexpr const char* names[] = {"dependency", "memory", "covers another", "queue", "interference"};
    return names[static_cast<int>(o)];
}

struct cover {
    int task = 0;
    std::int64_t time = 0;
    obstacle why = obstacle::dependency;
};

struct exposure {
    int task = 0;                           // the communication
    std::int64_t time = 0;                  // of it without computation beside it
    std::vector<cover> candidates;          // computations of the rank that did not run beside it, what nothing forbids first, then the longest
    std::int64_t sum[obstacle_count] = {};  // of their times, by obstacle
    int count[obstacle_count] = {};
};

// Times in picoseconds; shares are ratios of them.
struct rank_overlap {
    int rank = -1;  // -1: a role, or all ranks
    std::string name;
    std::int64_t length = 0;         // of the run, on all ranks
    std::int64_t compute = 0;        // time during which something computes
    std::int64_t communication = 0;  // ... during which something communicates, waiting for the partner included
    std::int64_t both = 0;
    std::int64_t exposed = 0;              // communication without computation
    std::int64_t waiting = 0;              // communication before the last of its ranks had come
    std::int64_t compute_alone = 0;        // on one stream
    std::int64_t communication_alone = 0;  // ... without waiting for partners
    std::int64_t exposed_moving = 0;       // exposed, without waiting for partners
    std::int64_t sequential = 0;           // length of the run on one stream
    std::int64_t smaller = 0;              // of the two alone; in the total, that of the rank where it is largest
    std::int64_t larger = 0;
    std::vector<exposure> exposures;  // longest first

    // Share of the communication that is hidden: as HolisticTraceAnalysis counts it, against communication alone, and by what
    // the run gained of what it could gain: more than all of it where ranks also wait less for each other.
    double by_intersection() const { return share(both, communication); }
    double by_exposed() const { return communication_alone == 0 ? 0 : 1 - share(exposed_moving, communication_alone); }
    double by_gain() const { return share(sequential - length, smaller); }
    double speed_up() const { return share(sequential, length); }
    double bound() const { return share(sequential, larger); }

private:
    static double share(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }
};

struct overlap_report {
    bool measured = false;
    std::int64_t run = 0;          // its number, where it was measured
    bool before_measured = false;  // the times on one stream
    std::vector<rank_overlap> ranks;
    rank_overlap total;  // sums over the ranks
};

namespace detail {

struct stretch {
    std::int64_t start = 0;
    std::int64_t end = 0;
};

// By row and slice: when the last of the ranks that meet in a communication had come to it.
inline std::vector<std::vector<std::int64_t>> arrivals(const plan_view& of, const timeline& t) {
    std::vector<std::vector<int>> at;
    for (const row& r : t.rows) at.push_back(places(of, r));
    std::vector<std::vector<std::int64_t>> all;
    for (std::size_t k = 0; k < t.rows.size(); ++k) {
        all.emplace_back();
        for (const slice& s : t.rows[k].slices) {
            std::int64_t latest = s.start;
            for (std::size_t o = 0; of.communicates[static_cast<std::size_t>(s.task)] && o < t.rows.size(); ++o) {
                const int i = at[o][static_cast<std::size_t>(s.task)];
                if (i >= 0 && t.meets(static_cast<int>(k), static_cast<int>(o)) && t.rows[o].slices[static_cast<std::size_t>(i)].start > latest)
                    latest = t.rows[o].slices[static_cast<std::size_t>(i)].start;
            }
            all.back().push_back(latest < s.end ? latest : s.end);
        }
    }
    return all;
}

// The union of the slices that do (or do not) communicate, ascending, from `begin` on where it is given. Copies and inputs
// are neither.
inline std::vector<stretch> busy(const plan_view& of, const row& r, bool communication, const std::vector<std::int64_t>* begin = nullptr) {
    std::vector<stretch> list;
    for (std::size_t i = 0; i < r.slices.size(); ++i) {
        const slice& s = r.slices[i];
        const stretch x{begin != nullptr ? (*begin)[i] : s.start, s.end};
        const bool communicates = of.communicates[static_cast<std::size_t>(s.task)];
        if (communicates != communication || (!communication && of.program.tasks[s.task].kind != op_kind::compute) || x.end <= x.start) continue;
        std::size_t at = list.size();
        list.push_back(x);
        for (; at > 0 && list[at - 1].start > x.start; --at) list[at] = list[at - 1];
        list[at] = x;
    }
    std::vector<stretch> merged;
    for (const stretch& x : list) {
        if (merged.empty() || x.start > merged.back().end)
            merged.push_back(x);
        else if (x.end > merged.back().end)
            merged.back().end = x.end;
    }
    return merged;
}

inline std::int64_t sum(const std::vector<stretch>& list) {
    std::int64_t n = 0;
    for (const stretch& x : list) n += x.end - x.start;
    return n;
}

// Time within [start, end) that the stretches cover.
inline std::int64_t within(const std::vector<stretch>& list, std::int64_t start, std::int64_t end) {
    std::size_t low = 0, high = list.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (list[middle].end <= start)
            low = middle + 1;
        else
            high = middle;
    }
    std::int64_t n = 0;
    for (; low < list.size() && list[low].start < end; ++low)
        n += (list[low].end < end ? list[low].end : end) - (list[low].start > start ? list[low].start : start);
    return n;
}

// Which tasks come before which: along the data, and also along what the memory or the streams of communication add.
enum class along : unsigned char { data, memory, streams };
class order_of {
public:
    order_of(const plan_view& of, along which)
        : words_{static_cast<std::size_t>(of.program.tasks.size() + 63) / 64}, bits_(static_cast<std::size_t>(of.program.tasks.size()) * words_) {
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
    bool before(int a, int b) const { return (bits_[static_cast<std::size_t>(b) * words_ + static_cast<std::size_t>(a) / 64] >> (a % 64) & 1u) != 0; }
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

// Whether two tasks touch common bytes of a role's arena, at least one of them writing.
inline bool share_bytes(const plan_view& of, int role, int a, int b) {
    const ir::task &x = of.program.tasks[a], &y = of.program.tasks[b];
    for (const ir::participation& p : of.program.participations.subspan(x.first_participation, x.participations))
        for (const ir::participation& q : of.program.participations.subspan(y.first_participation, y.participations)) {
            if (p.role != role || q.role != role) continue;
            for (const ir::access& i : of.program.accesses.subspan(p.first_access, p.accesses))
                for (const ir::access& j : of.program.accesses.subspan(q.first_access, q.accesses)) {
                    if (!writes(i.mode) && !writes(j.mode)) continue;
                    const int m = of.owner(i.buffer), n = of.owner(j.buffer);
                    const std::int64_t from = of.plan.placements[m].offset, other = of.plan.placements[n].offset;
                    if (from < 0 || other < 0 || (of.program.buffers[m].where == ir::storage::host) != (of.program.buffers[n].where == ir::storage::host))
                        continue;
                    if (from < other + of.program.buffers[n].bytes && other < from + of.program.buffers[m].bytes) return true;
                }
        }
    return false;
}

template <class T, class Longer>
void sort(std::vector<T>& list, Longer longer) {  // stable, longest first
    for (std::size_t step = 1; step < list.size(); step *= 2) {
        std::vector<T> merged;
        for (std::size_t i = 0; i < list.size(); i += 2 * step) {
            std::size_t a = i, b = i + step < list.size() ? i + step : list.size();
            const std::size_t middle = b, end = i + 2 * step < list.size() ? i + 2 * step : list.size();
            while (a < middle || b < end) merged.push_back(std::move(a == middle || (b < end && longer(list[b]) > longer(list[a])) ? list[b++] : list[a++]));
        }
        list = std::move(merged);
    }
}

}  // namespace detail

// `before`: the same graph on one stream, predicted or measured. `candidates`: the most to keep for each exposure.
inline overlap_report overlap(const plan_view& of, const timeline& t, const timeline& before, int candidates = 8) {
    overlap_report report;
    report.measured = t.measured;
    report.run = t.run;
    report.before_measured = before.measured;
    const detail::order_of flow{of, detail::along::data}, all{of, detail::along::memory}, streams{of, detail::along::streams};
    const auto met = detail::arrivals(of, t), met_before = detail::arrivals(of, before);
    for (std::size_t k = 0; k < t.rows.size(); ++k) {
        const row& r = t.rows[k];
        rank_overlap x;
        x.rank = r.rank;
        x.name = r.name;
        const auto compute = detail::busy(of, r, false), communication = detail::busy(of, r, true);
        x.compute = detail::sum(compute);
        x.communication = detail::sum(communication);
        for (const detail::stretch& c : communication) x.both += detail::within(compute, c.start, c.end);
        x.exposed = x.communication - x.both;
        x.length = t.length;
        x.sequential = before.length;
        for (const detail::stretch& c : detail::busy(of, r, true, &met[k])) x.exposed_moving += c.end - c.start - detail::within(compute, c.start, c.end);
        for (std::size_t o = 0; o < before.rows.size(); ++o) {
            const row& other = before.rows[o];
            if (other.role != r.role || (other.rank >= 0 && other.rank != r.rank)) continue;
            x.compute_alone = detail::sum(detail::busy(of, other, false));
            x.communication_alone = detail::sum(detail::busy(of, other, true, &met_before[o]));
            x.smaller = x.compute_alone < x.communication_alone ? x.compute_alone : x.communication_alone;
            x.larger = x.compute_alone < x.communication_alone ? x.communication_alone : x.compute_alone;
            break;
        }
        for (std::size_t i = 0; i < r.slices.size(); ++i) {
            const slice& c = r.slices[i];
            if (!of.communicates[static_cast<std::size_t>(c.task)]) continue;
            x.waiting += met[k][i] - c.start;
            exposure e;
            e.task = c.task;
            e.time = c.end - c.start - detail::within(compute, c.start, c.end);
            if (e.time <= 0) continue;
            for (const slice& s : r.slices) {
                if (of.program.tasks[s.task].kind != op_kind::compute || s.end <= s.start || (s.start < c.end && c.start < s.end)) continue;
                const bool memory = (all.ordered(s.task, c.task) && !flow.ordered(s.task, c.task)) || detail::share_bytes(of, r.role, s.task, c.task);
                const obstacle why = flow.ordered(s.task, c.task)                        ? obstacle::dependency
                                     : memory                                            ? obstacle::memory
                                     : detail::within(communication, s.start, s.end) > 0 ? obstacle::elsewhere
                                     : streams.ordered(s.task, c.task)                   ? obstacle::queue
                                                                                         : obstacle::interference;
                e.candidates.push_back({s.task, s.end - s.start, why});
                e.sum[static_cast<int>(why)] += s.end - s.start;
                ++e.count[static_cast<int>(why)];
            }
            detail::sort(e.candidates, [](const cover& a) {
                static constexpr std::int64_t last[] = {4, 1, 3, 2, 0};
                return a.time - (last[static_cast<int>(a.why)] << 58);
            });
            if (static_cast<int>(e.candidates.size()) > candidates) e.candidates.resize(static_cast<std::size_t>(candidates));
            x.exposures.push_back(std::move(e));
        }
        detail::sort(x.exposures, [](const exposure& e) { return e.time; });
        rank_overlap& sum = report.total;
        sum.compute += x.compute;
        sum.communication += x.communication;
        sum.both += x.both;
        sum.exposed += x.exposed;
        sum.waiting += x.waiting;
        sum.compute_alone += x.compute_alone;
        sum.communication_alone += x.communication_alone;
        sum.exposed_moving += x.exposed_moving;
        sum.smaller = x.smaller > sum.smaller ? x.smaller : sum.smaller;
        sum.larger = x.larger > sum.larger ? x.larger : sum.larger;
        report.ranks.push_back(std::move(x));
    }
    report.total.name = "all";
    report.total.length = t.length;
    report.total.sequential = before.length;
    return report;
}

}  // namespace dovetail::observe
