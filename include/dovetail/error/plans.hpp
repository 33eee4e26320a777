// Mistakes in options, in questions about a plan (peak_bytes, tensor_of and others), and bounds that a plan does not meet.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Option>
struct unknown_option {
    static_assert(detail::never<Option>,
                  "dovetail: this is neither an option of a plan nor a machine description: see dovetail/cost/options.hpp and "
                  "dovetail/cost/machine.hpp");
};
template <class Machine>
struct impossible_machine {
    static_assert(detail::never<Machine>,
                  "dovetail: this machine description has a figure that no machine has: a rate or a latency below zero, or a time beside "
                  "something else below 1000, in thousandths of the time alone; a list of slow-downs gives all three classes of work, one "
                  "of links the link from each GPU to each, row by row, with a bandwidth between any two, and peer_bandwidth as well");
};
template <class Option>
struct bare_option {
    static_assert(detail::never<Option>,
                  "dovetail: dv::options<...> is expected here: an option or a machine is written inside it, "
                  "dv::options<dv::in_flight<2>>");
};
template <class Options>
struct peer_copies_over_network {
    static_assert(detail::never<Options>,
                  "dovetail: these options ask for peer copies between roles that the network connects, and copy engines reach the GPUs of "
                  "one host only: leave out dv::channel_transport<dv::transport::peer_copy> or dv::link_between_roles<dv::link::network>");
};
template <class Options>
struct no_links_to_order_by {
    static_assert(detail::never<Options>,
                  "dovetail: dv::roles_by_links gives ranks to roles by the links between GPUs of a host, and the machine description of "
                  "these options has none, or dv::link_between_roles says that a network connects the roles: give it links, or list the "
                  "roles by dv::roles<...> in the order of their ranks");
};
template <class Graph, class Options>
struct roles_listed_and_by_links {
    static_assert(detail::never<Graph, Options>,
                  "dovetail: this graph (first) lists its roles in the order of their ranks, by dv::roles<...>, and these options (second) "
                  "ask for another order, by dv::roles_by_links: leave out one of them");
};
template <class Value, class Options>
struct value_over_network {
    static_assert(detail::never<Value, Options>,
                  "dovetail: a moved_by asks for a peer copy of this value (first) to another role, but in these options (second) the "
                  "network connects roles, and copy engines reach the GPUs of one host only: use dv::transport::nccl or "
                  "dv::transport::automatic around the statement that makes it");
};
template <class Axis, class... More>
struct transport_of_no_axis {
    static_assert(detail::never<Axis, More...>,
                  "dovetail: dv::axis_transport lists this axis, which the graph does not have; the nearest one follows");
};
template <class Statement, class Options, class... More>
struct axis_not_by_copy_engines {
    static_assert(
        detail::never<Statement, Options, More...>,
        "dovetail: copy engines cannot move this collective (first), as an axis_transport of these options (second) or a moved_by "
        "around it asks: it, or what their rewrites make of it, is in an nccl_group, along axes of the network only, reduced "
        "along an axis of open width, gathered into a state, or of rows that the ranks of a host do not divide, or it is also "
        "along an axis that these options leave to NCCL; write moved_by<dv::transport::nccl, ...> around it, or leave the axis "
        "out");
};
template <class Profile>
struct unreadable_profile {
    static_assert(
        detail::never<Profile>,
        "dovetail: this profile was written by another version of dovetail, or changed since: let DOVETAIL_PROFILE=file.hpp write "
        "it again");
};
template <class Options>
struct profile_of_another_machine {
    static_assert(
        detail::never<Options>,
        "dovetail: the profile of these options was measured for another machine than theirs, or for other figures of it: use the machine "
        "description of the recorded runs, or let DOVETAIL_PROFILE=file.hpp write a profile of this one");
};
template <class Graph, class Options>
struct profile_of_another_graph {
    static_assert(
        detail::never<Graph, Options>,
        "dovetail: the profile of these options (second) was measured in runs of another graph than this one (first), or of other "
        "operations or tensors in it: let DOVETAIL_PROFILE=file.hpp write a profile of this graph");
};
template <class Objective>
struct unknown_objective {
    static_assert(detail::never<Objective>,
                  "dovetail: this is no objective of a plan: dv::makespan, dv::interval or dv::finish<output> is expected");
};
template <class Name, class... More>
struct no_such_output {
    static_assert(detail::never<Name, More...>,
                  "dovetail: an objective or a question about a prediction names this output, which the graph does not have; the nearest "
                  "output follows");
};
template <class Name, class... More>
struct no_such_input {
    static_assert(
        detail::never<Name, More...>,
        "dovetail: dv::host_inputs lists this name, which is no input of the graph that a host copy fills; the nearest one follows");
};
template <class Options>
struct options_as_role {
    static_assert(detail::never<Options>,
                  "dovetail: options are written where a role is expected: peak_bytes<graph, role, options>; the role of a graph "
                  "that names none is dv::unnamed_role");
};
template <class Graph>
struct role_needed {
    static_assert(detail::never<Graph>, "dovetail: this graph has roles: name the role that is meant, peak_bytes<graph, role, options>");
};
template <class Role, class... More>
struct no_such_role {
    static_assert(detail::never<Role, More...>, "dovetail: the graph has no role of this name");
};
template <class Name, class... More>
struct no_such_tensor {
    static_assert(detail::never<Name, More...>, "dovetail: tensor_of is used with a name that holds no tensor of the graph");
};
template <class Role, class Limit, class Needed, class... Largest>
struct memory_exceeded {
    static_assert(detail::never<Role, Limit, Needed, Largest...>,
                  "dovetail: none of the schedules that were tried for this role (first) fits into the memory limit (second, "
                  "bytes); the smallest needs (third); the largest live values follow");
};
template <class Graph, class Found, class Wanted>
struct too_many_bytes {
    static_assert(detail::never<Graph, Found, Wanted>,
                  "dovetail: a rank of this graph needs more bytes at its peak "
                  "(second) than are allowed (third)");
};
template <class Graph, class Found, class Wanted>
struct too_slow {
    static_assert(detail::never<Graph, Found, Wanted>,
                  "dovetail: the predicted time of this graph (second, "
                  "picoseconds) is longer than is allowed (third)");
};
template <class Graph, class Found, class Wanted>
struct too_little_hidden {
    static_assert(detail::never<Graph, Found, Wanted>,
                  "dovetail: the predicted share of communication in this graph that is overlapped by compute (second, percent) is "
                  "smaller than is required (third)");
};

}  // namespace dovetail::error
