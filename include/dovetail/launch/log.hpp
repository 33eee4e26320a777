// What the library prints: warnings, the files that observers write, and what environment variables ask for. It goes to the standard error,
// or to a callback of the program:
//   dv::log_to([](dv::log_level level, const std::string& text) { ... });
// Programs include this header to set a callback; the parts that print include it themselves.
#pragma once

#include "../core/config.hpp"

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

namespace dovetail {

enum class log_level : unsigned char {
    debug,    // how ranks are found and connected, with DOVETAIL_VERBOSE
    info,     // which files were written
    report,   // plans and reports that environment variables ask for, of many lines
    warning,  // something was asked for and cannot be done as asked
};

// Gets one text at a time, without a newline at its end, on a thread that logs: that of the text, or one that has just logged another. It
// may take locks that other threads hold while they use dovetail, but must not use executors. If it throws, the text goes to the standard
// error.
using log_callback = std::function<void(log_level, const std::string& text)>;

namespace detail {

struct log_text {
    log_level level;
    std::string text;
};
struct log_target {
    std::mutex mutex;
    std::condition_variable passed_on;  // notified behind each text
    std::deque<log_text> waiting;       // to be passed on
    std::thread::id speaker;            // the thread that passes them on, if any; without the mutex
    std::int64_t texts_passed_on = 0;
    std::shared_ptr<const log_callback> callback;  // null: the standard error
};
// Never destroyed: executors and observers may live longer than any static object.
inline log_target& current_log_target() {
    static log_target* const target = new log_target;
    return *target;
}
inline thread_local int logging_later = 0;  // scopes of this thread, see log_later

inline void pass_on(const log_callback* callback, const log_text& one) noexcept {
    if (callback != nullptr) {
        try {
            const bool ends = one.text.ends_with('\n');
            return (*callback)(one.level, ends ? one.text.substr(0, one.text.size() - 1) : one.text);
        } catch (...) {  // printed below
        }
    }
    std::fprintf(stderr, "%s%s\n", one.level == log_level::report ? "" : "dovetail: ", one.text.c_str());
}

// Passes on what waits, unless a thread does so already, which may be this one further up.
inline void pass_on_all() noexcept {
    log_target& target = current_log_target();
    std::unique_lock lock{target.mutex};
    if (target.speaker != std::thread::id{}) return;
    target.speaker = std::this_thread::get_id();
    while (!target.waiting.empty()) {
        const log_text next = std::move(target.waiting.front());
        target.waiting.pop_front();
        const std::shared_ptr<const log_callback> callback = target.callback;
        lock.unlock();
        pass_on(callback.get(), next);
        lock.lock();
        ++target.texts_passed_on;
        target.passed_on.notify_all();
    }
    target.speaker = {};
}

}  // namespace detail

// Sets the callback of the program, or of the shared library that hides its symbols. Afterwards the one before it is no longer called: this
// waits for a call that another thread makes. `nullptr`: the standard error again.
inline void log_to(log_callback callback) {
    std::shared_ptr<const log_callback> next;
    if (callback) next = std::make_shared<const log_callback>(std::move(callback));
    detail::log_target& target = detail::current_log_target();
    std::unique_lock lock{target.mutex};
    target.callback.swap(next);
    const std::int64_t before = target.texts_passed_on;
    if (target.speaker == std::thread::id{} || target.speaker == std::this_thread::get_id()) return;
    target.passed_on.wait(lock, [&] { return target.texts_passed_on != before; });
}

namespace launch {

inline void log(log_level level, const std::string& text) noexcept {
    try {
        detail::log_target& target = detail::current_log_target();
        const std::lock_guard lock{target.mutex};
        target.waiting.push_back({level, text});
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "%s\n", text.c_str());
    }
    if (detail::logging_later == 0) detail::pass_on_all();
}

// What this thread logs while one lives is passed on when it ends. Made before a lock is taken, so that no callback runs under it.
class log_later {
public:
    log_later() { ++detail::logging_later; }
    ~log_later() {
        if (--detail::logging_later == 0) detail::pass_on_all();
    }
    log_later(const log_later&) = delete;
    log_later& operator=(const log_later&) = delete;
};

}  // namespace launch

}  // namespace dovetail
