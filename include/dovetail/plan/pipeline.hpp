// The list of passes, in the order in which data flows through them:
//
//   graph -> expand -> edges -> circle -> costs -> schedule candidates -> choose
//         -> steps -> waits and lifetimes -> arena -> wrap -> plan (all of it: lay)
//
// Each stage is an ordinary function; `make` runs them all at run time, `planned<G, O>` (planned.hpp) runs the same ones in
// constant evaluations of their own, because compile-time limits are per evaluation.
#pragma once

#include "../cost/model.hpp"
#include "../pass/choose.hpp"
#include "../pass/circle.hpp"
#include "../pass/expand.hpp"
#include "lay.hpp"

namespace dovetail::plan {

// The schedules that are tried. Each keeps every dependency; they differ in lanes and order.
enum class candidate : unsigned char { sequential, written, listed };
inline constexpr int candidates = 3;

// Of a larger graph the written order is predicted only where nothing else fits into memory: list scheduling hardly ever
// loses to it, and a prediction is most of what a candidate costs the compiler.
inline constexpr int most_tried_as_written = 256;
inline constexpr std::int64_t not_tried = INT64_MAX;

constexpr pass::schedule schedule_of(candidate c, const ir::program& p, span<const ir::edge> edges, span<const std::int64_t> costs, const settings& s) {
    if (c == candidate::sequential) return pass::sequential_schedule(p, edges, costs);
    const pass::routes r = pass::routes_of(p, edges);
    pass::schedule made = pass::overlapped_schedule(p, r, edges, costs, c == candidate::listed, s);
    pass::improve(made, p, r, edges, costs, s);
    return made;
}

// In which order the candidates are taken until one fits into memory: overlapped ones first where their prediction gains
// more than the model's error, the shortest before the others; then the sequential one; then those that gain nothing.
struct preference {
    candidate list[candidates] = {};
    int count = 0;
};
constexpr preference preferred(const std::int64_t (&length)[candidates], const settings& s) {
    preference p;
    if (!s.overlap) {
        p.count = 1;
        return p;
    }
    const bool listed_first = length[2] < length[1];
    const candidate overlapped[] = {listed_first ? candidate::listed : candidate::written, listed_first ? candidate::written : candidate::listed};
    for (candidate c : overlapped)
        if (pass::gains(length[static_cast<int>(c)], length[0], s)) p.list[p.count++] = c;
    const int gaining = p.count;
    p.list[p.count++] = candidate::sequential;
    for (int i = gaining; i < 2; ++i) p.list[p.count++] = overlapped[i];
    return p;
}

}  // namespace dovetail::plan
