// A thread that monitors one rank, whose own thread may be blocked by the GPU: it calls back once when the work of all ranks has ended, and
// periodically. In a world of processes the control channel's thread does this instead.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace dovetail::launch {

class watchdog {
public:
    // Exceptions of the callbacks are dropped.
    watchdog(std::function<void()> at_stop, std::function<void()> each_period) : now_{std::make_shared<state>()} {
        now_->at_stop = std::move(at_stop);
        now_->each_period = std::move(each_period);
        thread_ = std::thread{[s = now_] { watch(*s); }};
    }
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;
    // After this no callback is called any more; one that does not return is left running.
    ~watchdog() {
        std::unique_lock lock{now_->mutex};
        now_->leaving = true;
        now_->changed.notify_all();
        const bool own = thread_.get_id() == std::this_thread::get_id();  // a callback destroyed the last handle
        const bool over = !own && now_->changed.wait_for(lock, std::chrono::seconds{20}, [&, this] { return now_->over; });
        lock.unlock();
        if (over)
            thread_.join();
        else
            thread_.detach();
    }
    // Notes that the work has ended.
    void stop() {
        {
            const std::lock_guard lock{now_->mutex};
            now_->stopped = true;
        }
        now_->changed.notify_all();
    }

private:
    struct state {
        std::mutex mutex;
        std::condition_variable changed;
        std::function<void()> at_stop, each_period;
        bool stopped = false, reported = false, leaving = false, over = false;
    };
    static void watch(state& s) {
        std::unique_lock lock{s.mutex};
        while (!s.leaving) {
            s.changed.wait_for(lock, std::chrono::milliseconds{200}, [&] { return s.leaving || (s.stopped && !s.reported); });
            if (s.leaving) break;
            const bool first = s.stopped && !s.reported;
            s.reported = s.reported || first;
            lock.unlock();
            try {
                (first ? s.at_stop : s.each_period)();
            } catch (...) {}
            lock.lock();
        }
        s.over = true;
        s.changed.notify_all();
    }

    const std::shared_ptr<state> now_;
    std::thread thread_;
};

}  // namespace dovetail::launch
