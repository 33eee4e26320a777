// All observers, controlled by environment variables: a program that includes this header in one file supports DOVETAIL_TRACE,
// DOVETAIL_PROFILE, DOVETAIL_REPORT, DOVETAIL_VISUALIZE_SCHEDULE, DOVETAIL_EXPLAIN, DOVETAIL_DUMP and DOVETAIL_NVTX (environment.hpp).
// Without them nothing is recorded.
#pragma once

#include "../launch/engine/observer.hpp"
#include "../launch/log.hpp"
#include "dot.hpp"
#include "dump.hpp"
#include "environment.hpp"
#include "files.hpp"
#include "html.hpp"
#include "profile.hpp"
#include "text.hpp"
#include "trace.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace dovetail::observe {

// Makes the ranges of an executor; set by ranges.hpp.
inline std::shared_ptr<launch_watcher> (*make_nvtx_ranges)(const plan_view&, int role, int rank) = nullptr;

// The tables of the stages as text; set by passes.hpp.
inline std::string (*text_of_passes)(const plan_tables&) = nullptr;

// Records runs and writes the requested output. One object per process; ranks call it from their threads.
class recorder final : public run_observer {
public:
    static constexpr std::size_t runs_kept = 64;  // of each executor: the first ones

    explicit recorder(environment asked) : asked_{std::move(asked)}, dumps_{asked_.dump} {}

    void made(engine& e, const plan_options& s, const ir::graph& written) override {
        const launch::log_later unlocked;
        const std::lock_guard lock{mutex_};
        session& opened = open_[&e] = {s, written, {}};
        if (!origin_) origin_ = e.clock_origin();
        here_[e.clock_origin()].insert(e.rank);
        if (asked_.records()) e.record_times(true);
        if (dumps_.any())
            e.values = &value_dumps_.emplace_back(dumps_, file_name(dovetail::named(e.name) ? display(*e.name) : std::string{}), e.rank);
        if (asked_.nvtx && make_nvtx_ranges != nullptr)
            e.watcher = nvtx_ranges_.emplace_back(make_nvtx_ranges(plan_view{tables_of(e, opened)}, e.role, e.rank)).get();
        else if (std::exchange(asked_.nvtx, false))
            launch::log(log_level::warning,
                        "no ranges: the program includes no dovetail/observe/ranges.hpp, or was compiled without NVTX's header");
    }
    void issued(engine& e, const std::shared_ptr<run_state>& f) override {
        const launch::log_later unlocked;
        const std::lock_guard lock{mutex_};
        const auto found = open_.find(&e);
        if (found == open_.end()) return;
        if (f->run == 0 && e.rank == 0) show(e, found->second);
        auto& kept = found->second.run_states;
        if (!asked_.records() || f->times.empty() || kept.size() == runs_kept) return;
        kept.push_back(f);
        if (kept.size() == runs_kept && !e.options.record_times)
            e.record_times(false);  // later runs are not recorded: they run at full speed, and are replayed again
    }
    void closed(engine& e) noexcept override {
        const launch::log_later unlocked;
        try {
            const std::lock_guard lock{mutex_};
            const auto found = open_.find(&e);
            if (found == open_.end()) return;
            take(e, found->second);
            open_.erase(found);
            // All executors of a graph are made before the first of them ends, since making one waits for all ranks.
            if (!open_.empty()) return;
            dumps_.warn();
            if (asked_.records()) report();
            if (!asked_.trace.empty() || !asked_.profile.empty()) write();
        } catch (const std::exception& x) {
            launch::log(log_level::warning, std::string{"no trace, profile or report: "} + x.what());
        }
    }

private:
    using moment = std::chrono::steady_clock::time_point;

    struct session {
        plan_options s;
        ir::graph written;
        std::vector<std::shared_ptr<run_state>> run_states;
    };
    // A plan that was shown, identified by its steps, and the path of its files without extension.
    struct page {
        const ir::step* plan;
        std::string path;
    };
    // A graph and the runs of its ranks in one run of a world. A second executor of the same rank and graph begins a new entry.
    struct recorded {
        moment origin;  // of the clock of that run of the world
        std::shared_ptr<const plan_view> of;
        std::shared_ptr<const geometry> where;
        std::vector<measured_run> runs;
        std::vector<int> ranks;
        std::string hardware;  // of the first of them
        bool reported = false;
    };

    static plan_tables tables_of(const engine& e, const session& of) {
        return {e.name, e.graph, e.program, e.plan, of.s, dovetail::plan::rewrite_trials{}, of.written};
    }

    void show(const engine& e, const session& opened) {
        if (!asked_.explain && !asked_.passes && asked_.visualize.empty()) return;
        for (const page& known : shown_)
            if (known.plan == e.plan.steps.first) return;
        page& now = shown_.emplace_back(page{e.plan.steps.first, {}});
        const plan_view of{tables_of(e, opened)};
        if (asked_.explain) launch::log(log_level::report, explain(of));
        if (asked_.passes && text_of_passes != nullptr)
            launch::log(log_level::report, text_of_passes(of_rewritten(of)));
        else if (std::exchange(asked_.passes, false))
            launch::log(log_level::warning, "no stages: the program includes no dovetail/observe/passes.hpp");
        if (asked_.visualize.empty()) return;
        std::string path = asked_.visualize + "/" + file_name(of.title());
        const std::string first = path;
        for (int n = 2; taken(path); ++n) path = first + "_" + std::to_string(n);  // one graph under several options
        now.path = path;
        const bool written = files_.write("page", path + ".html", html(of));
        if (files_.write("DOT file", path + ".dot", dot(of)) && written) launch::log(log_level::info, "wrote " + path + ".html and .dot");
    }
    // The graph of an executor has already been rewritten.
    static plan_tables of_rewritten(const plan_tables& of) {
        plan_tables tables = of;
        tables.s.rewrites = {};
        return tables;
    }
    bool taken(const std::string& path) const {
        for (const page& p : shown_)
            if (p.path == path) return true;
        return false;
    }
    static bool ended(engine& e, run_state& f) {
        try {
            return !f.failed.load() && e.ready(f);  // `ready` also reads the times of the run from the device
        } catch (const std::exception&) {
            return false;
        }
    }
    // Times of all runs of worlds, from the origin of the first one on.
    std::vector<step_time> on_one_clock(const engine& e, std::vector<step_time> times) const {
        const std::int64_t later = std::chrono::duration_cast<std::chrono::nanoseconds>(e.clock_origin() - *origin_).count();
        for (step_time& t : times) t = {t.start_ns + later, t.end_ns + later};
        return times;
    }
    void take(engine& e, session& from) {
        recorded* to = nullptr;
        for (recorded& r : done_) {
            bool has = r.origin != e.clock_origin() || r.of->plan.steps.first != e.plan.steps.first;
            for (const int rank : r.ranks) has = has || rank == e.rank;
            if (!has && to == nullptr) to = &r;
        }
        if (from.run_states.empty()) return;
        if (to == nullptr)
            to = &done_.emplace_back(recorded{e.clock_origin(),
                                              std::make_shared<plan_view>(tables_of(e, from)),
                                              std::make_shared<geometry>(e.where),
                                              {},
                                              {},
                                              e.hardware()});
        to->ranks.push_back(e.rank);
        for (const auto& f : from.run_states) {
            if (!ended(e, *f)) continue;
            measured_run* run = nullptr;
            for (measured_run& r : to->runs)
                if (r.run == f->run) run = &r;
            if (run == nullptr) run = &to->runs.emplace_back(measured_run{f->run, {}});
            std::size_t at = run->ranks.size();
            while (at > 0 && run->ranks[at - 1].rank > e.rank) --at;
            run->ranks.insert(run->ranks.begin() + static_cast<std::ptrdiff_t>(at),
                              measured_rank{e.rank, e.role, on_one_clock(e, f->times), e.clock_error_ns()});
        }
        from.run_states.clear();
    }
    // Whether `of` is the graph of `other`, task by task, planned for one stream.
    static bool on_one_stream(const plan_view& of, const plan_view& other) {
        bool like = dovetail::same(of.name, other.name) && !of.plan.overlapped && of.program.tasks.size() == other.program.tasks.size();
        for (int v = 0; like && v < of.program.tasks.size(); ++v) like = of.label(v) == other.label(v);
        return like;
    }
    // The run of median length among those that all recorded ranks have ended; an empty timeline if there is none.
    static timeline middle(const recorded& r) {
        std::vector<timeline> all;
        for (const measured_run& run : r.runs)
            if (run.ranks.size() == r.ranks.size()) all.push_back(measured(*r.of, run, r.where.get()));
        detail::sort(all, [](const timeline& t) { return t.length; });
        return all.empty() ? timeline{} : std::move(all[all.size() / 2]);
    }
    // Prints the overlap report of each graph that was not reported yet: against its measured runs on one stream, or else against their
    // prediction; and writes its page again, with the run.
    void report() {
        for (recorded& r : done_) {
            if (std::exchange(r.reported, true)) continue;
            const timeline t = middle(r);
            for (const page& p : shown_)
                if (p.plan == r.of->plan.steps.first && !p.path.empty() && !t.rows.empty())
                    files_.write("page", p.path + ".html", html(*r.of, {t}));
            if (!asked_.report) continue;
            timeline before;
            for (const recorded& other : done_)
                if (other.ranks.size() == r.ranks.size() && on_one_stream(*other.of, *r.of)) before = middle(other);
            if (t.rows.empty()) continue;
            if (before.rows.empty()) before = sequential(*r.of);
            launch::log(log_level::report, report_text(*r.of, overlap(*r.of, t, before)));
        }
    }
    bool is_apart(const recorded& r) const { return static_cast<int>(here_.at(r.origin).size()) < r.where->ranks(); }
    void write() {
        std::vector<traced> graphs;
        std::set<int> ranks;
        int world = 1;
        const bool apart = std::any_of(done_.begin(), done_.end(), [this](const recorded& r) { return is_apart(r); });
        for (const recorded& r : done_) {
            traced g{r.of.get(), {}, r.where.get(), r.hardware};
            for (const measured_run& run : r.runs) g.runs.push_back(measured(*r.of, run, r.where.get()));
            graphs.push_back(std::move(g));
            if (apart && !is_apart(r)) continue;  // every process may have a rank of that number
            world = std::max(world, r.where->ranks());
            ranks.insert(r.ranks.begin(), r.ranks.end());
        }
        if (!asked_.trace.empty()) write_trace(graphs, ranks, world, apart);
        if (!asked_.profile.empty()) write_profile(graphs, ranks, apart);
    }
    // A rank in a process of its own writes its own file.
    void write_trace(const std::vector<traced>& graphs, const std::set<int>& ranks, int world, bool apart) {
        if (!apart && !has_rank(asked_.trace))
            files_.write("trace", asked_.trace, trace(graphs));
        else
            for (const int rank : ranks) files_.write("trace", of_rank(asked_.trace, ".json", rank), trace(graphs, rank, world));
    }
    void write_profile(const std::vector<traced>& graphs, const std::set<int>& ranks, bool apart) {
        const std::string text = profile_text(graphs);
        if (text.empty()) return;
        const bool own = apart || has_rank(asked_.profile);
        files_.write("profile", own ? of_rank(asked_.profile, ".hpp", *ranks.begin()) : asked_.profile, text);
    }

    environment asked_;
    dumps dumps_;
    std::deque<value_dump> value_dumps_;  // kept: an operation that was abandoned may still end
    files files_;
    std::mutex mutex_;
    std::optional<moment> origin_;          // of the first engine
    std::map<moment, std::set<int>> here_;  // the ranks in this process, by run of a world
    std::map<const engine*, session> open_;
    std::vector<recorded> done_;
    std::vector<page> shown_;
    std::vector<std::shared_ptr<launch_watcher>> nvtx_ranges_;  // kept: an operation that was abandoned may still end its range
};

namespace detail {

// Never destroyed: executors may live longer than any static object.
inline bool install() {
    environment asked = environment::read();
    if (!asked.any()) return false;
    static recorder* const one = new recorder{std::move(asked)};
    observing.store(one, std::memory_order_release);
    return true;
}
inline const bool installed = install();

}  // namespace detail

}  // namespace dovetail::observe
