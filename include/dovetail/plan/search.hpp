// The search over candidates, outside of the pipeline. One function maps the findings so far to the next request, or to the chosen
// candidate; it is called step by step at compile time (compile/decide.hpp) and at run time (make.hpp).
#pragma once

#include "candidates.hpp"
#include "plan.hpp"

namespace dovetail::plan {

inline constexpr int compared = 4;  // sequential, written, listed, johnson: the candidates whose lengths are compared

// In a graph with more tasks the candidate `written` is not predicted: it is hardly ever faster than list scheduling, and a prediction is
// most of the compile time of a candidate.
inline constexpr int most_tried_as_written = 256;
// In a graph with more tasks the candidate `johnson` is not asked for, so that 1,024 operations compile within the budget of tests/budget.
inline constexpr int most_tried_by_johnson = 768;
inline constexpr std::int64_t not_tried = INT64_MAX;

// The order in which candidates are tried until one fits into memory: first overlapped ones that are predicted to be faster than the
// sequential one by more than the error of the model, the fastest first; then the sequential one; then those for little memory.
struct preference {
    candidate list[candidates] = {};
    int count = 0;

    constexpr void then(candidate c) { list[count++] = c; }
};
constexpr preference preferred(const std::int64_t* length, const plan_options& s) {
    preference p;
    for (int c = 1; c < compared; ++c) {
        if (!pass::gains(length[c], length[0], s)) continue;
        int at = p.count++;
        for (; at > 0 && length[static_cast<int>(p.list[at - 1])] > length[c]; --at) p.list[at] = p.list[at - 1];
        p.list[at] = static_cast<candidate>(c);
    }
    p.then(candidate::sequential);
    if (s.memory_limit == 0) return p;
    if (s.overlap) p.then(candidate::min_memory_overlapped);
    p.then(candidate::min_memory);
    p.then(candidate::listed_serial);
    return p;
}

// The findings of the search so far.
struct findings {
    std::int64_t length[candidates] = {not_tried, not_tried, not_tried, not_tried,
                                       not_tried, not_tried, not_tried};  // predicted, picoseconds
    std::int64_t bytes[candidates] = {-1, -1, -1, -1, -1, -1, -1};        // of the role that needs most; -1: no plan yet

    constexpr bool predicted(candidate c) const { return length[static_cast<int>(c)] != not_tried; }
    constexpr std::int64_t& length_of(candidate c) { return length[static_cast<int>(c)]; }
    constexpr std::int64_t& bytes_of(candidate c) { return bytes[static_cast<int>(c)]; }
};

// A request of the search: predict the time of a candidate, or plan it to find its bytes; or the end of the search with this candidate.
struct request {
    enum class kind : unsigned char { time, bytes, taken } what;
    candidate of;
};

constexpr request next_request(const findings& f, const plan_options& s, int tasks) {
    using kind = request::kind;
    if (s.forced != candidate::automatic) return {kind::taken, s.forced};
    if (s.overlap) {
        if (!f.predicted(candidate::sequential)) return {kind::time, candidate::sequential};
        if (tasks <= most_tried_as_written && !f.predicted(candidate::written)) return {kind::time, candidate::written};
        if (!f.predicted(candidate::listed)) return {kind::time, candidate::listed};
        if (tasks <= most_tried_by_johnson && !f.predicted(candidate::johnson)) return {kind::time, candidate::johnson};
    }
    const preference p = preferred(f.length, s);
    if (s.memory_limit == 0) return {kind::taken, p.list[0]};
    candidate least = p.list[0];
    for (int i = 0; i < p.count; ++i) {
        const std::int64_t needed = f.bytes[static_cast<int>(p.list[i])];
        if (needed < 0) return {kind::bytes, p.list[i]};
        if (needed <= s.memory_limit) return {kind::taken, p.list[i]};
        if (needed < f.bytes[static_cast<int>(least)]) least = p.list[i];
    }
    return {kind::taken, least};  // none fits: the error reports the one that needs the fewest bytes
}

// The result of the search as stored in the plan.
template <class Plan>
constexpr choice choice_of(const findings& f, candidate taken, const Plan& made) {
    choice result;
    result.taken = taken;
    for (int c = 0; c < candidates; ++c) result.predicted[c] = f.length[c] == not_tried ? -1 : f.length[c];
    if (made.overlapped) result.predicted[static_cast<int>(candidate::sequential)] = made.predicted_sequential;
    result.predicted[static_cast<int>(taken)] = made.predicted;
    return result;
}

}  // namespace dovetail::plan
