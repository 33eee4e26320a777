// The options of a plan as a value. options.hpp and naming_options.hpp have the types that a program writes.
#pragma once

#include "../core/vocabulary.hpp"
#include "decisions.hpp"
#include "machine.hpp"
#include "profile.hpp"

namespace dovetail {

inline constexpr int most_slots = 64;  // runs in flight, or slots of a channel, that options allow

// What the search over candidates makes short.
enum class objective_kind : unsigned char {
    makespan,  // one run
    interval,  // the time between the ends of runs that follow one another
    finish     // the time from the start of a run until one of its outputs is ready
};

// The names of inputs that options list.
inline constexpr int most_host_inputs = 16;
struct input_list {
    const tag* name[most_host_inputs] = {};
    int count = 0;

    constexpr bool has(const tag* input) const {
        for (int i = 0; i < count; ++i)
            if (same(name[i], input)) return true;
        return false;
    }
};

// The axes for which options say what moves collectives along them. More than a graph can have are not kept: one is none of its axes.
inline constexpr int most_axis_transports = 32;
struct axis_transports {
    const tag* axis[most_axis_transports] = {};
    transport by[most_axis_transports] = {};
    int count = 0;

    constexpr void set(const tag* name, transport t) {
        int i = 0;
        while (i < count && !same(axis[i], name)) ++i;
        if (i == most_axis_transports) return;
        if (i == count) axis[count++] = name;
        by[i] = t;
    }
    constexpr transport of(const tag* name) const {
        for (int i = 0; i < count; ++i)
            if (same(axis[i], name)) return by[i];
        return transport::automatic;
    }
};

// The options of a plan as a value.
struct plan_options {
    machine_description machine = machine::h200_nvlink::description;
    bool overlap = true;            // false: everything on one stream
    std::int64_t memory_limit = 0;  // bytes of arena and states of one rank; 0: none
    int in_flight = 1;              // slots of inputs and outputs
    int channel_slots = 1;          // slots of the receiving side of a channel
    int assumed_width = 4;          // of an open axis, for the prediction
    transport channels = transport::automatic;
    axis_transports axes = {};
    link between_roles = link::local;  // what connects ranks of different roles
    objective_kind objective = objective_kind::makespan;
    const tag* finished = &nameless;          // of the objective `finish`: the name of its output
    int preferred = -1;                       // the symbol of that name in the graph that is planned; plan::with_preferred sets it
    candidate forced = candidate::automatic;  // the candidate to use, regardless of predicted times
    rewrite_list rewrites = {};
    input_list host_inputs = {};  // bound from host memory, so that each run copies them
    profile_table profile = {};   // without rows: all times are estimated
    bool relays = true;           // copies between roles may go over third ones, by the links between GPUs
    bool roles_by_links = false;  // ranks are given to roles by the links between GPUs
};

}  // namespace dovetail
