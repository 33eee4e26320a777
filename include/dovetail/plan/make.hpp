// make: the pipeline at run time, for tests, tools and fuzzing. From a typed and checked graph to its program and plan; `wrong` is a fault
// such as a cycle through states, channels or groups, `fits` tells whether the plan keeps within the memory limit.
#pragma once

#include "rewrite_search.hpp"
#include "tables.hpp"

namespace dovetail::plan {

namespace detail {

// What the objective counts of a candidate.
template <candidate C, class Tables>
std::int64_t objective_value(Tables& t, objective_kind objective) {
    switch (objective) {
        case objective_kind::makespan: return t.template read<stage::schedule<C>>().length;
        case objective_kind::interval: return t.template read<stage::interval<C>>();
        case objective_kind::finish: return t.template read<stage::ready<C>>();
    }
    __builtin_unreachable();
}

}  // namespace detail

// The search over candidates at run time: what is known of them, and which is taken.
struct decision {
    findings found;
    candidate taken = candidate::sequential;
};
template <class Tables>
decision decide(Tables& t, const plan_options& s) {
    const int operations = t.template read<stage::expand>().tasks.size();
    decision d;
    for (;;) {
        const request next = next_request(d.found, s, operations);
        d.taken = next.of;
        if (next.what == request::kind::taken) return d;
        with_candidate(next.of, [&](auto c) {
            constexpr candidate tried = decltype(c)::value;
            if constexpr (static_cast<int>(tried) < compared && !one_stream(tried))
                if (next.what == request::kind::slowed) d.found.slowed_of(tried) = t.template read<stage::slowed<tried>>();
            d.found.length_of(tried) = detail::objective_value<tried>(t, s.objective);
            if (next.what != request::kind::bytes) return;
            if constexpr (booked(tried))
                d.found.bytes_of(tried) = t.template read<stage::book_memory<tried>>().bytes;
            else
                d.found.bytes_of(tried) = ir::largest_bytes(t.template read<stage::emit<tried>>().roles);
        });
    }
}

struct made {
    ir::program_data program;
    plan_data plan;
    ir::fault wrong;
    bool fits = true;
    rewrite_trials rewrites = {};  // what the search over rewrites tried
    plan_options options = {};     // with the rewrites that were decided
};

namespace detail {

// The plan with these rewrites.
inline made make_decided(const ir::graph& g, const plan_options& s) {
    tables t{g, s};
    made m;
    m.options = s;
    m.wrong = t.read<stage::check>();
    if (!m.wrong) m.wrong = t.read<stage::cycle>();
    if (!m.wrong) {
        const decision d = decide(t, s);
        with_candidate(d.taken, [&](auto c) {
            plan_data& made = t.template owned<stage::emit<decltype(c)::value>>();
            m.fits = within(s.memory_limit, made.roles.view());
            made.choice = choice_of(d.found, d.taken, made, s.objective);
            if (m.fits) m.plan = static_cast<plan_data&&>(made);
        });
    }
    m.program = static_cast<ir::program_data&&>(t.owned<stage::expand>());
    return m;
}

// What is predicted of a graph that is right, with these rewrites.
inline rewrite_trial tried(const ir::graph& g, const plan_options& s) {
    tables t{g, s};
    const decision d = decide(t, s);
    const bool as_stated = pass::first_not_as_stated(g, ir::view(t.read<stage::rewrite>()), pass::rewrites_of(g, s.rewrites, s.axes)) < 0;
    return {s.rewrites, d.found.length_of(d.taken),           s.memory_limit == 0 || d.found.fits(d.taken, s),
            as_stated,  t.read<stage::expand>().tasks.size(), collectives_by_nccl(t.read<stage::expand>().tasks)};
}

}  // namespace detail

// The search over rewrites at run time; of a wrong graph nothing is tried.
inline rewrite_trials search_rewrites(const ir::graph& g, plan_options s) {
    const rewrite_list asked = s.rewrites;
    const rewrite_changes changes = changes_of(g, s);
    rewrite_trials known;
    if (!changes.any()) return known;
    if (tables t{g, s}; t.read<stage::check>() || t.read<stage::cycle>()) return known;
    for (;;) {
        const rewrite_request next = next_rewrites(known, asked, changes);
        if (next.ended) return known;
        s.rewrites = next.list;
        known = known.with(detail::tried(g, s));
    }
}

inline made make(const ir::graph& g, const plan_options& s) {
    const rewrite_trials trials = search_rewrites(g, s);
    plan_options decided = s;
    if (trials.count > 0) decided.rewrites = trials.of[trials.best].list;
    made m = detail::make_decided(g, decided);
    m.rewrites = trials;
    if (m.wrong || !may_relay_within_limit(g, s)) return m;
    plan_options without = s;
    without.relays = false;
    made straight = make(g, without);
    if (!straight.fits) return m;
    const auto predicted = [](const made& x) { return x.plan.choice.predicted[static_cast<int>(x.plan.choice.taken)]; };
    return m.fits && predicted(m) <= predicted(straight) ? static_cast<made&&>(m) : static_cast<made&&>(straight);
}

// The plan of one schedule.
template <class Schedule>
constexpr plan_data emit(const ir::program& p, const Schedule& t, std::int64_t sequential, std::int64_t limit) {
    plan_options s;
    s.memory_limit = limit;
    vec<int> order(p.roles, unset{});
    for (int role = 0; role < p.roles; ++role) order[role] = role;
    detail::looks_at_nothing observer;
    return make_table<stage::emit<candidate::sequential>>(s, observer, order.view(), p, span<const ir::edge>{}, t, sequential);
}

}  // namespace dovetail::plan
