// The search over candidates at compile time: each step answers one request of plan/search.hpp with a constant, so that only requested
// candidates are evaluated. The result is the chosen candidate and all findings.
#pragma once

#include "keys.hpp"

namespace dovetail::plan::detail {

template <class Plan>
constexpr std::int64_t largest_need(const Plan& made) {
    return largest_bytes(made.roles.view());
}

// The findings after request `What` for candidate C.
template <class G, class O, request::kind What, candidate C>
constexpr findings answered(findings f) {
    using key = plan_key<G, O>;
    if constexpr (What == request::kind::time && C == candidate::sequential) {
        f.length_of(C) = stage_table<key, stage::serial_time>;
    } else {
        f.length_of(C) = stage_table<key, stage::schedule<C>>.length;
        if constexpr (What == request::kind::bytes && booked(C))
            f.bytes_of(C) = stage_table<key, stage::book_memory<C>>.bytes;
        else if constexpr (What == request::kind::bytes)
            f.bytes_of(C) = largest_need(stage_table<key, stage::emit<C>>);
    }
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

}  // namespace dovetail::plan::detail
