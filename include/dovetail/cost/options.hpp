// Options of a plan as a type: dv::options<dv::machine::h200_nvlink, dv::memory_limit<80'000'000'000>, dv::in_flight<2>>. Any number of
// options in any order; equal options give equal plans. A machine is any type with a `description`. An option with a value out of bounds
// fails its own static_assert and applies a valid value instead, so that no further error follows.
#pragma once

#include "naming_options.hpp"

namespace dovetail {

// overlap<false>: all tasks of a rank on one stream, in a stable topological order.
template <bool On>
struct overlap {
    static constexpr void apply(plan_options& s) { s.overlap = On; }
};
// The bytes that the arena and the states of one rank may need. A graph for which no such plan is found does not compile.
template <std::int64_t Bytes>
struct memory_limit {
    static constexpr bool allowed = Bytes > 0;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: a memory limit is positive");
        s.memory_limit = allowed ? Bytes : 0;
    }
};
// The number of runs in flight: inputs and outputs have this many slots.
template <int Runs>
struct in_flight {
    static constexpr bool allowed = Runs >= 1 && Runs <= most_slots;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: between 1 and 64 runs in flight");
        s.in_flight = allowed ? Runs : 1;
    }
};
// The number of slots of a channel's receive buffer. With 2, the transfer of the next run does not wait for the reader of this run.
template <int Slots>
struct channel_slots {
    static constexpr bool allowed = Slots >= 1 && Slots <= most_slots;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: between 1 and 64 slots in a channel");
        s.channel_slots = allowed ? Slots : 1;
    }
};
// The transport of channels; by default, the cheaper one for each value according to the machine description. NCCL moves a value that is
// not in the sender's arena (an input, a state).
template <transport By>
struct channel_transport {
    static constexpr void apply(plan_options& s) { s.channels = By; }
};
// What connects ranks of different roles, for the prediction of channels and of collectives over roles. Over the network NCCL moves all
// values: copy engines reach the GPUs of one host.
template <link Between>
struct link_between_roles {
    static constexpr void apply(plan_options& s) { s.between_roles = Between; }
};
// The ranks are given to roles such that roles that send each other much are on GPUs with fast links between them, by the `links` of the
// machine description, instead of in the order of the graph.
struct roles_by_links {
    static constexpr void apply(plan_options& s) { s.roles_by_links = true; }
};
// The candidate schedule to use, regardless of predicted times and of overlap<false>: for comparison with the automatic choice.
template <candidate Forced>
struct force_candidate {
    static constexpr void apply(plan_options& s) { s.forced = Forced; }
};
// The rewrites to apply before the graph is planned, in this order; rewrite::automatic: also those that the search finds to gain.
template <rewrite... Kind>
struct rewritten_by {
    static constexpr bool allowed = sizeof...(Kind) <= most_rewrites &&
                                    ((Kind != rewrite::split && Kind != rewrite::shard_update && Kind != rewrite::copy_engines) && ...);
    static constexpr void apply(plan_options& s) {
        static_assert(
            allowed,
            "dovetail: at most 4 rewrites, each of them bucket, decompose, keep, identity or automatic; split, shard_update and moved_by "
            "are statements, and collective_transport chooses what moves collectives");
        s.rewrites = with_transport_of(s.rewrites, {});
        if constexpr (allowed) (add(s.rewrites, Kind), ...);
    }

private:
    static constexpr void add(rewrite_list& to, rewrite r) {
        if (r == rewrite::automatic)
            to.automatic = true;
        else
            to.kind[to.count++] = r;
    }
};
// What moves collectives along axes within a host: dv::transport::nccl; copy engines, dv::transport::peer_copy, which use no
// multiprocessors and reduce in a fixed order; or, dv::transport::automatic, what rewrite::automatic finds to gain, and NCCL without it.
// Copy engines move collectives whose argument or result has so many bytes or more; over the network as well, the part within hosts.
template <transport Transport, std::int64_t FromBytes = 0>
struct collective_transport {
    static constexpr bool allowed = FromBytes >= 0 && (FromBytes == 0 || Transport == transport::peer_copy);
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: a number of bytes from which copy engines move collectives, zero or more");
        s.rewrites.collectives = Transport;
        s.rewrites.copied_from = allowed && Transport == transport::peer_copy ? FromBytes : INT64_MAX;
    }
};
// Rewrites that a search outside of the compiler has found (dovetail_plan --search writes them), instead of a search while compiling.
template <int Blocks, std::uint64_t Halved, bool Everywhere, int Kept, rewrite... Kind>
struct decided_rewrites {
    static constexpr bool allowed = Blocks >= 1 && Blocks <= 8 && Kept >= 0 && sizeof...(Kind) <= most_rewrites;
    static constexpr void apply(plan_options& s) {
        static_assert(allowed, "dovetail: these decisions are not as dovetail_plan --search writes them");
        rewrite_list list;
        if constexpr (allowed) list = with_kinds<Kind...>({.everywhere = Everywhere, .blocks = Blocks, .halved = Halved, .kept = Kept});
        list.decided = true;
        s.rewrites = with_transport_of(s.rewrites, list);
    }
};
// Several such decisions as one option.
template <class... Decision>
struct decided {
    static constexpr bool allowed = (Decision::allowed && ...);
    // A transport that a search has decided is not one that the program asks for, and gives way to NCCL if the program asks for that.
    static constexpr void apply(plan_options& s) {
        const transport asked = s.rewrites.collectives;
        (Decision::apply(s), ...);
        s.rewrites.collectives = asked;
        if (asked == transport::nccl) s.rewrites.copied_from = INT64_MAX;
    }
};
// Times measured in runs, in place of estimates; Written is the type in a header that DOVETAIL_PROFILE=file.hpp has made.
template <class Written>
struct profile {};
template <class Written>
    requires requires { Written::format; }
struct profile<Written> {
    static constexpr bool allowed = [] {
        if constexpr (Written::format == profile_format)
            return is_well_formed(Written::table);
        else
            return false;
    }();
    static constexpr void apply(plan_options& s) {
        if constexpr (allowed)
            s.profile = Written::table;
        else
            error::report<error::unreadable_profile<Written>>();
    }
};
// The width that the prediction assumes for an axis of open width.
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
// Whether this is a valid option. A type that is not an option is reported; an option that is not `allowed` fails its own static_assert.
template <class Option>
constexpr bool right_option() {
    if constexpr (requires { Option::allowed; }) {
        plan_options unused;
        if (!Option::allowed) Option::apply(unused);
        return Option::allowed;
    } else if constexpr (machine<Option>) {
        if constexpr (!is_possible(Option::description)) error::report<error::impossible_machine<Option>>();
        return is_possible(Option::description);
    } else if constexpr (plan_option<Option>) {
        return true;
    } else {
        error::report<error::unknown_option<Option>>();
        return false;
    }
}
// Whether the options fit together; a mistake is reported.
template <class Options>
constexpr bool right_together() {
    constexpr bool reachable = Options::value.channels != transport::peer_copy || Options::value.between_roles == link::local;
    constexpr bool on_this_machine = is_for_machine(Options::value.profile, Options::value.machine);
    constexpr bool has_links =
        !Options::value.roles_by_links || (Options::value.machine.links && Options::value.between_roles == link::local);
    if constexpr (!has_links) error::report<error::no_links_to_order_by<Options>>();
    if constexpr (!reachable) error::report<error::peer_copies_over_network<Options>>();
    if constexpr (!on_this_machine) error::report<error::profile_of_another_machine<Options>>();
    return reachable && on_this_machine && has_links;
}
}  // namespace detail

// The options of a plan, in any order: the second argument of an executor and of facts.
template <class... Option>
struct options {
    using host_inputs = detail::listed_names<typename detail::inputs_of<Option>::type...>;
    using axes = detail::listed_names<typename detail::axes_of<Option>::type...>;
    static constexpr plan_options value = [] {
        plan_options s;
        [[maybe_unused]] const int applied[] = {0, detail::apply_option<Option>(s)...};
        return s;
    }();
    using finished = typename detail::finished_by<Option...>::type;
    static constexpr bool right = (detail::right_option<Option>() && ...) && detail::right_together<options>();
};

// The options argument of an executor and of facts: dv::executor<model, dv::options<dv::in_flight<2>>>. A bare option is an error.
template <class O>
concept wrapped_in_options = requires { O::value.in_flight; };

namespace detail {
// Whether these options are valid; a mistake is reported.
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
