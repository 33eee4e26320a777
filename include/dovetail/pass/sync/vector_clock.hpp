// Vector clocks of the streams of one role: how many steps of each stream are known to be complete when a step starts; and the waits that
// make a step of one stream known to another stream.
#pragma once

#include "issue_order.hpp"

namespace dovetail::pass {

static_assert(stream_count == 3, "the clocks of the passes are written out for three streams");

// known[l]: how many of the role's steps on stream l are complete before the step starts, as its waits and its stream tell.
struct vector_clock {
    int known[stream_count];
};

// Step `step` waits for step `on` of `distance` runs earlier; both are indices into issue.steps, of one role.
struct pending_wait {
    int step = 0;
    int on = 0;
    int distance = 0;
};

template <class Program>
struct basic_in_run {
    vec<pending_wait> waits;                                      // ascending by step
    room<vector_clock, decltype(Program::participations)> known;  // by step
};
using in_run = basic_in_run<ir::program>;

namespace detail {

// Of the steps `on[l]` that a step needs to have ended (-1: none), drops each that another one has waited for already.
// need[l] is what must be known of stream l; clocks are those at the start of a step.
template <class Clocks>
constexpr void keep_strongest(int (&on)[stream_count], const int* need, const Clocks& clocks) {
    for (int l = 0; l < stream_count; ++l)
        for (int m = 0; m < stream_count && on[l] >= 0; ++m)
            if (m != l && on[m] >= 0 && clocks[on[m]].known[l] >= need[l]) on[l] = -1;
}

}  // namespace detail

}  // namespace dovetail::pass
