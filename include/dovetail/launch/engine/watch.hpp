// Notification of the launch of runs and steps, on the launching thread: ranges for profilers. The pointer is null unless an observer sets
// it; null costs one comparison per run on GPUs and one per step on the host.
#pragma once

#include "walk.hpp"

#include <cstdint>

namespace dovetail {

struct launch_watcher {
    virtual void begin_run(std::int64_t run) = 0;
    virtual void begin_step(int step) = 0;
    virtual void end() noexcept = 0;  // of the range begun last on this thread

protected:
    ~launch_watcher() = default;
};

namespace launch {

// Ends a range, also if an exception leaves its scope.
class watched {
public:
    watched(launch_watcher* by, std::int64_t run) : by_{by} {
        if (by_ != nullptr) by_->begin_run(run);
    }
    watched(launch_watcher* by, int step) : by_{by} {
        if (by_ != nullptr) by_->begin_step(step);
    }
    watched(const watched&) = delete;
    watched& operator=(const watched&) = delete;
    ~watched() {
        if (by_ != nullptr) by_->end();
    }

private:
    launch_watcher* const by_;
};

// The walk with a notification for each step. Separate from `walk`, which makes no test per step.
template <class Backend>
void walk_watched(const plan::plan& plan, int role, std::int64_t run, Backend& backend, launch_watcher* by) {
    struct {
        Backend& to;
        launch_watcher* by;
        void wait(int stream, int event, int event_slot, int step) { to.wait(stream, event, event_slot, step); }
        void issue(int index, const ir::step& s) {
            const watched here{by, index};
            to.issue(index, s);
        }
        void record(int stream, int event, int event_slot) { to.record(stream, event, event_slot); }
    } reporting_backend{backend, by};
    if (by == nullptr)
        walk(plan, role, run, backend);
    else
        walk(plan, role, run, reporting_backend);
}

}  // namespace launch

}  // namespace dovetail
