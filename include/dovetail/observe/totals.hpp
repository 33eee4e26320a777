// Rows of the totals of a plan as text: the order of roles, predictions, and the candidates that were compared.
#pragma once

#include "../plan/facts.hpp"
#include "options_text.hpp"

namespace dovetail::observe::detail {

// The roles in the order of their ranks; empty where that is their order in the graph.
inline std::string rank_order_text(const plan_view& of) {
    const vec<int> order = dovetail::plan::by_rank(of.plan.roles);
    std::string text;
    bool as_written = true;
    for (int k = 0; k < order.size(); ++k) {
        text += (k > 0 ? ", " : "") + of.role_name(order[k]);
        as_written = as_written && order[k] == k;
    }
    return as_written ? "" : text;
}

// When the output that the objective names is ready.
inline std::string ready_text(const plan_view& of) {
    return microseconds(dovetail::plan::ready_time(of.program, of.plan, dovetail::plan::find_output(of.graph, *of.s.finished))) + " us";
}

// The time of a run, what the objective counts, and what the prediction assumes.
inline void add_predictions(const plan_view& of, std::vector<std::vector<std::string>>& totals) {
    totals.push_back({"predicted time", microseconds(of.plan.predicted) + " us"});
    if (of.s.host_inputs.count > 0) totals.push_back({"... with copies of inputs from the host", host_inputs_text(of.s.host_inputs)});
    totals.push_back({"... on one stream", microseconds(of.plan.predicted_sequential) + " us"});
    if (of.s.objective == objective_kind::interval || of.s.in_flight > 1)
        totals.push_back({of.s.objective == objective_kind::interval ? "... between runs, the objective" : "... between runs",
                          microseconds(dovetail::plan::interval(of.program, of.costs.view(), of.plan, of.s)) + " us"});
    if (of.s.objective == objective_kind::finish)
        totals.push_back({"... until `" + display(*of.s.finished) + "` is ready, the objective", ready_text(of)});
    add_profile(of, totals);
}

// The candidate that was chosen, and the predicted times of those that were compared; of those about as fast also if communication takes
// three times as long.
inline void add_candidates(const plan_view& of, std::vector<std::vector<std::string>>& totals) {
    const dovetail::plan::choice& choice = of.plan.choice;
    if (choice.taken == candidate::automatic) return;
    totals.push_back({"candidate", std::string(name_of(choice.taken)) + (of.s.forced == choice.taken ? ", forced" : "")});
    int others = 0;
    for (int c = 0; c < candidates; ++c) {
        const std::string name = std::string("... ") + name_of(static_cast<candidate>(c));
        if (choice.predicted[c] < 0)
            ++others;
        else
            totals.push_back({name, microseconds(choice.predicted[c]) + " us"});
        if (choice.slowed[c] >= 0) totals.push_back({name + ", communication x 3", microseconds(choice.slowed[c]) + " us"});
    }
    if (others > 0) totals.push_back({"... " + std::to_string(others) + " others", "not predicted"});
}

}  // namespace dovetail::observe::detail
