// The overlap report as a struct: how much of the communication of each rank ran beside computation, by three definitions; what the run
// gained; and which computations could have covered the rest. Takes a timeline and that of the same graph on one stream.
#pragma once

#include "precedence.hpp"
#include "timeline.hpp"

#include <algorithm>

namespace dovetail::observe {

// Why an operation of the rank did not run beside an exposed communication.
enum class obstacle : unsigned char {
    dependency,   // one uses a result of the other
    memory,       // ordered only because they share bytes
    elsewhere,    // it runs beside another communication
    queue,        // it belongs to another communication that the stream executes before or after this one
    interference  // nothing prevents it: the predicted gain is smaller than the slow-down, latencies and the model's error
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
    int task = 0;           // the communication
    std::int64_t time = 0;  // the part of its time without computation beside it
    // computations of the rank that did not run beside it: first those that nothing prevented, then the longest
    std::vector<cover> candidates;
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
    std::int64_t exposed = 0;              // time of communication without computation beside it
    std::int64_t waiting = 0;              // time of communication before the last of its ranks had begun it
    std::int64_t compute_alone = 0;        // on one stream
    std::int64_t communication_alone = 0;  // ... without waiting for partners
    std::int64_t moving = 0;               // time during which something communicates, without waiting for partners
    std::int64_t exposed_moving = 0;       // ... and nothing computes
    std::int64_t sequential = 0;           // length of the run on one stream
    std::int64_t smaller = 0;              // the smaller of the two above; in the total, that of the rank where it is largest
    std::int64_t larger = 0;
    std::vector<exposure> exposures;  // longest first

    // Share of the communication that is hidden, by three definitions: as HolisticTraceAnalysis counts it; compared with communication
    // alone; and as the gain of the run divided by the largest possible gain, which may exceed 1 if ranks also wait less for each other.
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
    std::int64_t run = 0;          // number of the run, if it was measured
    bool before_measured = false;  // the times on one stream were measured
    bool knows_waiting = true;     // false: it was measured, and other ranks that communicate are in other processes
    std::vector<rank_overlap> ranks;
    rank_overlap total;  // sums over the ranks
};

namespace detail {

struct stretch {
    std::int64_t start = 0;
    std::int64_t end = 0;
};

// By row and slice: when the last rank of a communication had begun it.
inline std::vector<std::vector<std::int64_t>> arrivals(const plan_view& of, const timeline& t) {
    std::vector<std::vector<int>> at;
    for (const row& r : t.rows) at.push_back(places(of, r));
    std::vector<std::vector<std::int64_t>> all;
    for (std::size_t k = 0; k < t.rows.size(); ++k) {
        all.emplace_back();
        for (std::size_t n = 0; n < t.rows[k].slices.size(); ++n) {
            const slice& s = t.rows[k].slices[n];
            std::int64_t latest = s.start;
            for (std::size_t o = 0; of.communicates[static_cast<std::size_t>(s.task)] && o < t.rows.size(); ++o) {
                const int i = at[o][static_cast<std::size_t>(s.task)];
                if (i >= 0 && t.meets(k, n, o) && t.rows[o].slices[static_cast<std::size_t>(i)].start > latest)
                    latest = t.rows[o].slices[static_cast<std::size_t>(i)].start;
            }
            all.back().push_back(latest < s.end ? latest : s.end);
        }
    }
    return all;
}

// The union of stretches in any order, ascending.
inline std::vector<stretch> merged(std::vector<stretch> list) {
    std::sort(list.begin(), list.end(), [](const stretch& a, const stretch& b) { return a.start < b.start; });
    std::vector<stretch> all;
    for (const stretch& x : list) {
        if (all.empty() || x.start > all.back().end)
            all.push_back(x);
        else if (x.end > all.back().end)
            all.back().end = x.end;
    }
    return all;
}

// The union of the slices that do (or do not) communicate, from `begin` on if given. Copies and inputs are neither.
inline std::vector<stretch> busy(const plan_view& of, const row& r, bool communication, const std::vector<std::int64_t>* begin = nullptr) {
    std::vector<stretch> list;
    for (std::size_t i = 0; i < r.slices.size(); ++i) {
        const slice& s = r.slices[i];
        const stretch x{begin != nullptr ? (*begin)[i] : s.start, s.end};
        const bool communicates = of.communicates[static_cast<std::size_t>(s.task)];
        const bool counts = communication ? communicates : !communicates && of.program.tasks[s.task].kind == op_kind::compute;
        if (counts && x.end > x.start) list.push_back(x);
    }
    return merged(std::move(list));
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

template <class T, class Longer>
void sort(std::vector<T>& list, Longer longer) {  // stable, longest first
    for (std::size_t step = 1; step < list.size(); step *= 2) {
        std::vector<T> merged;
        for (std::size_t i = 0; i < list.size(); i += 2 * step) {
            std::size_t a = i, b = i + step < list.size() ? i + step : list.size();
            const std::size_t middle = b, end = i + 2 * step < list.size() ? i + 2 * step : list.size();
            while (a < middle || b < end)
                merged.push_back(std::move(a == middle || (b < end && longer(list[b]) > longer(list[a])) ? list[b++] : list[a++]));
        }
        list = std::move(merged);
    }
}

// Measures one rank after the other: its times of computation and communication, and the computations that could have run beside its
// exposed communication.
class overlap_meter {
public:
    overlap_meter(const plan_view& of, const timeline& t, const timeline& before, int candidates)
        : of_{of}, t_{t}, before_{before}, candidates_{candidates}, arrivals_(arrivals(of, t)), arrivals_before_(arrivals(of, before)) {}

    rank_overlap of_row(std::size_t k) const {
        const row& r = t_.rows[k];
        rank_overlap x;
        x.rank = r.rank;
        x.name = r.name;
        x.length = t_.length;
        x.sequential = before_.length;
        const auto compute = busy(of_, r, false), communication = busy(of_, r, true);
        x.compute = detail::sum(compute);
        x.communication = detail::sum(communication);
        x.exposed = outside(compute, communication);
        x.both = x.communication - x.exposed;
        const auto moving = busy(of_, r, true, &arrivals_[k]);
        x.moving = detail::sum(moving);
        x.exposed_moving = outside(compute, moving);
        measure_alone(x, r);
        for (std::size_t i = 0; i < r.slices.size(); ++i) {
            const slice& c = r.slices[i];
            if (!of_.communicates[static_cast<std::size_t>(c.task)]) continue;
            x.waiting += arrivals_[k][i] - c.start;
            const std::int64_t exposed = c.end - c.start - within(compute, c.start, c.end);
            if (exposed > 0) x.exposures.push_back(exposure_of(r, c, exposed, communication));
        }
        sort(x.exposures, [](const exposure& e) { return e.time; });
        return x;
    }

private:
    // Time of the stretches of one list that another list does not cover.
    static std::int64_t outside(const std::vector<stretch>& covering, const std::vector<stretch>& list) {
        std::int64_t time = 0;
        for (const stretch& x : list) time += x.end - x.start - within(covering, x.start, x.end);
        return time;
    }

    // The rank's times in the plan of one stream.
    void measure_alone(rank_overlap& x, const row& r) const {
        for (std::size_t o = 0; o < before_.rows.size(); ++o) {
            const row& other = before_.rows[o];
            if (other.role != r.role || (other.rank >= 0 && other.rank != r.rank)) continue;
            x.compute_alone = detail::sum(busy(of_, other, false));
            x.communication_alone = detail::sum(busy(of_, other, true, &arrivals_before_[o]));
            x.smaller = x.compute_alone < x.communication_alone ? x.compute_alone : x.communication_alone;
            x.larger = x.compute_alone < x.communication_alone ? x.communication_alone : x.compute_alone;
            return;
        }
    }

    exposure exposure_of(const row& r, const slice& c, std::int64_t time, const std::vector<stretch>& communication) const {
        exposure e{c.task, time, {}};
        for (const slice& s : r.slices) {
            const bool beside = s.start < c.end && c.start < s.end;
            if (of_.program.tasks[s.task].kind != op_kind::compute || s.end <= s.start || beside) continue;
            const obstacle why = obstacle_between(r.role, s, c, communication);
            e.candidates.push_back({s.task, s.end - s.start, why});
            e.sum[static_cast<int>(why)] += s.end - s.start;
            ++e.count[static_cast<int>(why)];
        }
        sort(e.candidates, [](const cover& a) {
            static constexpr std::int64_t last[] = {4, 1, 3, 2, 0};
            return a.time - (last[static_cast<int>(a.why)] << 58);
        });
        if (static_cast<int>(e.candidates.size()) > candidates_) e.candidates.resize(static_cast<std::size_t>(candidates_));
        return e;
    }
    obstacle obstacle_between(int role, const slice& s, const slice& c, const std::vector<stretch>& communication) const {
        if (data_.ordered(s.task, c.task)) return obstacle::dependency;
        if (memory_.ordered(s.task, c.task) || share_bytes(of_, role, s.task, c.task)) return obstacle::memory;
        if (within(communication, s.start, s.end) > 0) return obstacle::elsewhere;
        return streams_.ordered(s.task, c.task) ? obstacle::queue : obstacle::interference;
    }

    const plan_view& of_;
    const timeline& t_;
    const timeline& before_;
    int candidates_;
    order_of data_{of_, along::data}, memory_{of_, along::memory}, streams_{of_, along::streams};
    std::vector<std::vector<std::int64_t>> arrivals_, arrivals_before_;  // by row and slice
};

inline void add(rank_overlap& total, const rank_overlap& x) {
    total.compute += x.compute;
    total.communication += x.communication;
    total.both += x.both;
    total.exposed += x.exposed;
    total.waiting += x.waiting;
    total.compute_alone += x.compute_alone;
    total.communication_alone += x.communication_alone;
    total.moving += x.moving;
    total.exposed_moving += x.exposed_moving;
    total.smaller = x.smaller > total.smaller ? x.smaller : total.smaller;
    total.larger = x.larger > total.larger ? x.larger : total.larger;
}

}  // namespace detail

// `before`: the same graph on one stream, predicted or measured. `candidates`: the largest number to keep for each exposure.
inline overlap_report overlap(const plan_view& of, const timeline& t, const timeline& before, int candidates = 8) {
    overlap_report report;
    report.measured = t.measured;
    report.run = t.run;
    report.before_measured = before.measured;
    report.knows_waiting = t.knows_partners;
    report.total.name = "all";
    report.total.length = t.length;
    report.total.sequential = before.length;
    const detail::overlap_meter meter{of, t, before, candidates};
    for (std::size_t k = 0; k < t.rows.size(); ++k) {
        report.ranks.push_back(meter.of_row(k));
        detail::add(report.total, report.ranks.back());
    }
    return report;
}

}  // namespace dovetail::observe
