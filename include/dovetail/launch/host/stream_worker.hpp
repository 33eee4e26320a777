// A stream of a rank on the host: a thread with a queue, first in first out, and its present activity for the messages of timeouts.
#pragma once

#include "../engine/engine.hpp"

#include <array>
#include <deque>
#include <thread>
#include <vector>

namespace dovetail::host {

// A condition variable on which the threads of one rank wait for each other.
struct monitor {
    std::mutex mutex;
    std::condition_variable changed;

    // Locks once before notifying: a waiter between its check and its sleep would otherwise miss the notification.
    void notify() {
        { const std::lock_guard lock{mutex}; }
        changed.notify_all();
    }
};

enum class work_kind : unsigned char { wait, step, record, behind, finish };

struct work_item;

// Handles the items of a queue; an engine implements it, and items keep it alive.
class work_handler {
public:
    virtual ~work_handler() = default;
    virtual void handle(const work_item& t) noexcept = 0;
};

struct work_item {
    std::shared_ptr<work_handler> who;
    std::shared_ptr<run_state> of;  // `behind`: the run to wait for
    work_kind kind = work_kind::step;
    int stream = 0;
    int index = 0;                // step, or event copy
    std::int64_t generation = 0;  // of the event: run + 1
    int awaited = -1;             // the step that records the event
};

struct pending_communication;

// The activity of a stream, for messages.
struct activity {
    enum what { idle, operation, event, partners } doing = idle;
    std::shared_ptr<const std::string> step;  // the operation as text, made once by its engine
    std::int64_t run = 0;
    std::shared_ptr<pending_communication> at;  // the communication that it waits for
};

class stream_worker {
public:
    explicit stream_worker(int number) : number_{number} {}

    // Appends the work items in their order.
    void push(std::vector<work_item>& work_items) {
        {
            const std::lock_guard lock{mutex_};
            for (work_item& t : work_items) queue_.push_back(std::move(t));
        }
        changed_.notify_all();  // `stop` may wait for this too
        work_items.clear();
    }
    // Starts the thread if there is none. The thread shares ownership of the stream, so it may outlive its rank.
    static void start(const std::shared_ptr<stream_worker>& self) {
        if (self->thread_.joinable()) return;
        self->thread_ = std::thread{[self] { self->work(); }};
    }
    // Ends the thread once the queue is empty. False if that takes longer than `bound`: an operation does not return.
    bool stop(std::chrono::nanoseconds bound) {
        if (!thread_.joinable()) return true;
        std::unique_lock lock{mutex_};
        stopping_ = true;
        changed_.notify_all();
        if (!changed_.wait_for(lock, bound, [&, this] { return ended_; })) return false;
        lock.unlock();
        thread_.join();
        return true;
    }
    // The last resort: detaches the thread.
    void abandon() {
        if (thread_.joinable()) thread_.detach();
    }
    int number() const { return number_; }

    void now(activity a) {
        const std::lock_guard lock{mutex_};
        doing_ = std::move(a);
    }
    activity doing() const {
        const std::lock_guard lock{mutex_};
        return doing_;
    }

private:
    void work() {
        std::unique_lock lock{mutex_};
        for (;;) {
            changed_.wait(lock, [&, this] { return stopping_ || !queue_.empty(); });
            if (queue_.empty()) break;
            std::deque<work_item> taken;
            taken.swap(queue_);
            lock.unlock();
            for (; !taken.empty(); taken.pop_front())  // a work item may be the last owner of an engine
                taken.front().who->handle(taken.front());
            lock.lock();
        }
        ended_ = true;
        changed_.notify_all();
    }

    const int number_;
    std::thread thread_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<work_item> queue_;
    activity doing_;
    bool stopping_ = false;
    bool ended_ = false;
};

using stream_workers = std::array<std::shared_ptr<stream_worker>, stream_count>;

}  // namespace dovetail::host
