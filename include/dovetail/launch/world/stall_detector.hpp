// Whether the communication of a rank stands still for longer than it may, seen from outside the rank's own thread, which may be
// waiting for its GPU in a call that knows no limit.
#pragma once

#include "peers.hpp"

#include <mutex>

namespace dovetail::launch {

class stall_detector {
public:
    // What the rank works on from now on, and for how long its communication may make no step.
    void show(std::shared_ptr<const progress> p, std::chrono::nanoseconds limit) {
        const std::lock_guard lock{mutex_};
        shown_ = std::move(p);
        limit_ = limit;
        still_ = {};
    }
    struct finding {
        std::chrono::nanoseconds still{0};  // for how long it has not moved; 0 where nothing is open, or it has just moved
        bool too_long = false;
        std::chrono::nanoseconds limit{0};
        activity doing;  // where it is too long
    };
    finding look() {
        const std::lock_guard lock{mutex_};
        if (!shown_ || shown_->at().step < 0) {
            still_ = {};
            return {};
        }
        const auto now = std::chrono::steady_clock::now();
        const auto words = shown_->read();
        if (still_ && words == words_) {
            const bool too_long = now - *still_ > limit_;
            return {now - *still_, too_long, limit_, too_long ? shown_->doing() : activity{}};
        }
        words_ = words;
        still_ = now;
        return {};
    }

private:
    std::mutex mutex_;
    std::shared_ptr<const progress> shown_;
    std::chrono::nanoseconds limit_{0};
    std::optional<std::chrono::steady_clock::time_point> still_;  // since when
    std::vector<std::uint32_t> words_;
};

}  // namespace dovetail::launch
