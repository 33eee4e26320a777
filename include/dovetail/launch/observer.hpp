// How observers learn of executors and their runs without anything here knowing them: one pointer, null unless a program
// includes observe/observe.hpp and its environment asks for something. Null costs one comparison a run.
#pragma once

#include "engine.hpp"

namespace dovetail {

struct run_observer {
    // An executor was made, before its first run; of several ranks on their threads.
    virtual void made(engine& of, const plan_options& s) = 0;
    virtual void issued(engine& of, const std::shared_ptr<run_state>& run) = 0;
    // After the last run has ended, or was aborted. The engine may die afterwards.
    virtual void closed(engine& of) noexcept = 0;

protected:
    ~run_observer() = default;
};

// Set before the first executor is made, and kept.
inline std::atomic<run_observer*> observing = nullptr;

}  // namespace dovetail
