// Options of a plan as a type: dv::options<dv::machine::h200_nvlink, dv::memory_limit<80'000'000'000>, dv::in_flight<2>>.
// In any number and order; equal options give equal plans. A machine is any type with a `description`. What an option refuses it
// does not pass on, so that nothing else is said of it.
#pragma once

#include "../error/plans.hpp"
#include "machine.hpp"

#include <type_traits>

namespace dovetail {

// overlap<false>: everything on one stream, in a stable topological order.
template <bool On>
struct overlap {
    static constexpr void apply(plan_options& s) { s.overlap = On; }
};
// Bytes that the arena and the states of one rank may take. No plan above it compiles.
template <std::int64_t Bytes>
struct memory_limit {
    static constexpr bool allowed = Bytes > 0;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: a memory limit is positive");
        s.memory_limit = allowed ? Bytes : 0;
    }
};
// Runs whose inputs and outputs exist at once.
template <int Runs>
struct in_flight {
    static constexpr bool allowed = Runs >= 1 && Runs <= most_slots;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: between 1 and 64 runs in flight");
        s.in_flight = allowed ? Runs : 1;
    }
};
// Copies of a channel's receiving buffer: with 2, the next run's transfer does not wait for this run's reader.
template <int Slots>
struct channel_slots {
    static constexpr bool allowed = Slots >= 1 && Slots <= most_slots;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: between 1 and 64 slots in a channel");
        s.channel_slots = allowed ? Slots : 1;
    }
};
// What moves the values of channels; without it, whatever the machine's description makes cheaper for each. A value that
// does not lie in the sender's arena (an input, a state) goes by NCCL.
template <transport By>
struct channel_transport {
    static constexpr void apply(plan_options& s) { s.channels = By; }
};
// The candidate whose plan is made, whatever is predicted, overlap<false> or not: the "what if" of somebody who doubts the choice.
template <candidate Forced>
struct force_candidate {
    static constexpr void apply(plan_options& s) { s.forced = Forced; }
};
// The rewrites that the graph goes through before it is planned, in this order.
template <rewrite... Kind>
struct rewritten_by {
    static constexpr bool allowed = sizeof...(Kind) <= most_rewrites;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: at most 4 rewrites");
        s.rewrites.count = 0;
        if constexpr (allowed) ((s.rewrites.kind[s.rewrites.count++] = Kind), ...);
    }
};
// Width that the prediction assumes of an axis whose width is open.
template <int Width>
struct assumed_width {
    static constexpr bool allowed = Width >= 1;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: an axis has at least one position");
        s.assumed_width = allowed ? Width : 1;
    }
};

namespace detail {
template <class Option>
concept machine = requires { Option::description.launch_latency; };
template <class Option>
concept plan_option = requires(plan_options& s) { Option::apply(s); };

template <class Option>
constexpr int apply_option(plan_options& s) {
    if constexpr (machine<Option>)
        s.machine = Option::description;
    else if constexpr (plan_option<Option>)
        Option::apply(s);
    return 0;
}
// Whether this is an option without a mistake; what is none is reported, and one that is not `allowed` says itself, when applied, what is wrong.
template <class Option>
constexpr bool right_option() {
    if constexpr (requires { Option::allowed; }) {
        plan_options unused;
        if (!Option::allowed) Option::apply(unused);
        return Option::allowed;
    } else if constexpr (machine<Option> || plan_option<Option>) {
        return true;
    } else {
        error::report<error::unknown_option<Option>>();
        return false;
    }
}
}  // namespace detail

template <class... Option>
struct options {
    static constexpr plan_options value = [] {
        plan_options s;
        [[maybe_unused]] const int applied[] = {0, detail::apply_option<Option>(s)...};
        return s;
    }();
    static constexpr bool right = (detail::right_option<Option>() && ...);
};

// The second argument of an executor and of facts: dv::executor<model, dv::options<dv::in_flight<2>>>, not an option by itself.
template <class O>
concept wrapped_in_options = requires { O::value.in_flight; };

namespace detail {
// Whether these are options without a mistake; what is wrong is reported.
template <class O>
constexpr bool right_options() {
    if constexpr (wrapped_in_options<O>) {
        return O::right;
    } else {
        error::report<error::bare_option<O>>();
        return false;
    }
}
}  // namespace detail

}  // namespace dovetail
