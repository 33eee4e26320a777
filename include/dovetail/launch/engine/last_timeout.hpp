// A wait for a run that was too long, as text, until a later one ends well. It says who stays away: other ranks get it where the exception
// destroys the executor.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace dovetail::launch {

class last_timeout {
public:
    std::string note(std::string text) {
        const std::lock_guard lock{mutex_};
        return text_ = std::move(text);
    }
    void clear() {
        const std::lock_guard lock{mutex_};
        text_.clear();
    }
    // To be put behind what it led to; empty if no wait was too long.
    std::string behind() const {
        const std::lock_guard lock{mutex_};
        return text_.empty() ? "" : ", behind a " + text_;
    }

private:
    mutable std::mutex mutex_;  // any thread may wait for a run
    std::string text_;
};

}  // namespace dovetail::launch
