// The plans that the compiler makes of the samples, as run-time tables: each unit of the laws test contains those of one group of graphs,
// so that no unit takes long to compile.
#pragma once

#include "samples.hpp"

#include <dovetail/core/display.hpp>

#include <string>
#include <vector>

namespace support {

namespace dv = dovetail;

struct planned_sample {
    std::string graph;     // printed alike with every compiler
    const char* options = "";
    dv::plan_options s = {};
    dv::ir::graph written = {};
    dv::ir::graph rewritten = {};  // what is planned: the written graph, but for what its statements ask for
    dv::ir::program program = {};
    dv::plan::plan plan = {};
    std::int64_t peak_bytes = -1, predicted = 0;   // the facts of the plan; bytes only if one rank runs all roles
};
using planned_samples = std::vector<planned_sample>;

template <class... G>
struct list {};

namespace detail {

template <class G, class O>
planned_sample sample_of(std::string name, const char* options) {
    using p = dv::plan::planned<G, O>;
    std::int64_t bytes = -1;
    if constexpr (p::program.roles == 1) bytes = dv::peak_bytes<G, dv::unnamed_role, O>;
    return {std::move(name), options, O::value, dv::plan::typed<G>::value, p::graph, p::program, p::plan, bytes, dv::predicted_time<G, O>};
}

template <class G, bool Folded>
void add_sample(planned_samples& to) {
    const std::string name = dv::display(dv::tag_of<G>);
    to.push_back(sample_of<G, samples::sequential>(name, "sequential"));
    to.push_back(sample_of<G, samples::overlapped>(name, "overlapped"));
    to.push_back(sample_of<G, samples::several>(name, "several"));
    if constexpr (Folded) {
        to.push_back(sample_of<dv::single_rank<G>, samples::sequential>(name, "single_rank sequential"));
        to.push_back(sample_of<dv::single_rank<G>, samples::overlapped>(name, "single_rank overlapped"));
    }
}

}  // namespace detail

template <bool Folded, class... G>
planned_samples plans_of(list<G...>) {
    planned_samples all;
    (detail::add_sample<G, Folded>(all), ...);
    return all;
}

// The groups, each in a unit of its own.
planned_samples plans_of_pairs();
planned_samples plans_of_roles();
planned_samples plans_of_pipelines();
planned_samples plans_of_meshes();
const planned_samples& all_plans();

}  // namespace support
