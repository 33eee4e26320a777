// The order of a plan as text: what a role issues, on all streams or on one. Ray's schedule of an actor is a list of READ, COMPUTE and
// WRITE of each task; a plan's is the list of the steps of a role. A WRITE and the READ at its other end are one transfer there, and
// neither exists within a role.
#pragma once

#include <dovetail/observe/plan_view.hpp>

#include <doctest/doctest.h>

#include "support/samples.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace ray {

namespace dv = dovetail;

template <class G, class O = samples::overlapped>
const dv::observe::plan_view& view() {
    static const dv::observe::plan_view of{dv::observe::tables_of<G, O>()};
    return of;
}

// Appends to a list such as "copy v<0>, transfer v<0>", which doctest can print.
inline void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

// The steps of a role in the order of issue, on all streams or on one; without inputs, which are copied on a stream of their own.
template <class G, class Role, class O = samples::overlapped>
std::string order(std::optional<dv::stream_kind> on = {}) {
    std::string list;
    const auto& of = view<G, O>();
    for (const dv::ir::step& s : of.steps(dv::plan::role_of<G, Role>))
        if (on ? s.stream == static_cast<int>(*on) : of.program.tasks[s.task].kind != dv::op_kind::input) append(list, of.label(s.task));
    return list;
}
template <class G, class Role>
std::string communication() {
    return order<G, Role>(dv::stream_kind::communication);
}
// All tasks of the graph, in the one order that all ranks follow.
template <class G>
std::string tasks() {
    std::string list;
    for (const int task : view<G>().plan.order)
        if (view<G>().program.tasks[task].kind != dv::op_kind::input) append(list, view<G>().label(task));
    return list;
}
// Transfers between ranks.
template <class G>
int transfers() {
    int count = 0;
    for (const dv::ir::task& t : view<G>().program.tasks)
        count += t.kind == dv::op_kind::transfer && !view<G>().program.members[t.first_member].local;
    return count;
}
// The edges between tasks, without those from inputs, in alphabetical order.
template <class G>
std::string edges() {
    const auto& of = view<G>();
    std::vector<std::string> found;
    for (const dv::ir::edge& e : of.edges)
        if (of.program.tasks[e.from].kind != dv::op_kind::input) found.push_back(of.label(e.from) + " -> " + of.label(e.to));
    std::ranges::sort(found);
    std::string list;
    for (const std::string& e : found) append(list, e);
    return list;
}
inline bool before(const std::string& list, const std::string& first, const std::string& second) {
    CAPTURE(list);
    REQUIRE(list.find(first) != std::string::npos);
    REQUIRE(list.find(second) != std::string::npos);
    return list.find(first) < list.find(second);
}

}  // namespace ray
