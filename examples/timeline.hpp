// Timelines of one role as text: what a plan predicts and what a run measured, one row a stream and one letter an operation.
// An operation is marked as moved (*) where it begins before the one in front of it in the sequential plan has ended.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/tables.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace timeline {

namespace dv = dovetail;

struct bar {
    std::string name;
    int vertex = 0;
    int lane = 0;
    bool communication = false;
    bool moved = false;
    double start = 0, end = 0;  // milliseconds from the start of the run
};

template <class G, class O>
std::vector<bar> bars_of(int role) {
    const auto& p = dv::plan::planned<G, O>::program;
    const auto& plan = dv::plan::planned<G, O>::plan;
    std::vector<bar> bars;
    for (const dv::ir::step& s : plan.steps.part(plan.roles[role].first_step, plan.roles[role].steps)) {
        const dv::step_name name = dv::name_of_step(dv::plan::planned<G, O>::graph, p, s);
        bars.push_back({name.operation + " " + name.statement, s.vertex, s.lane, dv::is_communication(p.vertices[s.vertex].kind), false,
                        static_cast<double>(s.start) / 1e9, static_cast<double>(s.end) / 1e9});
    }
    return bars;
}

// The prediction of options O for graph G.
template <class G, class O>
std::vector<bar> predicted(int role) {
    return bars_of<G, O>(role);
}

// What a run of the same plan took, from ticket.times() of a rank of the role.
template <class G, class O>
std::vector<bar> measured(int role, const std::vector<dv::step_time>& times, std::int64_t origin) {
    std::vector<bar> bars = bars_of<G, O>(role);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        bars[i].start = static_cast<double>(times[i].start_ns - origin) / 1e6;
        bars[i].end = static_cast<double>(times[i].end_ns - origin) / 1e6;
    }
    return bars;
}

// When the first step of a run began.
inline std::int64_t begin(const std::vector<dv::step_time>& times) {
    std::int64_t first = times.empty() ? 0 : times[0].start_ns;
    for (const dv::step_time& t : times) first = std::min(first, t.start_ns);
    return first;
}

inline double length(const std::vector<bar>& bars) {
    double last = 0;
    for (const bar& b : bars) last = std::max(last, b.end);
    return last;
}

// Marks what moved against the order of the sequential plan; gives the number of marks.
inline int mark(std::vector<bar>& bars, const std::vector<bar>& sequential) {
    const auto find = [&](int vertex) -> bar& {
        std::size_t i = 0;
        while (bars[i].vertex != vertex) ++i;
        return bars[i];
    };
    int marks = 0;
    for (std::size_t i = 1; i < sequential.size(); ++i) {
        bar& b = find(sequential[i].vertex);
        b.moved = b.start < find(sequential[i - 1].vertex).end;
        marks += b.moved ? 1 : 0;
    }
    return marks;
}

// Communication time of one run, and the part of it during which a rank that takes part computes. Takes the bars of all
// ranks on one clock: communication lasts from the arrival of the last of its ranks, the others only wait until then.
struct hidden {
    double communication = 0;
    double beside = 0;
    double fraction() const { return communication > 0 ? beside / communication : 0; }

    explicit hidden(const std::vector<std::vector<bar>>& ranks) {
        for (const bar& one : ranks[0]) {
            if (!one.communication) continue;
            double start = one.start, end = one.end;
            for (const auto& bars : ranks)
                for (const bar& c : bars) {
                    if (c.vertex != one.vertex) continue;
                    start = std::max(start, c.start);
                    end = std::max(end, c.end);
                }
            double most = 0;
            for (const auto& bars : ranks) most = std::max(most, computing(bars, start, end));
            communication += end - start;
            beside += most;
        }
    }

private:
    static double computing(const std::vector<bar>& bars, double start, double end) {
        double sum = 0;
        for (const bar& b : bars) {
            if (b.communication || b.lane != static_cast<int>(dv::lane_kind::compute)) continue;
            sum += std::max(0.0, std::min(b.end, end) - std::max(b.start, start));
        }
        return sum;
    }
};

inline void print(const std::string& title, const std::vector<bar>& bars, double scale) {
    constexpr int columns = 80;
    std::printf("%s: %.1f ms\n", title.c_str(), length(bars));
    for (int lane = 0; lane < dv::lane_count; ++lane) {
        std::string row(columns, ' ');
        bool used = false;
        for (std::size_t i = 0; i < bars.size(); ++i) {
            if (bars[i].lane != lane) continue;
            used = true;
            const int from = static_cast<int>(bars[i].start / scale * columns), to = static_cast<int>(bars[i].end / scale * columns);
            for (int c = from; c < to && c < columns; ++c) row[static_cast<std::size_t>(c)] = static_cast<char>('a' + i % 26);
        }
        if (used) std::printf("  %-8s|%s|\n", dv::name_of(static_cast<dv::lane_kind>(lane)), row.c_str());
    }
    for (std::size_t i = 0; i < bars.size(); ++i)
        std::printf("  %c %c %-28s %7.2f .. %7.2f\n", bars[i].moved ? '*' : ' ', static_cast<char>('a' + i % 26), bars[i].name.c_str(), bars[i].start,
                    bars[i].end);
}

}  // namespace timeline
