// Recorded runs of one graph, by run and rank, and the files that tests/observe/hta reads: a trace for each rank, and the overlap that
// dovetail computes from it.
#pragma once

#include <dovetail/observe/files.hpp>
#include <dovetail/observe/overlap.hpp>
#include <dovetail/observe/trace.hpp>

#include <mutex>

namespace support {

namespace observe = dovetail::observe;

class traced_runs {
public:
    explicit traced_runs(int runs) : runs_(static_cast<std::size_t>(runs)) {
        for (int i = 0; i < runs; ++i) runs_[static_cast<std::size_t>(i)].run = i;
    }

    // Of the ranks' threads, in any order.
    template <class Executor>
    void add(int run, int rank, const Executor& from, std::vector<dovetail::step_time> times) {
        const std::lock_guard lock{guard_};
        auto& ranks = runs_[static_cast<std::size_t>(run)].ranks;
        std::size_t at = ranks.size();
        while (at > 0 && ranks[at - 1].rank > rank) --at;
        ranks.insert(ranks.begin() + static_cast<std::ptrdiff_t>(at), {rank, from.at().role, std::move(times), from.at().clock_error_ns()});
    }
    std::vector<observe::timeline> timelines(const observe::plan_view& of, const dovetail::geometry* where = nullptr) const {
        std::vector<observe::timeline> all;
        for (const auto& r : runs_) all.push_back(observe::measured(of, r, where));
        return all;
    }
    // Into a folder: rank0.json, ..., overlap.txt.
    bool write(const observe::plan_view& of, const std::string& folder) const {
        observe::files to;
        const observe::traced all{&of, timelines(of)};
        const std::size_t ranks = runs_.front().ranks.size();
        std::string ours;
        bool good = true;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            good = to.write("trace", folder + "/rank" + std::to_string(rank) + ".json",
                            observe::trace({all}, static_cast<int>(rank), static_cast<int>(ranks))) &&
                   good;
            std::int64_t both = 0, communication = 0;
            for (const observe::timeline& t : all.runs) {
                const auto x = observe::overlap(of, t, observe::sequential(of)).ranks[rank];
                both += x.both;
                communication += x.communication;
            }
            ours += std::to_string(rank) + " " + observe::ratio(both * 100, communication, 4) + "\n";
        }
        return to.write("report", folder + "/overlap.txt", ours) && good;
    }

private:
    std::mutex guard_;
    std::vector<observe::measured_run> runs_;
};

}  // namespace support
