// Mistakes where a plan is asked for: options, memory limits, facts, and what the facts should be at least or at most.
#pragma once

#include "base.hpp"

namespace dovetail::error {

template <class Option>
struct unknown_option {
    static_assert(detail::never<Option>, "dovetail: this is no option of a plan and no machine description: see dovetail/cost/machine.hpp");
};
template <class Option>
struct bare_option {
    static_assert(detail::never<Option>,
                  "dovetail: this stands where dv::options<...> belongs: an option or a machine is wrapped, dv::options<dv::in_flight<2>>");
};
template <class Options>
struct options_as_role {
    static_assert(detail::never<Options>,
                  "dovetail: options stand where a role belongs: peak_bytes<graph, role, options>; the role of a graph that names none is dv::unnamed_role");
};
template <class Graph>
struct role_needed {
    static_assert(detail::never<Graph>, "dovetail: this graph has roles: name the one that is asked about, peak_bytes<graph, role, options>");
};
template <class Role, class... More>
struct no_such_role {
    static_assert(detail::never<Role, More...>, "dovetail: this is no role of the graph");
};
template <class Name, class... More>
struct no_such_tensor {
    static_assert(detail::never<Name, More...>, "dovetail: tensor_of is given a name that holds no tensor of the graph");
};
template <class Role, class Limit, class Needed, class... Largest>
struct memory_exceeded {
    static_assert(
        detail::never<Role, Limit, Needed, Largest...>,
        "dovetail: none of the schedules that were tried for this role (first) keeps within the memory limit (second, bytes); the best of them needs (third); the largest values alive follow");
};
template <class Graph, class Found, class Wanted>
struct too_many_bytes {
    static_assert(detail::never<Graph, Found, Wanted>, "dovetail: the peak bytes of a rank of this graph (second) are more than is allowed (third)");
};
template <class Graph, class Found, class Wanted>
struct too_slow {
    static_assert(detail::never<Graph, Found, Wanted>, "dovetail: the predicted time of this graph (second, picoseconds) is more than is allowed (third)");
};
template <class Graph, class Found, class Wanted>
struct too_little_hidden {
    static_assert(detail::never<Graph, Found, Wanted>,
                  "dovetail: of the communication of this graph less is hidden (second, percent) than is asked for (third)");
};

}  // namespace dovetail::error
