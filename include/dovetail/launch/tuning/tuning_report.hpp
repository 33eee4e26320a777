// What dv::tuned measured: the plans that it compared, and which one it kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dovetail {

struct tuning_plan {
    std::string name;               // "one stream"
    std::int64_t predicted_ns = 0;  // of one run
    std::int64_t measured_ns = 0;   // the median time of a run on the slowest rank; 0 before the decision
    std::string left_out = {};      // why it was not compared; empty if it was
};

struct tuning_report {
    std::vector<tuning_plan> plans;  // the planner's choice first
    int taken = -1;                  // the plan that was kept; -1 before the decision

    bool decided() const { return taken >= 0; }
    // A line for each plan.
    std::string text() const {
        std::string all;
        for (std::size_t i = 0; i < plans.size(); ++i) {
            const tuning_plan& p = plans[i];
            all += p.name + ": " + (p.left_out.empty() ? times(p) : "left out, " + p.left_out);
            all += static_cast<int>(i) == taken ? "; kept\n" : "\n";
        }
        return all;
    }

private:
    static std::string microseconds(std::int64_t ns) { return std::to_string(ns / 1000) + "." + std::to_string(ns % 1000 / 100) + " us"; }
    static std::string times(const tuning_plan& p) {
        return (p.measured_ns > 0 ? microseconds(p.measured_ns) : "not measured") + ", predicted " + microseconds(p.predicted_ns);
    }
};

}  // namespace dovetail
