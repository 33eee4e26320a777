// Runs the graphs that measure a machine, and finds how long their operations took, in nanoseconds: medians over runs, on each rank.
#pragma once

#include "../../launch/executor.hpp"
#include "graphs.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace dovetail::observe {

// The steps of one rank in one run that are of one kind.
struct busy_time {
    std::int64_t first_start = 0, last_end = 0, sum = 0;  // ns
    int steps = 0;

    std::int64_t span() const { return last_end - first_start; }
};

enum class measured_work { compute, communication, copy };

// A copy in the memory of a rank, in front of a message, is none of them.
inline bool is_of(const ir::program& p, const ir::task& v, measured_work what) {
    const ir::member& m = p.members[v.first_member];
    const bool copies_only = m.op != nullptr && same(m.op->name, &tag_of<ops::copy>);
    switch (what) {
        case measured_work::compute: return v.kind == op_kind::compute && !copies_only;
        case measured_work::communication: return is_communication(v.kind);
        case measured_work::copy: return v.kind == op_kind::to_host || v.kind == op_kind::from_host;
    }
    __builtin_unreachable();
}

inline constexpr int warm_up_runs = 2;

template <class G, class Executor>
void bind_small_input(Executor& step) {
    if constexpr (plan::symbol_of<G, machine_graphs::x> >= 0)
        step.bind(name<machine_graphs::x>, std::vector<float>(static_cast<std::size_t>(machine_graphs::number::size), 0));
}

// The recorded runs of a graph on one rank.
class recorded_runs {
public:
    template <class G, class O, class Rank>
    static recorded_runs of(Rank& rank, int runs) {
        executor<G, O> step{rank, record_times};
        bind_small_input<G>(step);
        recorded_runs all;
        all.program_ = plan::planned<G, O>::program;
        all.steps_ = plan::planned<G, O>::plan.steps;
        for (int run = 0; run < runs + warm_up_runs; ++run) {
            const auto ticket = step.run();
            ticket.wait();
            if (run >= warm_up_runs) all.times_.push_back(ticket.times());
        }
        return all;
    }

    int runs() const { return static_cast<int>(times_.size()); }
    busy_time busy(int run, measured_work what) const {
        busy_time found;
        for (int i = 0; i < steps_.size(); ++i) {
            if (!is_of(program_, program_.tasks[steps_[i].task], what)) continue;
            const step_time& t = at(run, i);
            found.first_start = found.steps == 0 ? t.start_ns : std::min(found.first_start, t.start_ns);
            found.last_end = std::max(found.last_end, t.end_ns);
            found.sum += t.end_ns - t.start_ns;
            ++found.steps;
        }
        return found;
    }
    // The last communication.
    step_time last_message(int run) const {
        int last = 0;
        for (int i = 0; i < steps_.size(); ++i)
            if (is_of(program_, program_.tasks[steps_[i].task], measured_work::communication)) last = i;
        return at(run, last);
    }

private:
    const step_time& at(int run, int step) const { return times_[static_cast<std::size_t>(run)][static_cast<std::size_t>(step)]; }

    ir::program program_;
    span<const ir::step> steps_;
    std::vector<std::vector<step_time>> times_;  // by run, by step
};

// Of one value at least.
inline std::int64_t median(std::vector<std::int64_t> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}
// The median of f(run) over the runs.
template <class F>
std::int64_t median_of_runs(int runs, F f) {
    std::vector<std::int64_t> values;
    values.reserve(static_cast<std::size_t>(runs));
    for (int run = 0; run < runs; ++run) values.push_back(f(run));
    return median(values);
}

// How long a run takes, on the clock of the host: the median of runs that are not recorded, which takes time of its own for each operation.
template <class G, class O, class World>
std::int64_t run_time(World& world, int runs) {
    std::int64_t taken = 0;
    world.run([&](auto& rank) {
        executor<G, O> step{rank};
        bind_small_input<G>(step);
        for (int run = 0; run < warm_up_runs; ++run) step.run().wait();
        const std::int64_t usual = median_of_runs(runs, [&](int) {
            const auto start = std::chrono::steady_clock::now();
            step.run().wait();
            return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
        });
        if (rank.index() == 0) taken = usual;
    });
    return taken;
}

// A graph on all ranks: the runs of each.
class recorded_ranks {
public:
    template <class G, class O, class World>
    static recorded_ranks of(World& world, int ranks, int runs) {
        recorded_ranks all;
        all.ranks_.resize(static_cast<std::size_t>(ranks));
        world.run([&](auto& rank) { all.ranks_[static_cast<std::size_t>(rank.index())] = recorded_runs::of<G, O>(rank, runs); });
        return all;
    }
    const recorded_runs& rank(int i) const { return ranks_[static_cast<std::size_t>(i)]; }
    int runs() const { return ranks_.front().runs(); }

    // Of f(rank, run), the median over runs of the least over ranks. Of a message: on the rank that arrives last, and waits for nobody.
    template <class F>
    std::int64_t least(F f) const {
        return median_of_runs(runs(), [&, this](int run) {
            std::int64_t fewest = INT64_MAX;
            for (const recorded_runs& r : ranks_) fewest = std::min(fewest, f(r, run));
            return fewest;
        });
    }
    std::int64_t message_time() const {
        return least([](const recorded_runs& r, int run) {
            const step_time t = r.last_message(run);
            return t.end_ns - t.start_ns;
        });
    }

private:
    std::vector<recorded_runs> ranks_;
};

}  // namespace dovetail::observe
