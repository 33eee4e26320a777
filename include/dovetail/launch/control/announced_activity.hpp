// What a rank works on, in words: a function that the rank sets and its watchdog asks with every heartbeat.
#pragma once

#include "peer_status.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace dovetail::control::detail {

class announced_activity {
public:
    // The one before is not called any more once this has returned.
    void set(std::function<activity()> doing) {
        const std::lock_guard lock{mutex_};
        doing_ = std::move(doing);
    }
    // Short enough for a heartbeat; empty where the function throws.
    activity now() {
        const std::lock_guard lock{mutex_};
        try {
            activity now = doing_ ? doing_() : activity{};
            for (std::string* text : {&now.text, &now.operation, &now.statement})
                if (text->size() > 2048) text->resize(2048);
            return now;
        } catch (...) {
            return {};
        }
    }

private:
    std::mutex mutex_;
    std::function<activity()> doing_;
};

}  // namespace dovetail::control::detail
