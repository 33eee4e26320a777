// Shared by worlds that call a function on ranks of this process: the threads, and the exceptions that leave the function.
#pragma once

#include "peers.hpp"

#include <mutex>
#include <thread>
#include <vector>

namespace dovetail::launch {

class rank_exceptions {
public:
    // Calls `body` on the rank that `make` returns. An exception of either is kept, and reported to the other ranks by `abort`.
    template <class Make, class Body, class Abort>
    void run_rank(int index, const Make& make, Body& body, const Abort& abort) {
        try {
            auto me = make();
            try {
                body(me);
            } catch (...) {
                abort(record(index, std::current_exception()));
            }
        } catch (...) {
            abort(record(index, std::current_exception()));
        }
    }
    // Keeps the exception that left the function on a rank.
    abort_reason record(int index, const std::exception_ptr& what) {
        {
            const std::lock_guard lock{mutex_};
            std::exception_ptr& to = of_another(what) ? first_peer_ : first_;
            if (!to) to = what;
        }
        return {index, "rank " + std::to_string(index) + " left with an exception: " + text_of(what), {}, {}, true, what};
    }
    // Throws the first exception. If all came from ranks that only noticed the failure of another rank: the failure of an operation itself,
    // which its rank may have left unread, where that rank is of this process; else the first of those.
    void rethrow(const peers& among) const {
        if (first_) std::rethrow_exception(first_);
        if (!first_peer_) return;
        if (among.one_process() && among.aborted())
            if (const abort_reason why = among.why(); why.what != nullptr && !why.by_leaving) why.raise();
        std::rethrow_exception(first_peer_);
    }

private:
    static bool of_another(const std::exception_ptr& what) {
        try {
            std::rethrow_exception(what);
        } catch (const peer_error&) {
            return true;
        } catch (...) {
            return false;
        }
    }
    std::mutex mutex_;
    std::exception_ptr first_, first_peer_;
};

// Calls play(rank) on one thread per rank, and returns when all have ended. If the system has no more threads, missing(rank, exception) is
// called for the ranks without one.
template <class Play, class Missing>
void on_threads(int ranks, const Play& play, const Missing& missing) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(ranks));
    try {
        for (int r = 0; r < ranks; ++r) threads.emplace_back([&play, r] { play(r); });
    } catch (const std::exception& e) {
        for (int r = static_cast<int>(threads.size()); r < ranks; ++r)
            missing(r, std::make_exception_ptr(world_error{"the thread of rank " + std::to_string(r) + " of " + std::to_string(ranks) +
                                                           " cannot be created: " + e.what()}));
    }
    for (std::thread& t : threads) t.join();
}

}  // namespace dovetail::launch
