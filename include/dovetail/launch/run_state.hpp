// One run of an executor as its ticket, its engine and observers see it.
#pragma once

#include "buffer_addresses.hpp"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace dovetail {

// When a step ran, in nanoseconds from the start of the world.
struct step_time {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

// One run, from its issue until nobody reads its results.
struct run_state {
    std::int64_t run = 0;
    std::vector<binding> inputs;          // as they were when the run was issued
    std::vector<step_time> times;         // by step of the role; empty unless asked for
    std::atomic<int> pending = 0;         // streams that have not ended the run
    std::atomic<int> reading_inputs = 0;  // steps that still read what the caller bound
    std::atomic<bool> failed = false;
    std::atomic<bool> told = false;        // the states know that it failed
    std::vector<std::thread::id> holders;  // of each reading alive: the thread that read it; guarded by the engine's mutex
    bool enqueued = false;                 // behind and before the work on `stream`, the caller's
    void* stream = nullptr;
};

}  // namespace dovetail
