// What the library prints: warnings, the files that observers write, and what environment variables ask for. It goes to the standard error,
// or to a callback of the program:
//   dv::log_to([](dv::log_level level, const std::string& text) { ... });
// Programs include this header to set a callback; the parts that print include it themselves.
#pragma once

#include "../core/config.hpp"

#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace dovetail {

enum class log_level : unsigned char {
    debug,    // how ranks are found and connected, with DOVETAIL_VERBOSE
    info,     // which files were written
    report,   // plans and reports that environment variables ask for, of many lines
    warning,  // something was asked for and cannot be done as asked
};

// Gets one text at a time, without a newline at its end, from whichever thread has it; it must not use executors. If it throws, the text
// goes to the standard error.
using log_callback = std::function<void(log_level, const std::string& text)>;

namespace detail {

struct log_target {
    std::recursive_mutex mutex;                    // recursive: a callback may call log_to
    std::shared_ptr<const log_callback> callback;  // null: the standard error
};
// Never destroyed: executors and observers may live longer than any static object.
inline log_target& current_log_target() {
    static log_target* const target = new log_target;
    return *target;
}

}  // namespace detail

// Sets the callback of the process. Afterwards the one before it is no longer called. `nullptr`: the standard error again.
inline void log_to(log_callback callback) {
    std::shared_ptr<const log_callback> next;
    if (callback) next = std::make_shared<const log_callback>(std::move(callback));
    detail::log_target& target = detail::current_log_target();
    const std::lock_guard lock{target.mutex};
    target.callback.swap(next);
}

namespace launch {

inline void log(log_level level, const std::string& text) noexcept {
    detail::log_target& target = detail::current_log_target();
    const std::lock_guard lock{target.mutex};
    if (const std::shared_ptr<const log_callback> callback = target.callback) {
        try {
            return (*callback)(level, text);
        } catch (...) {  // printed below
        }
    }
    std::fprintf(stderr, "%s%s\n", level == log_level::report ? "" : "dovetail: ", text.c_str());
}

}  // namespace launch

}  // namespace dovetail
