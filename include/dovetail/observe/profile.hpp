// A profile as a header: the times of each kind of work in recorded runs, alone and beside what other streams execute. Takes the recorded
// graphs with their measured timelines; gives the text of the header, in which each graph has a type for the option dv::profile.
#pragma once

#include "files.hpp"
#include "profile_samples.hpp"

namespace dovetail::observe {

namespace detail {

// The runs of a graph under one machine description.
class profiled_graph {
public:
    explicit profiled_graph(const traced& g)
        : title_{g.of->title()},
          machine_{g.of->s.machine.name},
          hardware_{g.hardware},
          graph_key_{cost_model::graph_key(g.of->written)},
          machine_key_{dovetail::machine_key(g.of->s.machine)} {}

    bool is_of(const traced& g) const {
        return title_ == g.of->title() && machine_ == g.of->s.machine.name && hardware_ == g.hardware &&
               graph_key_ == cost_model::graph_key(g.of->written) && machine_key_ == dovetail::machine_key(g.of->s.machine);
    }
    void add(const traced& g, const busy_streams& streams) {
        const graph_as_run as_run{g.of->graph, g.where};
        plan_options s = g.of->s;
        s.profile = {};
        const vec<task_cost> estimates =
            cost_model::costs(as_run.graph, g.of->program, s, dovetail::plan::by_rank(g.of->plan.roles).view());
        cost_model::work_keys keys{as_run.graph, g.of->program, s};
        std::vector<profiled_work*> by_task;
        by_task.reserve(static_cast<std::size_t>(g.of->program.tasks.size()));
        for (int v = 0; v < g.of->program.tasks.size(); ++v)
            by_task.push_back(work_of(keys, g.of->program.tasks[v], {g.of->label(v), stream_of(*g.of, v), estimates[v].time}));
        for (const timeline& t : g.runs) add_run(*g.of, t, by_task, streams);
    }
    const std::string& title() const { return title_; }
    // Its type; empty if nothing was measured.
    std::string text(const std::string& name) const;

private:
    static int stream_of(const plan_view& of, int task) { return static_cast<int>(of.program.tasks[task].stream); }
    // Null of inputs: what they take depends on what a program binds.
    template <class Keys>
    profiled_work* work_of(Keys& keys, const ir::task& v, profiled_work fresh) {
        return v.kind == op_kind::input ? nullptr : &work_.try_emplace(keys.of(v), std::move(fresh)).first->second;
    }
    // Communication takes from the arrival of its last rank.
    void add_run(const plan_view& of, const timeline& t, const std::vector<profiled_work*>& by_task, const busy_streams& streams) {
        const auto arrival = arrivals(of, t);
        for (std::size_t k = 0; k < t.rows.size(); ++k)
            for (std::size_t i = 0; i < t.rows[k].slices.size(); ++i) {
                const slice& s = t.rows[k].slices[i];
                profiled_work* const work = by_task[static_cast<std::size_t>(s.task)];
                if (work == nullptr) continue;
                const std::int64_t start = arrival[k][i];
                const busy_times beside = streams.beside(t.rows[k].rank, s.stream, t.origin + start, t.origin + s.end);
                const bool copied = of.program.tasks[s.task].moved_by == transport::peer_copy;
                const std::int64_t shared =
                    copied ? streams.copies_beside(t.rows[k].rank, s.stream, t.origin + start, t.origin + s.end) : 0;
                const profile_sample as_ran{std::max<std::int64_t>(s.end - start, 1), beside};
                work->samples.push_back(as_ran.with_whole_link(shared));
            }
    }
    // What the work of a stream took, in thousandths of its estimates.
    int scale(int stream) const {
        std::int64_t measured = 0, estimated = 0;
        for (const auto& [key, work] : work_) {
            const profile_row r = work.row(key);
            if (work.stream != stream || r.samples == 0 || work.estimate == 0) continue;
            measured += r.alone_or_shortest();
            estimated += work.estimate;
        }
        if (estimated == 0) return 1000;
        while (measured > INT64_MAX / 1000) {
            measured /= 2;
            estimated /= 2;
        }
        return static_cast<int>(std::clamp<std::int64_t>(measured * 1000 / std::max<std::int64_t>(estimated, 1), 1, INT32_MAX));
    }

    std::string title_, machine_, hardware_;
    std::uint64_t graph_key_, machine_key_;
    std::map<std::uint64_t, profiled_work> work_;  // by key
};

inline std::string hexadecimal(std::uint64_t n) {
    std::string text = "0x";
    for (int digit = 60; digit >= 0; digit -= 4) text += "0123456789abcdef"[n >> digit & 15];
    return text;
}

inline std::string profiled_graph::text(const std::string& name) const {
    std::string rows;
    int count = 0;
    for (const auto& [key, work] : work_) {
        const profile_row r = work.row(key);
        if (r.samples == 0) continue;
        ++count;
        std::string beside;
        for (const std::int64_t time : r.beside) beside += (beside.empty() ? "" : ", ") + std::to_string(time);
        rows += "        {" + hexadecimal(key) + ", " + std::to_string(r.alone) + ", {" + beside + "}, " + std::to_string(r.samples) +
                ", " + std::to_string(r.estimate) + "},  // " + work.label + "\n";
    }
    if (count == 0) return {};
    std::string scales;
    for (int stream = 0; stream < stream_count; ++stream) scales += (stream > 0 ? ", " : "") + std::to_string(scale(stream));
    return "\nstruct " + name + " {\n    static constexpr int format = " + std::to_string(profile_format) +
           ";\n    // Key of the work; picoseconds alone, beside kernels, copy engines, NCCL (0: not measured); samples; estimate.\n" +
           "    static constexpr dovetail::profile_row rows[] = {\n" + rows + "    };\n" +
           "    static constexpr dovetail::profile_table table{" + in_quotes(title_, false) + ", " + in_quotes(machine_, false) + ", " +
           hexadecimal(graph_key_) + ", {" + scales + "}, {rows, " + std::to_string(count) + "}, " + in_quotes(hardware_, false) + ", " +
           hexadecimal(machine_key_) + "};\n};\n";
}

}  // namespace detail

// The header; empty if nothing was measured. The types are NAME_profile, and NAME_profile_2 where two graphs have one name.
inline std::string profile_text(const std::vector<traced>& graphs) {
    const detail::busy_streams streams{graphs};
    std::vector<detail::profiled_graph> profiled;
    for (const traced& g : graphs) {
        std::size_t i = 0;
        while (i < profiled.size() && !profiled[i].is_of(g)) ++i;
        if (i == profiled.size()) profiled.emplace_back(g);
        profiled[i].add(g, streams);
    }
    std::string text;
    std::map<std::string, int> numbers;
    for (const detail::profiled_graph& g : profiled) {
        const std::string name = type_name(g.title()) + "_profile";
        const int number = ++numbers[name];
        text += g.text(name + (number > 1 ? "_" + std::to_string(number) : ""));
    }
    if (text.empty()) return {};
    return "// Times of operations, measured in runs under DOVETAIL_PROFILE; each type is for an option of a plan, dv::profile<type>.\n"
           "#pragma once\n\n#include <dovetail/cost/profile.hpp>\n" +
           text;
}

}  // namespace dovetail::observe
