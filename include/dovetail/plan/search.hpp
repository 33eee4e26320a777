// The search over candidates, outside of the pipeline. One function maps the findings so far to the next request, or to the chosen
// candidate; it is called step by step at compile time (compile/decide.hpp) and at run time (make.hpp).
#pragma once

#include "candidates.hpp"
#include "plan.hpp"

namespace dovetail::plan {

inline constexpr int compared = 4;  // sequential, written, listed, johnson: the candidates whose lengths are compared

// In a graph with more tasks the candidate `johnson` is not asked for, so that 1,024 operations compile within the budget of tests/budget.
inline constexpr int most_tried_by_johnson = 768;
// In a graph with more tasks no candidate is booked; in one with more than the second number, fewer budgets are tried.
inline constexpr int most_booked = 768;
inline constexpr int most_booked_finely = 256;
inline constexpr std::int64_t not_tried = INT64_MAX;

// The symbol of an output, or -1.
template <class Graph>
constexpr int find_output(const Graph& g, const tag& name) {
    for (int x = 0; x < g.symbols.size(); ++x)
        if (g.symbols[x].output && same(g.symbols[x].name, &name)) return x;
    return -1;
}

// The options with the output that the objective names, for the graph that is planned.
template <class Graph>
constexpr plan_options with_preferred(plan_options s, const Graph& g) {
    s.preferred = s.objective == objective_kind::finish ? find_output(g, *s.finished) : -1;
    return s;
}

// The findings of the search so far.
struct findings {
    std::int64_t length[candidates];  // predicted, picoseconds: what the objective counts
    std::int64_t slowed[compared];    // predicted, picoseconds, if communication takes three times as long
    std::int64_t bytes[candidates];   // of the role that needs most; -1: no plan yet

    constexpr findings() {
        for (int c = 0; c < candidates; ++c) length[c] = not_tried, bytes[c] = -1;
        for (std::int64_t& time : slowed) time = not_tried;
    }
    constexpr bool predicted(candidate c) const { return length[static_cast<int>(c)] != not_tried; }
    constexpr bool planned(candidate c) const { return bytes[static_cast<int>(c)] >= 0; }
    constexpr std::int64_t& length_of(candidate c) { return length[static_cast<int>(c)]; }
    constexpr std::int64_t& slowed_of(candidate c) { return slowed[static_cast<int>(c)]; }
    constexpr std::int64_t& bytes_of(candidate c) { return bytes[static_cast<int>(c)]; }
    constexpr std::int64_t length_of(candidate c) const { return length[static_cast<int>(c)]; }
    constexpr std::int64_t bytes_of(candidate c) const { return bytes[static_cast<int>(c)]; }
    constexpr bool fits(candidate c, const plan_options& s) const {
        return planned(c) && length_of(c) >= 0 && bytes_of(c) <= s.memory_limit;
    }
};

// A request of the search: predict the time of a candidate, also with slow communication, or plan it to find its bytes; or the end of the
// search with this candidate.
struct request {
    enum class kind : unsigned char { time, slowed, bytes, taken } what;
    candidate of;
};

// The overlapped candidates that are predicted to gain over the sequential one, the preferred one first.
struct preference {
    candidate list[compared] = {};
    int count = 0;
    int close = 0;  // so many of them count as equally fast
};

// Predictions differ from measurements by more than one part in so many. Of candidates that are as close, the search takes the one that is
// the fastest if communication takes three times as long, as it may where ranks come to it at different times: the reductions of
// tests/bench/training take two to five times their time alone.
inline constexpr int parts_of_difference = 64;

constexpr void sort_by(const std::int64_t* time, candidate* list, int count) {
    for (int i = 1; i < count; ++i)
        for (int at = i; at > 0 && time[static_cast<int>(list[at - 1])] > time[static_cast<int>(list[at])]; --at) {
            const candidate later = list[at - 1];
            list[at - 1] = list[at];
            list[at] = later;
        }
}
constexpr preference preferred(const findings& f, const plan_options& s) {
    preference p;
    for (int c = 1; c < compared; ++c)
        if (pass::gains(f.length[c], f.length[0], s)) p.list[p.count++] = static_cast<candidate>(c);
    sort_by(f.length, p.list, p.count);
    const std::int64_t shortest = p.count > 0 ? f.length_of(p.list[0]) : 0;
    while (p.close < p.count && f.length_of(p.list[p.close]) - shortest <= shortest / parts_of_difference) ++p.close;
    sort_by(f.slowed, p.list, p.close);
    return p;
}

constexpr bool tries_budget(candidate c, int tasks) {
    if (tasks > most_booked) return false;
    const bool coarse = c == candidate::booked_100 || c == candidate::booked_112 || c == candidate::booked_150 ||
                        c == candidate::booked_200 || c == candidate::booked_300 || c == candidate::booked_400 ||
                        c == candidate::booked_800;
    return coarse || tasks <= most_booked_finely;
}

// The next candidate to plan under a memory limit; `automatic`: all that are needed are planned. First the preferred one. If it
// does not fit, all others: the overlapped ones, the booked ones, those of one stream. Of the booked ones, from the smallest
// budget on, until one is as fast as without a limit or two in a row do not fit: until then a larger limit leaves none of them out.
constexpr candidate next_to_plan(const findings& f, const preference& p, const plan_options& s, int tasks) {
    const candidate first = p.count > 0 ? p.list[0] : candidate::sequential;
    if (!f.planned(first)) return first;
    if (f.fits(first, s)) return candidate::automatic;
    for (int i = 0; i < p.count; ++i)
        if (!f.planned(p.list[i])) return p.list[i];
    if (p.count > 0)
        for (int k = static_cast<int>(candidate::booked_100), too_large = 0; k <= static_cast<int>(candidate::booked_800); ++k) {
            const candidate c = static_cast<candidate>(k);
            if (!tries_budget(c, tasks)) continue;
            if (!f.planned(c)) return c;
            too_large = f.fits(c, s) ? 0 : too_large + 1;
            if (too_large == 2 || (f.fits(c, s) && f.length_of(c) <= f.length_of(first))) break;
        }
    for (const candidate c : {candidate::sequential, candidate::min_memory, candidate::listed_serial})
        if (!f.planned(c)) return c;
    return candidate::automatic;
}

// Of the candidates that fit, the fastest; if none does, the one that needs the fewest bytes, which the error reports.
constexpr candidate best_within(const findings& f, const plan_options& s) {
    candidate best = candidate::automatic, least = candidate::automatic;
    for (int k = 0; k < candidates; ++k) {
        const candidate c = static_cast<candidate>(k);
        if (!f.planned(c)) continue;
        if (least == candidate::automatic || f.bytes_of(c) < f.bytes_of(least)) least = c;
        if (f.fits(c, s) && (best == candidate::automatic || f.length_of(c) < f.length_of(best))) best = c;
    }
    return best == candidate::automatic ? least : best;
}

// The one candidate that the options leave, or `automatic`. Its time and, under a memory limit, its bytes are asked for all the same:
// the search over rewrites compares them.
constexpr candidate only_candidate(const plan_options& s) {
    if (s.forced != candidate::automatic) return s.forced;
    return s.overlap || s.memory_limit > 0 ? candidate::automatic : candidate::sequential;
}

constexpr request next_request(const findings& f, const plan_options& s, int tasks) {
    using kind = request::kind;
    if (const candidate only = only_candidate(s); only != candidate::automatic) {
        if (!f.predicted(only)) return {kind::time, only};
        if (s.memory_limit > 0 && !f.planned(only)) return {kind::bytes, only};
        return {kind::taken, only};
    }
    if (s.overlap) {
        if (!f.predicted(candidate::sequential)) return {kind::time, candidate::sequential};
        if (!f.predicted(candidate::written)) return {kind::time, candidate::written};
        if (!f.predicted(candidate::listed)) return {kind::time, candidate::listed};
        if (tasks <= most_tried_by_johnson && !f.predicted(candidate::johnson)) return {kind::time, candidate::johnson};
    }
    const preference p = preferred(f, s);
    if (s.objective == objective_kind::makespan && tasks <= most_tried_by_johnson && p.close > 1)
        for (int i = 0; i < p.close; ++i)
            if (f.slowed[static_cast<int>(p.list[i])] == not_tried) return {kind::slowed, p.list[i]};
    if (s.memory_limit == 0) return {kind::taken, p.count > 0 ? p.list[0] : candidate::sequential};
    const candidate next = next_to_plan(f, p, s, tasks);
    if (next == candidate::automatic) return {kind::taken, best_within(f, s)};
    return {kind::bytes, next};
}

// Whether plans with copies over third roles are compared with plans of which all copies go straight: under a memory limit, since relays
// hold what they pass on.
template <class Graph>
constexpr bool may_relay_within_limit(const Graph& g, const plan_options& s) {
    return s.memory_limit > 0 && s.relays && s.machine.links && !g.single_rank && g.roles.size() > 1;
}

// The result of the search as stored in the plan. The time of a run is known without the search.
template <class Plan>
constexpr choice choice_of(const findings& f, candidate taken, const Plan& made, objective_kind objective) {
    choice result;
    result.taken = taken;
    for (int c = 0; c < candidates; ++c) result.predicted[c] = f.length[c] == not_tried ? -1 : f.length[c];
    for (int c = 0; c < compared; ++c) result.slowed[c] = f.slowed[c] == not_tried ? -1 : f.slowed[c];
    if (objective != objective_kind::makespan) return result;
    if (made.overlapped) result.predicted[static_cast<int>(candidate::sequential)] = made.predicted_sequential;
    result.predicted[static_cast<int>(taken)] = made.predicted;
    return result;
}

}  // namespace dovetail::plan
