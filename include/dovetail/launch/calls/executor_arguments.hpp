// What the constructor of an executor accepts behind the rank, in any order: a dv::store, dv::width<axis>(n), a time limit (any std::chrono
// duration), dv::record_times, dv::check_finite, dv::replay, dv::tuned. Mistakes are reported at compile time.
#pragma once

#include "../../plan/planned.hpp"
#include "../engine_options.hpp"
#include "../store.hpp"
#include "../world/deadline.hpp"
#include "asked.hpp"

#include <chrono>
#include <type_traits>

namespace dovetail {

struct record_times_option {};
inline constexpr record_times_option record_times{};

// For debugging: waits for each run and checks every floating-point value that it computes. The first operation, in an order common to all
// ranks, that produces NaN or infinity, or reads a state that holds one, is named by an operation_error.
struct check_finite_option {};
inline constexpr check_finite_option check_finite{};

// Never slower, measured: the first runs go to several plans in turn (the planner's choice; one stream; the other transport; the rewrites
// that were predicted to be second), and all ranks keep the one that is fastest where the program runs: `tuning()` tells what was measured.
// Each plan takes its time to compile, and an arena until the decision. `run` waits for the end of such a run.
struct tuned_option {};
inline constexpr tuned_option tuned{};

// On a GPU, every run is the launch of one CUDA graph. `replay`: an operation that cannot be captured is an error; `replay_or_streams`: the
// runs are then issued to streams.
inline constexpr replay_mode replay = replay_mode::always;
inline constexpr replay_mode replay_or_streams = replay_mode::if_possible;

namespace detail {

inline void take(engine_options& o, const store& s) { o.store = s.core(); }
inline void take(engine_options& o, axis_width w) { o.widths.push_back(w); }
inline void take(engine_options& o, record_times_option) { o.record_times = true; }
inline void take(engine_options& o, check_finite_option) { o.check_finite = true; }
inline void take(engine_options& o, tuned_option) { o.tuned = true; }
inline void take(engine_options& o, replay_mode r) { o.replay = r; }
template <class Rep, class Period>
void take(engine_options& o, std::chrono::duration<Rep, Period> limit) {
    o.time_limit = launch::nanoseconds_of(limit);
}
template <class A>
concept engine_argument = requires(engine_options& o, const A& argument) { take(o, argument); };

template <class A>
void take_argument(engine_options& o, const A& argument) {
    if constexpr (engine_argument<A>) take(o, argument);
}

// What an argument says: all durations are time limits.
template <class A>
struct kind_of_argument {
    using type = A;
};
template <class Rep, class Period>
struct kind_of_argument<std::chrono::duration<Rep, Period>> {
    using type = std::chrono::nanoseconds;
};
template <class A>
constexpr void refuse_other() {
    if constexpr (!engine_argument<A>) refuse_argument<A>();
}
// Reports the first of two arguments that say the same.
template <class First, class... Rest>
constexpr void check_given_once() {
    if constexpr ((std::is_same_v<typename kind_of_argument<First>::type, typename kind_of_argument<Rest>::type> || ...))
        error::report<error::argument_given_twice<First>>();
    else if constexpr (sizeof...(Rest) > 1)
        check_given_once<Rest...>();
}
// Always true; reports arguments after the rank that executors do not accept.
template <class G, class O, class... A>
constexpr bool check_arguments() {
    if constexpr (plan::planned<G, O>::made) {
        (check_width<G, A>(), ...);
        (refuse_other<A>(), ...);
        if constexpr (sizeof...(A) > 1 && (engine_argument<A> && ...)) check_given_once<A...>();
    }
    return true;
}
template <class G, class O, class... A>
inline constexpr bool arguments_asked = check_arguments<G, O, A...>();

}  // namespace detail

}  // namespace dovetail
