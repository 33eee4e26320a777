// One run of an executor as its ticket, its engine and observers see it.
#pragma once

#include "buffer_addresses.hpp"
#include "step_time.hpp"
#include "thread_number.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace dovetail {

// One run, from its issue until nobody reads its results.
struct run_state {
    std::int64_t run = 0;
    std::vector<binding> inputs;          // as they were when the run was issued
    std::vector<step_time> times;         // by step of the role; empty unless asked for
    std::atomic<int> pending = 0;         // streams that have not ended the run
    std::atomic<int> reading_inputs = 0;  // steps that still read what the caller bound
    std::atomic<bool> failed = false;
    std::atomic<bool> told = false;      // the states know that it failed
    std::vector<thread_number> holders;  // of each reading alive: the thread that read it; guarded by the engine's mutex
    bool enqueued = false;               // behind and before the work on `stream`, the caller's
    void* stream = nullptr;
};

}  // namespace dovetail
