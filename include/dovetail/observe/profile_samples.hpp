// What runs tell of one kind of work: how long it took, alone and with something beside it on another stream, by what executed that. Takes
// recorded graphs with their measured timelines; gives rows of a profile.
#pragma once

#include "overlap.hpp"
#include "trace.hpp"

#include <array>
#include <map>
#include <numeric>

namespace dovetail::observe {

namespace detail {

// For how much of a time other streams of a rank were busy, by what executed their operations.
using busy_times = std::array<std::int64_t, hardware_count>;

// How long an operation took, and for how much of that time something was beside it.
struct profile_sample {
    std::int64_t time = 0;
    busy_times beside{};

    // The time of a copy that had half of the link for a part of it, as if it had had all of it: predictions slow it by what shares it.
    profile_sample with_whole_link(std::int64_t shared) const {
        const int with_all = 1000 - static_cast<int>(shared * 500 / time);  // thousandths
        profile_sample s{std::max<std::int64_t>(cost_model::scaled(time, with_all), 1), {}};
        for (std::size_t by = 0; by < beside.size(); ++by) s.beside[by] = cost_model::scaled(beside[by], with_all);
        return s;
    }
    std::int64_t beside_in_all() const { return std::accumulate(beside.begin(), beside.end(), std::int64_t{0}); }
    // Streams signal each other before they note the time, so that operations in turn seem to touch.
    bool is_alone() const { return beside_in_all() <= time / 20; }
    // Of a shorter time beside something the noise would be multiplied. A quarter as much of other hardware may be beside: a short local
    // sum among puts.
    bool is_beside(int by) const {
        const std::int64_t of_it = beside[static_cast<std::size_t>(by)];
        return 2 * of_it >= time && of_it >= 4 * (beside_in_all() - of_it);
    }
};

// One kind of work.
struct profiled_work {
    std::string label;  // of its first operation
    int stream = 0;
    std::int64_t estimate = 0;
    std::vector<profile_sample> samples = {};

    profile_row row(std::uint64_t key) const {
        profile_sample overlapped[hardware_count];
        for (int by = 0; by < hardware_count; ++by) overlapped[by] = median([by](const profile_sample& s) { return s.is_beside(by); });
        profile_row r{key, alone(overlapped), {}, static_cast<int>(samples.size()), estimate};
        for (int by = 0; by < hardware_count; ++by) r.beside[by] = extrapolated(r.alone, overlapped[by], by);
        if (r.alone_or_shortest() == 0) {  // partly alone, or beside both: as it ran, by what was beside it for longer
            const profile_sample any = median([](const profile_sample&) { return true; });
            r.beside[std::max_element(any.beside.begin(), any.beside.end()) - any.beside.begin()] = any.time;
        }
        return r;
    }

private:
    // What ran faster with something beside it would have run as fast alone: what is alone is often the first on an idle stream, where its
    // launch is a part of the recorded time.
    std::int64_t alone(const profile_sample (&overlapped)[hardware_count]) const {
        std::int64_t time = median([](const profile_sample& s) { return s.is_alone(); }).time;
        for (const profile_sample& s : overlapped)
            if (s.time > 0 && s.time < time) time = s.time;
        return time;
    }
    // Of the samples of this kind; zeros if there is none.
    template <class Kind>
    profile_sample median(Kind is) const {
        std::vector<std::int64_t> times, beside[hardware_count];
        for (const profile_sample& s : samples) {
            if (!is(s)) continue;
            times.push_back(s.time);
            for (std::size_t by = 0; by < hardware_count; ++by) beside[by].push_back(s.beside[by]);
        }
        if (times.empty()) return {};
        profile_sample middle{middle_of(times), {}};
        for (std::size_t by = 0; by < hardware_count; ++by) middle.beside[by] = middle_of(beside[by]);
        return middle;
    }
    static std::int64_t middle_of(std::vector<std::int64_t>& values) {
        std::sort(values.begin(), values.end());
        return values[values.size() / 2];
    }
    // The time with something of this hardware beside it from start to end: the part of the work that was done alone is known to go at its
    // pace alone. Without a time alone, as it ran.
    static std::int64_t extrapolated(std::int64_t alone, const profile_sample& overlapped, int by) {
        const std::int64_t beside = overlapped.beside[static_cast<std::size_t>(by)], done_beside = alone - (overlapped.time - beside);
        if (overlapped.time == 0 || done_beside <= 0) return overlapped.time;
        const std::int64_t slowdown = beside * 1000 / done_beside;
        return cost_model::scaled(alone, static_cast<int>(std::min(slowdown, cost_model::largest_slowdown)));
    }
};

// When streams of ranks were busy, in all recorded runs, on their one clock. As in predictions, the compute stream and each of the
// others slow each other, and copies between ranks on two streams of a rank share its link.
class busy_streams {
public:
    explicit busy_streams(const std::vector<traced>& graphs) {
        for (const traced& g : graphs)
            for (const timeline& t : g.runs)
                for (const row& r : t.rows) add(*g.of, t, r);
        for (auto& [key, lists] : beside_)
            for (std::vector<stretch>& list : lists) list = merged(std::move(list));
        for (auto& [key, list] : copies_beside_) list = merged(std::move(list));
    }

    // For how much of [start, end) what slows this stream of the rank was busy.
    busy_times beside(int rank, int stream, std::int64_t start, std::int64_t end) const {
        busy_times times{};
        if (const auto found = beside_.find({rank, stream}); found != beside_.end())
            for (std::size_t by = 0; by < hardware_count; ++by) times[by] = within(found->second[by], start, end);
        return times;
    }
    // For how much of [start, end) copies between ranks ran on another stream of the rank.
    std::int64_t copies_beside(int rank, int stream, std::int64_t start, std::int64_t end) const {
        const auto found = copies_beside_.find({rank, stream});
        return found == copies_beside_.end() ? 0 : within(found->second, start, end);
    }

private:
    void add(const plan_view& of, const timeline& t, const row& r) {
        constexpr int compute = static_cast<int>(stream_kind::compute);
        for (const slice& s : r.slices)
            for (int stream = 0; stream < stream_count; ++stream) {
                if (stream == s.stream || s.end <= s.start) continue;
                const stretch busy{t.origin + s.start, t.origin + s.end};
                if (stream == compute || s.stream == compute)
                    beside_[{r.rank, stream}][static_cast<std::size_t>(of.costs[s.task].by)].push_back(busy);
                if (of.program.tasks[s.task].moved_by == transport::peer_copy) copies_beside_[{r.rank, stream}].push_back(busy);
            }
    }

    // By rank and stream: when what slows it was busy, by what executed it.
    std::map<std::pair<int, int>, std::array<std::vector<stretch>, hardware_count>> beside_;
    std::map<std::pair<int, int>, std::vector<stretch>> copies_beside_;
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
