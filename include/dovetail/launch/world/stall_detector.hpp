// Detects that the communication of a rank makes no progress for longer than its limit. It runs on another thread than the rank's, which
// may be blocked by its GPU in a call without a time limit.
#pragma once

#include "progress.hpp"

#include <mutex>
#include <optional>

namespace dovetail::launch {

class stall_detector {
public:
    // From now on, `p` is checked: the longest time without a finished communication step is `limit`.
    void show(std::shared_ptr<const progress> p, std::chrono::nanoseconds limit) {
        const std::lock_guard lock{mutex_};
        shown_ = std::move(p);
        limit_ = limit;
        still_ = {};
    }
    struct finding {
        std::chrono::nanoseconds still{0};  // time without progress; 0 if no communication is open, or if a step has just ended
        bool too_long = false;
        std::chrono::nanoseconds limit{0};
        activity doing;  // set if it is too long
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
    std::optional<std::chrono::steady_clock::time_point> still_;  // time of the last progress
    std::vector<std::uint32_t> words_;
};

}  // namespace dovetail::launch
