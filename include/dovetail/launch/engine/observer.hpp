// The hook through which observers learn of executors and runs, so that the launch layer does not include them: one pointer, null unless a
// program includes observe/observe.hpp and its environment asks for something. Null costs one comparison per run.
#pragma once

#include "engine.hpp"

namespace dovetail {

struct run_observer {
    // An executor was made, before its first run. Ranks call it from their own threads. `written`: its graph before rewrites.
    virtual void made(engine& of, const plan_options& s, const ir::graph& written) = 0;
    virtual void issued(engine& of, const std::shared_ptr<run_state>& run) = 0;
    // After the last run has ended or was aborted. The engine may be destroyed afterwards.
    virtual void closed(engine& of) noexcept = 0;

protected:
    ~run_observer() = default;
};

// Set before the first executor is made, and never changed.
inline std::atomic<run_observer*> observing = nullptr;

}  // namespace dovetail
