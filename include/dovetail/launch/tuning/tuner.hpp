// dv::tuned: of several plans of a graph, the one that is fastest where the program runs. The first runs of the executor go to the plans in
// turn. They compute what the program asks for: all plans have the same results, up to the order of sums, and share their states. A turn is
// as many runs as may be in flight; its time is that from the first one's issue to the last one's end, for which `run` waits. All ranks
// keep the plan whose median turn is shortest on the slowest rank.
#pragma once

#include "../../plan/memory_limit.hpp"
#include "../engine/engine.hpp"
#include "../world/peers.hpp"
#include "tuning_report.hpp"

#include <sstream>
#include <utility>

namespace dovetail::launch {

// Whose turn it is, by the number of runs so far: rounds over the plans, of which the first ones make connections and captures, and are not
// counted.
struct tuning_turns {
    static constexpr int uncounted_rounds = 3, rounds = uncounted_rounds + 5;

    const int runs_in_turn;
    int runs = 0;

    int plan(int plans) const { return runs / runs_in_turn % plans; }
    bool begins() const { return runs % runs_in_turn == 0; }
    bool ends() const { return (runs + 1) % runs_in_turn == 0; }
    bool counts(int plans) const { return runs / runs_in_turn >= uncounted_rounds * plans; }
    bool over(int plans) const { return runs == runs_in_turn * rounds * plans; }
};

// The median of some times, of which there is at least one.
inline std::int64_t median(std::vector<std::int64_t> times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

// A rank's times, one for each plan, as the text that ranks exchange; and from the texts of all ranks the largest time of each plan.
inline std::string text_of_times(const std::vector<std::int64_t>& times) {
    std::string text;
    for (const std::int64_t t : times) text += std::to_string(t) + " ";
    return text;
}
inline std::vector<std::int64_t> slowest(const std::vector<std::string>& texts, std::size_t plans) {
    std::vector<std::int64_t> most(plans, 0);
    for (const std::string& text : texts) {
        std::istringstream in{text};
        std::size_t n = 0;
        for (std::int64_t t = 0; in >> t; ++n)
            if (n < plans) most[n] = std::max(most[n], t);
        if (n != plans || !in.eof()) throw world_error{"a rank has other plans to compare: their times are \"" + text + "\""};
    }
    return most;
}

class tuner {
public:
    tuner(std::int64_t memory_limit, int runs_in_turn) : limit_{memory_limit}, turns_{runs_in_turn} {}

    struct candidate {
        std::size_t number = 0;  // in the report
        std::shared_ptr<engine> on = nullptr;
        std::vector<std::int64_t> times = {};  // of each counted turn, nanoseconds a run
    };
    const std::vector<candidate>& compared() const { return compared_; }  // after take_others, the one that is kept
    const tuning_report& report() const { return report_; }
    bool decided() const { return report_.decided(); }

    // Adds a plan, with the engine that `make` makes. Left out is one whose arena does not fit into the memory limit beside those of the
    // others, and one that needs a transport which is not available. One with the tables of another is not added.
    template <class Make>
    void add(const char* name, std::uint64_t hash, const dovetail::plan::plan& plan, Make make) {
        if (std::find(hashes_.begin(), hashes_.end(), hash) != hashes_.end()) return;
        hashes_.push_back(hash);
        report_.plans.push_back({name, plan.predicted / 1000});
        std::string& left_out = report_.plans.back().left_out;
        if (!fits_beside_others(plan)) {
            left_out = "its arena does not fit into the memory limit beside those of the others";
            return;
        }
        if (!compared_.empty() && !has_memory(plan)) {
            left_out = "a rank has too little free memory for its arena";
            return;
        }
        try {
            compared_.push_back({report_.plans.size() - 1, make()});
        } catch (const transport_unavailable& e) {
            left_out = e.reason;
            if (report_.plans.size() == 1) unavailable_ = std::current_exception();
            return;
        }
        arena_bytes_.resize(static_cast<std::size_t>(plan.roles.size()));
        for (int r = 0; r < plan.roles.size(); ++r) arena_bytes_[static_cast<std::size_t>(r)] += plan.roles[r].arena_bytes;
    }
    // Called when all are added; throws if none is available. Of a single plan nothing is measured.
    void start() {
        if (compared_.empty()) std::rethrow_exception(unavailable_);
        for (std::size_t i = 1; i < compared_.size(); ++i) compared_[i].on->share_order(*compared_.front().on);
        if (unavailable_)
            for (const candidate& c : compared_) c.on->fall_back(report_.plans.front().left_out);
        if (compared_.size() == 1) keep(0);
    }

    // The engine of the next run; after the decision, the one that is kept.
    const std::shared_ptr<engine>& next() const { return compared_[at()].on; }
    // Called before and after `next` issues a run; each may change `next`. The run that ends a turn is waited for behind it, up to the time
    // limit, and if need be before the next run, where a timeout means that nothing was issued. The last turn ends with the decision.
    void begin_run() {
        if (last_of_turn_) end_turn();
        if (turns_.begins()) began_ = std::chrono::steady_clock::now();
    }
    void end_run(const std::shared_ptr<run_state>& run) {
        if (decided()) return;
        if (!turns_.ends()) {
            ++turns_.runs;
            return;
        }
        last_of_turn_ = run;
        try {
            end_turn();
        } catch (const timeout&) {  // the caller has the run's ticket, and may wait for it
        }
    }

    // After the decision: the engines of the others, once.
    std::vector<std::shared_ptr<engine>> take_others() {
        std::vector<std::shared_ptr<engine>> others;
        for (const candidate& c : compared_)
            if (c.on != next()) others.push_back(c.on);
        compared_ = {compared_[kept_]};
        kept_ = 0;
        return others;
    }

private:
    int plans() const { return static_cast<int>(compared_.size()); }
    std::size_t at() const { return decided() ? kept_ : static_cast<std::size_t>(turns_.plan(plans())); }
    bool fits_beside_others(const dovetail::plan::plan& plan) const {
        for (std::size_t r = 0; limit_ > 0 && r < arena_bytes_.size(); ++r)
            if (arena_bytes_[r] + dovetail::ir::bytes_of(plan.roles[static_cast<int>(r)]) > limit_) return false;
        return true;
    }
    // Whether every rank can allocate the arena of a further plan.
    bool has_memory(const dovetail::plan::plan& plan) const {
        engine& e = *compared_.front().on;
        const bool mine = e.addresses.source()->available() >= plan.roles[e.role].arena_bytes;
        const std::vector<std::string> all = exchange(e, "the memory for a further plan of " + e.described(), mine ? "1" : "0");
        return std::all_of(all.begin(), all.end(), [](const std::string& enough) { return enough == "1"; });
    }
    void end_turn() {
        next()->finish(last_of_turn_, std::nullopt);
        last_of_turn_ = nullptr;
        const std::chrono::nanoseconds turn = std::chrono::steady_clock::now() - began_;
        if (turns_.counts(plans())) compared_[at()].times.push_back(turn.count() / turns_.runs_in_turn);
        ++turns_.runs;
        if (turns_.over(plans())) decide();
    }
    // All ranks decide by the same times.
    void decide() {
        std::vector<std::int64_t> mine;
        for (const candidate& c : compared_) mine.push_back(median(c.times));
        engine& e = *compared_.front().on;
        const std::vector<std::int64_t> agreed =
            slowest(exchange(e, "the times of the plans of " + e.described(), text_of_times(mine)), mine.size());
        for (std::size_t i = 0; i < agreed.size(); ++i) report_.plans[compared_[i].number].measured_ns = agreed[i];
        keep(static_cast<std::size_t>(std::min_element(agreed.begin(), agreed.end()) - agreed.begin()));
    }
    // The texts of the ranks that take part in its runs. If a rank does not come, the runs of all end: the ranks could not agree any more.
    static std::vector<std::string> exchange(engine& e, const std::string& what, const std::string& mine) {
        peers* const others = e.partners();
        if (others == nullptr) return {mine};
        const auto all = [&] {
            try {
                return others->exchange(e.rank, what, mine, e.options.time_limit);
            } catch (const timeout& late) {
                others->abort({e.rank, late.text(), {}, {}, true, nullptr, true});
                others->raise(e.rank);
            }
        };
        return reporting(all, [&] { others->report(); });
    }
    void keep(std::size_t which) {
        kept_ = which;
        report_.taken = static_cast<int>(compared_[which].number);
    }

    const std::int64_t limit_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::int64_t> arena_bytes_;  // by role, of the plans that are compared
    std::vector<candidate> compared_;
    std::exception_ptr unavailable_;  // why the first plan is left out
    tuning_turns turns_;
    std::chrono::steady_clock::time_point began_;  // of the turn
    std::shared_ptr<run_state> last_of_turn_;      // its last run, until that is known to have ended
    std::size_t kept_ = 0;
    tuning_report report_;
};

}  // namespace dovetail::launch
