// The plans of a graph that dv::tuned compares (launch/tuning/tuner.hpp), as options: what the planner chose; everything on one stream,
// without rewrites that nobody asked for; the planner's choice with the other transport; and the rewrites that were predicted to be second.
#pragma once

#include "fallback.hpp"

namespace dovetail::plan {

namespace detail {

constexpr plan_options on_one_stream(plan_options s) {
    s.overlap = false;
    s.forced = candidate::automatic;
    s.rewrites.automatic = false;
    s.rewrites.decided = true;
    return s;
}
// From the smallest size on that the search over rewrites tries.
constexpr plan_options by_copy_engines(plan_options s) {
    if (s.channels == transport::automatic && s.between_roles == link::local) s.channels = transport::peer_copy;
    if (s.rewrites.collectives == transport::automatic) s.rewrites.copied_from = smallest_copied_from;
    s.rewrites.decided = true;
    return s;
}

template <class O>
struct on_one_stream_options : O {
    static constexpr plan_options value = on_one_stream(O::value);
};
template <class O>
struct copied_options : O {
    static constexpr plan_options value = by_copy_engines(O::value);
};

// Whether the planner chose copy engines for something that NCCL can move as well, and the reverse.
template <class G, class O>
constexpr bool may_use_nccl() {
    if constexpr (copies_in(planned<G, O>::program) == 0)
        return false;
    else
        return copies_in(found_plan<G, fallback_options<G, O>>::program) < copies_in(planned<G, O>::program);
}
template <class G, class O>
constexpr bool may_copy() {
    if constexpr (O::value.machine.peer_bandwidth <= 0)
        return false;
    else
        return copies_in(found_plan<G, copied_options<typename decided<G, O>::options>>::program) > copies_in(planned<G, O>::program);
}

// The second best of the lists that the search over rewrites tried; if no other makes another plan, the best one. Lists with the same
// prediction and as many operations are taken to make the same plan: often a rewrite finds nothing to change.
constexpr rewrite_list runner_up(const rewrite_trials& known) {
    const rewrite_trial& best = known.of[known.best];
    const rewrite_trial* second = nullptr;
    for (int k = 0; k < known.count; ++k) {
        const rewrite_trial& other = known.of[k];
        if (other.length == best.length && other.operations == best.operations) continue;
        if (second == nullptr || rewrite_trials::faster(other, *second)) second = &other;
    }
    return second == nullptr ? best.list : second->list;
}
template <class G, class O>
struct runner_up_list {
    static constexpr rewrite_list value = runner_up(decided<G, O>::trials);
};

}  // namespace detail

enum class tuning_kind : unsigned char { planned, one_stream, other_transport, runner_up };

constexpr const char* name_of(tuning_kind k) {
    constexpr const char* names[] = {"the planner's choice", "one stream", "the other transport", "the runner-up of the rewrites"};
    return names[static_cast<int>(k)];
}

namespace detail {

// One that exceeds the memory limit by itself is none; the pass for the device may compile kernels that only such a one needs.
template <tuning_kind Kind, class G, class O, class Look>
void look_at_candidate(Look look) {
    if constexpr (device_pass)
        look.template operator()<Kind, O>();
    else if constexpr (found_plan<G, O>::fits)
        look.template operator()<Kind, O>();
}

}  // namespace detail

// Calls look.operator()<kind, options>() for each, the planner's choice first. Options may stand for a plan that an earlier one stands for.
template <class G, class O, class Look>
void for_each_tuning_candidate(Look look) {
    using first = typename detail::decided<G, O>::options;
    look.template operator()<tuning_kind::planned, O>();
    detail::look_at_candidate<tuning_kind::one_stream, G, detail::on_one_stream_options<O>>(look);
    if constexpr (detail::may_use_nccl<G, O>())
        detail::look_at_candidate<tuning_kind::other_transport, G, fallback_options<G, O>>(look);
    else if constexpr (detail::may_copy<G, O>())
        detail::look_at_candidate<tuning_kind::other_transport, G, detail::copied_options<first>>(look);
    if constexpr (planned<G, O>::rewrites.count > 1)
        detail::look_at_candidate<tuning_kind::runner_up, G, typename detail::options_with<O, detail::runner_up_list<G, O>>::type>(look);
}

}  // namespace dovetail::plan
