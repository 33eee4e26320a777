// What the planner predicts for the workloads, and for some of them under ten memory limits, compared with golden/workloads.txt; `--write`
// writes that file. The pipelines under each schedule are planned as written, and compared with what theory says. Each limit has a plan,
// and a larger limit none that is slower; where the fastest schedule of all fits, no other one is planned, so that it may be slower by a
// thousandth. FSDP also with each number of gathers kept: of those plans the fastest is taken.
#include "support/planner.hpp"
#include "workload.hpp"

#include <dovetail/plan/make.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace {

namespace plan = dv::plan;
using workloads::workload;

// No schedule is shorter: the work of the busiest stream of a role, and the critical path.
std::int64_t lower_bound(const dv::ir::program& p, const dv::vec<dv::ir::edge>& edges,
                         dv::span<const dv::task_cost> costs) {
    std::vector<std::int64_t> busy(static_cast<std::size_t>(p.roles * dv::stream_count));
    for (int v = 0; v < p.tasks.size(); ++v) {
        std::vector<int> slots;
        for (const dv::ir::participation& x : p.participations.subspan(p.tasks[v].first_participation, p.tasks[v].participations)) {
            const int slot = x.role * dv::stream_count + static_cast<int>(p.tasks[v].stream);
            if (std::find(slots.begin(), slots.end(), slot) == slots.end()) slots.push_back(slot);
        }
        for (const int slot : slots) busy[static_cast<std::size_t>(slot)] += costs[v].time;
    }
    std::int64_t longest = *std::max_element(busy.begin(), busy.end());
    const dv::pass::adjacency in = dv::pass::predecessors(p.tasks.size(), edges.view());
    std::vector<std::int64_t> end(static_cast<std::size_t>(p.tasks.size()));
    for (const int v : dv::pass::written_order(p.tasks.size(), edges.view())) {
        std::int64_t start = 0;
        for (int i = in.first[v]; i < in.first[v + 1]; ++i) start = std::max(start, end[static_cast<std::size_t>(in.neighbour[i])]);
        end[static_cast<std::size_t>(v)] = start + costs[v].time;
        longest = std::max(longest, start + costs[v].time);
    }
    return longest;
}

std::string milliseconds(std::int64_t picoseconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", static_cast<double>(picoseconds) / 1e9);
    return text;
}

std::int64_t bytes_of(const plan::made& made) {
    std::int64_t bytes = 0;
    for (const auto& role : made.plan.roles) bytes = std::max(bytes, dv::ir::bytes_of(role));
    return bytes;
}

// What the search over rewrites does to a graph.
std::string rewrites_of(const plan::made& made) {
    const dv::rewrite_list& list = made.options.rewrites;
    std::string text;
    if (list.blocks > 1) text = std::to_string(list.blocks) + " blocks";
    for (int i = 0; i < list.count; ++i) {
        text += (text.empty() ? "" : ", ") + std::string(name_of(list.kind[i]));
        if (list.kind[i] == dv::rewrite::keep && list.kept != dv::all_kept) text += " " + std::to_string(list.kept);
    }
    if (list.copied_from != INT64_MAX) text += text.empty() ? "copies" : ", copies";
    return text.empty() ? "as written" : text;
}

std::string row(const workload& w) {
    const auto made = support::make_plan(w.graph, w.options);
    dv::plan_options with_rewrites = w.options;
    with_rewrites.rewrites.automatic = true;
    const auto rewritten = support::make_plan(w.graph, with_rewrites);
    plan::tables tables{w.graph, w.options};
    const dv::ir::program program = dv::ir::view(tables.read<plan::stage::expand>());
    const auto edges = dv::pass::edges(program);
    const auto costs = tables.read<plan::stage::costs>();
    char text[200];
    std::snprintf(text, sizeof text, "%-44s %5d %10s %10s %10s %8.3f  %-12s %10s %8.3f  %s\n", w.name, program.tasks.size(),
                  milliseconds(tables.read<plan::stage::serial_time>()).c_str(), milliseconds(made.plan.predicted).c_str(),
                  milliseconds(lower_bound(program, edges, costs)).c_str(), static_cast<double>(bytes_of(made)) / 1e9,
                  made.fits ? name_of(made.plan.choice.taken) : "no plan fits", milliseconds(rewritten.plan.predicted).c_str(),
                  static_cast<double>(bytes_of(rewritten)) / 1e9, rewrites_of(rewritten).c_str());
    return text;
}

const std::string limited[] = {"FSDP, 8 layers",      "pipeline 4x8, GPipe", "pipeline 4x8, zero bubble",
                               "pipeline 4x16, 1F1B", "ring attention on 8", "offloaded activations"};
int broken_ladders = 0;

// A workload under ten limits, from the fewest bytes of any candidate to those of the plan without a limit.
std::string ladder(const workload& w) {
    const std::int64_t most = bytes_of(support::make_plan(w.graph, w.options));
    std::int64_t least = most;
    for (const auto c : {dv::candidate::sequential, dv::candidate::booked_100, dv::candidate::min_memory}) {
        dv::plan_options o = w.options;
        o.forced = c;
        least = std::min(least, bytes_of(support::make_plan(w.graph, o)));
    }
    std::string text;
    std::int64_t before = INT64_MAX / 2;
    for (int k = 0; k < 10; ++k) {
        dv::plan_options o = w.options;
        o.memory_limit = least + (most - least) / 9 * k + (k == 9 ? (most - least) % 9 : 0);
        const auto made = support::make_plan(w.graph, o);
        const bool broken = !made.fits || bytes_of(made) > o.memory_limit || made.plan.predicted > before + before / 1000;
        broken_ladders += broken ? 1 : 0;
        before = made.plan.predicted;
        char line[160];
        std::snprintf(line, sizeof line, "%-44s %8.3f %10s %8.3f  %s%s\n", w.name, static_cast<double>(o.memory_limit) / 1e9,
                      milliseconds(made.plan.predicted).c_str(), static_cast<double>(bytes_of(made)) / 1e9, name_of(made.plan.choice.taken),
                      broken ? ", and it is wrong" : "");
        text += line;
    }
    return text;
}

// A number of kept collectives with the fastest plan that fits.
struct best_kept {
    plan::made made;
    int count = -1;
};
best_kept fastest(const workload& w, std::int64_t limit) {
    best_kept best;
    for (int count = 0; count <= dv::pass::repetitions(w.graph, dv::pass::scope::graph).size(); ++count) {
        dv::plan_options o = w.options;
        o.memory_limit = limit;
        o.rewrites.kind[o.rewrites.count++] = dv::rewrite::keep;
        o.rewrites.kept = count;
        auto made = support::make_plan(w.graph, o);
        if (made.fits && (best.count < 0 || made.plan.predicted < best.made.plan.predicted)) best = {std::move(made), count};
    }
    return best;
}
// A workload under limits with so many bytes between them, up to the first into which the fastest plan fits.
std::string ladder_of_kept(const workload& w, std::int64_t first, std::int64_t step) {
    std::string text;
    std::int64_t before = INT64_MAX / 2, most = bytes_of(fastest(w, 0).made);
    for (std::int64_t limit = first; limit < most + step; limit += step) {
        const best_kept best = fastest(w, limit);
        dv::plan_options o = w.options;
        o.memory_limit = limit;
        const auto none = support::make_plan(w.graph, o);
        const bool broken = best.count < 0 || bytes_of(best.made) > limit || best.made.plan.predicted > before + before / 1000;
        broken_ladders += broken ? 1 : 0;
        before = best.made.plan.predicted;
        char line[160];
        std::snprintf(line, sizeof line, "%-44s %8.3f %10s %8.3f %2d %10s  %s%s\n", w.name, static_cast<double>(limit) / 1e9,
                      milliseconds(before).c_str(), static_cast<double>(bytes_of(best.made)) / 1e9, best.count,
                      milliseconds(none.plan.predicted).c_str(), name_of(best.made.plan.choice.taken), broken ? ", and it is wrong" : "");
        text += line;
    }
    return text;
}

plan::made as_written(const workload& w) {
    dv::plan_options o = w.options;
    o.forced = dv::candidate::written;
    return support::make_plan(w.graph, o);
}

// A pipeline as its schedule has it, and the planner's under this limit.
std::string scheduled(const workloads::scheduled_pipeline& p, std::int64_t limit) {
    const auto written = as_written(p.training);
    dv::plan_options o = p.training.options;
    o.memory_limit = limit;
    const auto made = support::make_plan(p.training.graph, o);
    char line[160];
    std::snprintf(line, sizeof line, "%-24s %4d %10s %10s %8.1f %8.3f %10s %8.3f  %s\n", p.training.name, p.micro_batches,
                  milliseconds(p.work + p.bubble).c_str(), milliseconds(written.plan.predicted).c_str(),
                  100.0 * static_cast<double>(written.plan.predicted - p.work) / static_cast<double>(p.bubble),
                  static_cast<double>(bytes_of(written)) / 1e9, milliseconds(made.plan.predicted).c_str(),
                  static_cast<double>(bytes_of(made)) / 1e9, made.fits ? name_of(made.plan.choice.taken) : "no plan fits");
    return line;
}
std::string schedules() {
    std::string text;
    const std::vector<workloads::scheduled_pipeline> all = workloads::schedules();
    for (const workloads::scheduled_pipeline& p : all) {
        const auto one_f_one_b = std::find_if(all.begin(), all.end(), [&](const workloads::scheduled_pipeline& other) {
            return std::string(other.training.name) == "1F1B" && other.micro_batches == p.micro_batches;
        });
        text += scheduled(p, bytes_of(as_written(one_f_one_b->training)));
    }
    return text;
}

std::string table() {
    std::string text =
        "# Workloads, predicted: operations, time without and with overlap, lower bound (ms), bytes of the largest rank (GB), candidate;\n"
        "# with automatic rewrites: time (ms), bytes (GB), the rewrites that gain; a split may go below the bound above.\n"
        "# Made by `plan.workloads.report --write`.\n";
    for (const auto family : {workloads::sequence_parallel, workloads::fsdp, workloads::data_parallel, workloads::pipelines, workloads::hpc,
                              workloads::transformers, workloads::tutorials})
        for (const workload& w : family()) text += row(w);
    text += "\n# Under ten memory limits (GB): time (ms), bytes of the largest rank (GB), candidate.\n";
    for (const auto family : {workloads::fsdp, workloads::pipelines, workloads::transformers})
        for (const workload& w : family())
            if (std::find(std::begin(limited), std::end(limited), std::string(w.name)) != std::end(limited)) text += ladder(w);
    text +=
        "\n# Pipelines of 4 stages: micro-batches, theory's time without transfers; in the order of the schedule: time (ms), bubble in\n"
        "# per cent of theory's, bytes of the largest rank (GB); in the planner's, under the bytes of 1F1B: time, bytes, candidate.\n";
    text += schedules();
    text += "\n# With the best number of gathers kept, by limit (GB): time (ms), bytes (GB), kept, time with none kept, candidate.\n";
    for (const workload& w : workloads::fsdp())
        if (w.options.memory_limit == 0 && w.options.rewrites.count == 0 && std::string(w.name).find("by hand") == std::string::npos)
            text += ladder_of_kept(w, 4'750'000'000, 250'000'000);
    return text;
}

}  // namespace

int main(int count, char** arguments) {
    const auto path = std::filesystem::path(__FILE__).parent_path() / "../../golden/workloads.txt";
    const std::string made = table();
    if (count == 2 && std::string(arguments[1]) == "--write") {
        std::ofstream(path) << made;
        return broken_ladders == 0 ? 0 : 1;
    }
    std::ifstream file(path);
    std::istringstream lines(made);
    int wrong = 0;
    for (std::string now, then; std::getline(lines, now);)
        if (!std::getline(file, then) || now != then) {
            std::cout << "- " << then << "\n+ " << now << "\n";
            ++wrong;
        }
    for (std::string then; std::getline(file, then); ++wrong) std::cout << "- " << then << "\n";
    std::cout << wrong << " lines differ, " << broken_ladders << " plans break the law of limits\n";
    return wrong == 0 && broken_ladders == 0 ? 0 : 1;
}
