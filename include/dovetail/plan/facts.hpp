// Facts of a graph and its plan for static_assert: valid, peak_bytes, predicted_time, hidden_fraction, wait_count; and bounds whose failure
// every compiler reports with the value: peak_bytes_at_most, predicted_time_at_most, hidden_percent_at_least.
//
// nvcc compiles a .cu file once for the host and once for each architecture, and evaluates a fact each time. A static_assert within
// `#ifndef __CUDA_ARCH__` ... `#endif` is evaluated once, by the pass for the host, which is enough to reject the program. The graph itself
// must be outside, because kernels of executors may depend on it.
#pragma once

#include "no_fact.hpp"
#include "overlap.hpp"
#include "planned.hpp"

namespace dovetail {

// The role of a graph without `on`.
using unnamed_role = error::the_only_role;

// Always true; if the graph has a mistake, the compiler reports that instead. plan::diagnose<G> is the mistake without a report.
template <class G>
inline constexpr bool valid = plan::is_valid_graph<G>() || true;

namespace plan::detail {

// Whether graph, options, plan and role are valid; a mistake is reported.
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

// These are functions and variables of the same namespace because nvcc's front end allocates 128 MB if the initialiser of a template calls
// a function by a qualified name.
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

template <class G, class O>
constexpr auto find_interval() {
    if constexpr (planned<G, O>::made)
        return stage_table<typename found_plan<G, O>::key, stage::interval<found_plan<G, O>::taken>>;
    else
        return no_fact{};
}
template <class G, class Name, class O>
constexpr auto find_ready() {
    if constexpr (!planned<G, O>::made)
        return no_fact{};
    else if constexpr (!has_output<G, Name>())
        return no_fact{};
    else
        return ready_time(planned<G, O>::program, planned<G, O>::plan, find_output(planned<G, O>::graph, tag_of<Name>));
}

template <class G, class Role, class O>
inline constexpr auto bytes = find_bytes<G, Role, O>();
template <class G, class Role, class O>
inline constexpr auto waits = find_waits<G, Role, O>();
template <class G, class O>
inline constexpr auto time = find_time<G, O>();
template <class G, class O>
inline constexpr auto between_runs = find_interval<G, O>();
template <class G, class Name, class O>
inline constexpr auto ready = find_ready<G, Name, O>();
template <class G, class O>
inline constexpr auto hidden = find_hidden<G, O>();

}  // namespace plan::detail

// Bytes of device memory that one rank of a role needs: its arena, including outputs, and its states. As std::int64_t.
template <class G, class Role = unnamed_role, class O = options<>>
inline constexpr auto peak_bytes = plan::detail::bytes<G, Role, O>;

// Predicted time of one run, picoseconds. As std::int64_t.
template <class G, class O = options<>>
inline constexpr auto predicted_time = plan::detail::time<G, O>;

// Predicted time between the ends of two runs that follow one another, with as many in flight as the options allow, picoseconds. As
// std::int64_t. It is simulated for graphs of up to 768 operations; of a larger one it is the time of one run.
template <class G, class O = options<>>
inline constexpr auto predicted_interval = plan::detail::between_runs<G, O>;

// Predicted time from the start of a run until an output is ready, picoseconds. As std::int64_t.
template <class G, class Output, class O = options<>>
inline constexpr auto predicted_ready_time = plan::detail::ready<G, Output, O>;

// Predicted fraction of the communication time that is overlapped by compute on a participating rank; 0 if the graph does not communicate.
// As double.
template <class G, class O = options<>>
inline constexpr auto hidden_fraction = plan::detail::hidden<G, O>;

// Number of waits between streams in the plan of a role, including waits on earlier runs. As int.
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

// Bounds of the facts: true, or an error with the value and the bound, for compilers that show only that a static_assert failed.
template <class G, std::int64_t Most, class Role = unnamed_role, class O = options<>>
inline constexpr bool peak_bytes_at_most = plan::detail::check_bytes<G, Most, Role, O>();
template <class G, std::int64_t Most, class O = options<>>
inline constexpr bool predicted_time_at_most = plan::detail::check_time<G, Most, O>();
template <class G, int Percent, class O = options<>>
inline constexpr bool hidden_percent_at_least = plan::detail::check_hidden<G, Percent, O>();

}  // namespace dovetail
