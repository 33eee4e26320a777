// The search over candidates at compile time: each step answers one request of plan/search.hpp with a constant, so that only requested
// candidates are evaluated. The result is the chosen candidate and all findings.
#pragma once

#include "../rewrite_search.hpp"
#include "keys.hpp"

namespace dovetail::plan::detail {

// What the objective counts of a candidate.
template <class G, class O, candidate C>
constexpr std::int64_t objective_value() {
    using key = plan_key<G, O>;
    constexpr objective_kind objective = O::value.objective;
    if constexpr (objective == objective_kind::makespan && C == candidate::sequential)
        return stage_table<key, stage::serial_time>;
    else if constexpr (objective == objective_kind::makespan)
        return stage_table<key, stage::schedule<C>>.length;
    else if constexpr (objective == objective_kind::interval)
        return stage_table<key, stage::interval<C>>;
    else
        return stage_table<key, stage::ready<C>>;
}

// The findings after request `What` for candidate C.
template <class G, class O, request::kind What, candidate C>
constexpr findings answered(findings f) {
    using key = plan_key<G, O>;
    f.length_of(C) = objective_value<G, O, C>();
    if constexpr (What == request::kind::slowed)
        f.slowed_of(C) = stage_table<key, stage::slowed<C>>;
    else if constexpr (What == request::kind::bytes && booked(C))
        f.bytes_of(C) = stage_table<key, stage::book_memory<C>>.bytes;
    else if constexpr (What == request::kind::bytes)
        f.bytes_of(C) = ir::largest_bytes(stage_table<key, stage::emit<C>>.roles.view());
    return f;
}

template <class G, class O, int Asked>
struct search_step;
template <class G, class O>
struct search_step<G, O, 0> {
    static constexpr findings known = {};
};

template <class G, class O>
inline constexpr int operations_of = stage_table<typename plan_key<G, O>::for_program, stage::expand>.tasks.size();

template <class G, class O, int Asked>
inline constexpr request request_after = next_request(search_step<G, O, Asked>::known, O::value, operations_of<G, O>);

template <class G, class O, int Asked>
struct search_step {
    static constexpr findings known =
        answered<G, O, request_after<G, O, Asked - 1>.what, request_after<G, O, Asked - 1>.of>(search_step<G, O, Asked - 1>::known);
};

// The result of the search: recursion over its steps until a candidate is chosen.
template <class G, class O, int Asked = 0>
struct searched : searched<G, O, Asked + 1> {};
template <class G, class O, int Asked>
    requires(request_after<G, O, Asked>.what == request::kind::taken)
struct searched<G, O, Asked> {
    static constexpr candidate taken = request_after<G, O, Asked>.of;
    static constexpr findings found = search_step<G, O, Asked>::known;
};

// The options with a list of rewrites that is decided.
template <class O, class List, class Kinds = std::make_integer_sequence<int, List::value.count>>
struct options_with;
template <class O, int Blocks, bool Everywhere, int Kept, std::int64_t CopiedFrom, rewrite... Kind>
struct decided_options : O {
    static constexpr plan_options value = [] {
        plan_options s = O::value;
        s.rewrites = with_kinds<Kind...>({.everywhere = Everywhere,
                                          .blocks = Blocks,
                                          .kept = Kept,
                                          .collectives = O::value.rewrites.collectives,
                                          .copied_from = CopiedFrom,
                                          .decided = true});
        return s;
    }();
};
template <class O, class List, int... I>
struct options_with<O, List, std::integer_sequence<int, I...>> {
    using type =
        decided_options<O, List::value.blocks, List::value.everywhere, List::value.kept, List::value.copied_from, List::value.kind[I]...>;
};

// The statement of the first collective that is not moved as statements and options say; -1: none.
template <class G, class O>
constexpr int find_not_as_stated() {
    if constexpr (O::value.axes.count == 0 && !rewrites_asked<G>) {
        return -1;
    } else {
        using key = plan_key<G, O>;
        using planned_graph = final_stage<key, stage::rewrite>;
        return pass::first_not_as_stated(typed<G>::value, ir::view(stage_table<key_of<key, planned_graph>, planned_graph>),
                                         pass::rewrites_of(typed<G>::value, O::value.rewrites, O::value.axes));
    }
}
template <class G, class O>
inline constexpr int not_as_stated = find_not_as_stated<G, O>();

template <class G, class O>
inline constexpr rewrite_changes changes_for = changes_of(typed<G>::value, O::value);

// The search over rewrites: after so many trials, what is known and which list is next.
template <class G, class O, int Tried>
struct rewrite_step;
template <class G, class O>
struct rewrite_step<G, O, 0> {
    static constexpr rewrite_trials known{};
    struct next {
        static constexpr rewrite_list value = next_rewrites(rewrite_trials{}, O::value.rewrites, changes_for<G, O>).list;
    };
    static constexpr bool ended = false;
};
template <class G, class O, int Tried>
struct rewrite_step {
    using before = rewrite_step<G, O, Tried - 1>;
    using tried = typename options_with<O, typename before::next>::type;
    using found = searched<G, tried>;
    static constexpr rewrite_trials known = before::known.with(rewrite_trial{
        tried::value.rewrites, found::found.length_of(found::taken),
        O::value.memory_limit == 0 || found::found.fits(found::taken, O::value), not_as_stated<G, tried> < 0, operations_of<G, tried>,
        collectives_by_nccl(stage_table<typename plan_key<G, tried>::for_program, stage::expand>.tasks)});
    static constexpr rewrite_request request = next_rewrites(known, O::value.rewrites, changes_for<G, O>);
    struct next {
        static constexpr rewrite_list value = request.list;
    };
    static constexpr bool ended = request.ended;
};

// The options with which the graph is planned, and what was tried to find them.
template <class G, class O, int Tried, bool Ended = rewrite_step<G, O, Tried>::ended>
struct rewrites_found : rewrites_found<G, O, Tried + 1> {};
template <class G, class O, int Tried>
struct rewrites_found<G, O, Tried, true> {
    static constexpr rewrite_trials trials = rewrite_step<G, O, Tried>::known;
    struct best {
        static constexpr rewrite_list value = trials.of[trials.best].list;
    };
    using options = typename options_with<O, best>::type;
};
template <class G, class O, bool Searches = changes_for<G, O>.any()>
struct rewriting {
    static constexpr rewrite_trials trials{};
    using options = O;
};
template <class G, class O>
struct rewriting<G, O, true> : rewrites_found<G, O, 0> {};

// A relay holds what it passes on, so that under a memory limit copies that go straight may be faster, or all that fits.
template <class O>
struct without_relays : O {
    static constexpr plan_options value = [] {
        plan_options s = O::value;
        s.relays = false;
        return s;
    }();
};
template <class G, class O>
constexpr bool relays_gain() {
    if constexpr (!may_relay_within_limit(typed<G>::value, O::value)) {
        return true;
    } else {
        using with = searched<G, typename rewriting<G, O>::options>;
        using straight = searched<G, typename rewriting<G, without_relays<O>>::options>;
        if (!straight::found.fits(straight::taken, O::value)) return true;
        return with::found.fits(with::taken, O::value) && with::found.length_of(with::taken) <= straight::found.length_of(straight::taken);
    }
}
template <class G, class O, bool Relays = relays_gain<G, O>()>
struct decided : rewriting<G, O> {};
template <class G, class O>
struct decided<G, O, false> : rewriting<G, without_relays<O>> {};

}  // namespace dovetail::plan::detail
