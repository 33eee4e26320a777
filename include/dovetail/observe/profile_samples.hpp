// What runs tell of one kind of work: how long it took, alone and with something beside it on another stream. Takes recorded graphs with
// their measured timelines; gives rows of a profile.
#pragma once

#include "overlap.hpp"
#include "trace.hpp"

#include <map>

namespace dovetail::observe {

namespace detail {

// How long an operation took, and for how much of that time another stream of its rank was busy.
struct profile_sample {
    std::int64_t time = 0;
    std::int64_t beside = 0;

    // Streams signal each other before they note the time, so that operations in turn seem to touch.
    static bool alone(const profile_sample& s) { return s.beside <= s.time / 20; }
    // Of a shorter time beside something the noise would be multiplied.
    static bool overlapped(const profile_sample& s) { return 2 * s.beside >= s.time; }
    static bool any(const profile_sample&) { return true; }
};

// One kind of work.
struct profiled_work {
    std::string label;  // of its first operation
    int stream = 0;
    std::int64_t estimate = 0;
    std::vector<profile_sample> samples = {};

    profile_row row(std::uint64_t key) const {
        const int count = static_cast<int>(samples.size());
        const std::int64_t alone = median(profile_sample::alone).time;
        if (alone == 0) return {key, 0, median(profile_sample::any).time, count};
        return {key, alone, extrapolated(alone, median(profile_sample::overlapped)), count};
    }

private:
    // Of the samples of this kind; zeros if there is none.
    profile_sample median(bool (*is)(const profile_sample&)) const {
        std::vector<std::int64_t> times, beside;
        for (const profile_sample& s : samples) {
            if (!is(s)) continue;
            times.push_back(s.time);
            beside.push_back(s.beside);
        }
        if (times.empty()) return {};
        std::sort(times.begin(), times.end());
        std::sort(beside.begin(), beside.end());
        return {times[times.size() / 2], beside[beside.size() / 2]};
    }
    // The time with something beside it from start to end: the part of the work that was done alone is known to go at its pace alone.
    static std::int64_t extrapolated(std::int64_t alone, const profile_sample& overlapped) {
        const std::int64_t done_beside = alone - (overlapped.time - overlapped.beside);
        if (overlapped.time == 0 || done_beside <= 0) return overlapped.time;
        const std::int64_t slowdown = overlapped.beside * 1000 / done_beside;
        return cost_model::detail::scaled(alone, static_cast<int>(std::min(slowdown, cost_model::detail::largest_slowdown)));
    }
};

// When streams of ranks were busy, in all recorded runs, on the clock of the world. As in predictions, the compute stream and each of the
// others slow each other.
class busy_streams {
public:
    explicit busy_streams(const std::vector<traced>& graphs) {
        for (const traced& g : graphs)
            for (const timeline& t : g.runs)
                for (const row& r : t.rows) add(t, r);
        for (auto& [key, list] : beside_) list = merged(std::move(list));
    }

    // For how much of [start, end) what slows this stream of the rank was busy.
    std::int64_t beside(int rank, int stream, std::int64_t start, std::int64_t end) const {
        const auto found = beside_.find({rank, stream});
        return found == beside_.end() ? 0 : within(found->second, start, end);
    }

private:
    void add(const timeline& t, const row& r) {
        constexpr int compute = static_cast<int>(stream_kind::compute);
        for (const slice& s : r.slices)
            for (int stream = 0; stream < stream_count; ++stream)
                if ((stream == compute) != (s.stream == compute) && s.end > s.start)
                    beside_[{r.rank, stream}].push_back({t.origin + s.start, t.origin + s.end});
    }

    std::map<std::pair<int, int>, std::vector<stretch>> beside_;  // by rank and stream: when what slows it was busy
};

// A graph whose open axes have the widths of the world that ran it.
struct graph_as_run {
    graph_as_run(const ir::graph& g, const geometry* where) : graph{g}, mesh_(g.mesh.begin(), g.mesh.end()) {
        for (int r = 0; where != nullptr && r < g.roles.size(); ++r)
            for (int i = g.roles[r].first_axis; i < g.roles[r].first_axis + g.roles[r].axes; ++i)
                mesh_[static_cast<std::size_t>(i)].width = where->width(r, mesh_[static_cast<std::size_t>(i)].axis);
        graph.mesh = {mesh_.data(), g.mesh.size()};
    }
    graph_as_run(const graph_as_run&) = delete;
    graph_as_run& operator=(const graph_as_run&) = delete;

    ir::graph graph;

private:
    std::vector<ir::mesh_axis> mesh_;
};

}  // namespace detail

}  // namespace dovetail::observe
