// Runs of a plan whose steps are timed, and what the GPU benches print of them.
#pragma once

#include <dovetail/observe/measured.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace bench {

namespace dv = dovetail;

// By run and rank.
using timed_runs = std::vector<dv::observe::measured_run>;
inline constexpr int timed_run_count = 5;

inline timed_runs empty_runs(int ranks) {
    timed_runs runs;
    for (int r = 0; r < timed_run_count; ++r) runs.push_back({r, std::vector<dv::observe::measured_rank>(static_cast<std::size_t>(ranks))});
    return runs;
}

// The timeline of median length.
inline dv::observe::timeline middle(const dv::observe::plan_view& of, const timed_runs& runs) {
    std::vector<dv::observe::timeline> all;
    for (const auto& r : runs) all.push_back(dv::observe::measured(of, r));
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.length < b.length; });
    return all[all.size() / 2];
}

inline void print_by_operation(const char* what, const dv::observe::plan_view& of, const dv::observe::timeline& t) {
    std::map<std::string, double> milliseconds;
    for (const auto& slice : t.rows[0].slices)
        milliseconds[of.labels[static_cast<std::size_t>(slice.task)].operation] += static_cast<double>(slice.end - slice.start) / 1e9;
    std::printf("  ms of rank 0 by operation, %s:", what);
    for (const auto& [name, time] : milliseconds) std::printf(" %s %.2f", name.c_str(), time);
    std::printf("\n");
}

}  // namespace bench
