// The rows of a plan: steps in issue order, waits between the streams of one rank, and the places of buffers.
#pragma once

#include "program.hpp"

namespace dovetail::ir {

// One task as one role issues it.
struct step {
    int task = 0;
    int first_participation = 0;  // this role's participations in the task, adjacent in the program
    int participations = 0;
    int stream = 0;      // stream_kind as a number
    int first_wait = 0;  // in the plan's waits
    int waits = 0;
    int event = -1;          // recorded on the stream behind it; -1: no step waits
    std::int64_t start = 0;  // predicted, picoseconds from the start of the run
    std::int64_t end = 0;
};

// The step's stream waits for the event as it was recorded `distance` runs earlier: 0 this run, 1 the run before. Before run
// `distance` there is nothing to wait for.
struct wait {
    int event = 0;  // of the same role
    int distance = 0;
    int step = 0;  // index within the role's steps of the step that records the event
};

struct role_plan {
    int first_step = 0;
    int steps = 0;
    int events = 0;                     // event ids are 0 ... events-1 within the role
    std::int64_t arena_bytes = 0;       // device arena, outputs and all their slots included
    std::int64_t host_arena_bytes = 0;  // pinned host arena
    std::int64_t state_bytes = 0;       // in the store
    int rank_order = 0;                 // its ranks follow those of so many roles
};

// Bytes of one rank of a role that a memory limit counts.
constexpr std::int64_t bytes_of(const role_plan& r) { return r.arena_bytes + r.state_bytes; }
constexpr std::int64_t largest_bytes(span<const role_plan> roles) {
    std::int64_t most = 0;
    for (const role_plan& r : roles)
        if (bytes_of(r) > most) most = bytes_of(r);
    return most;
}

// Offset of a buffer in its arena, and the distance of its slots: run k uses offset + (k % slots) * stride. Buffers that
// are not in an arena (input, state, constant) have offset -1.
struct placement {
    std::int64_t offset = -1;
    std::int64_t stride = 0;
};

inline constexpr std::int64_t alignment = block_alignment;  // of every buffer in an arena, bytes

constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace dovetail::ir
