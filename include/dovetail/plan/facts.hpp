// Facts of a graph and its plan to static_assert: valid, peak_bytes, predicted_time, hidden_fraction, wait_count; and what they
// should be, where every compiler is to say the value: peak_bytes_at_most, predicted_time_at_most, hidden_percent_at_least.
//
// nvcc compiles a .cu once more for each architecture, and a fact that is asked for there is evaluated again. Within
// `#ifndef __CUDA_ARCH__` ... `#endif` a static_assert is checked once, by the pass for the host, which refuses the program all
// the same; the graph itself stands outside, for the executors whose kernels depend on it.
#pragma once

#include "no_fact.hpp"
#include "overlap.hpp"
#include "planned.hpp"

namespace dovetail {

// The role of a graph that names none.
using unnamed_role = error::the_only_role;

// True; where the graph has a mistake, that is what the compiler reports. plan::diagnose<G> asks without reporting.
template <class G>
inline constexpr bool valid = plan::is_valid_graph<G>() || true;

namespace plan::detail {

// Whether a role's plan can be asked for; what is wrong with graph, options, plan or role is reported.
template <class G, class Role, class O>
constexpr bool right_role() {
    if constexpr (!is_valid_graph<G>()) {
        return false;
    } else if constexpr (wrapped_in_options<Role>) {
        error::report<error::options_as_role<Role>>();
        return false;
    } else if constexpr (std::is_same_v<Role, unnamed_role>) {
        constexpr bool named = dovetail::named(typed<G>::value.roles[0].name) && !typed<G>::value.single_rank;
        if constexpr (named) error::report<error::role_needed<G>>();
        return !named && planned<G, O>::made;
    } else if constexpr (role_of<G, Role> < 0) {
        refuse_role<G, Role>();
        return false;
    } else {
        return planned<G, O>::made;
    }
}
template <class G, class Role>
inline constexpr int plan_role = typed<G>::value.single_rank || std::is_same_v<Role, unnamed_role> ? 0 : role_of<G, Role>;

template <class G, class O>
inline constexpr overlap_times overlap_in = overlap_of(planned<G, O>::program, planned<G, O>::plan);

template <class G, class Role, class O>
inline constexpr const ir::role_plan& planned_role = planned<G, O>::plan.roles[plan_role<G, Role>];

constexpr int waits_of(const dovetail::plan::plan& plan, const ir::role_plan& role) {
    int n = 0;
    for (const ir::step& s : plan.steps.subspan(role.first_step, role.steps)) n += s.waits;
    return n;
}

// Functions and variables of this namespace because of nvcc's front end: where a template's initialiser calls a function by a
// qualified name, it sets aside 128 MB.
template <class G, class Role, class O>
constexpr auto find_bytes() {
    if constexpr (right_role<G, Role, O>())
        return bytes_of(planned_role<G, Role, O>);
    else
        return no_fact{};
}
template <class G, class Role, class O>
constexpr auto find_waits() {
    if constexpr (right_role<G, Role, O>())
        return waits_of(planned<G, O>::plan, planned_role<G, Role, O>);
    else
        return no_fact{};
}
template <class G, class O>
constexpr auto find_time() {
    if constexpr (planned<G, O>::made)
        return planned<G, O>::plan.predicted;
    else
        return no_fact{};
}
template <class G, class O>
constexpr auto find_hidden() {
    if constexpr (planned<G, O>::made)
        return fraction_of(overlap_in<G, O>);
    else
        return no_fact{};
}

template <class G, class Role, class O>
inline constexpr auto bytes = find_bytes<G, Role, O>();
template <class G, class Role, class O>
inline constexpr auto waits = find_waits<G, Role, O>();
template <class G, class O>
inline constexpr auto time = find_time<G, O>();
template <class G, class O>
inline constexpr auto hidden = find_hidden<G, O>();

}  // namespace plan::detail

// Bytes of device memory that one rank of a role needs: its arena, outputs included, and its states. As std::int64_t.
template <class G, class Role = unnamed_role, class O = options<>>
inline constexpr auto peak_bytes = plan::detail::bytes<G, Role, O>;

// Predicted time of one run, picoseconds. As std::int64_t.
template <class G, class O = options<>>
inline constexpr auto predicted_time = plan::detail::time<G, O>;

// Predicted share of the communication, by time, during which a rank that takes part in it computes as well; 0 where the
// graph does not communicate. As double.
template <class G, class O = options<>>
inline constexpr auto hidden_fraction = plan::detail::hidden<G, O>;

// Number of waits between streams in a role's plan, those on earlier runs included. As int.
template <class G, class Role = unnamed_role, class O = options<>>
inline constexpr auto wait_count = plan::detail::waits<G, Role, O>;

namespace plan::detail {

template <class G, std::int64_t Most, class Role, class O>
constexpr bool check_bytes() {
    constexpr auto found = bytes<G, Role, O>;
    if constexpr (!(found <= Most)) error::report<error::too_many_bytes<G, error::number<found>, error::number<Most>>>();
    return true;
}
template <class G, std::int64_t Most, class O>
constexpr bool check_time() {
    constexpr auto found = time<G, O>;
    if constexpr (!(found <= Most)) error::report<error::too_slow<G, error::number<found>, error::number<Most>>>();
    return true;
}
template <class G, int Least, class O>
constexpr bool check_hidden() {
    if constexpr (planned<G, O>::made) {
        constexpr std::int64_t found = percent_of(overlap_in<G, O>);
        if constexpr (found < Least) error::report<error::too_little_hidden<G, error::number<found>, error::number<Least>>>();
    }
    return true;
}

}  // namespace plan::detail

// The same as claims: true, or an error that says what was found and what is claimed, on compilers too that show no more of a
// static_assert than that it failed.
template <class G, std::int64_t Most, class Role = unnamed_role, class O = options<>>
inline constexpr bool peak_bytes_at_most = plan::detail::check_bytes<G, Most, Role, O>();
template <class G, std::int64_t Most, class O = options<>>
inline constexpr bool predicted_time_at_most = plan::detail::check_time<G, Most, O>();
template <class G, int Percent, class O = options<>>
inline constexpr bool hidden_percent_at_least = plan::detail::check_hidden<G, Percent, O>();

}  // namespace dovetail
