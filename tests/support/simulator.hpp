// Runs a program and its plan, all ranks in one thread: a seeded choice among everything that could happen next, as late or
// as early as streams, events and rendezvous allow. An operation begins (its results become garbage), reads, and writes, as
// three events; a value's bytes become garbage when its last user is through. Everything written is compared with what the
// interpreter says; the first difference, a deadlock or a broken rule is thrown as `failure`.
#pragma once

#include "meaning.hpp"

#include <dovetail/plan/plan.hpp>

#include <array>

namespace support {

struct simulation {
    word seed = 0;
    std::array<int, dv::stream_count> queue_of = {0, 1, 2};  // positions with equal numbers share one queue, in issue order
    int ahead = 4;                                         // runs that a rank without outputs may be in front
    int in_flight = 0;  // runs whose outputs exist at once, as the options say; 0: as many as the plan has slots
};

// Throws `failure` where the plan does not do what the graph means.
void simulate(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, meaning& m, const simulation& how);

}  // namespace support
