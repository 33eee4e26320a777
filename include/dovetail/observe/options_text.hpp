// Decisions and options of a plan as text: rewrites, with what was predicted of those that the search tried, inputs from the host, and how
// many times a profile has given.
#pragma once

#include "plan_view.hpp"

#include <string>
#include <vector>

namespace dovetail::observe::detail {

inline std::string rewrites_text(const rewrite_list& list) {
    std::string text;
    if (list.blocks > 1) text = "split in " + std::to_string(list.blocks) + " blocks";
    if (list.blocks > 1 && list.halved != 0) text += ", some in fewer";
    for (int i = 0; i < list.count; ++i) {
        text += (text.empty() ? "" : ", ") + std::string(name_of(list.kind[i]));
        if (list.kind[i] == rewrite::keep && list.kept != all_kept) text += " " + std::to_string(list.kept);
    }
    if (list.copied_from != INT64_MAX)
        text += (text.empty() ? "collectives" : ", collectives") +
                std::string(list.copied_from > 0 ? " from " + bytes_text(list.copied_from) : "") + " by copy engines";
    return text;
}

// What a statement asks for, and of how many operations.
inline std::string region_text(const ir::graph& written, int region) {
    const ir::region& r = written.regions[region];
    constexpr const char* transports[] = {"automatic transport", "nccl", "copy_engines"};
    std::string text = r.kind == rewrite::copy_engines ? transports[r.number] : name_of(r.kind);
    if (r.number != automatic && r.kind == rewrite::split) text += " in " + std::to_string(r.number) + " blocks";
    if (r.number != automatic && r.kind == rewrite::bucket) text += " of " + bytes_text(r.number);
    int operations = 0;
    for (const ir::node& n : written.nodes) operations += ir::stands_in(written, n, region) ? 1 : 0;
    return text + ", " + std::to_string(operations) + " operations";
}

// The rewrites, with what was predicted of each list that the search tried.
inline void add_rewrites(const plan_view& of, std::vector<std::vector<std::string>>& totals) {
    for (int r = 0; r < of.written.regions.size(); ++r) totals.push_back({"asked for by a statement", region_text(of.written, r)});
    for (int i = 0; i < of.s.axes.count; ++i)
        if (const transport by = of.s.axes.by[i]; by != transport::automatic)
            totals.push_back({"asked for by an option", "collectives along " + display(*of.s.axes.axis[i]) +
                                                            (by == transport::nccl ? " by NCCL" : " by copy engines")});
    if (const std::string text = rewrites_text(of.s.rewrites); !text.empty()) totals.push_back({"rewritten by", text});
    for (int i = 0; i < of.rewrites.count; ++i) {
        const dovetail::plan::rewrite_trial& trial = of.rewrites.of[i];
        const std::string text = rewrites_text(trial.list);
        totals.push_back({"... " + (text.empty() ? "as written" : text), microseconds(trial.length) + " us" +
                                                                             (trial.within_limit ? "" : ", more memory than the limit") +
                                                                             (trial.as_stated ? "" : ", not by the transports asked for")});
    }
}

// How many operations take their times from a profile.
inline void add_profile(const plan_view& of, std::vector<std::vector<std::string>>& totals) {
    if (of.s.profile.rows.empty()) return;
    cost_model::work_keys keys{of.graph, of.program, of.s};
    int found = 0, alike = 0, operations = 0;
    for (int v = 0; v < of.program.tasks.size(); ++v) {
        if (of.program.tasks[v].kind == op_kind::input) continue;
        ++operations;
        const std::uint64_t key = keys.of(of.program.tasks[v]);
        if (of.s.profile.find(key) != nullptr)
            ++found;
        else if (of.s.profile.find_like(key, of.costs[v].time) != nullptr)
            ++alike;
    }
    const auto tell = [&](const char* what, int count) {
        totals.push_back({what, std::to_string(count) + " of " + std::to_string(operations) + " operations"});
    };
    tell("... with times from a profile", found);
    if (alike > 0) tell("... and with those of other sizes", alike);
    if (found + alike < operations) tell("... and with scaled estimates", operations - found - alike);
}

inline std::string host_inputs_text(const input_list& list) {
    std::string text;
    for (int i = 0; i < list.count; ++i) text += (text.empty() ? "" : ", ") + display(*list.name[i]);
    return text;
}

}  // namespace dovetail::observe::detail
