// What examples print of the runs that they have recorded.
#pragma once

#include <dovetail/observe/observe.hpp>

#include <cstddef>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace reports {

namespace observe = dovetail::observe;

// The share of communication that has computation beside it, over all ranks, without the time that ranks wait for each other.
inline double hidden(const observe::overlap_report& report) {
    const auto& all = report.total;
    return 1 - static_cast<double>(all.exposed_moving) / static_cast<double>(all.moving);
}

// Who communicates with whom, where the axes of the graph have their widths.
inline dovetail::geometry ranks_of(const observe::plan_view& of, std::size_t ranks) {
    return {of.graph, static_cast<int>(ranks), {}, of.plan.roles};
}

// Prints the time of the fastest recorded step beside the prediction.
template <class Training, class Options>
void print(const std::vector<observe::measured_run>& runs) {
    const observe::plan_view of{observe::tables_of<Training, Options>()};
    const dovetail::geometry where = ranks_of(of, runs[0].ranks.size());
    observe::timeline quickest = observe::measured(of, runs[0], &where);
    for (const observe::measured_run& run : runs)
        if (observe::timeline t = observe::measured(of, run, &where); t.length < quickest.length) quickest = std::move(t);
    const observe::timeline planned = observe::predicted(of), before = observe::sequential(of);
    std::printf("  a step: predicted %s, measured %s\n", observe::duration_text(planned.length).c_str(),
                observe::duration_text(quickest.length).c_str());
    if (quickest.rows.size() > 1)
        std::printf("  of its communication is hidden behind computation: predicted %.0f%%, measured %.0f%%\n",
                    100 * hidden(observe::overlap(of, planned, before)), 100 * hidden(observe::overlap(of, quickest, before)));
}

// The recorded steps of a training. Its ranks are threads of this process.
template <class Training, class Options>
class recorded_steps {
public:
    explicit recorded_steps(int ranks) : ranks_{ranks} {}

    // Takes the times of a rank of a step. The last rank prints the line that one of the ranks gives, with the share of the communication
    // that is hidden on all of them.
    void add(int step, const observe::measured_rank& rank, const std::string& line) {
        const std::lock_guard lock{mutex_};
        entry& e = steps_[step];
        e.run.ranks.resize(static_cast<std::size_t>(ranks_));
        e.run.ranks[static_cast<std::size_t>(rank.rank)] = rank;
        if (!line.empty()) e.line = line;
        if (++e.added < ranks_ || e.line.empty()) return;
        std::printf("%s", e.line.c_str());
        if (ranks_ > 1) {
            const observe::overlap_report report = observe::overlap(of_, observe::measured(of_, e.run, &where_), before_);
            std::printf(", %.0f%% of communication hidden", 100 * hidden(report));
        }
        std::printf("\n");
    }

    // After the training: one for each step.
    std::vector<observe::measured_run> runs() const {
        std::vector<observe::measured_run> all;
        for (const auto& [step, e] : steps_) all.push_back(e.run);
        return all;
    }

private:
    struct entry {
        observe::measured_run run;
        std::string line = {};
        int added = 0;
    };

    const int ranks_;
    const observe::plan_view of_{observe::tables_of<Training, Options>()};
    const dovetail::geometry where_ = ranks_of(of_, static_cast<std::size_t>(ranks_));
    const observe::timeline before_ = observe::sequential(of_);
    std::mutex mutex_;
    std::map<int, entry> steps_;
};

}  // namespace reports
