// What examples print of the runs that they have recorded.
#pragma once

#include <dovetail/observe/observe.hpp>

#include <cstdio>
#include <utility>
#include <vector>

namespace reports {

namespace observe = dovetail::observe;

// The share of communication that has computation beside it, over all ranks, without the time that ranks wait for each other.
inline double hidden(const observe::overlap_report& report) {
    const auto& all = report.total;
    return 1 - static_cast<double>(all.exposed_moving) / static_cast<double>(all.moving);
}

// Prints the time of the fastest recorded step beside the prediction.
template <class Training, class Options>
void print(const std::vector<observe::measured_run>& runs) {
    const observe::plan_view of{observe::tables_of<Training, Options>()};
    observe::timeline quickest = observe::measured(of, runs[0]);
    for (const observe::measured_run& run : runs)
        if (observe::timeline t = observe::measured(of, run); t.length < quickest.length) quickest = std::move(t);
    const observe::timeline planned = observe::predicted(of), before = observe::sequential(of);
    std::printf("  a step: predicted %s, measured %s\n", observe::duration_text(planned.length).c_str(),
                observe::duration_text(quickest.length).c_str());
    if (quickest.rows.size() > 1)
        std::printf("  of its communication is hidden behind computation: predicted %.0f%%, measured %.0f%%\n",
                    100 * hidden(observe::overlap(of, planned, before)), 100 * hidden(observe::overlap(of, quickest, before)));
}

}  // namespace reports
