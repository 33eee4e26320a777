// One run of an executor, shared by its ticket, its engine and observers.
#pragma once

#include "../executable/buffer_addresses.hpp"
#include "../world/thread_number.hpp"
#include "step_time.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace dovetail {

// A reading that exists: the thread that may release it, and its output.
struct reading_hold {
    thread_number by = no_thread;
    int output = -1;  // a symbol; -1: all

    bool operator==(const reading_hold&) const = default;
};

// Lives from the issue of the run until its results are no longer read.
struct run_state {
    std::int64_t run = 0;
    std::int64_t order = 0;               // among the runs of the executor; dv::tuned has several engines, which number their own
    std::vector<binding> bound;           // of the inputs and outputs, as they were when the run was issued
    std::uint64_t binding_version = 0;    // which ones of the executor's these are
    std::vector<bound_output> writes;     // ... of the outputs, those that are bound
    std::vector<step_time> times;         // by step of the role; empty unless asked for
    std::atomic<int> pending = 0;         // streams that have not finished the run
    std::atomic<int> reading_inputs = 0;  // steps that still read memory of the caller
    std::atomic<bool> failed = false;
    std::atomic<bool> states_lost = false;  // some stream has marked the states that it updates as lost, or is about to
    std::atomic<bool> reported = false;     // its failure was reported
    std::vector<reading_hold> holders;      // guarded by the mutex of the run_order
    bool alone = false;                     // writes memory of the caller: no other run of the rank is executed beside it
    bool enqueued = false;                  // ordered with the work on `stream`, the caller's
    void* stream = nullptr;
};

}  // namespace dovetail
